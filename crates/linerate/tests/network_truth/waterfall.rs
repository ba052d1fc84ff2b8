//! Truth tests of the waterfall: a cause is planted on a network of this machine, the program measures, and the largest
//! share must be the planted one.
//!
//! They need root, `ip`, `tc`, `nft`, `ethtool` and `sysctl`. A share must be at least half of the gap: what the machine
//! itself adds in processor time, on two processors that carry both hosts and the network, stays below a quarter.

use std::time::Duration;

use diagnose::waterfall::cause::{Cause, Reason};
use diagnose::waterfall::check::CheckVerdict;
use diagnose::waterfall::line::{LineRate, LineRateSource};
use diagnose::waterfall::{Waterfall, explain};
use units::{ByteCount, DataRate};

use crate::support::truth_cgroup::Quota;
use crate::support::truth_network::Network;
use crate::support::truth_program::{Quotas, Recorded, test, test_within};

const GIGABIT: u64 = 1_000_000_000;

#[test]
fn a_small_receive_buffer_on_a_long_path_is_the_receive_window() {
    let network = Network::with_delay();
    network.set(&network.far, "net.ipv4.tcp_rmem", "4096 65536 65536");
    let waterfall = explained(&test(&network, &network.to_far_delayed("--time 3s --cca cubic")), GIGABIT);
    assert_planted(&waterfall, Cause::ReceiveWindow);
    assert_eq!(waterfall.check.verdict, CheckVerdict::Agrees, "{:?}", waterfall.check);
    let fact = &waterfall.facts[0];
    assert!(fact.text.starts_with("the receiver's window took"), "{fact:?}");
    assert!(fact.next.as_ref().unwrap().command.starts_with("sysctl -w net.ipv4.tcp_rmem="), "{fact:?}");
}

#[test]
fn a_small_send_buffer_on_a_long_path_is_the_send_buffer() {
    let network = Network::with_delay();
    network.set(&network.near, "net.ipv4.tcp_wmem", "4096 16384 16384");
    let waterfall = explained(&test(&network, &network.to_far_delayed("--time 3s --cca cubic")), GIGABIT);
    assert_planted(&waterfall, Cause::SendBuffer);
    assert_eq!(waterfall.check.verdict, CheckVerdict::Agrees, "{:?}", waterfall.check);
}

#[test]
fn a_send_buffer_that_is_too_small_for_20_ms_is_the_send_buffer_paced_or_not() {
    assert_send_buffer(ByteCount::new(65_536), Duration::from_millis(10));
}

#[test]
fn a_send_buffer_that_is_too_small_for_40_ms_is_the_send_buffer_paced_or_not() {
    assert_send_buffer(ByteCount::new(262_144), Duration::from_millis(20));
}

#[test]
fn a_send_buffer_that_is_too_small_for_100_ms_is_the_send_buffer_paced_or_not() {
    assert_send_buffer(ByteCount::new(524_288), Duration::from_millis(50));
}

fn assert_send_buffer(buffer: ByteCount, one_way: Duration) {
    let network = Network::with_delay_of(one_way);
    let buffer = buffer.get();
    network.set(&network.near, "net.ipv4.tcp_wmem", &format!("4096 {buffer} {buffer}"));
    for pacing in ["", "--pace 1Gbit/s"] {
        let waterfall =
            explained(&test(&network, &network.to_far_delayed(&format!("--time 4s --cca cubic {pacing}"))), GIGABIT);
        assert_planted(&waterfall, Cause::SendBuffer);
        assert_eq!(waterfall.check.verdict, CheckVerdict::Agrees, "{:?}", waterfall.check);
    }
}

#[test]
fn a_writer_of_as_much_as_its_buffer_holds_that_pauses_is_the_configured_rate() {
    let network = Network::with_delay();
    network.set(&network.near, "net.ipv4.tcp_wmem", "4096 262144 262144");
    let waterfall = explained(
        &test(&network, &network.to_far_delayed("--time 4s --cca cubic --rate 20Mbit/s --length 230kB")),
        GIGABIT,
    );
    assert_planted(&waterfall, Cause::ConfiguredCap);
}

#[test]
fn a_path_shaped_to_a_tenth_of_the_line_is_its_capacity() {
    let network = Network::new();
    network.within(&network.router, "tc qdisc add dev to-far root tbf rate 100mbit burst 32k limit 256k");
    let waterfall = explained(&test(&network, &network.to_far("--time 3s --cca cubic")), GIGABIT);
    assert_planted(&waterfall, Cause::PathCapacity);
    // tbf counts a frame with its header; the rate here has preamble, check sequence and gap on top: 24 of 1538 bytes.
    let rate = waterfall.observed.path_rate.unwrap().bps();
    assert!((95_000_000..=106_000_000).contains(&rate), "{rate}");
}

#[test]
fn a_paced_sender_is_the_configured_rate() {
    let network = Network::new();
    let waterfall = explained(&test(&network, &network.to_far("--time 3s --cca cubic --pace 100Mbit/s")), GIGABIT);
    assert_planted(&waterfall, Cause::ConfiguredCap);
    assert_eq!(leading(&waterfall), Reason::AskedPace);
    assert_eq!(waterfall.check.verdict, CheckVerdict::Agrees, "{:?}", waterfall.check);
}

#[test]
fn a_slow_writer_is_the_configured_rate() {
    let network = Network::new();
    let waterfall = explained(&test(&network, &network.to_far("--time 3s --cca cubic --rate 100Mbit/s")), GIGABIT);
    assert_planted(&waterfall, Cause::ConfiguredCap);
    assert_eq!(leading(&waterfall), Reason::AskedRate);
    assert_eq!(waterfall.check.verdict, CheckVerdict::Agrees, "{:?}", waterfall.check);
}

#[test]
fn a_receiver_without_processor_time_is_the_receiving_program() {
    let network = Network::alone();
    network.keep_order();
    let quota = Quota::percent(3);
    let quotas = Quotas { far: Some(&quota), near: None };
    let args = network.to_far("--time 3s --cca cubic --receive copy");
    let waterfall = explained(&test_within(&network, &quotas, &args), 10 * GIGABIT);
    assert_planted(&waterfall, Cause::ReceiverApplication);
}

#[test]
fn a_sender_without_processor_time_is_the_sending_program() {
    let network = Network::alone();
    let quota = Quota::percent(10);
    let quotas = Quotas { far: None, near: Some(&quota) };
    let args = network.to_far("--time 3s --cca cubic --send write");
    // More than any machine moves with the whole of a processor.
    let waterfall = explained(&test_within(&network, &quotas, &args), 400 * GIGABIT);
    assert_planted(&waterfall, Cause::SenderApplication);
}

/// On a busy machine cubic ends slow start where RTTs grow by an eighth (HyStart), and a receiver that seldom runs lets its window grow more
/// slowly than reno's: then congestion window or receive window is the limit, by the kernel's clock too.
#[test]
fn a_megabyte_over_a_long_path_is_start_up() {
    let network = Network::with_delay();
    network.set(&network.far, "net.ipv4.tcp_rmem", "4096 4194304 16777216");
    let waterfall = explained(&test(&network, &network.to_far_delayed("--bytes 1MB --cca reno")), GIGABIT);
    assert_planted(&waterfall, Cause::StartUp);
}

#[test]
fn random_loss_on_a_long_path_is_loss_and_recovery() {
    let network = Network::with_delay();
    network.lose(&network.far, "prerouting", "tcp");
    let waterfall = explained(&test(&network, &network.to_far_delayed("--time 3s --cca cubic")), GIGABIT);
    assert_planted(&waterfall, Cause::LossRecovery);
    assert!(waterfall.losses.episodes > 0);
    assert!(waterfall.losses.worst.windows(2).all(|pair| pair[0].lost >= pair[1].lost), "{:?}", waterfall.losses);
}

fn explained(recorded: &Recorded, line: u64) -> Waterfall {
    let line_rate = LineRate { rate: DataRate::from_bps(line), source: LineRateSource::Declared };
    let waterfall = explain(&recorded.run, &recorded.samples, line_rate).remove(0);
    let sum: u64 = waterfall.shares.iter().map(|share| share.bytes.get()).sum();
    assert_eq!(sum, waterfall.gap.get());
    println!("{}", table(&waterfall));
    waterfall
}

/// The planted cause must be the largest share, and more than half of the gap.
fn assert_planted(waterfall: &Waterfall, cause: Cause) {
    let planted = waterfall.bytes_of(cause).get();
    assert_eq!(waterfall.dominant().unwrap().cause, cause, "{}", table(waterfall));
    assert!(planted * 2 > waterfall.gap.get(), "{}", table(waterfall));
}

fn leading(waterfall: &Waterfall) -> Reason {
    waterfall.dominant().unwrap().because[0].reason
}

fn table(waterfall: &Waterfall) -> String {
    let head = format!(
        "{} delivered of {} in {:?}; {:?}\n",
        waterfall.delivered, waterfall.line, waterfall.time, waterfall.check
    );
    let line = |share: &diagnose::waterfall::Share| {
        let reasons: Vec<String> =
            share.because.iter().map(|because| format!("{:?} {}", because.reason, because.bytes)).collect();
        format!("{:5.1} % {}: {}\n", share.part_of_line_rate * 100.0, share.cause.label(), reasons.join(", "))
    };
    head + &waterfall.shares.iter().map(line).collect::<String>()
}
