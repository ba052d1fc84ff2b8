//! What losses allow, against flows of which the cause is known.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::time::Duration;

use predict::physics::facts::{RttRange, RttSource, TcpFacts};
use predict::physics::{LossVerdict, LossWitness};
use units::DataRate;

fn facts(retransmits: u64, segments: u64, rtt_ms: u64, segment_bytes: u32) -> TcpFacts {
    let rtt = Duration::from_millis(rtt_ms);
    let rtt = RttRange { low: rtt, high: rtt, source: RttSource::Idle };
    TcpFacts { retransmits, segments, rtt, segment_bytes, streams: 1, congestion_control: Some("cubic".to_owned()) }
}

fn verdict(facts: TcpFacts, kbps: u64) -> LossVerdict {
    LossWitness::from_facts(facts, DataRate::from_bps(kbps * 1_000)).unwrap().verdict
}

#[test]
fn the_loss_of_a_long_path_explains_its_rate() {
    // 62 of 1430 segments of 8948 B over 190 ms, 1.69 Mbit/s: a measured incident.
    let witness = LossWitness::from_facts(facts(62, 1430, 190, 8948), DataRate::from_bps(1_690_000)).unwrap();
    assert_eq!(witness.verdict, LossVerdict::Explains, "{witness}");
    let (low, high) = (witness.allows.low.bps(), witness.allows.high.bps());
    assert!((1_000_000..1_690_000).contains(&low) && (1_690_000..3_500_000).contains(&high), "{witness}");
    assert!(witness.to_string().starts_with("loss of 4.3 % at an RTT of 190 ms allows 1."), "{witness}");
}

#[test]
fn few_losses_do_not_explain_a_crawl() {
    assert_eq!(verdict(facts(3, 100_000, 20, 1448), 500), LossVerdict::AllowsMore);
}

#[test]
fn more_than_losses_one_by_one_allow_is_said() {
    assert_eq!(verdict(facts(20_000, 1_000_000, 50, 1448), 900_000), LossVerdict::Exceeded);
}

#[test]
fn without_a_loss_or_with_bbr_nothing_is_said() {
    assert!(LossWitness::from_facts(facts(0, 1000, 50, 1448), DataRate::from_bps(1)).is_none());
    let bbr = TcpFacts { congestion_control: Some("bbr".to_owned()), ..facts(60, 1000, 50, 1448) };
    assert!(LossWitness::from_facts(bbr, DataRate::from_bps(1)).is_none());
}

#[test]
fn streams_and_segments_add_up() {
    let one = LossWitness::from_facts(facts(100, 10_000, 50, 1448), DataRate::from_bps(1)).unwrap();
    let eight = TcpFacts { streams: 8, ..facts(100, 10_000, 50, 1448) };
    let eight = LossWitness::from_facts(eight, DataRate::from_bps(1)).unwrap();
    let times = eight.allows.high.bps() as f64 / one.allows.high.bps() as f64;
    assert!((7.5..8.5).contains(&times), "{times}");
}
