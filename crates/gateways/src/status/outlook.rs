//! Where a policy would send the next requests, by what gateways reported last.

use path::Seed;
use path::random::SeededRng;

use super::history::History;
use crate::cluster::balancer::{Board, GatewayView};
use crate::cluster::bounds::small;
use crate::cluster::sensors::Sensors;
use crate::cluster::settings::Reports;
use crate::cmsd::load::Reported;
use crate::cmsd::node::{Node, Refused, Selection, State, Table};
use crate::policy::definition::{Entry, FULL_CAPACITY, Needs};

/// Where the next requests would go.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// Of [`REQUESTS`], how many each gateway would get before it reports again.
    pub sent: Vec<u32>,
    /// How many would be told to wait.
    pub waiting: u32,
}

/// Requests that are looked ahead.
pub const REQUESTS: u32 = 100;

/// Why a policy's choice cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutlookError {
    /// It asks gateways before each choice.
    #[error("it asks gateways at each choice, which a status does not")]
    Asks,
    /// It weighs what was not reported.
    #[error("no {0} was reported")]
    Unknown(&'static str),
}

/// What a policy would do, for as long as no gateway reports again. `is_heard` says of which gateways there is a recent report;
/// reference counts are taken to be equal.
///
/// # Errors
/// Why it cannot be told.
pub fn of(entry: &Entry, histories: &[History], is_heard: &[bool]) -> Result<Outlook, OutlookError> {
    if entry.needs == Needs::Oracle {
        return Err(OutlookError::Asks);
    }
    let policy = (entry.make)();
    let weights = policy.weights();
    let mut nodes = Vec::new();
    let mut known = Vec::new();
    for (history, is_heard) in histories.iter().zip(is_heard) {
        let capacity = history.capacity.unwrap_or(1.0);
        let sensors = sensors(history, capacity);
        let reported = if *is_heard {
            check(entry, &sensors)?;
            policy.report(&sensors.shown)
        } else {
            Reported::default()
        };
        let state = if *is_heard { State::Online } else { State::Offline };
        nodes.push(Node { load: weights.load(reported), state, references: 0, total: 0 });
        known.push(GatewayView { capacity, reported, ..GatewayView::default() });
    }
    let reports = Reports::default();
    let mut board = Board {
        table: Table { nodes },
        known,
        selection: Selection { fuzz: reports.fuzz, max_load: reports.max_load },
        now_s: 0.0,
        expected_every_s: reports.usage_s,
    };
    let mut rng = SeededRng::new(Seed(1));
    let mut outlook = Outlook { sent: vec![0; histories.len()], waiting: 0 };
    for _ in 0..REQUESTS {
        match policy.choose(&mut board, &mut rng) {
            Ok(at) => {
                board.send(at);
                outlook.sent[at] += 1;
            }
            Err(Refused::Overloaded | Refused::Offline) => outlook.waiting += 1,
        }
    }
    Ok(outlook)
}

/// Sensors, and which of them are known.
struct Known {
    shown: Sensors,
    has_in_flight: bool,
    has_load: bool,
    has_network: bool,
}

fn sensors(history: &History, capacity: f64) -> Known {
    let last = history.last();
    let (in_flight, load) = (last.and_then(|last| last.in_flight), last.and_then(|last| last.load));
    let rate = history.rate();
    let bytes_per_s = capacity * FULL_CAPACITY;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, clamped")]
    let count = in_flight.unwrap_or(0.0).clamp(0.0, 1e6) as usize;
    let shown = Sensors {
        load_average: load.unwrap_or(0.0),
        cpu: load.unwrap_or(0.0),
        network: 100.0 * rate.unwrap_or(0.0) / bytes_per_s,
        memory: 100.0 * history.memory().unwrap_or(0.0),
        in_flight: count,
        capacity: bytes_per_s,
    };
    let has_network = rate.is_some() && history.capacity.is_some();
    Known { shown, has_in_flight: in_flight.is_some(), has_load: load.is_some(), has_network }
}

/// Whether all is known that a policy weighs: found by asking it with the number and without.
fn check(entry: &Entry, known: &Known) -> Result<(), OutlookError> {
    let policy = (entry.make)();
    let load = |sensors: &Sensors| policy.weights().load(policy.report(sensors));
    let base = Sensors { capacity: FULL_CAPACITY, ..Sensors::default() };
    let weighs = |sensors: Sensors| load(&sensors) != load(&base);
    if !known.has_in_flight && weighs(Sensors { in_flight: 100, ..base }) {
        return Err(OutlookError::Unknown("number in flight"));
    }
    if !known.has_load && (weighs(Sensors { load_average: 100.0, ..base }) || weighs(Sensors { cpu: 100.0, ..base })) {
        return Err(OutlookError::Unknown("load"));
    }
    if !known.has_network && weighs(Sensors { network: 100.0, ..base }) {
        return Err(OutlookError::Unknown("rate with the rate of the NIC"));
    }
    Ok(())
}

/// Standard deviation over mean of what is in flight per capacity; [`None`] where fewer than two gateways say it.
#[must_use]
pub fn spread(histories: &[History]) -> Option<f64> {
    let each = |history: &History| Some(history.last()?.in_flight? / history.capacity.unwrap_or(1.0));
    let known: Vec<f64> = histories.iter().filter_map(each).collect();
    if known.len() < 2 {
        return None;
    }
    let mean = known.iter().sum::<f64>() / small(known.len());
    let variance = known.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / small(known.len());
    (mean > 0.0).then(|| variance.sqrt() / mean)
}
