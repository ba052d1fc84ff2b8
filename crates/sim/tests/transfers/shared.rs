//! Several transfers over one path.

use std::time::Duration;

use crate::support::flow;
use sim::Algorithm;
use sim::flow::{Flow, Outcome, Run};
use sim::sender::Amount;
use sim::shared::{Shared, Transfer};
use units::{ByteCount, PacketCount};

/// A queue of one product of rate and round trip.
const THERE: &str = r#"{ port = { rate = "100Mbit/s", queue = { bytes = "250kB" } } }, { delay = { time = "10ms" } }"#;
const BACK: &str = r#"{ delay = { time = "10ms" } }"#;

/// Transfers that begin one after the other, and last for so long each.
fn shared(transfers: &[(Algorithm, Duration)], lasts: Duration) -> Shared {
    let transfer = |algorithm, start| {
        let Flow { sender, receiver, amount, .. } = flow(algorithm, THERE, BACK, Amount::Time(lasts));
        Transfer { sender, receiver, amount, start }
    };
    let one = flow(Algorithm::Reno, THERE, BACK, Amount::Time(lasts));
    Shared {
        forward: one.forward,
        reverse: one.reverse,
        transfers: transfers.iter().map(|(algorithm, start)| transfer(*algorithm, *start)).collect(),
        seed: one.seed,
        time_limit: one.time_limit,
        sample_every: one.sample_every,
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Goodput of each in Mbit/s while all of them sent.
fn rates(shared: &Shared, outcomes: &[Outcome]) -> Vec<f64> {
    let together = shared.together(outcomes).unwrap();
    together.rates.iter().map(|rate| f64::from(u32::try_from(rate.bps() / 1_000).unwrap()) / 1e3).collect()
}

/// Chiu and Jain 1989: additive increase and multiplicative decrease lead to equal shares, whoever came first.
#[test]
fn transfers_by_reno_share_a_link() {
    let start = |number: u64| seconds(number * 5);
    for count in [2, 4] {
        let transfers: Vec<_> = (0..count).map(|number| (Algorithm::Reno, start(number))).collect();
        let shared = shared(&transfers, seconds(200));
        let outcomes = shared.run().unwrap();
        let together = shared.together(&outcomes).unwrap();
        assert!(together.fairness() > 0.95, "{together:?}");
        let sum: f64 = rates(&shared, &outcomes).iter().sum();
        assert!((90.0..=95.7).contains(&sum), "{sum} Mbit/s of 95.7 for payload");
    }
}

/// BBR version 1 keeps two products in flight, whatever is lost, and CUBIC leaves room after each loss: in a small queue
/// little is left to CUBIC (Hock, Bless, Zitterbart 2017). Version 3 heeds losses, and leaves it more.
#[test]
fn version_3_of_bbr_leaves_cubic_more_than_version_1() {
    let left = |bbr| {
        let shared = shared(&[(Algorithm::Cubic, seconds(0)), (bbr, seconds(2))], seconds(60));
        let rates = rates(&shared, &shared.run().unwrap());
        rates[0] / (rates[0] + rates[1])
    };
    let (beside_first, beside_third) = (left(Algorithm::Bbr), left(Algorithm::Bbr3));
    assert!(beside_first < 0.5, "{beside_first} of the link");
    assert!(beside_third > beside_first, "{beside_third} of the link beside version 3, {beside_first} beside 1");
}

#[test]
fn the_first_of_several_does_what_it_does_alone_until_the_second_comes() {
    let late = shared(&[(Algorithm::Cubic, seconds(0)), (Algorithm::Bbr, seconds(5))], seconds(10));
    let both = late.run().unwrap();
    let alone = flow(Algorithm::Cubic, THERE, BACK, Amount::Time(seconds(10))).run().unwrap();
    let before = |outcome: &Outcome| outcome.samples.iter().filter(|sample| sample.at < seconds(4)).count();
    let count = before(&alone);
    assert_eq!(before(&both[0]), count);
    assert_eq!(both[0].samples[..count], alone.samples[..count]);
    assert!(both[0].delivered < alone.delivered, "{} of {}", both[0].delivered, alone.delivered);
}

/// Each ends by its own rule: one after its bytes, one after its time; and what has ended leaves the link to the rest.
#[test]
fn each_ends_for_itself() {
    let mut shared = shared(&[(Algorithm::Cubic, seconds(0)), (Algorithm::Cubic, seconds(0))], seconds(20));
    shared.transfers[0].amount = Amount::Bytes(ByteCount::new(30_000_000));
    let outcomes = shared.run().unwrap();
    assert_eq!((outcomes[0].finished, outcomes[0].delivered.get()), (true, 30_000_000));
    assert!(outcomes[0].duration < seconds(20), "{:?}", outcomes[0].duration);
    assert_eq!((outcomes[1].finished, outcomes[1].duration), (true, seconds(20)));
    let carried = 95.7e6 / 8.0 * 20.0;
    let rest = f64::from(u32::try_from(outcomes[1].delivered.get()).unwrap());
    assert!(rest > 0.85 * (carried - 30e6), "{rest} of {}", carried - 30e6);
}

#[test]
fn the_same_seed_gives_the_same_shares() {
    let mix = [Algorithm::Bbr, Algorithm::Cubic, Algorithm::Bbr3, Algorithm::Htcp].map(|each| (each, seconds(0)));
    let run = || {
        let outcomes = shared(&mix, seconds(10)).run().unwrap();
        outcomes
            .into_iter()
            .map(|outcome| (outcome.delivered, outcome.retransmits, outcome.samples))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn no_segment_costs_an_allocation_with_several_either() {
    let shared = shared(&[(Algorithm::Cubic, seconds(0)), (Algorithm::Bbr3, seconds(0))], seconds(60));
    let mut run = Run::shared(&shared).unwrap();
    run.go_on_until(PacketCount::new(60_000));
    let allocated = allocation_counter::measure(|| run.go_on_until(PacketCount::new(80_000)));
    assert_eq!(allocated.count_total, 0, "{allocated:?}");
}

#[test]
fn no_transfers_are_refused() {
    let refused = shared(&[], seconds(10)).run().unwrap_err();
    assert_eq!(refused.to_string(), "0 transfers; there have to be 1 to 1000");
}
