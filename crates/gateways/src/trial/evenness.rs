//! How evenly a trial went.

use serde::{Deserialize, Serialize};

use crate::cluster::bounds::{bytes_per_second, small};
use crate::cluster::sampled::{Moment, Sampled};
use crate::cluster::settings::Settings;
use crate::policy::definition::FULL_CAPACITY;

/// How evenly a trial went, over a part of its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evenness {
    /// Transfers that were begun.
    pub begun: u64,
    /// The part of them that each gateway got, of 1.
    pub shares: Vec<f64>,
    /// In flight per capacity: standard deviation over mean of all gateways, averaged over time.
    pub spread_in_flight: Option<f64>,
    /// The part of all requests between two reports that the gateway with the most of them got, averaged over time. One
    /// gateway of N that is sent everything makes it 1.
    pub herd: Option<f64>,
    /// Most in flight at one gateway, per 9.6 Gbit/s.
    pub largest_in_flight: f64,
    /// Bytes that were moved, Gbit/s in the model's settings.
    pub goodput_gbit_s: f64,
}

/// A part of a trial's time, seconds from its start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// From when on.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
}

impl Evenness {
    /// Of all moments of a window; [`None`] where fewer than two are in it.
    #[must_use]
    pub fn of(sampled: &Sampled, settings: &Settings, window: Window) -> Option<Self> {
        let moments: Vec<&Moment> =
            sampled.moments.iter().filter(|moment| (window.from_s..=window.to_s).contains(&moment.at_s)).collect();
        let (first, last) = (moments.first()?, moments.last()?);
        let seconds = last.at_s - first.at_s;
        if seconds <= 0.0 {
            return None;
        }
        let begun = begun_between(first, last);
        let total: u64 = begun.iter().sum();
        let capacities: Vec<f64> = capacities(settings);
        let moved: f64 =
            last.gateways.iter().zip(&first.gateways).map(|(last, first)| last.moved_bytes - first.moved_bytes).sum();
        let per_capacity = |moment: &Moment| -> Vec<f64> {
            let each = moment.gateways.iter().zip(&capacities);
            each.map(|(gateway, capacity)| count(gateway.in_flight) * FULL_CAPACITY / capacity).collect()
        };
        Some(Self {
            begun: total,
            shares: begun.iter().map(|one| if total > 0 { count(*one) / count(total) } else { 0.0 }).collect(),
            spread_in_flight: mean(moments.iter().filter_map(|moment| spread(&per_capacity(moment)))),
            herd: herd(&moments, settings.reports.usage_s),
            largest_in_flight: moments.iter().flat_map(|moment| per_capacity(moment)).fold(0.0, f64::max),
            goodput_gbit_s: moved / seconds / bytes_per_second(1.0),
        })
    }
}

/// The part of requests in a window that one gateway got: what a gateway gets that was left out before.
#[must_use]
pub fn share_of(sampled: &Sampled, gateway: usize, window: Window) -> Option<f64> {
    let first = sampled.moments.iter().rfind(|moment| moment.at_s <= window.from_s)?;
    let last = sampled.moments.iter().rfind(|moment| moment.at_s <= window.to_s)?;
    let begun = begun_between(first, last);
    let total: u64 = begun.iter().sum();
    (total > 0).then(|| begun.get(gateway).map(|one| count(*one) / count(total)))?
}

/// What the gateways move at most, bytes per second, in the balancer's order.
#[must_use]
pub fn capacities(settings: &Settings) -> Vec<f64> {
    let classes = settings.gateways.iter();
    classes.flat_map(|class| std::iter::repeat_n(bytes_per_second(class.nic_gbit_s), class.count)).collect()
}

/// Standard deviation over mean; [`None`] where there is nothing.
#[must_use]
pub fn spread(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / small(values.len());
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / small(values.len());
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

fn begun_between(first: &Moment, last: &Moment) -> Vec<u64> {
    last.gateways.iter().zip(&first.gateways).map(|(last, first)| last.begun.saturating_sub(first.begun)).collect()
}

fn herd(moments: &[&Moment], every_s: f64) -> Option<f64> {
    let mut parts = Vec::new();
    let mut from = *moments.first()?;
    for moment in moments {
        if moment.at_s - from.at_s >= every_s {
            let begun = begun_between(from, moment);
            let total: u64 = begun.iter().sum();
            parts.extend(begun.iter().max().filter(|_| total > 0).map(|most| count(*most) / count(total)));
            from = moment;
        }
    }
    mean(parts.into_iter())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / small(values.len()))
}

#[expect(clippy::cast_precision_loss, reason = "transfers of one trial are far below 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::sampled::GatewaySample;
    use crate::cluster::settings::GatewayClass;

    fn settings() -> Settings {
        let class = |count, nic_gbit_s| GatewayClass { count, nic_gbit_s, ..GatewayClass::default() };
        Settings { gateways: vec![class(1, 4.8), class(1, 9.6)], ..Settings::default() }
    }

    fn sampled(begun: impl Fn(u64) -> [u64; 2]) -> Sampled {
        let moment = |second: u64| {
            let gateways = begun(second).map(|begun| GatewaySample { in_flight: 10, begun, moved_bytes: 0.0 }).to_vec();
            Moment { at_s: count(second), gateways }
        };
        Sampled { moments: (0..=30).map(moment).collect() }
    }

    const ALL: Window = Window { from_s: 0.0, to_s: 30.0 };

    #[test]
    fn equal_numbers_at_unequal_gateways_are_a_spread() {
        let even = Evenness::of(&sampled(|second| [second, second]), &settings(), ALL).unwrap();
        assert_eq!((even.begun, even.shares.as_slice()), (60, [0.5, 0.5].as_slice()));
        // 20 and 10 per 9.6 Gbit/s: a deviation of 5 of a mean of 15.
        assert!((even.spread_in_flight.unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((even.herd, even.largest_in_flight), (Some(0.5), 20.0));
    }

    #[test]
    fn a_herd_goes_to_one_gateway_between_two_reports_and_shares_do_not_show_it() {
        // Six seconds to one, six to the other: within each interval of 3 s one has all.
        let herd = sampled(|second| {
            let (rounds, rest) = (second / 12, second % 12);
            [rounds * 6 + rest.min(6), rounds * 6 + rest.saturating_sub(6)]
        });
        let even = Evenness::of(&herd, &settings(), Window { from_s: 0.0, to_s: 24.0 }).unwrap();
        assert_eq!((even.shares.as_slice(), even.herd), ([0.5, 0.5].as_slice(), Some(1.0)));
        assert_eq!(share_of(&herd, 1, Window { from_s: 6.0, to_s: 12.0 }), Some(1.0));
    }

    #[test]
    fn nothing_in_a_window_is_no_number() {
        let window = Window { from_s: 40.0, to_s: 50.0 };
        assert_eq!(Evenness::of(&sampled(|_| [0, 0]), &settings(), window), None);
        assert_eq!(share_of(&sampled(|_| [0, 0]), 0, ALL), None);
    }
}
