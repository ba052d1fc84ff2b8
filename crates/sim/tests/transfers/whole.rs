//! Whatever a path does to packets, a transfer ends with every byte there, and the same seed gives the same run.

use std::time::Duration;

use crate::support::{flow, long_haul};
use path::Seed;
use sim::Algorithm;
use sim::flow::Flow;
use sim::sender::{Amount, Pacing, Writer};
use units::{ByteCount, DataRate};

const MANY: u64 = 5_000_000;

/// Paths on which much goes wrong, each in its way.
const HOSTILE: [&str; 10] = [
    r#"{ port = { rate = "1Gbit/s", queue = { bytes = "30kB" } } }, { delay = { time = "10ms" } }"#,
    r#"{ loss = { random = 0.02 } }, { delay = { time = "10ms" } }"#,
    r#"{ loss = { bursty = { to-bad = 0.001, to-good = 0.02 } } }, { delay = { time = "10ms" } }"#,
    r#"{ delay = { time = "10ms", jitter = "4ms", order = "free" } }"#,
    r#"{ reorder = { probability = 0.02, time = "3ms" } }, { delay = { time = "10ms" } }"#,
    r#"{ duplicate = { probability = 0.05 } }, { delay = { time = "10ms" } }"#,
    r#"{ corrupt = { probability = 0.01 } }, { delay = { time = "10ms" } }"#,
    r#"{ policer = { rate = "200Mbit/s", burst = "100kB" } }, { delay = { time = "10ms" } }"#,
    r#"{ port = { rate = "500Mbit/s", queue = { codel = { ecn = true } } } }, { delay = { time = "10ms" } }"#,
    r#"{ firewall = { packets-per-second = 20000, queue = { packets = 64 }, inspects = "tcp", strips-window-scale = true } }, { delay = { time = "10ms" } }"#,
];

/// What is lost on the way back as well.
const LOSSY_BACK: &str =
    r#"{ loss = { random = 0.05 } }, { duplicate = { probability = 0.05 } }, { delay = { time = "10ms" } }"#;

fn hostile(algorithm: Algorithm, there: &str) -> Flow {
    let mut flow = flow(algorithm, there, LOSSY_BACK, Amount::Bytes(ByteCount::new(MANY)));
    flow.sender.ecn = true;
    flow
}

#[test]
fn every_algorithm_brings_every_byte_over_every_path() {
    for algorithm in Algorithm::ALL {
        for there in HOSTILE {
            let outcome = hostile(algorithm, there).run().unwrap();
            assert!(outcome.finished, "{} {there}: {} of {MANY}", algorithm.name(), outcome.delivered);
            assert_eq!(outcome.delivered, ByteCount::new(MANY), "{} {there}", algorithm.name());
            let segments = MANY.div_ceil(outcome.segment.get());
            assert_eq!(outcome.sent.get(), segments, "each is sent for the first time once");
            let spent: Duration = outcome.limits.iter().map(|(_, time)| *time).sum();
            assert_eq!(spent, outcome.duration, "every instant was held by something");
        }
    }
}

#[test]
fn so_do_all_ways_of_sending() {
    let change: [fn(&mut Flow); 6] = [
        |flow| flow.sender.pacing = Pacing::Fq,
        |flow| flow.sender.pacing = Pacing::Capped(DataRate::from_bps(50_000_000)),
        |flow| flow.sender.writer = Writer::Blocks,
        |flow| flow.sender.application_rate = Some(DataRate::from_bps(80_000_000)),
        |flow| flow.sender.offload = ByteCount::new(1),
        |flow| flow.sender.adapter_rate = DataRate::from_bps(300_000_000),
    ];
    for (number, change) in change.into_iter().enumerate() {
        for algorithm in Algorithm::ALL {
            let mut flow = hostile(algorithm, HOSTILE[1]);
            change(&mut flow);
            let outcome = flow.run().unwrap();
            assert!(outcome.finished && outcome.delivered.get() == MANY, "{number} {}", algorithm.name());
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_another() {
    let run = |seed| {
        let flow = Flow { seed: Seed(seed), ..hostile(Algorithm::Bbr, HOSTILE[1]) };
        let outcome = flow.run().unwrap();
        (outcome.duration, outcome.retransmits, outcome.samples)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn without_loss_nothing_is_sent_again() {
    for algorithm in Algorithm::ALL {
        let mut flow = long_haul(209);
        flow.sender.algorithm = algorithm;
        flow.amount = Amount::Bytes(ByteCount::new(1 << 30));
        let outcome = flow.run().unwrap();
        assert!(outcome.finished);
        let events = (outcome.retransmits.get(), outcome.recoveries, outcome.timeouts, outcome.undone);
        assert_eq!(events, (0, 0, 0, 0), "{}", algorithm.name());
    }
}

#[test]
fn a_path_that_loses_everything_ends_when_patience_does() {
    let mut flow = hostile(Algorithm::Cubic, "{ loss = { random = 1.0 } }");
    flow.time_limit = Duration::from_secs(20);
    let outcome = flow.run().unwrap();
    assert!(!outcome.finished && outcome.handshake.is_none());
    assert_eq!((outcome.delivered, outcome.duration), (ByteCount::ZERO, Duration::from_secs(20)));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: fn(&mut Flow)| {
        let mut flow = hostile(Algorithm::Cubic, HOSTILE[0]);
        change(&mut flow);
        flow.run().unwrap_err().to_string()
    };
    assert_eq!(refused(|flow| flow.sender.initial_window = 0), "the initial window is zero; it has to be more");
    assert!(refused(|flow| flow.sender.mtu = units::Mtu::new(80).unwrap()).contains("no room for data"));
    assert!(refused(|flow| flow.amount = Amount::Bytes(ByteCount::new(1 << 50))).contains("more than"));
    assert!(refused(|flow| flow.sample_every = Duration::from_nanos(1)).contains("take fewer"));
}
