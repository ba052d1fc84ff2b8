//! Losses, marks and their repair, against what the rules say.

use std::time::Duration;

use crate::support::{flow, sample};
use sim::flow::Flow;
use sim::sender::Amount;
use sim::{Algorithm, Kernel};
use units::ByteCount;

const BACK: &str = r#"{ delay = { time = "50ms" } }"#;

/// One packet of a transfer is lost, after slow start has ended.
fn one_loss(algorithm: Algorithm, ecn: bool) -> Flow {
    let there = r#"{ port = { rate = "1Gbit/s", queue = { bytes = "100MB" } } }, { loss = { every-nth = 30000 } }, { delay = { time = "50ms" } }"#;
    let mut flow = flow(algorithm, there, BACK, Amount::Bytes(ByteCount::new(50_000 * 1_448)));
    flow.sender.ecn = ecn;
    flow.sample_every = Duration::from_millis(10);
    flow
}

#[test]
fn one_loss_costs_one_segment_and_one_reduction() {
    for algorithm in Algorithm::ALL {
        let outcome = one_loss(algorithm, false).run().unwrap();
        let events = (outcome.retransmits.get(), outcome.recoveries, outcome.timeouts, outcome.undone);
        assert_eq!(events, (1, 1, 0, 0), "{}", algorithm.name());
    }
}

/// Loses everything for two short times an RTT apart: a few segments, and then their retransmissions together with what is sent for
/// the first time beside them. When what was missing first has arrived, the later losses are known and their retransmissions still on
/// their way.
fn losses_within_a_recovery(algorithm: Algorithm) -> Flow {
    let there = r#"{ loss = { random = 1.0 } }, { loss = { random = 1.0 } }, { delay = { time = "50ms" } }"#;
    let mut flow = flow(algorithm, there, BACK, Amount::Time(Duration::from_secs(6)));
    flow.sender.pacing = sim::sender::Pacing::Capped(units::DataRate::from_bps(100_000_000));
    let between = |from_us: u64, until_us: u64| {
        let at = |us: u64| units::MonoTime::from_nanos(us * 1_000);
        Some(path::Span { from: at(from_us), until: Some(at(until_us)) })
    };
    flow.forward[0].during = between(3_000_000, 3_001_000);
    flow.forward[1].during = between(3_099_000, 3_110_000);
    flow
}

/// Linux reduces once for each window that something is lost of: what was first sent in a recovery and lost then begins the next one,
/// at once when the first ends (`tcp_time_to_recover` asks for what is held to be lost, not for what has just been found).
#[test]
fn losses_of_what_was_sent_in_a_recovery_are_a_second_reduction() {
    for algorithm in [Algorithm::Reno, Algorithm::Cubic, Algorithm::Htcp] {
        let outcome = losses_within_a_recovery(algorithm).run().unwrap();
        assert!(outcome.retransmits.get() > 10, "{}: {}", algorithm.name(), outcome.retransmits);
        assert_eq!((outcome.recoveries, outcome.timeouts), (2, 0), "{}", algorithm.name());
    }
}

/// A recovery that is not allowed to send what it was kept from sending before needs longer for the same bytes: before 5.14 that is
/// what acknowledgements do that are not of retransmissions.
#[test]
fn a_recovery_below_ssthresh_sends_less_before_5_14() {
    let run = |kernel: Kernel, lost_ms: u64| {
        let there = r#"{ loss = { random = 1.0 } }, { port = { rate = "200Mbit/s", queue = { bytes = "10MB" } } }, { delay = { time = "50ms" } }"#;
        let mut flow = flow(Algorithm::Cubic, there, BACK, Amount::Bytes(ByteCount::new(100_000_000)));
        flow.sender.kernel = kernel;
        flow.sender.pacing = sim::sender::Pacing::Fq;
        let at = |ms: u64| units::MonoTime::from_nanos(ms * 1_000_000);
        flow.forward[0].during = Some(path::Span { from: at(2_000), until: Some(at(2_000 + lost_ms)) });
        let outcome = flow.run().unwrap();
        assert!(outcome.retransmits.get() > 100, "{}", outcome.retransmits);
        outcome.duration
    };
    let took: Vec<_> = [30, 60, 80].map(|lost| [Kernel::V5_10, Kernel::V6_1].map(|kernel| run(kernel, lost))).to_vec();
    assert!(took.iter().all(|[before, since]| before >= since) && took.iter().any(|[a, b]| a > b), "{took:?}");
}

/// The window after it: a half (RFC 5681), 0.7 (RFC 9438), a half for the first reduction of H-TCP.
#[test]
fn a_reduction_leaves_what_the_algorithm_says() {
    for (algorithm, share) in [(Algorithm::Reno, 0.5), (Algorithm::Cubic, 0.7), (Algorithm::Htcp, 0.5)] {
        let outcome = one_loss(algorithm, false).run().unwrap();
        let at = outcome.samples.iter().position(|sample| sample.retransmits.get() > 0).unwrap();
        let (before, after) = (outcome.samples[at - 1], outcome.samples[at]);
        let threshold = f64::from(u32::try_from(after.ssthresh.unwrap().get()).unwrap());
        // Between two samples the window grows by a third of a percent of itself in avoidance, or by a tenth in slow start.
        let window = f64::from(u32::try_from(before.cwnd.get()).unwrap());
        let found = threshold / window;
        assert!(found >= share * 0.99 && found <= share * 1.2, "{}: {found}", algorithm.name());
    }
}

/// RFC 6298: the last segment and all probes of it are lost, so that only the timer is left; it doubles.
#[test]
fn a_path_that_goes_dead_is_tried_again_after_doubling_times() {
    let mut there = crate::support::stages(r#"{ delay = { time = "50ms" } }, { loss = { random = 1.0 } }"#);
    let second = |seconds: u64| units::MonoTime::from_nanos(seconds * 1_000_000_000);
    there[1].during = Some(path::Span { from: second(2), until: Some(second(6)) });
    let mut flow =
        flow(Algorithm::Cubic, r#"{ delay = { time = "50ms" } }"#, BACK, Amount::Time(Duration::from_secs(20)));
    flow.forward = there;
    flow.receiver.buffer = ByteCount::new(1 << 20);
    let outcome = flow.run().unwrap();
    // 0.3 s after the last acknowledgement, and 0.6, 1.2, 2.4 s after each other: four within the four seconds.
    assert!((3..=5).contains(&outcome.timeouts), "{}", outcome.timeouts);
    let (dead, alive) = (sample(&outcome, Duration::from_secs(5)), sample(&outcome, Duration::from_secs(19)));
    assert_eq!(dead.acked, sample(&outcome, Duration::from_secs(3)).acked);
    assert!(alive.acked.get() > dead.acked.get() + 10_000_000, "it goes on: {} after {}", alive.acked, dead.acked);
}

/// The last segment of a transfer has nothing behind it that would tell of its loss: a probe does (RFC 8985 §7), long
/// before the timer would.
#[test]
fn a_lost_tail_is_probed() {
    let there = r#"{ loss = { every-nth = 5001 } }, { delay = { time = "50ms" } }"#;
    // One packet is the handshake's.
    let outcome = flow(Algorithm::Cubic, there, BACK, Amount::Bytes(ByteCount::new(5_000 * 1_448))).run().unwrap();
    assert!(outcome.finished);
    assert_eq!((outcome.probes, outcome.timeouts, outcome.retransmits.get()), (1, 0, 1));
}

/// Marks make the window shrink, and nothing is sent again (RFC 3168).
#[test]
fn marks_shrink_the_window_without_a_loss() {
    let there = r#"{ port = { rate = "1Gbit/s", queue = { bytes = "100MB", mark-above = "1MB" } } }, { delay = { time = "50ms" } }"#;
    for algorithm in [Algorithm::Reno, Algorithm::Cubic, Algorithm::Htcp] {
        let mut flow = flow(algorithm, there, BACK, Amount::Time(Duration::from_secs(20)));
        flow.sender.ecn = true;
        let outcome = flow.run().unwrap();
        assert!(outcome.mark_reductions >= 1, "{}", algorithm.name());
        assert_eq!((outcome.retransmits.get(), outcome.recoveries), (0, 0), "{}", algorithm.name());
    }
}

/// Packets overtake each other by less than a quarter of a round trip: after the first needless repair nothing more is
/// taken for lost (RFC 8985 §6.2).
#[test]
fn packets_that_are_late_are_not_taken_for_lost_for_long() {
    let there = r#"{ reorder = { every-nth = 1000, time = "5ms" } }, { delay = { time = "50ms" } }"#;
    let mut flow = flow(Algorithm::Cubic, there, BACK, Amount::Time(Duration::from_secs(20)));
    flow.sender.buffer = ByteCount::new(16 << 20);
    let outcome = flow.run().unwrap();
    assert!(outcome.sent.get() > 100_000, "{}", outcome.sent);
    assert!(outcome.retransmits.get() <= 10, "{} of {}", outcome.retransmits, outcome.sent);
    assert_eq!(outcome.timeouts, 0);
}

/// A burst at the rate of the link meets a transfer whose frames come as fast: while one comes, twice as much comes as
/// leaves, so that half of what is sent in one round trip is lost, and not what its share of the whole would be. The queue
/// takes 20 MB of some 700; a tenth is for that, and for what is sent meanwhile in place of what arrives.
#[test]
fn a_burst_at_the_rate_of_the_link_costs_half_of_what_is_sent_meanwhile() {
    let mut flow = crate::support::long_haul(209);
    let half = r#"{ delay = { time = "104500us" } }"#;
    flow.forward = crate::support::stages(&format!(
        r#"{{ port = {{ rate = "100Gbit/s", queue = {{ bytes = "20MB" }}, cross = {{ bursts = [{{ rate = "100Gbit/s", start = "4s", length = "209ms" }}] }} }} }}, {half}"#
    ));
    let outcome = flow.run().unwrap();
    let window = outcome.max_outstanding.get() / outcome.segment.get();
    let lost = outcome.retransmits.get();
    assert!(lost * 10 >= window * 4 && lost * 10 <= window * 6, "{lost} of {window}");
    assert_eq!((outcome.recoveries, outcome.timeouts), (1, 0));
}

/// Where retransmissions and acknowledgements are lost as well, a segment may have been sent last after the latest that has arrived was:
/// no timer is set to a time that is over, for which a simulation would never end.
#[test]
fn heavy_losses_come_to_an_end() {
    const LOSSY: &str =
        r#"{ port = { rate = "500Mbit/s" } }, { loss = { random = 0.18 } }, { delay = { time = "45ms" } }"#;
    const LATE: &str = r#"{ port = { rate = "100Mbit/s" } }, { reorder = { probability = 0.09, time = "28ms" } }, { delay = { time = "500us" } }"#;
    for (algorithm, path) in Algorithm::ALL.into_iter().flat_map(|algorithm| [(algorithm, LOSSY), (algorithm, LATE)]) {
        for seed in 1..=10 {
            let mut flow = flow(algorithm, path, path, Amount::Time(Duration::from_secs(4)));
            flow.seed = path::Seed(seed);
            let mut run = sim::flow::Run::new(&flow).unwrap();
            let ends = run.go_on_within(units::PacketCount::new(u64::MAX), 20_000_000);
            assert!(ends, "{}, seed {seed}: {path}", algorithm.name());
        }
    }
}
