//! For how long nothing was under way, and for how long a sender waited for its retransmission timer.

use std::time::Duration;

use units::MonoTime;

/// See the module.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    idle: Duration,
    idle_since: Option<MonoTime>,
    after_timeouts: Duration,
    /// Since the first of timeouts in a row (`rto_stamp`).
    timed_out_since: Option<MonoTime>,
}

impl Waits {
    /// The connection stands, and nothing is under way.
    pub(super) fn begin(now: MonoTime) -> Self {
        Self { idle_since: Some(now), ..Self::default() }
    }

    /// So many segments are out now.
    #[inline]
    pub(super) fn out(&mut self, segments: u32, now: MonoTime) {
        match (segments, self.idle_since) {
            (0, None) => self.idle_since = Some(now),
            (1.., Some(since)) => {
                self.idle += now.since(since);
                self.idle_since = None;
            }
            _ => {}
        }
    }

    pub(super) fn timed_out(&mut self, now: MonoTime) {
        self.timed_out_since.get_or_insert(now);
    }

    /// Something new was acknowledged.
    #[inline]
    pub(super) fn answered(&mut self, now: MonoTime) {
        if let Some(since) = self.timed_out_since.take() {
            self.after_timeouts += now.since(since);
        }
    }

    /// Time without data under way, by now.
    pub(crate) fn idle(&self, now: MonoTime) -> Duration {
        self.idle + self.idle_since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Time in recoveries from timeouts, by now (`tcpi_total_rto_time`).
    pub(crate) fn after_timeouts(&self, now: MonoTime) -> Duration {
        self.after_timeouts + self.timed_out_since.map_or(Duration::ZERO, |since| now.since(since))
    }
}
