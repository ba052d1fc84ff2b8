//! Probes beside the flows: single packets that take the queues of the path as they are, and are answered at once.

use units::MonoTime;

/// When probes were sent, when they arrived, and when their answers came.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    trips: Vec<ProbeTrip>,
}

/// One probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProbeTrip {
    pub(crate) sent: MonoTime,
    /// When it arrived at the far end; [`None`] where it has not yet, or never will.
    pub(crate) arrived: Option<MonoTime>,
    /// When its answer came; [`None`] where it has not yet, or never will.
    pub(crate) answered: Option<MonoTime>,
}

impl Probes {
    /// One more is sent. Its number.
    pub(super) fn send(&mut self, now: MonoTime) -> u32 {
        self.trips.push(ProbeTrip { sent: now, arrived: None, answered: None });
        u32::try_from(self.trips.len() - 1).unwrap_or(u32::MAX)
    }

    /// One has come to the far end. The first counts where it was doubled on its way.
    pub(super) fn arrived(&mut self, number: u32, now: MonoTime) {
        if let Some(trip) = self.trips.get_mut(number as usize) {
            trip.arrived = trip.arrived.or(Some(now));
        }
    }

    /// The answer to one has come. The first counts where it was doubled on its way.
    pub(super) fn answered(&mut self, number: u32, now: MonoTime) {
        if let Some(trip) = self.trips.get_mut(number as usize) {
            trip.answered = trip.answered.or(Some(now));
        }
    }

    /// All of them, in the order in which they were sent.
    pub(crate) fn trips(&self) -> &[ProbeTrip] {
        &self.trips
    }
}
