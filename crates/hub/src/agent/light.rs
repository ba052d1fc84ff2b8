//! Light tests: repeated by the agent itself, each pair at its own moment of the period.

use std::collections::BTreeMap;
use std::time::Duration;

use mesh::run::RunId;
use mesh::timetable::StandingTest;
use units::WallTime;

use super::ask::Work;
use super::carrying::Carrying;
use crate::api::order::LeaseName;
use crate::api::work::{StandingOrder, StandingOrders};

impl Work {
    /// The thread that repeats light tests, one after the other.
    pub fn repeat(&self, carrying: &Carrying<'_>) {
        let shared = carrying.shared;
        let mut due = Due::default();
        while !shared.stop.is_stopped() {
            let Some(orders) = self.standing() else {
                self.wait(GLANCE);
                continue;
            };
            due.take(&orders, shared.calendar.now());
            let Some((run, order)) = due.next(shared.calendar.now()) else {
                self.wait(GLANCE);
                continue;
            };
            // Light results are the first that a full disk does without.
            if !shared.spool().has_room() {
                shared.spool().drop_one();
                continue;
            }
            let lease = LeaseName { run: run.0, attempt: 1 };
            let record = carrying.light(&lease, &order.assignment);
            if shared.stop.is_stopped() {
                return;
            }
            if let Err(error) = carrying.spool(&lease, record) {
                shared.say(&format!("the result of {lease} is not kept: {error}"));
            }
        }
    }
}

/// When each light test is due next.
#[derive(Debug, Default)]
struct Due {
    digest: String,
    next: BTreeMap<(WallTime, RunId), StandingOrder>,
}

impl Due {
    /// Takes orders, where they are others than before.
    fn take(&mut self, orders: &StandingOrders, now: WallTime) {
        if self.digest == orders.digest {
            return;
        }
        self.digest.clone_from(&orders.digest);
        self.next.clear();
        orders.tests.iter().for_each(|order| self.plan(order.clone(), now));
    }

    /// A test that is due, which is planned for its next period with that.
    fn next(&mut self, now: WallTime) -> Option<(RunId, StandingOrder)> {
        let (due, _) = self.next.first_key_value()?.0;
        if *due > now {
            return None;
        }
        let ((_, run), order) = self.next.pop_first()?;
        // What is over by now, since tests before it took long, is left out.
        self.plan(order.clone(), now);
        Some((run, order))
    }

    fn plan(&mut self, order: StandingOrder, now: WallTime) {
        let (run, at) = next(&order, now);
        self.next.insert((at, run), order);
    }
}

/// The first run of an order after a moment. Its name does not need what the timetable has beside.
fn next(order: &StandingOrder, now: WallTime) -> (RunId, WallTime) {
    let test = StandingTest {
        agent: String::new(),
        test: String::new(),
        group: String::new(),
        from: String::new(),
        to: String::new(),
        task: order.assignment.task.task(),
        every: order.every,
        phase: order.phase,
    };
    let (run, at) = test.next(now);
    let second = run.0.rsplit('/').next().unwrap_or_default();
    (RunId(format!("{}/{second}", order.name)), at)
}

/// How soon something that is due is begun.
const GLANCE: Duration = Duration::from_millis(250);
