//! Both ends on one clock, and probes.

use std::process::Command;

use archive::Archive;
use model::measurement::{End, Heading, Whose};
use model::run::Run;
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};

use super::tested;
use crate::actors::linerate::{ArchiveFile, Server, Tested, linerate, measured, succeeded, test};

/// What the peer's clock shows more than ours in the test with two clocks, in seconds.
const AHEAD_S: i64 = 100_000;

#[test]
fn one_clock_is_found_to_be_one_clock() {
    let (client, _) = tested(&["--time", "200ms"]);
    let clock = measured(&client.run).clock.unwrap();
    assert!(clock.offset_ns.unsigned_abs() <= clock.uncertainty_ns, "both ends read one clock: {clock:?}");
}

#[test]
fn a_peer_with_another_clock_is_put_on_ours_within_the_stated_uncertainty() {
    // A time namespace, whose monotonic clock runs ahead of ours by a known time.
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--time", "--monotonic", &AHEAD_S.to_string(), "--fork"]);
    command.args(["--kill-child", "--", env!("CARGO_BIN_EXE_linerate")]);
    let server = Server::started_by(command, &[]);
    for way in [&[][..], &["-R"]] {
        let archive = ArchiveFile::new();
        let client = test_kept(server.port, &archive, &[way, &["--time", "500ms", "--rate", "40Mbit/s"]].concat());
        let clock = measured(&client.run).clock.unwrap();
        let error_ns = (clock.offset_ns + AHEAD_S * 1_000_000_000).unsigned_abs();
        assert!(error_ns <= clock.uncertainty_ns, "off by {error_ns} ns: {clock:?}");
        nobody_receives_before_it_was_sent(&client.run, &samples(&archive, &client.run));
    }
}

/// Runs a test that is kept in an archive.
fn test_kept(port: u16, archive: &ArchiveFile, args: &[&str]) -> Tested {
    let mut command = crate::actors::linerate::program();
    command.args(["test", "127.0.0.1", "--json", "--port", &port.to_string(), "--archive", archive.arg()]).args(args);
    let ended = crate::actors::process::Process::start(&mut command).finish();
    let tested = Tested { code: ended.code, run: serde_json::from_str(&ended.stdout).unwrap(), stderr: ended.stderr };
    succeeded(&tested);
    tested
}

fn samples(archive: &ArchiveFile, run: &Run) -> RunSamples {
    Archive::open(&archive.path).unwrap().samples(&run.id).unwrap()
}

/// Asserts that the two ends' samples fit each other in time.
#[track_caller]
fn nobody_receives_before_it_was_sent(run: &Run, samples: &RunSamples) {
    /// A sender counts a write when it returns, so one write may have arrived before it counts; 40 Mbit/s in blocks.
    const ONE_WRITE: u64 = 1 << 20;
    let end = |end| -> &StreamSamples { samples.streams.iter().find(|stream| stream.end == end).unwrap() };
    let (sender, receiver) = (end(End::Sender), end(End::Receiver));
    assert_ne!(sender.whose, receiver.whose);
    assert_eq!(sender.heading, receiver.heading);
    for stream in [sender, receiver] {
        assert!(stream.at_us.is_sorted(), "{stream:?}");
        assert!(stream.at_us.len() > 5, "{stream:?}");
        assert!(stream.at_us.iter().all(|at| (-100_000..10_000_000).contains(at)), "{:?}", stream.at_us);
    }
    let uncertainty_us = i64::try_from(measured(run).clock.unwrap().uncertainty_ns.div_ceil(1_000)).unwrap();
    let (sent, received) = (sender.column(Field::AppBytes).unwrap(), receiver.column(Field::AppBytes).unwrap());
    for (at, received) in receiver.at_us.iter().zip(received) {
        let after = sender.at_us.partition_point(|sample| *sample < at + uncertainty_us);
        let Some(sent) = sent.get(after) else { continue };
        assert!(*received <= sent + ONE_WRITE, "{received} received at {at} us, {sent} sent after that");
    }
}

#[test]
fn samples_of_both_ends_are_kept_and_fit_each_other() {
    let server = Server::start(&[]);
    for way in [&[][..], &["-R"]] {
        let archive = ArchiveFile::new();
        let client = test_kept(server.port, &archive, &[way, &["--time", "500ms", "--rate", "40Mbit/s"]].concat());
        let samples = samples(&archive, &client.run);
        nobody_receives_before_it_was_sent(&client.run, &samples);
        let total = &measured(&client.run).totals[0];
        for stream in &samples.streams {
            assert_eq!(stream.heading, total.heading);
            let last = stream.column(Field::AppBytes).unwrap().last().copied();
            assert_eq!(last, total.received.map(|bytes| bytes.get()), "the last sample has the whole");
        }
        let whose: Vec<Whose> = measured(&client.run).telemetry.iter().map(|cadence| cadence.whose).collect();
        assert_eq!(whose, [Whose::Local, Whose::Peer]);
    }
}

#[test]
fn both_ways_have_samples_of_all_four_ends() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let client = test_kept(server.port, &archive, &["--time", "300ms", "--rate", "40Mbit/s", "--bidir"]);
    let mut ends: Vec<_> = samples(&archive, &client.run).streams.iter().map(|s| (s.heading, s.end, s.whose)).collect();
    ends.sort_unstable();
    assert_eq!(
        ends,
        [
            (Heading::Outbound, End::Sender, Whose::Local),
            (Heading::Outbound, End::Receiver, Whose::Peer),
            (Heading::Inbound, End::Sender, Whose::Peer),
            (Heading::Inbound, End::Receiver, Whose::Local),
        ]
    );
}

#[test]
fn probes_before_and_beside_the_flow_are_answered() {
    let (client, _) = tested(&["--time", "300ms", "--rate", "10Mbit/s", "--probe-every", "20ms"]);
    let latency = measured(&client.run).latency.clone().unwrap();
    let (idle, loaded) = (latency.idle.unwrap(), latency.loaded.unwrap());
    assert_eq!((idle.sent.get(), idle.lost.get()), (10, 0));
    assert!(loaded.sent.get() > 1, "{loaded:?}");
    assert_eq!(loaded.lost.get(), 0);
    assert!(idle.min_us <= idle.median_us && idle.median_us <= idle.max_us, "{idle:?}");
}

#[test]
fn the_idle_round_trip_is_told_before_the_flow_starts() {
    let server = Server::start(&[]);
    let port = server.port.to_string();
    let args = ["test", "127.0.0.1", "--no-archive", "--port", &port, "--time", "200ms", "--interval", "100ms"];
    let talk = linerate(&args).stderr;
    let mut lines = talk.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("idle RTT ")), "{talk}");
    assert!(lines.next().is_some_and(|line| line.contains(" s  out ")), "{talk}");
}

#[test]
fn without_probes_there_is_no_latency() {
    let (client, _) = tested(&["--time", "100ms", "--probe-every", "0s"]);
    assert_eq!(measured(&client.run).latency, None);
}

#[test]
fn a_test_without_an_archive_leaves_none() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    succeeded(&test(server.port, &["--bytes", "1kB", "--archive", archive.arg()]));
    assert!(!archive.path.exists());
}
