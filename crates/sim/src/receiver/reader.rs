//! A program that does not take what has come at once: it is slow, or its CPU is not its own.

use std::time::Duration;

use units::{ByteCount, DataRate, MonoTime};

use crate::turns::Turns;

/// What lies unread in the socket.
#[derive(Debug)]
pub(crate) struct Reader {
    rate: Option<DataRate>,
    turns: Option<Turns>,
    segment: ByteCount,
    unread: u32,
    /// Until when the program's time has been used.
    at: MonoTime,
}

/// A program that reads slowly takes this many bytes at a time.
const READ: u64 = 64 << 10;

impl Reader {
    pub(super) fn new(rate: Option<DataRate>, turns: Option<Turns>, segment: u32) -> Self {
        Self { rate, turns, segment: ByteCount::new(segment.into()), unread: 0, at: MonoTime::default() }
    }

    /// Segments that nobody has read.
    pub(crate) fn unread(&self) -> u32 {
        self.unread
    }

    /// Segments have come in order.
    pub(super) fn came(&mut self, segments: u32, now: MonoTime) {
        if self.unread == 0 {
            self.at = now;
        }
        self.unread += segments;
    }

    /// Segments that the program takes by now.
    pub(super) fn take(&mut self, now: MonoTime) -> u32 {
        if self.turns.is_some_and(|turns| !turns.runs(now)) {
            self.at = now;
            return 0;
        }
        let taken = match self.rate {
            None => self.unread,
            Some(rate) => {
                let bytes = (rate * now.since(self.at)).get();
                u32::try_from(bytes / self.segment.get().max(1)).unwrap_or(u32::MAX).min(self.unread)
            }
        };
        if taken > 0 {
            self.at = now;
        }
        self.unread -= taken;
        taken
    }

    /// When it takes more, where anything lies there.
    pub(super) fn due(&self) -> Option<MonoTime> {
        if self.unread == 0 {
            return None;
        }
        let waits = self.turns.filter(|turns| !turns.runs(self.at)).map(|turns| turns.next(self.at));
        let from = waits.unwrap_or(self.at);
        let piece = ByteCount::new(READ.min(u64::from(self.unread) * self.segment.get()).max(self.segment.get()));
        let time = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(piece).unwrap_or(Duration::MAX));
        // A little later than that, or bytes that are rounded off would have the clock stand still.
        Some(from + time + Duration::from_micros(1))
    }
}
