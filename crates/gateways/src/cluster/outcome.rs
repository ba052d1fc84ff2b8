//! What came of a run.

use serde::Serialize;
use stats::summary::Ordered;

use super::bounds::{bytes_per_second, small};
use super::gateway::Gateway;
use super::load::Links;
use super::settings::Settings;

/// What is counted while a cluster runs.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Bytes of whole files.
    pub(super) delivered: f64,
    /// How long each transfer took, seconds.
    pub(super) transfers: Vec<f64>,
    pub(super) failed: u64,
    pub(super) refused: u64,
    pub(super) waited: u64,
    pub(super) restarts: u64,
    /// How long each deletion took, seconds.
    pub(super) deletions: Vec<f64>,
    pub(super) deletions_failed: u64,
    pub(super) tests: u64,
    pub(super) tests_failed: u64,
    spread_in_flight: f64,
    spread_rate: f64,
    measured: u64,
    largest_in_flight: f64,
    largest_memory: f64,
}

impl Counts {
    /// The warm-up goes on: what it counted is not part of the outcome, but what it delivered is.
    pub(super) fn forget(&mut self) {
        *self = Self { delivered: self.delivered, ..Self::default() };
    }

    pub(super) fn measure(&mut self, gateways: &[&Gateway]) {
        let full = crate::policy::definition::FULL_CAPACITY;
        let per_capacity = |gateway: &&Gateway| small(gateway.sensors().in_flight) * full / gateway.sensors().capacity;
        let in_flight: Vec<f64> = gateways.iter().map(per_capacity).collect();
        let rates: Vec<f64> = gateways.iter().map(|gateway| gateway.rate() / gateway.sensors().capacity).collect();
        let (Some(spread), Some(rate)) = (spread(&in_flight), spread(&rates)) else { return };
        self.spread_in_flight += spread;
        self.spread_rate += rate;
        self.measured += 1;
        self.largest_in_flight = in_flight.into_iter().fold(self.largest_in_flight, f64::max);
        let memory = gateways.iter().map(|gateway| gateway.sensors().memory);
        self.largest_memory = memory.fold(self.largest_memory, f64::max);
    }
}

/// Standard deviation over mean; [`None`] where there is nothing.
fn spread(values: &[f64]) -> Option<f64> {
    let count = small(values.len());
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

/// What came of a run. Shares are parts of 1; a missing number could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Bytes of whole files that were delivered, Gbit/s. Over the whole run: where the warm-up were left out, who has more in
    /// flight at its end would have the larger number.
    pub goodput_gbit_s: f64,
    /// What was offered, as a part of what all NICs move.
    pub utilisation: f64,
    /// In flight per capacity: standard deviation over mean of all gateways, averaged over time.
    pub spread_in_flight: Option<f64>,
    /// The same of NIC utilisation.
    pub spread_rate: Option<f64>,
    /// Most in flight at one gateway, per 9.6 Gbit/s.
    pub largest_in_flight: f64,
    /// Most memory at one gateway, of its limit.
    pub largest_memory: f64,
    /// Restarts at the memory limit.
    pub restarts: u64,
    /// Median time of a transfer, seconds.
    pub transfer_p50_s: Option<f64>,
    /// Its 99th percentile.
    pub transfer_p99_s: Option<f64>,
    /// Transfers that failed, of all that were begun.
    pub transfers_failed: Option<f64>,
    /// Files that were tried as often as allowed, and failed.
    pub lost: u64,
    /// Clients that were made to wait, and those that a full gateway refused.
    pub waited: u64,
    /// Requests that a full gateway refused.
    pub refused: u64,
    /// Files that wait at the end, as seconds of offered load.
    pub backlog_s: f64,
    /// Median time of a deletion, seconds.
    pub deletion_p50_s: Option<f64>,
    /// Its 95th percentile.
    pub deletion_p95_s: Option<f64>,
    /// That, relative to idle gateways.
    pub deletion_p95_ratio: Option<f64>,
    /// Deletions that timed out, of all.
    pub deletions_failed: Option<f64>,
    /// Functional tests that failed, of all.
    pub tests_failed: Option<f64>,
}

impl Outcome {
    pub(super) fn new(settings: &Settings, counts: &Counts, links: &Links) -> Self {
        let seconds = settings.hours * 3600.0;
        let transfers = Ordered::new(counts.transfers.clone());
        let deletions = Ordered::new(counts.deletions.clone());
        let share = |part: u64, of: u64| (of > 0).then(|| count(part) / count(of));
        let measured = |sum: f64| (counts.measured > 0).then(|| sum / count(counts.measured));
        let deletion_p95_s = deletions.quantile(0.95);
        let jobs = &settings.small_jobs;
        let unloaded = jobs.deletion_s * (NORMAL_P95 * jobs.deletion_sigma).exp();
        let begun = counts.transfers.len() as u64 + counts.failed + counts.refused;
        Self {
            goodput_gbit_s: counts.delivered / seconds / bytes_per_second(1.0),
            utilisation: settings.utilisation(),
            spread_in_flight: measured(counts.spread_in_flight),
            spread_rate: measured(counts.spread_rate),
            largest_in_flight: counts.largest_in_flight,
            largest_memory: counts.largest_memory / 100.0,
            restarts: counts.restarts,
            transfer_p50_s: transfers.quantile(0.5),
            transfer_p99_s: transfers.quantile(0.99),
            transfers_failed: share(counts.failed + counts.refused, begun),
            lost: links.counts.lost,
            waited: counts.waited,
            refused: counts.refused,
            backlog_s: links.backlog_s(),
            deletion_p50_s: deletions.quantile(0.5),
            deletion_p95_s,
            deletion_p95_ratio: deletion_p95_s.map(|p95| p95 / unloaded),
            deletions_failed: share(counts.deletions_failed, counts.deletions.len() as u64),
            tests_failed: share(counts.tests_failed, counts.tests),
        }
    }
}

/// The 95th percentile of a standard normal number.
const NORMAL_P95: f64 = 1.644_853_626_951_472_7;

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}

/// What each gateway had in flight over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    /// Moments, seconds.
    pub at_s: Vec<f64>,
    /// For each gateway, at each moment.
    pub gateways: Vec<GatewayTrace>,
}

/// What one gateway had over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GatewayTrace {
    /// Transfers in flight.
    pub in_flight: Vec<f64>,
    /// Rate, Gbit/s.
    pub rate_gbit_s: Vec<f64>,
    /// Memory, of its limit.
    pub memory: Vec<f64>,
    /// When it was restarted, seconds.
    pub restarts_s: Vec<f64>,
}

/// How often a trace is taken, seconds.
const TRACED_EVERY_S: f64 = 60.0;

impl Trace {
    pub(super) fn take<'a>(&mut self, at_s: f64, gateways: impl Iterator<Item = (&'a Gateway, f64)>) {
        let is_due = self.at_s.last().is_none_or(|last| at_s - last >= TRACED_EVERY_S);
        if is_due {
            self.at_s.push(at_s);
        }
        for (at, (gateway, down_until_s)) in gateways.enumerate() {
            if self.gateways.len() == at {
                self.gateways.push(GatewayTrace::default());
            }
            let trace = &mut self.gateways[at];
            let began_s = down_until_s - gateway.restart_s();
            if began_s.is_finite() && trace.restarts_s.last() != Some(&began_s) {
                trace.restarts_s.push(began_s);
            }
            if is_due {
                trace.in_flight.push(small(gateway.transfers()));
                trace.rate_gbit_s.push(gateway.rate() / bytes_per_second(1.0));
                trace.memory.push(gateway.sensors().memory / 100.0);
            }
        }
    }
}
