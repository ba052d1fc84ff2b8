//! What flows should reach, reckoned once for each path.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use model::expectation::Expected;
use model::measurement::Heading;
use model::series::RunSamples;
use model::spec::Limit;
use model::transfer::Transfer;
use passive::flows::evidence;
use predict::book::Book;
use predict::case::Case;
use units::{DataRate, MonoTime};

/// Expectations by path. A simulation costs some tenths of a second, so there is at most one in [`RECKON_EVERY`].
#[derive(Debug, Default)]
pub(super) struct Expectations {
    known: HashMap<(IpAddr, IpAddr, Heading), Option<DataRate>>,
    reckoned: Option<MonoTime>,
}

impl Expectations {
    /// What a transfer of this path should reach once it has started; `None` where that is not known (yet).
    pub(super) fn of(&mut self, transfer: &Transfer, now: MonoTime) -> Option<DataRate> {
        let path = (transfer.local.ip(), transfer.peer.ip(), transfer.heading);
        if let Some(known) = self.known.get(&path) {
            return *known;
        }
        let is_soon = self.reckoned.is_some_and(|last| now.since(last) < RECKON_EVERY);
        if is_soon || transfer.min_rtt.is_none() || transfer.active < LEAST_AGE {
            return None;
        }
        self.reckoned = Some(now);
        if self.known.len() >= MOST_PATHS {
            self.known.clear();
        }
        let expected = reckon(transfer);
        self.known.insert(path, expected);
        expected
    }
}

fn reckon(transfer: &Transfer) -> Option<DataRate> {
    let mut run = evidence::run(transfer, &RunSamples::default());
    // The same question for every transfer of the path: what it reaches after its start.
    run.spec.limit = Limit::Time(LENGTH);
    let total = run.measurement.as_mut()?.totals.first_mut()?;
    total.elapsed = LENGTH;
    let case = Case::all(&run).into_iter().next()?;
    match Book::default().expectation(&case).expected {
        Expected::Predicted(prediction) => Some(prediction.steady),
        Expected::Unknown { .. } => None,
    }
}

const RECKON_EVERY: Duration = Duration::from_secs(10);
const LEAST_AGE: Duration = Duration::from_secs(2);
const LENGTH: Duration = Duration::from_secs(10);
const MOST_PATHS: usize = 1_024;
