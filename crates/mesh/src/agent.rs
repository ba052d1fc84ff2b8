//! What an agent has on disk, and what it does next.
//!
//! The order of writing is what makes a run happen once: a lease is on disk before its test begins, a result before it is
//! delivered, and it leaves the disk when the hub has acknowledged it. A reply counts only if it answers the newest request;
//! so a lease that a newer inventory does not name can never begin.

use std::collections::{BTreeMap, BTreeSet};

use plan::task::Weight;
use serde::{Deserialize, Serialize};
use units::MonoTime;

use crate::board::{AgentReply, AgentRequest, Counted, Delivery, Lease};
use crate::run::{LeaseName, Outcome, RequestNumber};

/// A lease on the agent's disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// What the hub has granted.
    pub lease: Lease,
    /// How far it is.
    pub progress: Progress,
}

/// How far a run is at its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// It has not begun.
    NotBegun,
    /// It has, and if the agent died it is not over.
    Begun,
    /// It is over, and the hub does not know yet.
    Finished(Outcome),
}

/// A change that has to be on disk before anything else is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalChange {
    /// Write this entry over the one of its lease.
    Put(Box<JournalEntry>),
    /// Delete the entry of this lease.
    Remove(LeaseName),
}

impl JournalChange {
    fn lease(&self) -> LeaseName {
        match self {
            Self::Put(entry) => entry.lease.name(),
            Self::Remove(name) => name.clone(),
        }
    }
}

/// What an agent knows.
#[derive(Debug, Clone)]
pub struct AgentJournal {
    agent: String,
    last: RequestNumber,
    /// When the newest request was sent, as long as it is not answered.
    sent: Option<MonoTime>,
    entries: BTreeMap<LeaseName, Entry>,
    changed: BTreeSet<LeaseName>,
}

#[derive(Debug, Clone)]
struct Entry {
    on_disk: JournalEntry,
    /// When the lease is over.
    until: MonoTime,
}

impl AgentJournal {
    /// An agent that starts with what is on its disk. `boots` is one more than at its last start, and on disk by now.
    #[must_use]
    pub fn restore(agent: &str, boots: u64, entries: Vec<JournalEntry>) -> Self {
        let mut journal = Self {
            agent: agent.to_owned(),
            last: RequestNumber { boots, number: 0 },
            sent: None,
            entries: BTreeMap::new(),
            changed: BTreeSet::new(),
        };
        for mut on_disk in entries {
            let name = on_disk.lease.name();
            journal.changed.insert(name.clone());
            match on_disk.progress {
                // How much of its time is left is not known any more: the hub gives it to somebody anew.
                Progress::NotBegun => continue,
                Progress::Begun => {
                    let reason = "interrupted: the agent was started anew".to_owned();
                    on_disk.progress = Progress::Finished(Outcome::Failed { reason });
                }
                Progress::Finished(_) => {}
            }
            journal.entries.insert(name, Entry { on_disk, until: MonoTime::default() });
        }
        journal
    }

    /// What has to be written to disk before anything else is done.
    pub fn take_changes(&mut self) -> Vec<JournalChange> {
        let change = |name: LeaseName| match self.entries.get(&name) {
            Some(entry) => JournalChange::Put(Box::new(entry.on_disk.clone())),
            None => JournalChange::Remove(name),
        };
        std::mem::take(&mut self.changed).into_iter().map(change).collect()
    }

    /// Changes that the disk did not take: they come again with the next ones.
    pub fn unwritten(&mut self, changes: impl IntoIterator<Item = JournalChange>) {
        self.changed.extend(changes.into_iter().map(|change| change.lease()));
    }

    /// A run that [`Self::next`] gave and that the disk did not take as begun: it waits again.
    pub fn not_begun(&mut self, name: &LeaseName) {
        if let Some(entry) = self.entries.get_mut(name).filter(|entry| entry.on_disk.progress == Progress::Begun) {
            entry.on_disk.progress = Progress::NotBegun;
            self.changed.insert(name.clone());
        }
    }

    /// The next request. Replies to all before it are dropped from now on.
    pub fn request(&mut self, room: usize, now: MonoTime) -> AgentRequest {
        self.last.number += 1;
        self.sent = Some(now);
        AgentRequest {
            agent: self.agent.clone(),
            number: self.last,
            room,
            inventory: Some(self.entries.keys().cloned().collect()),
        }
    }

    /// Takes a reply; those to older requests, and copies, are dropped.
    pub fn reply(&mut self, reply: AgentReply) {
        let Some(sent) = self.sent.filter(|_| reply.to == self.last && reply.counted == Counted::Yes) else { return };
        self.sent = None;
        for name in reply.revoked {
            if self.entries.get(&name).is_some_and(|entry| entry.on_disk.progress == Progress::NotBegun) {
                self.remove(&name);
            }
        }
        for lease in reply.leases {
            let (name, until) = (lease.name(), sent + lease.ttl);
            let on_disk = JournalEntry { lease, progress: Progress::NotBegun };
            self.changed.insert(name.clone());
            self.entries.insert(name, Entry { on_disk, until });
        }
    }

    /// What is to begin now: heavy tests one at a time. It counts as begun; write that to disk, then begin.
    pub fn next(&mut self, now: MonoTime) -> Option<Lease> {
        let is_late = |entry: &Entry| {
            entry.on_disk.progress == Progress::NotBegun && now + entry.on_disk.lease.run.keep > entry.until
        };
        let late: Vec<LeaseName> =
            self.entries.iter().filter(|(_, entry)| is_late(entry)).map(|(name, _)| name.clone()).collect();
        late.iter().for_each(|name| self.remove(name));
        let is_busy = self
            .entries
            .values()
            .any(|entry| entry.on_disk.progress == Progress::Begun && entry.on_disk.lease.run.weight == Weight::Heavy);
        let next = self.entries.iter_mut().find(|(_, entry)| {
            entry.on_disk.progress == Progress::NotBegun
                && !(is_busy && entry.on_disk.lease.run.weight == Weight::Heavy)
        });
        let (name, entry) = next?;
        entry.on_disk.progress = Progress::Begun;
        self.changed.insert(name.clone());
        Some(entry.on_disk.lease.clone())
    }

    /// How many heavy runs it would begin.
    #[must_use]
    pub fn room(&self) -> usize {
        let is_ahead = |entry: &&Entry| !matches!(entry.on_disk.progress, Progress::Finished(_));
        usize::from(!self.entries.values().any(|entry| is_ahead(&entry)))
    }

    /// Tests whose leases are over: end them, and report them as failed.
    #[must_use]
    pub fn overdue(&self, now: MonoTime) -> Vec<LeaseName> {
        let is_over = |entry: &Entry| entry.on_disk.progress == Progress::Begun && entry.until <= now;
        self.entries.iter().filter(|(_, entry)| is_over(entry)).map(|(name, _)| name.clone()).collect()
    }

    /// When the first lease of a test that is under way is over.
    #[must_use]
    pub fn ends_at(&self) -> Option<MonoTime> {
        let under_way = self.entries.values().filter(|entry| entry.on_disk.progress == Progress::Begun);
        under_way.map(|entry| entry.until).min()
    }

    /// Makes a lease longer that the hub has renewed; `sent` is when it was asked to.
    pub fn renewed(&mut self, name: &LeaseName, sent: MonoTime) {
        if let Some(entry) = self.entries.get_mut(name) {
            entry.until = entry.until.max(sent + entry.on_disk.lease.ttl);
        }
    }

    /// Takes what came of a run that has begun. Write it to disk before it is delivered.
    pub fn finished(&mut self, name: &LeaseName, outcome: Outcome) {
        if let Some(entry) = self.entries.get_mut(name).filter(|entry| entry.on_disk.progress == Progress::Begun) {
            entry.on_disk.progress = Progress::Finished(outcome);
            self.changed.insert(name.clone());
        }
    }

    /// What the hub does not know yet.
    #[must_use]
    pub fn spool(&self) -> Vec<Delivery> {
        let delivery = |(name, entry): (&LeaseName, &Entry)| match &entry.on_disk.progress {
            Progress::Finished(outcome) => Some(Delivery { lease: name.clone(), outcome: outcome.clone() }),
            Progress::NotBegun | Progress::Begun => None,
        };
        self.entries.iter().filter_map(delivery).collect()
    }

    /// Forgets a result that the hub has.
    pub fn acknowledged(&mut self, name: &LeaseName) {
        if self.entries.get(name).is_some_and(|entry| matches!(entry.on_disk.progress, Progress::Finished(_))) {
            self.remove(name);
        }
    }

    fn remove(&mut self, name: &LeaseName) {
        self.entries.remove(name);
        self.changed.insert(name.clone());
    }
}
