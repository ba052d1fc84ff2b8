//! Whether queues that let packets out in larger groups change what comes of a transfer: not by more than seeds do.

use std::time::Duration;

use crate::support::{flow, is_within};
use path::Grain;
use sim::Algorithm;
use sim::flow::{Flow, Outcome, Run};
use sim::sender::Amount;

/// The transfer as it is, and in grains of a 64th of its RTT.
#[expect(clippy::unwrap_used, reason = "a path that cannot be fails the test")]
fn both(flow: &Flow, rtt: Duration) -> [Outcome; 2] {
    let mut coarse = Run::new(flow).unwrap();
    coarse.coarsen(Grain { together: rtt / 64 });
    coarse.go_on();
    [flow.run().unwrap(), coarse.outcome()]
}

/// Eight seconds over a bottleneck, a delay in each direction and whatever else stands there.
fn transfer(bottleneck: &str, besides: &str, millis: u64) -> Flow {
    let half = format!("{{ delay = {{ time = \"{}us\" }} }}", millis * 500);
    let there = format!("{{ port = {{ {bottleneck} }} }}, {half}{besides}");
    flow(Algorithm::Cubic, &there, &half, Amount::Time(Duration::from_secs(8)))
}

#[expect(clippy::cast_precision_loss, reason = "bytes and packets of seconds")]
fn compared(flow: &Flow, millis: u64) -> (f64, f64, f64, bool) {
    let [exact, coarse] = both(flow, Duration::from_millis(millis));
    let rate = |outcome: &Outcome| outcome.delivered.get() as f64;
    let again = |outcome: &Outcome| outcome.retransmits.get() as f64;
    (rate(&coarse) / rate(&exact), again(&exact), again(&coarse), coarse.steps < exact.steps)
}

/// Goodput within 5 %, which is what other seeds and other starts of the same path make. How many segments an overflow takes depends on
/// how they come behind each other when the queue is full: within a factor of 2.
#[test]
fn a_full_queue_loses_as_many_and_delivers_as_much() {
    for (rate, queue, millis) in [("100Mbit/s", "500kB", 40), ("500Mbit/s", "1MB", 20), ("1Gbit/s", "250kB", 2)] {
        let flow = transfer(&format!("rate = \"{rate}\", queue = {{ bytes = \"{queue}\" }}"), "", millis);
        let (part, exact, coarse, is_cheaper) = compared(&flow, millis);
        assert!(is_within(0.05, part, 1.0), "{rate}: {part} of the exact goodput");
        let is_alike = coarse <= 2.0 * exact && exact <= 2.0 * coarse;
        assert!(is_alike, "{rate}: {coarse} retransmits, {exact} exactly");
        assert!(is_cheaper, "{rate}: it takes as many steps");
    }
}

/// Where single packets vanish the rate is what loss allows: within 15 %, as it is from one seed to the next.
#[test]
fn random_loss_costs_as_much() {
    let queue = "rate = \"500Mbit/s\", queue = { bytes = \"2MB\" }";
    let flow = transfer(queue, ", { loss = { random = 0.001 } }", 20);
    let (part, exact, coarse, _) = compared(&flow, 20);
    assert!(is_within(0.15, part, 1.0), "{part} of the exact goodput");
    assert!(is_within(0.3, coarse, exact), "{coarse} retransmits, {exact} exactly");
}
