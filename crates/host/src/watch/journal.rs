//! Entries on their way to the archive. They are told when they are on disk. Where the archive cannot be written to,
//! that is said, they are kept and tried again; where there are too many, the readings since are given up instead: the
//! archive has what was known before, and a comparison with it finds what changed.

use std::time::{Duration, Instant};

use archive::Archive;
use archive::changes::ChangeError;
use archive::changes::watched::{WatchedChanges, WatchedHost, WatchedKey};
use model::host::change::{ChangeEntry, LoggedChange};
use units::WallTime;

use super::report::WatchEvent;

pub(super) struct Journal<'a> {
    archive: &'a mut Archive,
    host: WatchedHost,
    waiting: WatchedChanges,
    /// When to try again, after a failure.
    again: Option<Instant>,
    /// Whether readings were given up.
    is_behind: bool,
}

impl<'a> Journal<'a> {
    pub(super) fn new(archive: &'a mut Archive, host: WatchedHost) -> Self {
        Self { archive, host, waiting: WatchedChanges::default(), again: None, is_behind: false }
    }

    pub(super) fn archive(&self) -> &Archive {
        self.archive
    }

    pub(super) fn host(&self) -> &WatchedHost {
        &self.host
    }

    /// Takes entries, and the settings that they lead to.
    pub(super) fn put(&mut self, entries: Vec<ChangeEntry>, settings: Vec<(WatchedKey, Option<String>)>) {
        if self.is_behind {
            return;
        }
        self.waiting.entries.extend(entries);
        self.waiting.settings.extend(settings);
        if self.again.is_some() && self.waiting.entries.len() + self.waiting.settings.len() > MOST_WAITING {
            self.waiting = WatchedChanges::default();
            self.is_behind = true;
        }
    }

    /// Notes that everything was compared.
    pub(super) fn checked(&mut self, at: WallTime) {
        if !self.is_behind {
            self.waiting.checked = Some(at);
        }
    }

    /// When to try again, where something waits for that.
    pub(super) fn due(&self) -> Option<Instant> {
        self.again
    }

    /// Whether readings were given up, so that what is known has to come from the archive again.
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// What is known comes from the archive again.
    pub(super) fn caught_up(&mut self) {
        self.is_behind = false;
        self.again = None;
    }

    /// Writes what waits, unless it was just tried in vain.
    pub(super) fn flush(&mut self, told: &mut dyn FnMut(WatchEvent<'_>)) {
        let is_too_early = self.again.is_some_and(|again| Instant::now() < again);
        if is_too_early || self.is_behind || self.waiting == WatchedChanges::default() {
            return;
        }
        match self.archive.append_found(&self.host, &self.waiting) {
            Ok(numbers) => {
                let WatchedChanges { entries, .. } = std::mem::take(&mut self.waiting);
                for (number, entry) in numbers.into_iter().zip(entries) {
                    told(WatchEvent::Entered(&LoggedChange { number, entry }));
                }
                if self.again.take().is_some() {
                    told(WatchEvent::Warning("the archive can be written to again; nothing was lost".to_owned()));
                }
            }
            Err(error) => self.failed(&error, told),
        }
    }

    fn failed(&mut self, error: &ChangeError, told: &mut dyn FnMut(WatchEvent<'_>)) {
        let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
        let kept = self.waiting.entries.len();
        if self.again.is_none() {
            let words = format!("{error}{cause}; {kept} entries are kept, next try every {} s", AGAIN.as_secs());
            told(WatchEvent::Warning(words));
        }
        self.again = Some(Instant::now() + AGAIN);
    }
}

/// How long to wait after a failure.
const AGAIN: Duration = Duration::from_secs(10);

/// Most entries and settings that wait, of some hundred bytes each.
const MOST_WAITING: usize = 4_096;
