//! Calls that change runs, many in one turn: whoever comes first makes the turn for all that wait.
//!
//! A call sees the rows as they are on disk, and is answered once what it has changed is there. Where the database refuses, all
//! calls of the turn are refused, and the next turn reads the rows again. A turn waits for the database, and whoever only
//! looks does not wait for a turn: for moments a look sees what is not on disk yet.

use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use linux::clock;
use mesh::run::RunId;
use units::WallTime;

use super::state::State;
use crate::api::record::Verdict;
use crate::store::rows::{AgentContact, Delivered, Revision};
use crate::store::turn::{Changes, Committed, TurnRequest};
use crate::store::{Store, StoreError};

/// What a call stores beside the rows of the board.
#[derive(Default)]
pub(super) struct Stored {
    pub(super) plan: Option<String>,
    pub(super) planned: Option<WallTime>,
    pub(super) contact: Option<AgentContact>,
    pub(super) delivered: Option<Delivered>,
}

/// What a call needs to see.
#[derive(Default)]
pub(super) struct Needs {
    /// Runs by their names.
    pub(super) runs: Vec<String>,
    /// Agents that other hubs have heard within this time.
    pub(super) heard_within: Option<Duration>,
}

/// A call that waits for its turn.
pub(super) struct Call {
    needs: Needs,
    make: Make,
}

/// Makes a call, or answers that it cannot be made.
type Make = Box<dyn FnOnce(Result<&mut State, StoreError>) -> Option<Made> + Send>;

/// A call that was made and is not on disk yet.
struct Made {
    stored: Stored,
    answer: Answer,
}

/// Answers whoever has made a call.
type Answer = Box<dyn FnOnce(Result<Vec<Verdict>, StoreError>)>;

/// All runs that are not over, and the plan that they are from.
pub struct Schedule {
    /// Who makes the turn, from its first question to the database to the last.
    turn: Mutex<()>,
    /// Never held while the database is asked to change something.
    state: Mutex<State>,
    calls: Mutex<VecDeque<Call>>,
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").finish_non_exhaustive()
    }
}

impl Schedule {
    /// One that knows this.
    pub(super) fn of(state: State) -> Self {
        Self { turn: Mutex::default(), state: Mutex::new(state), calls: Mutex::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call in a turn; returns when what it has changed is on disk, with the verdicts of what it delivers.
    pub(super) fn change<T: Send + 'static>(
        &self,
        store: &dyn Store,
        needs: Needs,
        call: impl FnOnce(&mut State) -> (T, Stored) + Send + 'static,
    ) -> Result<(T, Vec<Verdict>), StoreError> {
        let (tell, outcome) = sync_channel(1);
        let make = move |state: Result<&mut State, StoreError>| match state {
            Ok(state) => {
                let (value, stored) = call(state);
                let answer = move |verdicts: Result<Vec<Verdict>, StoreError>| {
                    // Who asked waits for it.
                    let _ = tell.send(verdicts.map(|verdicts| (value, verdicts)));
                };
                Some(Made { stored, answer: Box::new(answer) })
            }
            Err(error) => {
                let _ = tell.send(Err(error));
                None
            }
        };
        self.calls().push_back(Call { needs, make: Box::new(make) });
        loop {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome.try_recv() {
                Ok(answer) => return answer,
                Err(TryRecvError::Disconnected) => return Err(StoreError::Closed),
                Err(TryRecvError::Empty) => {}
            }
            let calls: Vec<Call> = {
                let mut waiting = self.calls();
                let most = waiting.len().min(MOST_TOGETHER);
                waiting.drain(..most).collect()
            };
            self.make(store, calls);
        }
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes calls in one turn.
    fn make(&self, store: &dyn Store, mut calls: Vec<Call>) {
        let mut made = Vec::new();
        match self.committed(store, &mut calls, &mut made) {
            Ok(committed) => {
                self.state().revision = committed.revision;
                let mut verdicts = committed.verdicts.into_iter();
                made.into_iter().for_each(|answer| answer(Ok(verdicts.next().unwrap_or_default())));
            }
            Err(error) => {
                // What the calls have made of the rows is not so.
                self.state().revision = Revision::default();
                made.into_iter().for_each(|answer| answer(Err(error.of_turn())));
                for call in calls {
                    (call.make)(Err(error.of_turn()));
                }
            }
        }
    }

    fn committed(
        &self,
        store: &dyn Store,
        calls: &mut Vec<Call>,
        made: &mut Vec<Answer>,
    ) -> Result<Committed, StoreError> {
        let (known, runs) = self.state().lacks(calls);
        let heard_within = calls.iter().filter_map(|call| call.needs.heard_within).max();
        let (news, turn) = store.turn(TurnRequest { known, runs: &runs, heard_within })?;
        let now = clock::now();
        let (revision, changes) = {
            let mut state = self.state();
            state.learn(news, store, now)?;
            let changes = state.make(calls, made);
            state.follow_leases(now);
            (state.revision, changes)
        };
        let verdicts = vec![Vec::new(); changes.delivered.len()];
        if changes.is_empty() {
            return Ok(Committed { revision, verdicts });
        }
        turn.commit(changes)
    }
}

impl State {
    /// What is known before a turn, and which runs of its calls are not.
    fn lacks(&self, calls: &[Call]) -> (Revision, Vec<String>) {
        let is_here =
            |name: &&String| self.revision != Revision::default() && self.board.run(&RunId((*name).clone())).is_some();
        let names: BTreeSet<&String> = calls.iter().flat_map(|call| &call.needs.runs).collect();
        (self.revision, names.into_iter().filter(|name| !is_here(name)).cloned().collect())
    }

    /// Makes calls, and says what they change.
    fn make(&mut self, calls: &mut Vec<Call>, made: &mut Vec<Answer>) -> Changes {
        let mut changes = Changes::default();
        for call in calls.drain(..) {
            let Some(Made { stored, answer }) = (call.make)(Ok(self)) else { continue };
            made.push(answer);
            changes.plan = stored.plan.or(changes.plan);
            changes.planned = stored.planned.or(changes.planned);
            changes.contacts.extend(stored.contact);
            // One for each call, so that verdicts are found again.
            changes.delivered.push(stored.delivered.unwrap_or_default());
        }
        changes.rows = self.board.take_changes();
        self.board.forget_over();
        changes
    }
}

/// Most calls of one turn: the first of them waits for all.
const MOST_TOGETHER: usize = 256;
