//! All connections of a network namespace.
//!
//! A walk over the kernel's table shows every connection; one that a walk does not show has died. Its last word, where the
//! kernel sends last words, comes by itself. Between walks the busiest are asked for one by one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use model::transfer::{LossCounts, LossEventKind, Missed, ReceivedCount, TransferEnd};
use units::{ByteCount, MonoTime};

use super::connection::{ClosedFirst, Connection, FirstSeen};
use super::finish::canonical;
use super::loss::TimedLoss;
use super::reading::{Ends, Sighting};
use super::span::{Ending, Span};

/// What a watcher wants.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Connections that moved less are no transfers.
    pub least: ByteCount,
    /// The time between two looks at the busiest connections.
    pub spacing: Duration,
    /// Whether the kernel sends last words.
    pub last_words: LastWords,
}

/// Whether the kernel says when a connection dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastWords {
    /// It does.
    Come,
    /// It may not be asked to.
    Denied,
}

/// See the module.
#[derive(Debug)]
pub struct Table {
    wanted: Wanted,
    connections: HashMap<u64, Connection>,
    /// The kernel's number of a connection by its ends, for events that name no number.
    numbers: HashMap<Ends, u64>,
    walk: u64,
    /// When the last whole walk began, and the one that goes on.
    walked: Option<MonoTime>,
    walking: MonoTime,
    with_readings: usize,
    missed: Missed,
    small_finished: u64,
    /// What connections that ended in this interval had moved in it.
    ended: Vec<Activity>,
}

/// What one connection moved in an interval.
#[derive(Debug, Clone, Copy)]
pub struct Activity {
    /// The kernel's number of it.
    pub cookie: u64,
    /// Both ends as the kernel has them: IPv4 may be mapped into IPv6.
    pub ends: Ends,
    /// The user's number.
    pub uid: u32,
    /// The number of its file.
    pub inode: u32,
    /// Payload sent.
    pub sent: u64,
    /// Payload received.
    pub received: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Losses that the sender noticed, as far as events of them are read.
    pub losses: LossCounts,
}

/// A transfer that has ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// What was seen of it.
    pub span: Span,
    /// The user's number.
    pub uid: u32,
    /// The number of its file while it was open.
    pub inode: u32,
}

impl Table {
    /// An empty one.
    #[must_use]
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            connections: HashMap::new(),
            numbers: HashMap::new(),
            walk: 0,
            walked: None,
            walking: MonoTime::from_nanos(0),
            with_readings: 0,
            missed: Missed::default(),
            small_finished: 0,
            ended: Vec::new(),
        }
    }

    /// A walk begins.
    pub fn begin_walk(&mut self, now: MonoTime) {
        self.walk += 1;
        self.walking = now;
    }

    /// A walk, or a request for one connection, shows it.
    pub fn see(&mut self, sighting: &Sighting) {
        let seen = match self.walked {
            None => FirstSeen::BeforeWatch,
            Some(walked) => FirstSeen::After(walked),
        };
        let is_full = self.connections.len() >= MOST_CONNECTIONS;
        let connection = match self.connections.entry(sighting.cookie) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if is_full => {
                self.missed.beyond_limit += 1;
                return;
            }
            Entry::Vacant(new) => {
                self.numbers.insert(key(&sighting.ends), sighting.cookie);
                new.insert(Connection::new(sighting, seen, self.walk))
            }
        };
        connection.walk = self.walk;
        connection.see(sighting);
        if !connection.is_bulk()
            && connection.watched().all() >= self.wanted.least.get()
            && self.with_readings < MOST_WITH_READINGS
        {
            connection.keep_readings(sighting, self.wanted.spacing);
            self.with_readings += 1;
        }
    }

    /// A walk has ended: what it did not show has died. Where last words come, one may be on its way until the next walk.
    pub fn end_walk(&mut self) -> Vec<Ended> {
        let grace = u64::from(self.wanted.last_words == LastWords::Come);
        let oldest = self.walk.saturating_sub(grace);
        let gone: Vec<u64> =
            self.connections.iter().filter(|(_, each)| each.walk < oldest).map(|(cookie, _)| *cookie).collect();
        self.walked = Some(self.walking);
        gone.into_iter().filter_map(|cookie| self.without_last_word(cookie)).collect()
    }

    /// A walk could not be finished.
    pub fn walk_failed(&mut self) {
        self.missed.failed_walks += 1;
        // Nobody was seen, and nobody has died for that.
        let walk = self.walk;
        self.connections.values_mut().for_each(|connection| connection.walk = walk);
    }

    fn remove(&mut self, cookie: u64) -> Option<Connection> {
        let connection = self.connections.remove(&cookie)?;
        let key = key(&connection.ends);
        // A new connection may have the same ends already.
        if self.numbers.get(&key) == Some(&cookie) {
            self.numbers.remove(&key);
        }
        Some(connection)
    }

    /// The sender of a connection took segments for lost. Of a connection that no walk has shown, nothing is kept: its segments are
    /// counted by its own counters all the same.
    pub fn loss(&mut self, at: MonoTime, ends: &Ends, kind: LossEventKind) {
        let cookie = self.numbers.get(&key(ends));
        if let Some(connection) = cookie.and_then(|cookie| self.connections.get_mut(cookie)) {
            connection.lose(TimedLoss { at, kind });
        }
    }

    /// A connection retransmitted something. Of one that no walk has shown, nothing is kept.
    pub fn retransmitted(&mut self, at: MonoTime, ends: &Ends) {
        let cookie = self.numbers.get(&key(ends));
        if let Some(connection) = cookie.and_then(|cookie| self.connections.get_mut(cookie)) {
            connection.retransmit(at);
        }
    }

    /// The kernel could not keep so many events until they were read.
    pub fn lost_events(&mut self, count: u64) {
        self.missed.events = self.missed.events.saturating_add(count);
    }

    /// The kernel's queue of last words ran over.
    pub fn overrun(&mut self) {
        self.missed.overruns += 1;
    }

    /// The last word on a connection. `closed_first` asks the kernel about what waits for stray segments, where that decides
    /// whether a byte was payload.
    pub fn last_word(
        &mut self,
        sighting: &Sighting,
        closed_first: impl FnOnce(&Ends) -> Option<ClosedFirst>,
    ) -> Option<Ended> {
        let known = self.remove(sighting.cookie);
        let mut connection = match (known, self.walked) {
            (Some(known), _) => known,
            // It came and went between two walks.
            (None, Some(walked)) => Connection::new(sighting, FirstSeen::After(walked), self.walk),
            (None, None) => return None,
        };
        let is_transfer = sighting.reading.received().max(sighting.reading.sent()) >= self.wanted.least.get();
        let closed_first = if is_transfer { closed_first(&connection.ends) } else { None };
        let count = connection.end(sighting, closed_first);
        self.finish(sighting.cookie, &connection, Ending { how: TransferEnd::Closed, received: count })
    }

    fn without_last_word(&mut self, cookie: u64) -> Option<Ended> {
        let connection = self.remove(cookie)?;
        if self.wanted.last_words == LastWords::Come {
            self.missed.without_last_word += 1;
        }
        self.finish(cookie, &connection, Ending { how: TransferEnd::NotHeard, received: ReceivedCount::Exact })
    }

    fn finish(&mut self, cookie: u64, connection: &Connection, ending: Ending) -> Option<Ended> {
        if connection.is_bulk() {
            self.with_readings -= 1;
        }
        if let Some(activity) = activity(cookie, connection) {
            self.ended.push(activity);
        }
        if connection.watched().all() < self.wanted.least.get() {
            self.small_finished += 1;
            return None;
        }
        Some(ended(connection, ending))
    }

    /// The watcher ends: every transfer that goes on is one that was seen until here.
    pub fn end(&mut self) -> Vec<Ended> {
        let least = self.wanted.least.get();
        let all = std::mem::take(&mut self.connections);
        self.numbers.clear();
        self.with_readings = 0;
        let transfers = all.values().filter(|connection| connection.watched().all() >= least);
        transfers.map(|connection| ended(connection, Ending::OPEN)).collect()
    }

    /// The connections that moved most since the interval began, at most `most`: worth a look before the next walk.
    #[must_use]
    pub fn busiest(&self, most: usize) -> Vec<(u64, Ends)> {
        let kept = self.connections.iter().filter(|(_, connection)| connection.is_bulk());
        let mut active: Vec<(u64, u64, Ends)> =
            kept.map(|(cookie, connection)| (connection.since_mark().all(), *cookie, connection.ends)).collect();
        active.retain(|(moved, ..)| *moved > 0);
        active.sort_unstable_by_key(|&(moved, cookie, _)| (std::cmp::Reverse(moved), cookie));
        active.into_iter().take(most).map(|(_, cookie, ends)| (cookie, ends)).collect()
    }

    /// What moved since the last call, by connection, those that ended included. An interval begins.
    pub fn take_interval(&mut self) -> Vec<Activity> {
        let mut active = std::mem::take(&mut self.ended);
        for (cookie, connection) in &mut self.connections {
            active.extend(activity(*cookie, connection));
            connection.mark();
        }
        self.make_room();
        active
    }

    /// Readings are kept of so many connections: of those that move nothing they go first.
    fn make_room(&mut self) {
        if self.with_readings < MOST_WITH_READINGS {
            return;
        }
        let kept = self.connections.iter().filter(|(_, connection)| connection.is_bulk());
        let mut order: Vec<(u64, u64)> = kept.map(|(cookie, each)| (each.watched().all(), *cookie)).collect();
        order.sort_unstable();
        for (_, cookie) in order.into_iter().take(MOST_WITH_READINGS / 4) {
            if let Some(connection) = self.connections.get_mut(&cookie) {
                connection.forget_readings();
                self.with_readings -= 1;
            }
        }
    }

    /// The last seconds of a connection, where there are readings enough.
    #[must_use]
    pub fn recent(&self, cookie: u64) -> Option<Span> {
        self.connections.get(&cookie)?.recent(self.wanted.spacing)
    }

    /// The last reading of a connection with readings.
    #[must_use]
    pub fn last_reading(&self, cookie: u64) -> Option<&super::reading::Reading> {
        self.connections.get(&cookie)?.last_reading().map(|sample| &sample.reading)
    }

    /// Payload of a connection since it was made: sent and received.
    #[must_use]
    pub fn totals(&self, cookie: u64) -> Option<(ByteCount, ByteCount)> {
        let moved = self.connections.get(&cookie)?.moved();
        Some((ByteCount::new(moved.sent), ByteCount::new(moved.received)))
    }

    /// How many connections there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// What was missed so far.
    #[must_use]
    pub fn missed(&self) -> Missed {
        self.missed
    }

    /// Connections that ended since the last call, too small for transfers.
    pub fn take_small(&mut self) -> u64 {
        std::mem::take(&mut self.small_finished)
    }
}

fn activity(cookie: u64, connection: &Connection) -> Option<Activity> {
    let moved = connection.since_mark();
    // A single byte may be a FIN.
    (moved.all() > 1 || moved.retransmits > 0).then_some(Activity {
        cookie,
        ends: connection.ends,
        uid: connection.uid,
        inode: connection.inode,
        sent: moved.sent,
        received: moved.received,
        retransmits: moved.retransmits.into(),
        losses: connection.losses(),
    })
}

/// The ends as events name them: IPv4 as such.
fn key(ends: &Ends) -> Ends {
    Ends { local: canonical(ends.local), peer: canonical(ends.peer) }
}

fn ended(connection: &Connection, ending: Ending) -> Ended {
    Ended { span: connection.whole(ending), uid: connection.uid, inode: connection.inode }
}

/// Connections beyond these are counted and not kept: some 60 MB.
const MOST_CONNECTIONS: usize = 200_000;
/// Readings are kept of so many: at most 70 KiB each.
const MOST_WITH_READINGS: usize = 128;
