//! What a hub knows of runs: a copy of rows on disk, and what it has seen since its start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use linux::clock;
use mesh::board::{Board, Present, Rows};
use mesh::observer::LeaseObserver;
use mesh::rules::Rules;
use units::{MonoTime, WallTime};

use super::planned::Planned;
use super::tickets::Partners;
use crate::store::rows::Revision;
use crate::store::turn::{News, TurnRequest};
use crate::store::{Store, StoreError};

/// All runs that are not over, and the plan that they are from.
#[derive(Debug)]
pub(super) struct State {
    pub(super) planned: Option<Arc<Planned>>,
    pub(super) board: Board,
    pub(super) observer: LeaseObserver,
    /// Until when runs are on the board.
    pub(super) until: Option<WallTime>,
    /// When each agent was heard last, by this hub or another.
    pub(super) heard: BTreeMap<String, MonoTime>,
    pub(super) partners: Partners,
    /// What the board knows of what is on disk; nothing where the database has refused a change.
    pub(super) revision: Revision,
    /// When agents that others have heard were asked for last.
    pub(super) asked: Option<MonoTime>,
    /// The agents that could begin a run, as long as nothing has changed and for a moment only: a thousand that wait ask for it.
    wanted: Option<Wanted>,
}

#[derive(Debug)]
struct Wanted {
    agents: BTreeSet<String>,
    since: MonoTime,
}

impl State {
    /// Nothing is known yet.
    pub(super) fn new() -> Self {
        Self {
            planned: None,
            board: Board::new(Rules::default()),
            observer: LeaseObserver::new(MARGIN),
            until: None,
            heard: BTreeMap::new(),
            partners: Partners::default(),
            revision: Revision::default(),
            asked: None,
            wanted: None,
        }
    }

    /// Reads all rows.
    pub(super) fn read(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let (news, _) = store.turn(TurnRequest::default())?;
        self.learn(news, store, clock::now())?;
        self.board.forget_over();
        Ok(())
    }

    /// Takes what other hubs have changed.
    pub(super) fn learn(&mut self, news: News, store: &dyn Store, now: MonoTime) -> Result<(), StoreError> {
        let News { revision, rows, named, plan, planned, heard } = news;
        if self.revision == Revision::default() {
            self.board = Board::new(self.planned.as_ref().map(|planned| planned.rules()).unwrap_or_default());
            self.until = None;
            self.planned = self.planned.take().filter(|_| plan.is_some());
        }
        // What others have ended stays for the calls of this turn, which may deliver it once more.
        self.board.load(rows);
        self.board.load(Rows { runs: named, ..Rows::default() });
        self.until = planned.or(self.until);
        for one in heard {
            let at = MonoTime::from_nanos(now.as_nanos().saturating_sub(units::duration::nanos(one.ago)));
            let known = self.heard.entry(one.agent).or_insert(at);
            *known = at.max(*known);
        }
        if let Some(text) = plan.filter(|text| self.planned.as_ref().is_none_or(|planned| planned.text() != text)) {
            let joined = store.agents()?.into_iter().map(|agent| agent.name).collect();
            // One that does not fit any more is said by whoever looks after the plan.
            self.planned = Planned::new(text, &joined).ok().map(Arc::new);
            self.board.set_rules(self.planned.as_ref().map(|planned| planned.rules()).unwrap_or_default());
        }
        self.revision = revision;
        Ok(())
    }

    /// The agents that could begin a run now.
    pub(super) fn wanted(&mut self, mono: MonoTime, now: WallTime) -> &BTreeSet<String> {
        let known = self.wanted.take().filter(|wanted| mono.since(wanted.since) < WANTED_LASTS);
        let wanted = known.unwrap_or_else(|| {
            let contacts = Contacts { planned: self.planned.as_deref(), heard: &self.heard };
            let is_there = |host: &str| contacts.has(host, mono);
            Wanted { agents: self.board.wanted(&Present::Those(&is_there), now), since: mono }
        });
        &self.wanted.insert(wanted).agents
    }

    /// Runs have changed: agents that wait may be wanted, and others have something to answer.
    pub(super) fn follow_leases(&mut self, now: MonoTime) {
        self.wanted = None;
        if let Some(planned) = &self.planned {
            self.partners.follow(&self.board, planned, now);
        }
    }
}

/// The agents of a plan, and when they were heard.
#[derive(Clone, Copy)]
pub(super) struct Contacts<'a> {
    pub(super) planned: Option<&'a Planned>,
    pub(super) heard: &'a BTreeMap<String, MonoTime>,
}

impl Contacts<'_> {
    /// Whether a host has no agent, or one that was heard within a while.
    pub(super) fn has(self, host: &str, now: MonoTime) -> bool {
        let has_agent = self.planned.is_some_and(|planned| planned.agents().contains(host));
        !has_agent || self.heard.get(host).is_some_and(|heard| now.since(*heard) <= ABSENT_AFTER)
    }
}

/// Clocks of hub and agent that drift by 1 in 1,000 differ by less over an hour.
const MARGIN: Duration = Duration::from_secs(4);
/// Agents ask every 20 s.
pub(super) const ABSENT_AFTER: Duration = Duration::from_secs(60);
/// Runs become due meanwhile.
const WANTED_LASTS: Duration = Duration::from_millis(250);
