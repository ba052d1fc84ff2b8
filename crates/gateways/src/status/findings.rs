//! What is wrong with gateways, by the names of docs/gateways.md.

use serde::{Deserialize, Serialize};

use super::history::{Between, History};
use crate::cluster::bounds::small;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its name in the table of docs/gateways.md: herd, catch-up, slow gateway, memory, deletions.
    pub cause: String,
    /// The gateway; absent where it is of all of them.
    pub gateway: Option<String>,
    /// What was seen, with its numbers.
    pub evidence: String,
}

/// Everything that is wrong with these gateways.
#[must_use]
pub fn of(histories: &[History]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = herd(histories).into_iter().collect();
    findings.extend(catch_up(histories));
    findings.extend(slow(histories));
    findings.extend(histories.iter().filter_map(memory));
    findings.extend(deletions(histories));
    findings
}

fn finding(cause: &str, gateway: Option<&str>, evidence: String) -> Finding {
    Finding { cause: cause.to_owned(), gateway: gateway.map(str::to_owned), evidence }
}

/// Requests of all gateways in each interval: index of the gateway, and how many.
struct Interval {
    begun: Vec<f64>,
    for_s: f64,
}

impl Interval {
    fn total(&self) -> f64 {
        self.begun.iter().sum()
    }

    fn first(&self) -> Option<(usize, f64)> {
        self.begun.iter().copied().enumerate().max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

/// Intervals that all gateways have: those of the gateway with the fewest readings, from the last one back.
fn intervals(histories: &[History]) -> Vec<Interval> {
    let of: Vec<Vec<Between>> = histories.iter().map(History::between).collect();
    let shortest = of.iter().map(Vec::len).min().unwrap_or(0);
    let at = |back: usize| {
        let picked: Option<Vec<&Between>> = of.iter().map(|one| one.get(one.len() - back)).collect();
        let picked = picked?;
        let begun: Option<Vec<f64>> = picked.iter().map(|between| between.begun).collect();
        Some(Interval { begun: begun?, for_s: picked.first()?.for_s })
    };
    (1..=shortest).rev().filter_map(at).collect()
}

/// In most intervals one gateway got most requests, and it was not always the same.
fn herd(histories: &[History]) -> Option<Finding> {
    let intervals = intervals(histories);
    let counted: Vec<&Interval> = intervals.iter().filter(|one| one.total() >= FEWEST_REQUESTS).collect();
    if histories.len() < 3 || counted.len() < FEWEST_INTERVALS {
        return None;
    }
    let led: Vec<usize> = counted
        .iter()
        .filter_map(|one| one.first().filter(|(_, most)| *most > HERD * one.total()).map(|(gateway, _)| gateway))
        .collect();
    let changes = led.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_herd = small(led.len()) >= 0.5 * small(counted.len()) && changes > 0;
    is_herd.then(|| {
        let evidence = format!(
            "in {} of {} intervals one gateway of {} got more than {:.0} % of the requests, a different one {} times",
            led.len(),
            counted.len(),
            histories.len(),
            100.0 * HERD,
            changes
        );
        finding("gateway-herd", None, evidence)
    })
}

/// One gateway got nothing for a while, then nearly everything.
fn catch_up(histories: &[History]) -> Vec<Finding> {
    let intervals = intervals(histories);
    let mut findings = Vec::new();
    if histories.len() < 3 {
        return findings;
    }
    for (gateway, history) in histories.iter().enumerate() {
        let (mut without_s, mut missed) = (0.0, 0.0);
        for one in &intervals {
            let own = one.begun[gateway];
            if own == 0.0 {
                without_s += one.for_s;
                missed += one.total();
                continue;
            }
            if missed >= FEWEST_REQUESTS && one.total() >= FEWEST_REQUESTS / 2.0 && own >= CATCH_UP * one.total() {
                let share = 100.0 * own / one.total();
                let evidence =
                    format!("nothing for {without_s:.0} s, then {share:.0} % of all requests: its count catches up");
                findings.push(finding("gateway-catch-up", Some(&history.gateway), evidence));
                break;
            }
            (without_s, missed) = (0.0, 0.0);
        }
    }
    findings
}

/// Much in flight that moves slowly, compared with the others.
fn slow(histories: &[History]) -> Vec<Finding> {
    let each = |history: &History| {
        let in_flight = history.last()?.in_flight.filter(|count| *count >= 5.0)?;
        Some(PerTransfer {
            rate: history.rate()? / in_flight,
            per_capacity: in_flight / history.capacity.unwrap_or(1.0),
        })
    };
    let known: Vec<Option<PerTransfer>> = histories.iter().map(each).collect();
    let (Some(rate), Some(in_flight)) = (
        median(known.iter().flatten().map(|one| one.rate).collect()),
        median(known.iter().flatten().map(|one| one.per_capacity).collect()),
    ) else {
        return Vec::new();
    };
    let is_slow = |one: &PerTransfer| one.rate < SLOW * rate && one.per_capacity > MORE * in_flight;
    let named = histories.iter().zip(known).filter_map(|(history, one)| one.filter(is_slow).map(|one| (history, one)));
    named
        .map(|(history, one)| {
            let evidence = format!(
                "{:.1} times the others' transfers in flight, each at {:.0} % of their rate",
                one.per_capacity / in_flight,
                100.0 * one.rate / rate
            );
            finding("gateway-slow", Some(&history.gateway), evidence)
        })
        .collect()
}

struct PerTransfer {
    /// Bytes per second of one transfer.
    rate: f64,
    /// In flight per capacity.
    per_capacity: f64,
}

/// Memory near its limit, or restarts.
fn memory(history: &History) -> Option<Finding> {
    let share = history.memory();
    let restarts = history.restarts();
    let highest = |reading: &super::reading::Reading| Some(reading.memory_bytes? / reading.memory_limit_bytes?);
    let peak = history.readings.iter().filter_map(highest).fold(0.0, f64::max);
    let evidence = match share {
        Some(share) if share >= MEMORY => format!("memory at {:.0} % of its limit", 100.0 * share),
        _ if restarts > 0 && peak >= MEMORY => {
            format!("{restarts} restarts, with memory at up to {:.0} % of its limit", 100.0 * peak)
        }
        _ => return None,
    };
    Some(finding("gateway-memory", Some(&history.gateway), evidence))
}

/// Deletions that are slow where most is in flight.
fn deletions(histories: &[History]) -> Vec<Finding> {
    let latency = |history: &History| history.last().and_then(|last| last.deletion_s);
    let known: Vec<f64> = histories.iter().filter_map(latency).collect();
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    if known.len() < 2 || least <= 0.0 {
        return Vec::new();
    }
    let slow =
        histories.iter().filter_map(|history| Some((history, latency(history).filter(|s| *s >= PILE_UP * least)?)));
    slow.map(|(history, seconds)| {
        let evidence = format!("deletions take {seconds:.1} s, at the fastest gateway {least:.1} s");
        finding("gateway-deletions", Some(&history.gateway), evidence)
    })
    .collect()
}

/// The median; [`None`] of fewer than three.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    (values.len() >= 3).then(|| values[values.len() / 2])
}

/// Requests of an interval from which on shares count, and intervals from which on there can be a herd.
const FEWEST_REQUESTS: f64 = 8.0;
const FEWEST_INTERVALS: usize = 4;
/// The share of one gateway that is a herd, and that which is catching up.
const HERD: f64 = 0.6;
const CATCH_UP: f64 = 0.8;
/// The part of the others' rate of a transfer below which, and the multiple of their transfers above which, one is slow.
const SLOW: f64 = 0.5;
const MORE: f64 = 1.5;
/// The part of its limit at which memory is near it: least-inflight sends nothing more from 85 % on.
const MEMORY: f64 = 0.85;
/// How many times slower than at the fastest gateway deletions pile up: three times what unloaded ones vary by.
const PILE_UP: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::super::reading::Reading;
    use super::*;

    /// Gateways with these requests in each interval of 3 s.
    fn begun(of: &[&[f64]]) -> Vec<History> {
        let history = |(number, counts): (usize, &&[f64])| {
            let mut total = 0.0;
            let mut readings = vec![Reading { begun: Some(0.0), ..Reading::default() }];
            for (at, count) in counts.iter().enumerate() {
                total += count;
                readings.push(Reading { at_s: 3.0 * small(at + 1), begun: Some(total), ..Reading::default() });
            }
            History { gateway: format!("gw{}", number + 1), capacity: None, readings }
        };
        of.iter().enumerate().map(history).collect()
    }

    fn causes(histories: &[History]) -> Vec<String> {
        of(histories).into_iter().map(|finding| finding.cause).collect()
    }

    #[test]
    fn all_to_one_and_then_to_another_is_a_herd_and_evenly_is_none() {
        let herd = begun(&[&[9.0, 0.0, 0.0, 9.0, 1.0], &[1.0, 9.0, 1.0, 0.0, 9.0], &[0.0, 1.0, 9.0, 1.0, 0.0]]);
        assert_eq!(causes(&herd)[0], "gateway-herd");
        let even = begun(&[&[3.0, 4.0, 3.0, 3.0, 4.0], &[3.0, 3.0, 4.0, 3.0, 3.0], &[4.0, 3.0, 3.0, 4.0, 3.0]]);
        assert_eq!(causes(&even), [] as [String; 0]);
        // One that always gets most is no herd: it may be the largest.
        let large = begun(&[&[9.0; 5], &[1.0; 5], &[1.0; 5]]);
        assert!(!causes(&large).contains(&"gateway-herd".to_owned()));
    }

    #[test]
    fn nothing_and_then_everything_is_a_count_that_catches_up() {
        let back = begun(&[&[0.0, 0.0, 10.0, 3.0], &[5.0, 5.0, 0.0, 3.0], &[5.0, 5.0, 0.0, 4.0]]);
        let found = of(&back);
        let found = found.iter().find(|one| one.cause == "gateway-catch-up").unwrap();
        assert_eq!(found.gateway.as_deref(), Some("gw1"));
        assert!(found.evidence.contains("nothing for 6 s, then 100 %"), "{}", found.evidence);
    }

    #[test]
    fn memory_deletions_and_a_slow_gateway_are_named_with_their_numbers() {
        let mut histories = begun(&[&[3.0], &[3.0], &[3.0], &[3.0]]);
        for (number, history) in histories.iter_mut().enumerate() {
            let is_bad = number == 2;
            for (at, reading) in history.readings.iter_mut().enumerate() {
                reading.in_flight = Some(if is_bad { 60.0 } else { 20.0 });
                reading.moved_bytes = Some(small(at) * 1e9);
                reading.memory_bytes = Some(if is_bad { 9e9 } else { 3e9 });
                reading.memory_limit_bytes = Some(1e10);
                reading.deletion_s = Some(if is_bad { 4.2 } else { 1.0 });
            }
        }
        assert_eq!(causes(&histories), ["gateway-slow", "gateway-memory", "gateway-deletions"]);
        assert!(of(&histories).iter().all(|one| one.gateway.as_deref() == Some("gw3")));
    }

    #[test]
    fn what_is_not_known_is_no_finding() {
        let silent = vec![History { gateway: "gw".to_owned(), capacity: None, readings: Vec::new() }; 4];
        assert_eq!(of(&silent), []);
    }
}
