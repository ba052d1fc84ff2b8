//! What the threads of an agent share.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use measure::stop::Stop;
use units::WallTime;

use super::calendar::Calendar;
use super::spool::{Batch, Spool};
use crate::api::record::Record;
use crate::api::work::AgentHealth;
use crate::trust::secret;

/// The spool, the wish to stop, and a bell for whoever waits for either.
pub struct Shared<'a> {
    spool: Mutex<Spool>,
    bell: Condvar,
    /// The wish to stop.
    pub stop: &'a Stop,
    /// The hub's time.
    pub calendar: Arc<Calendar>,
    say: &'a (dyn Fn(&str) + Sync),
    refused: AtomicU64,
    kept: AtomicU64,
    /// In seconds since 1970-01-01 UTC; 0 before the first.
    contact: AtomicU64,
    /// In milliseconds; 0 where the hub wants none.
    transfers_every: AtomicU64,
}

impl<'a> Shared<'a> {
    /// An agent's, with where it says what a person should see.
    #[must_use]
    pub fn new(spool: Spool, stop: &'a Stop, say: &'a (dyn Fn(&str) + Sync)) -> Self {
        Self {
            spool: Mutex::new(spool),
            bell: Condvar::new(),
            stop,
            calendar: Arc::default(),
            say,
            refused: AtomicU64::new(0),
            kept: AtomicU64::new(0),
            contact: AtomicU64::new(0),
            transfers_every: AtomicU64::new(0),
        }
    }

    /// Says what a person should see.
    pub fn say(&self, line: &str) {
        (self.say)(line);
    }

    /// The spool, while no other thread uses it.
    pub fn spool(&self) -> MutexGuard<'_, Spool> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a record for delivery, and rings.
    ///
    /// # Errors
    /// What writing it gives.
    pub fn keep(&self, record: &Record) -> io::Result<()> {
        self.spool().add(record)?;
        self.kept.fetch_add(1, Ordering::Relaxed);
        self.bell.notify_all();
        Ok(())
    }

    /// Waits until there is something to deliver, or somebody wants to stop; no longer than `most`.
    #[must_use]
    pub fn to_deliver(&self, most: Duration) -> Batch {
        let mut spool = self.spool();
        let mut left = most;
        // Who wants to stop may be a signal handler, which cannot ring.
        while spool.is_empty() && !left.is_zero() && !self.stop.is_stopped() {
            let step = left.min(GLANCE);
            spool = self.bell.wait_timeout(spool, step).unwrap_or_else(PoisonError::into_inner).0;
            left -= step;
        }
        spool.oldest(crate::api::record::MOST_RECORDS, BATCH_BYTES)
    }

    /// Waits, unless somebody wants to stop.
    pub fn pause(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.stop.is_stopped() {
            let step = left.min(GLANCE);
            std::thread::sleep(step);
            left -= step;
        }
    }

    /// A ticket was refused.
    pub fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Records since the start.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// The hub has answered.
    pub fn answered(&self) {
        self.contact.store(self.calendar.now().unix_seconds(), Ordering::Relaxed);
    }

    /// The hub has said how often it wants rates of transfers.
    pub fn want_transfers(&self, every: Option<Duration>) {
        self.transfers_every.store(every.map_or(0, units::duration::millis), Ordering::Relaxed);
    }

    /// How often it wants them, if it does.
    #[must_use]
    pub fn transfers_every(&self) -> Option<Duration> {
        let every = self.transfers_every.load(Ordering::Relaxed);
        (every > 0).then(|| Duration::from_millis(every))
    }

    /// When it has answered last.
    #[must_use]
    pub fn contact(&self) -> Option<WallTime> {
        let seconds = self.contact.load(Ordering::Relaxed);
        (seconds > 0).then(|| WallTime::from_unix_nanos(seconds.saturating_mul(1_000_000_000)))
    }

    /// How the agent is.
    #[must_use]
    pub fn health(&self) -> AgentHealth {
        let refused = self.refused.load(Ordering::Relaxed);
        let spool = self.spool();
        AgentHealth { spooled: spool.len() as u64, dropped: spool.dropped(), refused }
    }
}

impl std::fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("spool", &self.spool).finish_non_exhaustive()
    }
}

/// Random bits for waits. Where the kernel has none, waits are alike, which is no harm.
#[must_use]
pub fn random_bits() -> u32 {
    secret::random().map_or(u32::MAX / 2, u32::from_le_bytes)
}

/// What is sent at once but for a single larger record: a quarter of what a hub takes.
const BATCH_BYTES: u64 = 8 << 20;
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(250);
