//! What a day of a plan looks like if nothing goes wrong: the board itself, on virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, WallTime};

use crate::board::{AgentRequest, Board, Delivery, Present};
use crate::clock;
use crate::rules::Rules;
use crate::run::{LeaseName, Outcome, RequestNumber, RunRow, RunState};
use crate::timetable::Timetable;

/// A run of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DayRun {
    /// When it begins.
    pub begins: WallTime,
    /// How much later than it was due: another test was in the way.
    #[serde(rename = "waited_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub waited: Duration,
    /// How much time is kept for it.
    #[serde(rename = "keep_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub keep: Duration,
    /// The label of its test.
    pub test: String,
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
}

/// What a day of a plan looks like.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Day {
    /// Heavy runs, in the order in which they begin.
    pub runs: Vec<DayRun>,
    /// Those that found no room, or no budget, and why.
    pub missed: Vec<MissedRun>,
}

/// A run that found no room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedRun {
    /// By its name: test, group, pair, start of its period.
    pub run: String,
    /// What was in the way.
    pub why: String,
}

impl Day {
    /// The runs that become due from one moment to before another.
    #[must_use]
    pub fn new(timetable: &Timetable, rules: &Rules, from: WallTime, length: Duration) -> Self {
        let mut ideal = Ideal {
            board: Board::new(rules.clone()),
            due: timetable.between(from, clock::later(from, length)).into(),
            running: BTreeMap::new(),
            number: 0,
            day: Self::default(),
        };
        while let Some(now) = ideal.next_moment() {
            ideal.step(now);
        }
        ideal.day
    }
}

struct Ideal {
    board: Board,
    due: std::collections::VecDeque<RunRow>,
    /// By the moment at which they end.
    running: BTreeMap<WallTime, Vec<(LeaseName, ByteCount)>>,
    number: u64,
    day: Day,
}

impl Ideal {
    fn next_moment(&self) -> Option<WallTime> {
        let waiting = self.board.runs().filter(|run| run.state == RunState::Waiting).map(|run| run.deadline).min();
        let due = self.due.front().map(|run| run.not_before);
        let ends = self.running.keys().next().copied();
        [waiting, due, ends].into_iter().flatten().min()
    }

    fn step(&mut self, now: WallTime) {
        for (lease, bytes) in self.running.remove(&now).unwrap_or_default() {
            self.board.deliver(&Delivery { lease, outcome: Outcome::Measured { bytes } }, now);
        }
        while let Some(run) = self.due.pop_front_if(|run| run.not_before <= now) {
            self.board.plan(vec![run]);
        }
        let agents: BTreeSet<String> =
            self.board.runs().filter(|run| run.state == RunState::Waiting).map(|run| run.agent.clone()).collect();
        for agent in agents {
            self.ask(agent, now);
        }
        for id in self.board.close(now) {
            let why = self.board.run(&id).map(|run| match &run.state {
                RunState::Closed { reason: crate::run::CloseReason::WindowPassed(obstacle) } => obstacle.to_string(),
                _ => String::new(),
            });
            self.day.missed.push(MissedRun { run: id.0, why: why.unwrap_or_default() });
        }
        self.board.take_changes();
        self.board.forget_over();
    }

    fn ask(&mut self, agent: String, now: WallTime) {
        self.number += 1;
        let number = RequestNumber { boots: 1, number: self.number };
        let request = AgentRequest { agent, number, room: 1, inventory: None };
        for lease in self.board.request(&request, &Present::All, now).leases {
            let run = &lease.run;
            let bytes = run.bytes.unwrap_or(ByteCount::new(0));
            self.running.entry(clock::later(now, run.keep)).or_default().push((lease.name(), bytes));
            self.day.runs.push(DayRun {
                begins: now,
                waited: clock::between(run.not_before, now),
                keep: run.keep,
                test: run.test.clone(),
                from: run.from.clone(),
                to: run.to.clone(),
            });
        }
    }
}
