//! Leases on the agent's disk, from the hub's word to its acknowledgement of the result.
//!
//! A lease is on disk before its test begins, and its result is in the spool before the journal calls it finished. Where the
//! agent is killed between the two, the result that lies in the spool counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use linux::clock;
use mesh::agent::{AgentJournal, JournalChange, JournalEntry, Progress};
use mesh::board::{AgentReply, Counted as BoardCounted, Lease};
use mesh::run::{LeaseName, Outcome, RequestNumber, RunRow};
use serde::{Deserialize, Serialize};

use crate::api::order;
use crate::api::work::{Counted, WorkReply};
use crate::trust::digest::Fingerprint;
use crate::trust::secret;
use crate::trust::ticket::Ticket;

/// What an agent has leased.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    leases: AgentJournal,
    tickets: BTreeMap<LeaseName, Ticket>,
}

/// A file of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct OnDisk {
    entry: JournalEntry,
    ticket: Ticket,
}

/// A run that the agent was killed in, of which nothing is known.
pub type Interrupted = LeaseName;

impl Journal {
    /// Opens the journal in a directory. `delivered` are the leases whose results lie in the spool. Returns as well the runs that
    /// were interrupted: a result that says so is to be spooled before the first request.
    ///
    /// # Errors
    /// What reading or writing gives.
    pub fn open(
        directory: &Path,
        agent: &str,
        boots: u64,
        spooled: &BTreeSet<LeaseName>,
    ) -> io::Result<(Self, Vec<Interrupted>)> {
        secret::directory(directory)?;
        let (mut entries, mut tickets) = (Vec::new(), BTreeMap::new());
        for file in fs::read_dir(directory)? {
            let path = file?.path();
            if path.extension().is_none_or(|ending| ending != ENDING) {
                continue;
            }
            // What the disk has damaged was never begun, or its result is in the spool, or the hub will call it missing.
            let Ok(OnDisk { entry, ticket }) = serde_json::from_slice(&fs::read(&path)?).map_err(io::Error::other)
            else {
                let _ = fs::remove_file(&path);
                continue;
            };
            tickets.insert(entry.lease.name(), ticket);
            entries.push(entry);
        }
        let is_begun = |entry: &&JournalEntry| entry.progress != Progress::NotBegun;
        let begun = entries.iter().filter(is_begun).map(|entry| entry.lease.name());
        let interrupted = begun.filter(|name| !spooled.contains(name)).collect();
        let leases = AgentJournal::restore(agent, boots, entries);
        let mut journal = Self { directory: directory.to_owned(), leases, tickets };
        journal.flush()?;
        Ok((journal, interrupted))
    }

    /// The next request: its number, how many heavy runs the agent would begin, every lease that it has.
    pub fn request(&mut self, room: usize) -> (RequestNumber, Vec<order::LeaseName>) {
        let asked = self.leases.request(room, clock::now());
        let inventory = asked.inventory.unwrap_or_default();
        (asked.number, inventory.iter().map(order::LeaseName::from).collect())
    }

    /// How many heavy runs it would begin.
    #[must_use]
    pub fn room(&self) -> usize {
        self.leases.room()
    }

    /// Takes what the hub has given. It is on disk when this returns.
    ///
    /// # Errors
    /// What writing gives: nothing of it may be begun then.
    pub fn reply(&mut self, number: RequestNumber, reply: &WorkReply) -> io::Result<()> {
        let mut leases = Vec::new();
        for given in &reply.leases {
            // A run that is not understood is one that the agent never had: the hub sees so in the next inventory.
            let Ok(run) = model::value::read::<RunRow>(&given.row) else { continue };
            let lease = Lease { attempt: run.attempts, ttl: given.ttl, run };
            self.tickets.insert(lease.name(), given.ticket.clone());
            leases.push(lease);
        }
        let counted = if reply.counted == Counted::Counted { BoardCounted::Yes } else { BoardCounted::Old };
        let revoked = reply.unknown.iter().map(LeaseName::from).collect();
        self.leases.reply(AgentReply { to: number, counted, leases, revoked });
        self.flush()
    }

    /// What is to begin now. It counts as begun, on disk.
    ///
    /// # Errors
    /// What writing gives: it must not begin then, and waits.
    pub fn begin(&mut self) -> io::Result<Option<(Lease, Ticket)>> {
        self.flush()?;
        let Some(lease) = self.leases.next(clock::now()) else {
            self.flush()?;
            return Ok(None);
        };
        self.flush().inspect_err(|_| self.leases.not_begun(&lease.name()))?;
        Ok(self.tickets.get(&lease.name()).cloned().map(|ticket| (lease, ticket)))
    }

    /// A result is in the spool.
    ///
    /// # Errors
    /// What writing gives.
    pub fn finished(&mut self, name: &LeaseName, outcome: Outcome) -> io::Result<()> {
        self.leases.finished(name, outcome);
        self.flush()
    }

    /// The hub has a result.
    ///
    /// # Errors
    /// What writing gives.
    pub fn acknowledged(&mut self, name: &order::LeaseName) -> io::Result<()> {
        self.leases.acknowledged(&name.into());
        self.flush()
    }

    /// Writes what has changed. What the disk does not take is written with the next change.
    fn flush(&mut self) -> io::Result<()> {
        let mut changes = self.leases.take_changes().into_iter();
        while let Some(change) = changes.next() {
            if let Err(error) = self.write(&change) {
                self.leases.unwritten(std::iter::once(change).chain(changes));
                return Err(error);
            }
        }
        Ok(())
    }

    fn write(&mut self, change: &JournalChange) -> io::Result<()> {
        match change {
            JournalChange::Put(entry) => {
                let name = entry.lease.name();
                let Some(ticket) = self.tickets.get(&name).cloned() else { return Ok(()) };
                let content = serde_json::to_vec(&OnDisk { entry: (**entry).clone(), ticket })?;
                secret::write(&self.file(&name), &content)
            }
            JournalChange::Remove(name) => {
                match fs::remove_file(self.file(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                self.tickets.remove(name);
                Ok(())
            }
        }
    }

    fn file(&self, name: &LeaseName) -> PathBuf {
        let digest = Fingerprint::of(order::LeaseName::from(name).to_string().as_bytes());
        self.directory.join(format!("{digest}.{ENDING}"))
    }
}

const ENDING: &str = "lease";
