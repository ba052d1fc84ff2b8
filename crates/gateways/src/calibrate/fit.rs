//! From records to settings.

use super::cmsd_log::{self, Logged};
use super::summary::{self, Summary};
use super::transfers::Recorded;
use crate::cluster::bounds::{bytes_per_second, small};

/// A setting that records say.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Its name, with dots.
    pub setting: &'static str,
    /// Its value, in the unit that ends its name.
    pub value: f64,
    /// From how many records of what.
    pub from: String,
    /// How well the model's shape fits them.
    pub goodness: Goodness,
}

/// How well a shape fits records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goodness {
    /// The value is a mean or a count: there is no shape to fit.
    Measured,
    /// The largest difference of the two distributions (Kolmogorov and Smirnov), of 1.
    Distance(f64),
    /// The part of the variance that a line explains (the squared correlation), of 1.
    Explained(f64),
    /// Fewer records than [`FEWEST`].
    TooFew(usize),
}

/// The largest distance at which a fitted shape is used. With a distance of 0.1 a tenth of the files may lie elsewhere than the
/// model has them; the order of the policies did not change up to there (docs/gateways.md).
pub const LARGEST_DISTANCE: f64 = 0.1;
/// The smallest part of the variance that a line must explain to be used: below it memory follows something else than transfers.
pub const LEAST_EXPLAINED: f64 = 0.5;
/// Records below which nothing is fitted.
pub const FEWEST: usize = 30;

impl Fitted {
    /// Whether it is used.
    #[must_use]
    pub fn is_used(&self) -> bool {
        match self.goodness {
            Goodness::Measured => true,
            Goodness::Distance(distance) => distance <= LARGEST_DISTANCE,
            Goodness::Explained(part) => part >= LEAST_EXPLAINED,
            Goodness::TooFew(_) => false,
        }
    }
}

/// Sizes, remote rates and load from transfers.
#[must_use]
pub fn of_transfers(records: &[Recorded]) -> Vec<Fitted> {
    let from = format!("{} transfers", records.len());
    let one = |setting, value, goodness| Fitted { setting, value, from: from.clone(), goodness };
    if records.is_empty() {
        return Vec::new();
    }
    if records.len() < FEWEST {
        return vec![one("transfers.mean-size-gb", f64::NAN, Goodness::TooFew(records.len()))];
    }
    let sizes: Vec<f64> = records.iter().map(|record| record.bytes).collect();
    let rates: Vec<f64> = records.iter().map(Recorded::rate).collect();
    let total: f64 = sizes.iter().sum();
    let begins = records.iter().map(|record| record.began_s);
    let (first, last) = (begins.clone().fold(f64::INFINITY, f64::min), begins.fold(f64::NEG_INFINITY, f64::max));
    let (size, rate) = (Lognormal::of(&sizes), Lognormal::of(&rates));
    let (size_fit, rate_fit) = (Goodness::Distance(size.distance(&sizes)), Goodness::Distance(rate.distance(&rates)));
    let largest = sizes.iter().copied().fold(0.0, f64::max) / 1e9;
    let mean = total / small(records.len()) / 1e9;
    let mut fitted = vec![
        one("transfers.mean-size-gb", mean, Goodness::Measured),
        one("transfers.size-sigma", size.sigma, size_fit),
        one("transfers.largest-gb", largest, Goodness::Measured),
        // Transfers were as fast as gateway and remote site allowed together: a lower bound of what sites take.
        one("transfers.median-cap-mbit-s", rate.median * 8.0 / 1e6, rate_fit),
        one("transfers.cap-sigma", rate.sigma, rate_fit),
    ];
    if last > first {
        fitted.push(one(
            "transfers.offered-gbit-s",
            total / (last - first) / bytes_per_second(1.0),
            Goodness::Measured,
        ));
    }
    fitted
}

/// Load from summary monitoring: the mean of what all servers moved.
#[must_use]
pub fn of_summaries(records: &[Summary]) -> Vec<Fitted> {
    let mut of_server: std::collections::BTreeMap<&str, Vec<&Summary>> = std::collections::BTreeMap::new();
    for record in records {
        of_server.entry(&record.source).or_default().push(record);
    }
    let mean = |records: &Vec<&Summary>| {
        let rates: Vec<f64> = records.windows(2).filter_map(|pair| summary::rate(pair[0], pair[1])).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / small(rates.len()))
    };
    let means: Vec<f64> = of_server.values().filter_map(mean).collect();
    if means.is_empty() {
        return Vec::new();
    }
    let from = format!("{} documents of {} servers", records.len(), of_server.len());
    let value = means.iter().sum::<f64>() / bytes_per_second(1.0);
    vec![Fitted { setting: "transfers.offered-gbit-s", value, from, goodness: Goodness::Measured }]
}

/// The time between reports from the manager's log.
#[must_use]
pub fn of_log(records: &[Logged]) -> Vec<Fitted> {
    let Some(interval) = cmsd_log::usual_interval(records).and_then(|interval| u32::try_from(interval).ok()) else {
        return Vec::new();
    };
    let from = format!(
        "{} lines; `cms.ping ... log N` writes every N + 1st report, so this is the longest it can be",
        records.len()
    );
    vec![Fitted { setting: "reports.usage-s", value: f64::from(interval).max(3.0), from, goodness: Goodness::Measured }]
}

/// A logarithmic normal distribution.
struct Lognormal {
    median: f64,
    sigma: f64,
}

impl Lognormal {
    /// By the moments of the logarithms.
    fn of(values: &[f64]) -> Self {
        let count = small(values.len());
        let mean = values.iter().map(|value| value.ln()).sum::<f64>() / count;
        let variance = values.iter().map(|value| (value.ln() - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Self { median: mean.exp(), sigma: variance.sqrt() }
    }

    /// The largest difference of its distribution function and that of the values.
    fn distance(&self, values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = small(sorted.len());
        let mut largest = 0.0_f64;
        for (at, value) in sorted.iter().enumerate() {
            let standard = if self.sigma > 0.0 { (value / self.median).ln() / self.sigma } else { 0.0 };
            let expected = if self.sigma > 0.0 { normal(standard) } else { 0.5 };
            let (below, upto) = (small(at) / count, small(at + 1) / count);
            largest = largest.max((expected - below).abs()).max((expected - upto).abs());
        }
        largest
    }
}

/// The standard normal distribution function (Abramowitz and Stegun 26.2.17, error below 1e-7).
fn normal(x: f64) -> f64 {
    const B: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let tail = B.iter().rev().fold(0.0, |sum, b| (sum + b) * t) * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if x > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::load::Draws;
    use path::Seed;

    fn recorded(size: impl Fn(&mut Draws) -> f64) -> Vec<Recorded> {
        let mut draws = Draws::new(Seed(9));
        let one = |at: u32| {
            let (bytes, rate) = (size(&mut draws), 60e6 * draws.lognormal(1.0));
            Recorded { bytes, began_s: f64::from(at) * 2.0, took_s: bytes / rate }
        };
        (0..4000).map(one).collect()
    }

    #[test]
    fn what_was_drawn_is_found_again_and_fits() {
        let fitted = of_transfers(&recorded(|draws| 2e9 * draws.lognormal(0.8)));
        let value = |name: &str| fitted.iter().find(|one| one.setting == name).unwrap();
        assert!((value("transfers.size-sigma").value - 0.8).abs() < 0.05);
        assert!((value("transfers.median-cap-mbit-s").value / 480.0 - 1.0).abs() < 0.06);
        // The mean of exp(0.8 z) is exp(0.32).
        assert!((value("transfers.mean-size-gb").value / (2.0 * 0.32_f64.exp()) - 1.0).abs() < 0.06);
        assert!(fitted.iter().all(Fitted::is_used), "{fitted:?}");
    }

    #[test]
    fn two_sizes_are_no_logarithmic_normal_distribution_and_are_not_used() {
        let fitted = of_transfers(&recorded(|draws| if draws.unit() < 0.5 { 1e6 } else { 1e10 }));
        let sigma = fitted.iter().find(|one| one.setting == "transfers.size-sigma").unwrap();
        assert!(!sigma.is_used(), "{sigma:?}");
        assert!(!of_transfers(&recorded(|_| 1e9)[..10])[0].is_used());
    }

    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        for (x, expected) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.959_964, 0.025), (3.0, 0.998_650_1)] {
            assert!((normal(x) - expected).abs() < 1e-6, "{x}");
        }
    }
}
