//! What gateways have in flight, how fast that moves, and what it costs: memory, deletions.

use super::history::History;
use super::reading::Reading;
use super::sign::{DELETIONS, MEMORY, NIC, Observed, TRANSFER_RATE, TRANSFERS};
use crate::policy::definition::FULL_CAPACITY;

pub(super) fn observed(histories: &[History]) -> Vec<Observed> {
    let mut observed = transfers(histories);
    observed.extend(histories.iter().filter_map(nic));
    observed.extend(histories.iter().filter_map(memory));
    observed.extend(deletions(histories));
    observed
}

struct PerTransfer {
    /// Bytes per second of one transfer.
    rate: Option<f64>,
    /// In flight per capacity.
    per_capacity: f64,
}

/// Transfers in flight per capacity, and the rate of each, beside the median of all gateways.
fn transfers(histories: &[History]) -> Vec<Observed> {
    let each = |history: &History| {
        let in_flight = history.mean_in_flight(LATELY).filter(|count| *count >= FEWEST_IN_FLIGHT)?;
        let rate = history.mean_rate(LATELY).map(|rate| rate / in_flight);
        Some(PerTransfer { rate, per_capacity: in_flight / history.capacity.unwrap_or(1.0) })
    };
    let known: Vec<(&History, PerTransfer)> =
        histories.iter().filter_map(|history| Some((history, each(history)?))).collect();
    let Some(in_flight) = median(known.iter().map(|(_, one)| one.per_capacity).collect()) else { return Vec::new() };
    let rate = median(known.iter().filter_map(|(_, one)| one.rate).collect()).filter(|rate| *rate > 0.0);
    let mut observed = Vec::new();
    for (history, one) in &known {
        let times = one.per_capacity / in_flight;
        let state = if times > MORE {
            "more"
        } else if times < 1.0 / MORE {
            "less"
        } else {
            "alike"
        };
        let says = format!("{times:.1} times the others' transfers in flight");
        observed.push(TRANSFERS.is(state, Some(&history.gateway), says));
        if let Some(part) = one.rate.zip(rate).map(|(own, others)| own / others) {
            let says = format!("each transfer at {:.0} % of the others' rate", 100.0 * part);
            let state = if part < SLOW { "slower" } else { "alike" };
            observed.push(TRANSFER_RATE.is(state, Some(&history.gateway), says));
        }
    }
    observed
}

/// How much of its NIC's rate it moves, where that rate is known.
fn nic(history: &History) -> Option<Observed> {
    let part = history.mean_rate(LATELY)? / (history.capacity? * FULL_CAPACITY);
    let state = if part >= FULL { "full" } else { "free" };
    Some(NIC.is(state, Some(&history.gateway), format!("its NIC moves {:.0} % of its rate", 100.0 * part)))
}

/// Memory near its limit, or restarts after it was.
fn memory(history: &History) -> Option<Observed> {
    let restarts = history.restarts();
    let highest = |reading: &Reading| Some(reading.memory_bytes? / reading.memory_limit_bytes?);
    let peak = history.readings.iter().filter_map(highest).fold(0.0, f64::max);
    let (state, says) = match history.memory() {
        Some(share) if share >= NEAR_LIMIT => ("near-limit", format!("memory at {:.0} % of its limit", 100.0 * share)),
        _ if restarts > 0 && peak >= NEAR_LIMIT => {
            let said = format!("{restarts} restarts, with memory at up to {:.0} % of its limit", 100.0 * peak);
            ("restarted", said)
        }
        Some(share) => ("below", format!("memory at {:.0} % of its limit", 100.0 * share)),
        None => return None,
    };
    Some(MEMORY.is(state, Some(&history.gateway), says))
}

/// How long deletions take beside the fastest gateway.
fn deletions(histories: &[History]) -> Vec<Observed> {
    let latency = |history: &History| history.last().and_then(|last| last.deletion_s);
    let known: Vec<f64> = histories.iter().filter_map(latency).collect();
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    if known.len() < 2 || least <= 0.0 {
        return Vec::new();
    }
    let each = |history: &History| {
        let seconds = latency(history)?;
        let says = format!("deletions take {seconds:.1} s, at the fastest gateway {least:.1} s");
        let state = if seconds >= PILE_UP * least { "slow" } else { "alike" };
        Some(DELETIONS.is(state, Some(&history.gateway), says))
    };
    histories.iter().filter_map(each).collect()
}

/// The median; [`None`] of fewer than three.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    (values.len() >= 3).then(|| values[values.len() / 2])
}

/// Readings over which transfers are averaged: one moment of ten transfers with unequal remote sites says little.
const LATELY: usize = 60;
/// Fewer in flight are no load that could be compared.
const FEWEST_IN_FLIGHT: f64 = 5.0;
/// The part of the others' rate of a transfer below which, and the multiple of their transfers above which, one is slow.
const SLOW: f64 = 0.5;
const MORE: f64 = 1.5;
/// The part of its rate from which on a NIC is full: what Ethernet, IP and TCP leave for payload is 95 %, and it pulses.
const FULL: f64 = 0.85;
/// The part of its limit at which memory is near it: least-inflight sends nothing more from 85 % on.
const NEAR_LIMIT: f64 = 0.85;
/// How many times slower than at the fastest gateway deletions pile up: three times what unloaded ones vary by.
const PILE_UP: f64 = 3.0;
