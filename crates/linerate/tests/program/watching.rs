//! Watching without testing: what a person types, and what comes of it.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};

use model::int::IntInterval;

use crate::actors::linerate::linerate;

/// A program that ends with its owner.
struct Watcher(Child);

impl Drop for Watcher {
    fn drop(&mut self) {
        // It fails only where the program has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn metrics_of_drops_are_in_the_text_format_of_prometheus() {
    let ended = linerate(&["watch", "drops", "--for", "1s", "--interval", "1s", "--prometheus", "-"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let samples: Vec<&str> = ended.stdout.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(samples.iter().any(|line| line.starts_with("linerate_drops_total{host=")), "{}", ended.stdout);
    for line in samples {
        let (labels, value) = line.rsplit_once(' ').unwrap();
        assert!(labels.ends_with('}') && value.parse::<u64>().is_ok(), "{line}");
    }
}

#[test]
fn a_device_that_is_not_there_is_not_found() {
    let ended = linerate(&["watch", "bursts", "nonesuch", "--for", "1s"]);
    assert_eq!(ended.code, Some(9), "{}", ended.stderr);
    assert!(ended.stderr.contains("there is no device nonesuch"), "{}", ended.stderr);
}

#[test]
fn buckets_that_would_show_the_kernels_batches_are_refused() {
    let ended = linerate(&["watch", "bursts", "lo", "--bucket", "1us"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("100 us to 10 ms"), "{}", ended.stderr);
}

#[test]
fn an_archive_without_transfers_says_how_they_come_into_it() {
    let kept = tempfile::TempDir::new().unwrap();
    let archive = kept.path().join("archive.db");
    let archive = archive.to_str().unwrap();
    let once = linerate(&["--archive", archive, "watch", "flows", "--for", "200ms", "--interval", "200ms"]);
    assert_eq!(once.code, Some(0), "{}", once.stderr);
    assert!(once.stdout.contains("connections, out"), "{}", once.stdout);
    // Other tests of this machine may have moved something meanwhile.
    let list = linerate(&["--archive", archive, "watch", "transfers", "--least", "1TB"]);
    assert_eq!(list.code, Some(0), "{}", list.stderr);
    assert!(list.stdout.contains("`linerate watch flows` keeps those that end"), "{}", list.stdout);
}

#[test]
fn made_up_reports_of_either_format_arrive_at_a_collector() {
    // A port that was free a moment ago.
    let listen = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["watch", "int", "--json", "--interval", "100ms", "--cell", "80", "--listen", &listen]);
    let mut collector = Watcher(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(collector.0.stdout.take().unwrap()).lines();
    let mut interval = || -> IntInterval { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    // The first line comes once the socket listens.
    interval();
    for (format, version) in [("v1", 1), ("v2", 2)] {
        let sent = linerate(&["watch", "int", "--send-test", &listen, "--count", "50", "--format", format]);
        assert_eq!(sent.code, Some(0), "{}", sent.stderr);
        let mut reports = 0;
        while reports < 50 {
            let interval = interval();
            reports += interval.reports;
            assert_eq!((interval.malformed, interval.cell_bytes), (0, Some(80)));
            assert!(interval.senders.iter().all(|sender| sender.lost == 0), "{:?}", interval.senders);
            let of_format = interval.senders.iter().filter(|sender| sender.version == version);
            assert_eq!(of_format.map(|sender| sender.datagrams).sum::<u64>(), interval.reports);
        }
    }
}
