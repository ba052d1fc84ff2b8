//! `linerate gateways`.

use std::fs;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::actors::linerate::program;
use crate::actors::process::{Ended, Process};

fn gateways(args: &[&str]) -> Ended {
    Process::start(program().arg("gateways").args(args)).finish()
}

/// Summary monitoring of three XRootD 5.5.3 servers, one every 2 s of each: the second gets most requests.
fn recording() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gateways/summary-5.5.3.xml");
    path.display().to_string()
}

#[test]
fn a_recording_shows_each_gateway_and_names_the_one_that_sent_nothing() {
    let hosts = ["vm:31101=9.6Gbit/s", "vm:31102=9.6Gbit/s", "vm:31103=9.6Gbit/s", "vm:31104=9.6Gbit/s"];
    let recording = recording();
    let args = [&["status", "--read", &recording][..], &hosts[..]].concat();
    let ended = gateways(&[&args[..], &["--json"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let of = |at: usize, name: &str| report["gateways"][at][name].clone();
    assert!(of(1, "in_flight").as_f64() > of(0, "in_flight").as_f64(), "{report}");
    assert_eq!((of(3, "in_flight"), of(3, "excluded")), (Value::Null, Value::from("sent nothing")));
    assert_eq!(of(3, "would_get"), Value::from(0));
    let text = gateways(&args).stdout;
    assert!(text.contains("vm:31104: sent nothing"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_gateway_that_calls_itself_otherwise_is_known_by_the_address_it_sends_from() {
    let recorded = fs::read_to_string(recording()).unwrap();
    let report = recorded.lines().next().unwrap();
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let hosts = ["127.0.0.2", "127.0.0.3"];
    let args = ["gateways", "status", "--listen", &address, "--for", "2s", "--json"];
    let status = Process::start(program().args(args).args(hosts));
    let senders = hosts.map(|host| UdpSocket::bind((host, 0)).unwrap());
    for _ in 0..20 {
        for sender in &senders {
            sender.send_to(report.as_bytes(), &address).unwrap();
        }
        // allow(sleep): gateways report at intervals, and go on whether or not somebody listens yet
        thread::sleep(Duration::from_millis(100));
    }
    let ended = status.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let gateways = report["gateways"].as_array().unwrap();
    let known: Vec<&Value> =
        gateways.iter().filter(|of| of["in_flight"].is_number()).map(|of| &of["gateway"]).collect();
    assert_eq!(known, hosts, "{report}");
}

#[test]
fn what_says_nothing_of_gateways_is_refused_with_what_would() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("junk");
    fs::write(&file, "some_other_metric 3\n").unwrap();
    let ended = gateways(&["status", "--read", &file.display().to_string()]);
    assert_eq!(ended.code, Some(9), "{}", ended.stderr);
    assert!(ended.stderr.contains("says nothing of gateways") && ended.stderr.contains("--metric"), "{}", ended.stderr);
    assert_eq!(gateways(&["status", "gw=0Gbit/s"]).code, Some(2));
    assert_eq!(gateways(&["status"]).code, Some(2), "no gateway and no recording");
    let twice = gateways(&["status", "gw1=6.4Gbit/s", "gw2", "gw1=9.6Gbit/s"]);
    assert!(twice.code == Some(2) && twice.stderr.contains("6.4 Gbit/s, 9.6 Gbit/s"), "{}", twice.stderr);
}

#[test]
fn five_numbers_come_for_cmsd_and_a_policy_is_lines_of_its_configuration() {
    let ended = gateways(&["perf", "--rate", "9.6Gbit/s", "--port", "1", "--count", "1"]);
    let numbers: Vec<u8> = ended.stdout.split_ascii_whitespace().map(|word| word.parse().unwrap()).collect();
    assert_eq!((ended.code, numbers.as_slice()), (Some(0), [0, 0, 0, 0, 0].as_slice()), "{}", ended.stderr);
    let lines = gateways(&["configuration"]).stdout;
    assert!(lines.contains("cms.sched runq 100 fuzz 1 ") && lines.contains("cms.perf int 1s pgm "), "{lines}");
    let refused = gateways(&["configuration", "affinity-randomized"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("5.7.0"), "{}", refused.stderr);
}
