//! Truth tests of watched connections: a cause is planted on a network of this machine, an application moves data, and a
//! watcher that sends nothing has its bytes to the last one and names the cause.
//!
//! They need root, `ip`, `tc`, `nft`, `ethtool` and `sysctl`.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use model::bursts::BurstReport;
use model::measurement::Heading;
use model::run::Run;
use model::transfer::{FlowInterval, ReceivedCount, Transfer, TransferEnd};
use units::{ByteCount, DataRate};

use crate::support::truth_network::Network;
use crate::support::truth_program::test;
use crate::support::truth_transfer::{answers_in_turns, has_its_kernel_pace, waits_for_room};

#[test]
fn a_small_receive_window_is_seen_from_both_ends_with_every_byte() {
    let network = Network::with_delay();
    network.set(&network.far, "net.ipv4.tcp_rmem", "4096 65536 65536");
    let (mut near, mut far) = (Watcher::start(&network.near, &[]), Watcher::start(&network.far, &[]));
    let run = test(&network, &network.to_far_delayed("--time 4s --cca cubic")).run;
    let (sent, received) = (near.transfer(Heading::Outbound), far.transfer(Heading::Inbound));
    assert_both_near(&run, &sent, &received);
    assert_limit(&sent, "receive_window");
    assert_limit(&received, "receive_window");
}

#[test]
fn an_amount_that_was_lost_in_parts_is_counted_to_the_byte_at_both_ends() {
    let network = Network::with_delay();
    network.lose(&network.far, "prerouting", "tcp");
    let (mut near, mut far) = (Watcher::start(&network.near, &[]), Watcher::start(&network.far, &[]));
    let run = test(&network, &network.to_far_delayed("--bytes 5000003B --cca cubic")).run;
    assert_eq!(payload(&run), 5_000_003);
    let (sent, received) = (near.transfer(Heading::Outbound), far.transfer(Heading::Inbound));
    assert_eq!(sent.sent.get(), 5_000_003 + COOKIE);
    let possible = match received.received_count {
        ReceivedCount::Exact => 0..=0,
        ReceivedCount::OneByteMore => 0..=1,
    };
    let beyond = received.received.get().checked_sub(5_000_003 + COOKIE);
    assert!(beyond.is_some_and(|beyond| possible.contains(&beyond)), "{received:?}");
}

#[test]
fn a_small_send_buffer_is_the_send_buffer() {
    let network = Network::with_delay();
    network.set(&network.near, "net.ipv4.tcp_wmem", "4096 16384 16384");
    let (mut near, mut far) = (Watcher::start(&network.near, &[]), Watcher::start(&network.far, &[]));
    let run = test(&network, &network.to_far_delayed("--time 4s --cca cubic")).run;
    let sent = near.transfer(Heading::Outbound);
    assert_both_near(&run, &sent, &far.transfer(Heading::Inbound));
    assert_limit(&sent, "send_buffer");
}

/// Nobody paces: all that it wrote has left when it begins to wait, and the kernel's clock of the full buffer does not start.
#[test]
fn a_program_that_waits_for_room_in_its_buffer_is_the_send_buffer() {
    for (buffer, one_way) in [(65_536, 10), (262_144, 20), (524_288, 50)] {
        let network = Network::with_delay_of(Duration::from_millis(one_way));
        network.set(&network.near, "net.ipv4.tcp_wmem", &format!("4096 {buffer} {buffer}"));
        let mut near = Watcher::start(&network.near, &[]);
        waits_for_room(&network, Duration::from_secs(5));
        assert_limit(&near.transfer(Heading::Outbound), "send_buffer");
    }
}

/// It asks whether it may write (select), and so tops its buffer up from two thirds.
#[test]
fn a_program_that_asks_for_room_in_its_buffer_is_limited_by_it_as_well() {
    let network = Network::with_delay_of(Duration::from_millis(20));
    network.set(&network.near, "net.ipv4.tcp_wmem", "4096 524288 524288");
    for block in ["128K", "4K"] {
        let mut near = Watcher::start(&network.near, &[]);
        iperf3(&network, &["-t", "6", "-C", "cubic", "-l", block]);
        assert_limit(&near.transfer(Heading::Outbound), "send_buffer");
    }
}

/// As much as its buffer holds at once, and then nothing until it is asked for more.
#[test]
fn a_program_that_writes_as_much_as_its_buffer_holds_and_pauses_is_the_sending_program() {
    for (buffer, size) in [(262_144, 230_000), (65_536, 55_000)] {
        let network = Network::with_delay_of(Duration::from_millis(20));
        network.set(&network.near, "net.ipv4.tcp_wmem", &format!("4096 {buffer} {buffer}"));
        let mut near = Watcher::start(&network.near, &[]);
        answers_in_turns(&network, size, std::num::NonZero::new(40).unwrap());
        // Of what it writes in turns some RTTs seem to be faster than those before, as if it still started.
        let sent = near.transfer(Heading::Outbound);
        let part =
            |cause: &str| sent.limits.iter().filter(|limit| limit.cause == cause).map(|limit| limit.part).sum::<f64>();
        assert!(part("sender_application") > 0.3 && part("send_buffer") < 0.05, "{:#?}", sent.limits);
    }
}

/// It always has more ready, and asked for no more than this rate.
#[test]
fn a_program_that_has_its_kernel_pace_is_the_pacing_rate() {
    for (rate, one_way) in [(20_000_000, 10), (30_000_000, 50)] {
        let network = Network::with_delay_of(Duration::from_millis(one_way));
        let mut near = Watcher::start(&network.near, &[]);
        has_its_kernel_pace(&network, DataRate::from_bps(rate), Duration::from_secs(5));
        let sent = near.transfer(Heading::Outbound);
        assert_limit(&sent, "configured_cap");
        assert_eq!(sent.limits[0].label, "pacing rate");
    }
}

#[test]
fn an_application_that_pauses_is_the_sending_program() {
    let network = Network::new();
    let mut near = Watcher::start(&network.near, &[]);
    // To the watcher a writer that keeps to a rate is one that has nothing ready most of the time.
    let run = test(&network, &network.to_far("--time 4s --cca cubic --rate 20Mbit/s")).run;
    let sent = near.transfer(Heading::Outbound);
    assert_near(sent.sent, &run);
    assert_limit(&sent, "sender_application");
}

#[test]
fn a_shaped_path_is_its_capacity() {
    let network = Network::new();
    network.within(&network.router, "tc qdisc add dev to-far root tbf rate 100mbit burst 32k limit 256k");
    let mut near = Watcher::start(&network.near, &[]);
    // Long enough for several steps in which the rate is flat while a queue stands.
    let run = test(&network, &network.to_far("--time 8s --cca cubic")).run;
    let sent = near.transfer(Heading::Outbound);
    assert_near(sent.sent, &run);
    assert_limit(&sent, "path_capacity");
}

#[test]
fn random_loss_is_loss_and_recovery_with_every_retransmit() {
    let network = Network::with_delay();
    network.lose(&network.far, "prerouting", "tcp");
    let mut near = Watcher::start(&network.near, &[]);
    // An amount that takes some seconds: of a time, what a slow path still holds long after it is never delivered, and the two counts differ.
    let run = test(&network, &network.to_far_delayed("--bytes 15MB --cca cubic")).run;
    let sent = near.transfer(Heading::Outbound);
    assert_eq!(sent.sent.get(), payload(&run) + COOKIE);
    // The run counts until its end, the watcher until that of the connection.
    assert!(Some(sent.retransmits) >= run.measurement.unwrap().totals[0].retransmits);
    assert_limit(&sent, "loss_recovery");
    // Each loss that TCP noticed, as the kernel's events have it. A transfer was active until it last moved something.
    let events = &sent.loss_events;
    let end = sent.active + Duration::from_millis(200);
    assert!(!events.is_empty() && events.iter().all(|event| event.at <= end), "{events:?}, active {:?}", sent.active);
    assert!(events.is_sorted_by_key(|event| event.at), "{events:?}");
    // Each time that something was retransmitted: once for each segment or for several together.
    let runs = &sent.retransmit_runs;
    let transmissions: u64 = runs.iter().map(|run| run.transmissions).sum();
    assert!((1..=sent.retransmits.get()).contains(&transmissions), "{runs:?} of {}", sent.retransmits);
    assert!(runs.iter().all(|run| run.at + run.length <= end), "{runs:?}");
}

#[test]
fn retransmissions_are_in_the_buckets_of_the_device_by_which_they_leave() {
    let network = Network::with_delay();
    network.lose(&network.far, "prerouting", "tcp");
    let mut near = Watcher::start(&network.near, &[]);
    let watches = ["delayed", "dev0"].map(|device| bursts(&network.near, device));
    // A transfer that ends within a second has no events of its own.
    test(&network, &network.to_far_delayed("--bytes 15MB --cca cubic"));
    let sent = near.transfer(Heading::Outbound);
    let [delayed, direct] = watches.map(ended);
    let events: u64 = sent.retransmit_runs.iter().map(|run| run.transmissions).sum();
    let [inbound, outbound] = &delayed.directions[..] else { panic!("two directions") };
    let in_buckets = outbound.retransmissions.unwrap();
    // A transfer keeps a part of its events; what the two ends of the test say to each other may have been lost as well.
    let all = events..=sent.retransmits.get() + 20;
    assert!(events > 0 && all.contains(&in_buckets), "{in_buckets} of {all:?}");
    assert_eq!(outbound.steps.retransmissions.iter().sum::<u64>(), in_buckets);
    let first = outbound.steps.retransmissions.iter().position(|times| *times > 0).unwrap();
    let at = delayed.start.unix_nanos() + u64::try_from(outbound.steps.step.as_nanos()).unwrap() * first as u64;
    let span = sent.started.unix_nanos()..=sent.started.unix_nanos() + u64::try_from(sent.active.as_nanos()).unwrap();
    let step = u64::try_from(outbound.steps.step.as_nanos()).unwrap();
    assert!(span.contains(&(at + step)) || span.contains(&at), "{at} in {span:?}");
    // The other end retransmits what comes in, and the device below carries the packets of a tunnel, which are none of TCP's.
    assert_eq!((inbound.retransmissions, direct.directions[1].retransmissions), (None, Some(0)));
}

#[test]
fn a_transfer_that_was_kept_is_listed_and_explained() {
    let network = Network::with_delay();
    network.set(&network.far, "net.ipv4.tcp_rmem", "4096 65536 65536");
    let kept = tempfile::TempDir::new().unwrap();
    let archive = kept.path().join("archive.db");
    let mut near = Watcher::start(&network.near, &["--archive", archive.to_str().unwrap()]);
    test(&network, &network.to_far_delayed("--time 3s --cca cubic"));
    let transfer = near.transfer(Heading::Outbound);
    let list = linerate(&archive, &["watch", "transfers", "--least", "1MB"]);
    let id = transfer.id.to_string();
    assert!(list.contains(&id[..12]) && list.contains("receive window"), "{list}");
    let why = linerate(&archive, &["why", &id]);
    assert!(why.contains(&format!("{} bytes sent", transfer.sent.get())), "{why}");
    assert!(why.contains("the receiver's window took"), "{why}");
}

#[test]
fn a_capture_of_a_test_has_its_bytes_and_names_the_planted_window() {
    let network = Network::with_delay();
    network.set(&network.far, "net.ipv4.tcp_rmem", "4096 65536 65536");
    let kept = tempfile::TempDir::new().unwrap();
    let file = kept.path().join("test.pcap");
    let options = format!("--time 3s --cca cubic --capture {}", file.display());
    let run = test(&network, &network.to_far_delayed(&options)).run;
    let traced = linerate(&kept.path().join("archive.db"), &["trace", "--json", file.to_str().unwrap()]);
    let traced: serde_json::Value = serde_json::from_str(&traced).unwrap();
    // The connection that moves most comes first, the one that controls the test last.
    let transfers =
        traced["connections"].as_array().unwrap().iter().flat_map(|one| one["transfers"].as_array().unwrap());
    let bulk = transfers.max_by_key(|transfer| transfer["delivered_bytes"].as_u64()).unwrap();
    assert_near(ByteCount::new(bulk["delivered_bytes"].as_u64().unwrap()), &run);
    assert_eq!(bulk["verdicts"][0]["cause"], "receiver-window", "{bulk:#}");
}

/// Sends by iperf3 from the near host to the far one.
fn iperf3(network: &Network, options: &[&str]) {
    let within = |host: &str| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", host, "iperf3", "--forceflush"]).stdout(Stdio::piped());
        command
    };
    let mut server = within(&network.far).args(["-s", "-1"]).spawn().unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("listening")), "iperf3 does not serve");
    let sent = within(&network.near).args(["-c", &network.far_delayed()]).args(options).output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    server.wait().unwrap();
}

/// A watch of a device's bursts, once it has begun.
fn bursts(namespace: &str, device: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let arguments = ["watch", "bursts", device, "--netns", namespace, "--expect", "1Gbit/s", "--json"];
    let child = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    // Its events of the kernel are files of it: of both kinds of programs, and of each CPU.
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let files = format!("/proc/{}/fd", child.id());
    let is_ready = || {
        let targets = std::fs::read_dir(&files).unwrap().filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        targets.filter(|target| target.to_string_lossy().contains("[perf_event]")).count() > 0
    };
    while !is_ready() {
        assert!(std::time::Instant::now() < until, "the watch of {device} has no events");
        std::thread::yield_now();
    }
    child
}

/// Ends a watch, and returns what it saw.
fn ended(child: Child) -> BurstReport {
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

/// A watcher of one namespace.
struct Watcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    /// Starts one, and waits until it has seen all connections once.
    fn start(namespace: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.args(["watch", "flows", "--json", "--netns", namespace, "--expect", "1Gbit/s"]).args(more);
        if more.is_empty() {
            command.arg("--no-archive");
        }
        let mut child = command.env_remove("LINERATE_ARCHIVE").stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut watcher = Self { child, lines };
        watcher.interval();
        watcher
    }

    fn interval(&mut self) -> FlowInterval {
        let line = self.lines.next().unwrap().unwrap();
        let interval: FlowInterval = serde_json::from_str(&line).unwrap();
        assert_eq!(interval.missed, model::transfer::Missed::default());
        interval
    }

    /// The next transfer in a direction that ends.
    fn transfer(&mut self, heading: Heading) -> Transfer {
        loop {
            let ended = self.interval().finished.into_iter().find(|transfer| transfer.heading == heading);
            if let Some(transfer) = ended {
                return transfer;
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It fails only where the watcher has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn linerate(archive: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let output = command.arg("--archive").arg(archive).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What the application itself counted.
fn payload(run: &Run) -> u64 {
    run.measurement.as_ref().unwrap().totals[0].sent.unwrap().get()
}

/// Within a thousandth: a test that ends by time counts at another moment than the connection does. To the byte is what
/// [`an_amount_that_was_lost_in_parts_is_counted_to_the_byte_at_both_ends`] holds.
fn assert_near(bytes: ByteCount, run: &Run) {
    let truth = payload(run) + COOKIE;
    assert!(bytes.get().abs_diff(truth) <= truth / 1_000, "{bytes:?} of {truth}");
}

fn assert_both_near(run: &Run, sent: &Transfer, received: &Transfer) {
    assert_near(sent.sent, run);
    assert_near(received.received, run);
    assert_eq!((sent.end, received.end), (TransferEnd::Closed, TransferEnd::Closed));
}

/// The planted cause is the first, and took more than half.
fn assert_limit(transfer: &Transfer, cause: &str) {
    let first = transfer.limits.first().unwrap_or_else(|| panic!("no limit is known: {transfer:#?}"));
    assert!(first.cause == cause && first.part > 0.5, "{cause} was planted: {:#?}", transfer.limits);
}

/// The first bytes of each connection of a test name it.
const COOKIE: u64 = 37;
