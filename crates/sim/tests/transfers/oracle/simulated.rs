//! The same transfers in the simulator: the median over seeds, and how far the seeds are apart.

use sim::flow::Outcome;

use super::case::Case;
use super::kernel::Seen;

/// Smallest, median and largest over the seeds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

pub(crate) struct Simulated {
    pub(crate) bytes: Spread,
    pub(crate) retransmits: Spread,
    /// When as much was received as the kernel had at a tenth of its whole, in seconds.
    pub(crate) ramp: Spread,
}

/// Seeds where losses are drawn: a kernel that draws like them is beyond all of them in 2 of 42 cases.
const DRAWS: u64 = 41;
/// How much of what the kernel transferred ends the ramp-up.
pub(crate) const RAMP: f64 = 0.1;

pub(crate) fn run(case: &Case, seen: &Seen) -> Simulated {
    let seeds = match (case.is_random(), case.algorithm()) {
        (true, _) => DRAWS,
        (false, "bbr") => 5,
        _ => 1,
    };
    let (mut bytes, mut retransmits, mut ramp) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 1..=seeds {
        let outcomes = case.transfers(seed).run().unwrap();
        if std::env::var("ORACLE_SERIES").is_ok() && seed == 1 {
            series(&outcomes[0]);
        }
        bytes.push(outcomes.iter().map(|outcome| outcome.delivered.get() as f64).sum());
        retransmits.push(outcomes.iter().map(|outcome| outcome.retransmits.get() as f64).sum());
        ramp.push(when(&outcomes, seen.bytes() * RAMP) - case.rtt().as_secs_f64());
    }
    Simulated { bytes: spread(bytes), retransmits: spread(retransmits), ramp: spread(ramp) }
}

/// When the sender knew that so much had arrived, in seconds.
fn when(outcomes: &[Outcome], bytes: f64) -> f64 {
    let (mut before, mut at_before) = (0.0, 0.0);
    let samples = outcomes.iter().map(|outcome| outcome.samples.len()).min().unwrap_or(0);
    for index in 0..samples {
        let sum: f64 = outcomes.iter().map(|outcome| outcome.samples[index].acked.get() as f64).sum();
        let at = outcomes[0].samples[index].at.as_secs_f64();
        if sum >= bytes {
            return at_before + (at - at_before) * (bytes - before) / (sum - before);
        }
        (before, at_before) = (sum, at);
    }
    at_before
}

fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    Spread { least: values[0], median: values[values.len() / 2], most: values[values.len() - 1] }
}

/// The states of a transfer, for who looks for the cause of a difference (`ORACLE_ONLY=NAME ORACLE_SERIES=1`).
fn series(outcome: &Outcome) {
    for sample in outcome.samples.iter().step_by(2) {
        println!(
            "{:>8.3} acked {:>9} cwnd {:>8} in flight {:>8} rtt {:>6.1} retransmits {:>4} buffer {:>8} offered {:>9} {}",
            sample.at.as_secs_f64(),
            sample.acked.get(),
            sample.cwnd.get(),
            sample.in_flight.get(),
            sample.rtt.as_secs_f64() * 1e3,
            sample.retransmits,
            sample.send_buffer.get(),
            sample.offered.get(),
            sample.limit.name()
        );
    }
    println!("{outcome:?}", outcome = Outcome { samples: Vec::new(), ..outcome.clone() });
}
