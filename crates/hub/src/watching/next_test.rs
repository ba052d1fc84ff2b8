//! The test that separates causes: transfers have become slower, and nothing was tested.
//!
//! One TCP test of the pair says whether the path and both hosts still carry what transfers usually reach. If so, the programs and the
//! storage behind them are slower; if not, the diagnosis has a test to look into.

use mesh::incident::{Action, Explanation, Incident, IncidentId, Metric, Series};
use mesh::run::{Priority, RunRow};
use mesh::timetable::{HostPair, OrderKey, Wish};
use plan::task::Task;
use units::{DataRate, WallTime};

use super::waiting::Waiting;
use super::{State, Watching};
use crate::schedule::Schedule;
use crate::schedule::planned::Planned;
use crate::store::rows::{Judgement, Point, StoredRecord};
use crate::store::{Store, StoreError};

impl Watching {
    /// Asks for the test of each incident that only transfers have shown and that has asked for none, once each.
    ///
    /// # Errors
    /// Where the database refuses: it is asked for again.
    pub fn ask_next(
        &self,
        store: &dyn Store,
        schedule: &Schedule,
        planned: &Planned,
        now: WallTime,
    ) -> Result<(), StoreError> {
        let untested = self.state().untested();
        for (id, pairs) in untested {
            let Some((run, series)) = pairs.iter().find_map(|series| Some((run(planned, series, now)?, series))) else {
                continue;
            };
            let name = run.id.0.clone();
            schedule.ask(store, vec![run])?;
            let Series { from, to, .. } = series;
            let text = format!(
                "as fast as transfers from {from} to {to} usually are, it says that a program or storage is slower, \
                 else that the path or a host is"
            );
            let mut state = self.state();
            // It may have been closed meanwhile.
            if let Ok(event) = state.incidents.act(&id, Action::NextTest { run: name, text }, now) {
                state.changed(&[event]);
            }
            state.save(store, Judgement::default())?;
        }
        Ok(())
    }
}

impl State {
    /// Incidents of transfers alone, with the series that they are about.
    fn untested(&self) -> Vec<(IncidentId, Vec<Series>)> {
        let is_untested = |incident: &&Incident| {
            incident.status.is_bad() && incident.is_of_transfers() && incident.next_test().is_none()
        };
        let untested = self.incidents.list().iter().filter(is_untested);
        let pairs = |incident: &Incident| self.incidents.series_of_incident(incident, Metric::TransferRate);
        untested.map(|incident| (incident.id.clone(), pairs(incident))).collect()
    }

    /// Takes the result of a test that an incident has asked for.
    pub(super) fn separate(&mut self, record: &StoredRecord, found: &[Point], now: WallTime) {
        let Some(run) = record.run.as_deref() else { return };
        let is_of_it = |incident: &&Incident| incident.status.is_bad() && incident.next_test() == Some(run);
        let Some(incident) = self.incidents.list().iter().find(is_of_it).cloned() else { return };
        let pairs = self.incidents.series_of_incident(&incident, Metric::TransferRate);
        let of_pair = pairs.iter().find_map(|series| {
            let is_test = |point: &&Point| {
                let Series { from, to, metric, .. } = &point.series;
                *metric == Metric::Goodput && (from, to) == (&series.from, &series.to)
            };
            Some((series.clone(), found.iter().find(is_test)?.value, self.incidents.usual(series)?))
        });
        let action = match of_pair {
            None => Action::Note { by: BY.to_owned(), text: format!("test {run} has failed, and separates nothing") },
            Some((Series { from, to, .. }, tested, usual)) => {
                let text = format!(
                    "the test reaches {} from {from} to {to}, where transfers usually reach {}",
                    shown(tested),
                    shown(usual)
                );
                if tested >= usual * CARRIES {
                    let note = Action::Note { by: BY.to_owned(), text: format!("{text}: path and hosts carry it") };
                    self.act(&incident.id, note, now);
                    let (cause, place) = (APPLICATION.to_owned(), format!("programs or storage of {from} or {to}"));
                    Action::Explain {
                        explanation: Explanation { cause, place, probability: LIKELY, by: BY.to_owned() },
                    }
                } else {
                    Action::Note { by: BY.to_owned(), text: format!("{text}: the path or a host is slower") }
                }
            }
        };
        self.act(&incident.id, action, now);
        // The diagnosis has something to look into now.
        self.waiting.retain(|waiting| waiting.id != incident.id);
        self.waiting.push(Waiting::new(incident.id, incident.hosts, now));
    }

    fn act(&mut self, id: &IncidentId, action: Action, now: WallTime) {
        if let Ok(event) = self.incidents.act(id, action, now) {
            self.changed(&[event]);
        }
    }
}

/// A TCP test between the ends of a series, from one to the other where the plan has that, else the other way round.
fn run(planned: &Planned, series: &Series, now: WallTime) -> Option<RunRow> {
    let plan = planned.plan();
    let pair = |from: &str, to: &str| HostPair { from: from.to_owned(), to: to.to_owned() };
    let pairs = [pair(&series.from, &series.to), pair(&series.to, &series.from)];
    let tests = || plan.tests.iter().filter(|test| matches!(test.task, Task::Tcp(_)));
    pairs.iter().find_map(|pair| {
        tests().find_map(|test| {
            let (test, group) = (test.label.clone(), plan.groups[test.group].name.clone());
            let wish = Wish { order: OrderKey { test, group, pair: pair.clone() }, priority: Priority::OnDemand };
            planned.timetable().out_of_turn(&wish, now)
        })
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bits a second are shown")]
fn shown(bps: f64) -> DataRate {
    DataRate::from_bps(bps.max(0.0) as u64)
}

/// Who says what the test shows.
const BY: &str = "next test";
/// The cause where path and hosts carry what transfers do not reach.
const APPLICATION: &str = "application-slow";
/// A single test may have met a better moment.
const LIKELY: f64 = 0.8;
/// The part of the usual rate of transfers from which on a test shows that it can be had.
const CARRIES: f64 = 0.8;
