//! What runs inside the hosts of a lab: file servers, proxies and probes, as processes.

use linux::netns::isolate;
use model::probe::download::Download;
use model::probe::echo::EchoSeries;
use model::probe::hops::{Trace, TraceEnd};
use model::probe::path_mtu::{MtuLimit, PathMtu};
use model::run::Outcome;
use serde::de::DeserializeOwned;

use crate::actors::linerate::{linerate, program};
use crate::actors::process::{Lines, Process};

/// What a probe finds in a network that has only a loopback device.
fn found<T: DeserializeOwned>(args: &[&str]) -> (Option<i32>, T) {
    let mut command = program();
    let ended = Process::start(isolate(command.args(["lab", "probe"]).args(args))).finish();
    (ended.code, serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}")))
}

/// A service that listens, its address, and what it prints.
fn service(args: &[&str]) -> (Process, String, Lines) {
    let mut process = Process::start(program().args(["lab"]).args(args).args(["--json", "--listen", "127.0.0.1:0"]));
    let (talk, exchanges) = (process.stderr(), process.stdout());
    let line = talk.wait_for("`listening on`", |line| line.starts_with("listening on "));
    (process, line.trim_start_matches("listening on ").trim().to_owned(), exchanges)
}

#[test]
fn probes_print_what_they_find_as_the_documented_types() {
    let (code, echo): (_, EchoSeries) = found(&["echo", "::1", "--count", "3", "--interval", "1ms", "--dscp", "ef"]);
    assert_eq!((code, echo.summary.rtt.sent.get(), echo.summary.rtt.lost.get()), (Some(0), 3, 0));
    let (code, hops): (_, Trace) = found(&["hops", "127.0.0.1"]);
    assert_eq!((code, hops.end, hops.hops.len()), (Some(0), TraceEnd::Destination, 1));
    let (code, mtu): (_, PathMtu) = found(&["mtu", "127.0.0.1"]);
    assert_eq!((code, mtu.limit), (Some(0), Some(MtuLimit::Interface)));
    let (code, lost): (_, EchoSeries) = found(&["echo", "192.0.2.1"]);
    assert_eq!(code, Some(3), "no way leads there");
    assert!(matches!(lost.outcome, Outcome::Failed(_)));
}

#[test]
fn a_file_comes_through_a_proxy_as_three_processes_and_all_end_when_they_are_told() {
    let (files, origin, served) = service(&["serve-files", "--name", "store", "--file", "a.ms=2MB"]);
    let (proxy, front, passed) =
        service(&["serve-proxy", "--name", "front", "--over", &origin, "--rerouted", "1", "--to", &origin]);
    let ended = linerate(&["lab", "probe", "download", &format!("http://{front}/a.ms"), "--cca", "reno"]);
    let download: Download = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, download.body.get()), (Some(0), 2_000_000));
    let answer = download.answer.unwrap();
    assert_eq!((answer.served_by.as_deref(), &answer.via[..]), (Some("store"), &["1.1 front".to_owned()][..]));
    assert!(served.wait_for("an exchange", |_| true).contains("\"body_bytes\":2000000"));
    assert!(passed.wait_for("an exchange", |_| true).contains("\"rerouted\":true"));
    for mut process in [files, proxy] {
        process.signal("TERM");
        assert_eq!(process.wait().code(), Some(0));
    }
}

#[test]
fn parts_are_not_shown_to_people() {
    let help = linerate(&["lab", "--help"]).stdout;
    assert!(!help.contains("serve-") && !help.contains("probe"), "{help}");
}
