//! What gateways report, as a document.

use serde::{Deserialize, Serialize};

use super::findings::{self, Finding};
use super::history::History;
use super::observed::{self, Observed};
use super::outlook::{self, REQUESTS};
use super::reading::Reading;
use crate::policy::definition::{Entry, FULL_CAPACITY};

/// The state of gateways at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusReport {
    /// The version of this format.
    pub format: u32,
    /// When, seconds since 1970.
    pub at_s: f64,
    /// Each gateway, in the order in which they were asked for, then the others that were heard of.
    pub gateways: Vec<GatewayStatus>,
    /// In flight per capacity: standard deviation over mean; absent where fewer than two gateways say it.
    pub spread_in_flight: Option<f64>,
    /// What was seen of each gateway and of all of them: what `linerate why` weighs.
    #[serde(default)]
    pub observations: Vec<Observed>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The policy whose choice is shown.
    pub policy: String,
    /// Of the next 100 requests, those that would be told to wait; absent where the choice cannot be told.
    pub would_wait: Option<u32>,
    /// Why the choice of the policy cannot be told.
    pub policy_unknown: Option<String>,
    /// What could not be read.
    pub anomalies: Vec<String>,
}

/// The state of one gateway. What was not reported is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayStatus {
    /// Name of the gateway, host and port where the source has both.
    pub gateway: String,
    /// The rate of its NIC, Gbit/s; absent where nobody said it, and then it counts as large as the others.
    pub nic_gbit_s: Option<f64>,
    /// How long ago it reported, seconds.
    pub heard_s: Option<f64>,
    /// Connections or transfers in flight.
    pub in_flight: Option<f64>,
    /// What it moves in both directions, Gbit/s.
    pub rate_gbit_s: Option<f64>,
    /// Memory in use, GB.
    pub memory_gb: Option<f64>,
    /// Memory in use, of its limit.
    pub memory_share: Option<f64>,
    /// Requests that were refused between the last two reports.
    pub refused: Option<f64>,
    /// How long deletions take, seconds.
    pub deletion_s: Option<f64>,
    /// The load that the balancer has of it, percent.
    pub load: Option<f64>,
    /// Restarts that were seen.
    pub restarts: usize,
    /// Why no request is, or should be, sent to it; absent where it takes its part.
    pub excluded: Option<String>,
    /// What its own numbers say against each other.
    pub contradictions: Vec<String>,
    /// Of the next 100 requests, those that the policy would send to it.
    pub would_get: Option<u32>,
}

/// What is asked of a status.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// Gateways that are expected, with the rates of their NICs in Gbit/s.
    pub expected: &'a [Expected],
    /// The memory limit where no record says it, GB.
    pub memory_limit_gb: Option<f64>,
    /// The policy whose next choices are to be shown.
    pub policy: &'a Entry,
    /// `maxload` of `cms.sched`, percent.
    pub max_load: f64,
    /// Now, seconds since 1970.
    pub now_s: f64,
}

/// A gateway that is expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Its name, with or without a port.
    pub name: String,
    /// The rate of its NIC, Gbit/s.
    pub nic_gbit_s: Option<f64>,
}

/// What a report calls its gateway: a name, and mostly a port.
#[derive(Debug, Clone, Copy)]
pub struct ReportedName<'a>(pub &'a str);

impl ReportedName<'_> {
    /// Whether it is the gateway that an operator calls `name`, with or without the port.
    #[must_use]
    pub fn is_of(self, name: &str) -> bool {
        self.0 == name || self.0.rsplit_once(':').is_some_and(|(host, _)| host == name)
    }
}

/// The version of [`StatusReport`].
pub const FORMAT: u32 = 1;

impl StatusReport {
    /// Of all readings that there are.
    #[must_use]
    pub fn new(question: &Question<'_>, readings: Vec<Reading>, anomalies: Vec<String>) -> Self {
        let histories = histories(question, readings);
        let excluded: Vec<Option<String>> = histories.iter().map(|history| excluded(history, question)).collect();
        let takes: Vec<bool> = excluded.iter().map(Option::is_none).collect();
        let outlook = outlook::of(question.policy, &histories, &takes);
        let would_get = |at: usize| outlook.as_ref().ok().map(|outlook| outlook.sent[at]);
        let observations = observed::of(&histories);
        let each = histories.iter().zip(excluded).enumerate();
        let gateways =
            each.map(|(at, (history, excluded))| status(history, question, excluded, would_get(at))).collect();
        Self {
            format: FORMAT,
            at_s: question.now_s,
            gateways,
            spread_in_flight: outlook::spread(&histories),
            findings: findings::of(&observations),
            observations,
            policy: question.policy.name.to_owned(),
            would_wait: outlook.as_ref().ok().map(|outlook| outlook.waiting),
            policy_unknown: outlook.err().map(|error| error.to_string()),
            anomalies: anomalies.into_iter().chain(odd(&histories)).collect(),
        }
    }

    /// How many requests [`GatewayStatus::would_get`] is of.
    #[must_use]
    pub const fn requests() -> u32 {
        REQUESTS
    }
}

/// Holes in what was reported, and rates of NICs that cannot be.
fn odd(histories: &[History]) -> Vec<String> {
    let mut found = Vec::new();
    for history in histories {
        let name = &history.gateway;
        if let Some((hole, usual)) = history.hole().zip(history.usual_interval()) {
            found.push(format!(
                "{name}: a hole of {hole:.0} s, where a report came every {usual:.0} s; intervals with it are not judged"
            ));
        }
        if let Some((part, capacity)) = history.beyond_its_nic().zip(history.capacity) {
            let named = capacity * FULL_CAPACITY * 8.0 / 1e9;
            found.push(format!(
                "{name}: moves {:.1} Gbit/s in both directions, which a NIC of {named:.1} Gbit/s cannot: its rate is named wrong",
                part * named
            ));
        }
    }
    found
}

/// Readings by gateway: those that are expected first, though they reported nothing.
fn histories(question: &Question<'_>, mut readings: Vec<Reading>) -> Vec<History> {
    readings.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    let capacity = |expected: &Expected| expected.nic_gbit_s.map(|rate| rate * 1e9 / 8.0 / FULL_CAPACITY);
    let history = |expected: &Expected| History {
        gateway: expected.name.clone(),
        capacity: capacity(expected),
        readings: Vec::new(),
    };
    let mut histories: Vec<History> = question.expected.iter().map(history).collect();
    for mut reading in readings {
        if let (None, Some(limit)) = (reading.memory_limit_bytes, question.memory_limit_gb) {
            reading.memory_limit_bytes = Some(limit * 1e9);
        }
        match histories.iter().position(|history| ReportedName(&reading.gateway).is_of(&history.gateway)) {
            Some(at) => {
                if let Some(before) = histories[at].readings.last() {
                    carry(&mut reading, before);
                }
                histories[at].readings.push(reading);
            }
            None if histories.len() < MOST_GATEWAYS => {
                let gateway = reading.gateway.clone();
                histories.push(History { gateway, capacity: None, readings: vec![reading] });
            }
            None => {}
        }
    }
    histories
}

/// A state that another source said a moment before still stands; counters do not.
fn carry(reading: &mut Reading, before: &Reading) {
    reading.in_flight = reading.in_flight.or(before.in_flight);
    reading.memory_bytes = reading.memory_bytes.or(before.memory_bytes);
    reading.memory_limit_bytes = reading.memory_limit_bytes.or(before.memory_limit_bytes);
    reading.load = reading.load.or(before.load);
    reading.deletion_s = reading.deletion_s.or(before.deletion_s);
}

/// Gateways that are kept; cmsd's table has 64 places.
const MOST_GATEWAYS: usize = 256;

/// Why a gateway takes no requests, or should not.
fn excluded(history: &History, question: &Question<'_>) -> Option<String> {
    let Some(last) = history.last() else { return Some("sent nothing".to_owned()) };
    let age = question.now_s - last.at_s;
    let usual = history.usual_interval().unwrap_or(SILENT_AT_LEAST_S).max(1.0);
    if age > SILENT * usual && age > SILENT_AT_LEAST_S {
        return Some(format!("silent for {age:.0} s, where a report came every {usual:.0} s"));
    }
    if history.restarts() >= FLAPS {
        return Some(format!("flaps: started {} times anew", history.restarts()));
    }
    if let Some(load) = last.load.filter(|load| *load > question.max_load) {
        return Some(format!("load {load:.0} is above maxload {:.0}", question.max_load));
    }
    history.contradictions().into_iter().next().map(|what| format!("not believed: {what}"))
}

/// Missed reports, and seconds, after which a gateway is silent; restarts from which on it flaps.
const SILENT: f64 = 4.0;
const SILENT_AT_LEAST_S: f64 = 10.0;
const FLAPS: usize = 2;

fn status(
    history: &History,
    question: &Question<'_>,
    excluded: Option<String>,
    would_get: Option<u32>,
) -> GatewayStatus {
    let last = history.last();
    let between = history.between();
    GatewayStatus {
        gateway: history.gateway.clone(),
        nic_gbit_s: history.capacity.map(|capacity| capacity * FULL_CAPACITY * 8.0 / 1e9),
        heard_s: last.map(|last| question.now_s - last.at_s),
        in_flight: last.and_then(|last| last.in_flight),
        rate_gbit_s: history.rate().map(|rate| rate * 8.0 / 1e9),
        memory_gb: last.and_then(|last| last.memory_bytes).map(|bytes| bytes / 1e9),
        memory_share: history.memory(),
        refused: between.last().and_then(|between| between.refused),
        deletion_s: last.and_then(|last| last.deletion_s),
        load: last.and_then(|last| last.load),
        restarts: history.restarts(),
        excluded,
        contradictions: history.contradictions(),
        would_get,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;

    fn expected(names: &[&str]) -> Vec<Expected> {
        names.iter().map(|name| Expected { name: (*name).to_owned(), nic_gbit_s: Some(9.6) }).collect()
    }

    fn report(expected: &[Expected], readings: Vec<Reading>) -> StatusReport {
        let policy = policy::find("inflight-cmsd").unwrap();
        let question = Question { expected, memory_limit_gb: Some(60.0), policy, max_load: 98.0, now_s: 100.0 };
        StatusReport::new(&question, readings, Vec::new())
    }

    fn reading(gateway: &str, at_s: f64, in_flight: f64) -> Reading {
        let (moved_bytes, since_s) = (Some(at_s * 1e8), Some(1.0));
        Reading {
            gateway: gateway.to_owned(),
            at_s,
            in_flight: Some(in_flight),
            moved_bytes,
            since_s,
            ..Reading::default()
        }
    }

    #[test]
    fn who_sends_nothing_lies_flaps_or_is_silent_is_named_and_gets_nothing() {
        let names = expected(&["good", "silent", "never", "lies", "flaps"]);
        let mut readings = Vec::new();
        for at in [90.0, 93.0, 96.0, 99.0] {
            readings.push(reading("good:1094", at, 30.0));
            readings.push(reading("lies:1094", at, 0.0));
            readings.push(Reading { since_s: Some(at), ..reading("flaps:1094", at, 3.0) });
            readings.push(reading("silent:1094", at - 60.0, 3.0));
        }
        let report = report(&names, readings);
        let why: Vec<&str> = report.gateways.iter().map(|one| one.excluded.as_deref().unwrap_or("-")).collect();
        assert_eq!(
            why,
            [
                "-",
                "silent for 61 s, where a report came every 3 s",
                "sent nothing",
                "not believed: says that nothing is in flight and moves 800.0 Mbit/s",
                "flaps: started 3 times anew",
            ]
        );
        let gets: Vec<Option<u32>> = report.gateways.iter().map(|one| one.would_get).collect();
        assert_eq!(gets, [Some(100), Some(0), Some(0), Some(0), Some(0)]);
        assert_eq!(report.gateways[2].in_flight, None, "what is not known is not 0");
    }

    #[test]
    fn a_hole_and_a_rate_that_cannot_be_are_named_and_other_times_are_not_laid_beside_each_other() {
        let names = expected(&["one", "two", "three"]);
        let mut readings = Vec::new();
        for step in 0..60_u32 {
            for (at, name) in ["one", "two", "three"].iter().enumerate() {
                // Two is silent for 100 s; until then one gets all, afterwards three does.
                if at == 1 && (10..30).contains(&step) {
                    continue;
                }
                let so_far = match at {
                    0 => 10 * step.min(30),
                    1 => step,
                    _ => 10 * step.saturating_sub(30),
                };
                let begun = Some(f64::from(so_far));
                let moved_bytes = Some(f64::from(step) * if at == 2 { 20e9 } else { 1e9 });
                let at_s = 5.0 * f64::from(step);
                readings.push(Reading { gateway: (*name).to_owned(), at_s, begun, moved_bytes, ..Reading::default() });
            }
        }
        let report = report(&names, readings);
        let said = |what: &str| report.anomalies.iter().any(|anomaly| anomaly.contains(what));
        assert!(said("two: a hole of 105 s, where a report came every 5 s"), "{:?}", report.anomalies);
        assert!(said("three: moves 32.0 Gbit/s") && !said("one: moves"), "{:?}", report.anomalies);
        let requests = report.observations.iter().find(|one| one.sign == "gateway-requests").unwrap();
        assert!(requests.says.contains("of 38 intervals"), "9 before the hole and 29 after it: {requests:?}");
    }

    #[test]
    fn the_emptier_gateway_gets_the_next_requests_and_an_unknown_load_is_said() {
        let names = expected(&["one", "other"]);
        let readings = vec![reading("one", 99.0, 40.0), reading("other", 99.0, 10.0)];
        let ours = report(&names, readings.clone());
        assert_eq!(ours.gateways[1].would_get, Some(100));
        assert!((ours.spread_in_flight.unwrap() - 0.6).abs() < 1e-12);
        let by_load = Question {
            expected: &names,
            memory_limit_gb: None,
            policy: policy::find("load-80-20").unwrap(),
            max_load: 98.0,
            now_s: 100.0,
        };
        let report = StatusReport::new(&by_load, readings, Vec::new());
        assert_eq!((report.would_wait, report.policy_unknown.as_deref()), (None, Some("no load was reported")));
    }
}
