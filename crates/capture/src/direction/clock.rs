//! Whether acknowledgments release what is sent, as a full window or send buffer has it; an application and a pacer have a
//! clock of their own.

/// Counts bursts by what they follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendClock {
    /// Bursts that followed an acknowledgment at once, and all others.
    clocked: u64,
    unclocked: u64,
    /// Mean time between packets, smoothed.
    spacing_ns: i64,
    /// Distance of packets that the bottleneck has put one after the other: a low quantile of the distances.
    least_ns: i64,
}

/// How long ago the sender did and heard something, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since {
    /// The packet before.
    pub(crate) data_ns: i64,
    /// The last acknowledgment that it heard.
    pub(crate) ack_ns: i64,
    /// How far the time of hearing it is uncertain: at the receiver's end of a path it is not captured.
    pub(crate) doubt_ns: i64,
}

/// What releases packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    Acknowledgments,
    OwnClock,
    /// Packets are as dense as acknowledgments: either may follow the other by chance.
    Unknown,
}

/// A host needs about so long from an acknowledgment to the packet that it releases.
const ANSWER_NS: i64 = 30_000;
/// Fewer bursts say nothing.
const LEAST_BURSTS: u64 = 12;

impl Default for SendClock {
    fn default() -> Self {
        Self { clocked: 0, unclocked: 0, spacing_ns: 0, least_ns: ANSWER_NS }
    }
}

impl SendClock {
    /// A packet of new data was sent.
    #[inline]
    pub(crate) fn sent(&mut self, since: Since) {
        let data_ns = since.data_ns;
        if data_ns < self.least_ns {
            self.least_ns -= (self.least_ns - data_ns) / 8;
        } else {
            self.least_ns += (data_ns.min(2 * self.least_ns) - self.least_ns) / 256;
        }
        // By chance an acknowledgment of every second packet is so near to one of eight.
        let near_ns = (self.spacing_ns / 4).max(ANSWER_NS);
        // A pause is not the distance of packets.
        self.spacing_ns += (data_ns.min(self.spacing_ns.max(ANSWER_NS) * 16) - self.spacing_ns) / 16;
        // Packets that are sent together follow the same acknowledgment.
        // Where all are as far apart as the least, no bottleneck has lined them up.
        let lined_up_ns = if self.least_ns * 10 < self.spacing_ns * 7 { self.least_ns + self.least_ns / 4 } else { 0 };
        let together_ns = near_ns.max(lined_up_ns);
        if data_ns < together_ns || data_ns < 4 * since.doubt_ns {
            return;
        }
        if since.ack_ns < near_ns.max(since.doubt_ns) { self.clocked += 1 } else { self.unclocked += 1 }
    }

    /// A loss has changed what limits: count anew.
    pub(crate) fn restart(&mut self) {
        (self.clocked, self.unclocked) = (0, 0);
    }

    pub(crate) fn release(&self) -> Release {
        if self.clocked + self.unclocked < LEAST_BURSTS {
            Release::Unknown
        } else if self.clocked * 2 >= self.unclocked * 3 {
            Release::Acknowledgments
        } else {
            Release::OwnClock
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(bursts: impl Iterator<Item = (i64, i64)>) -> Release {
        let mut clock = SendClock::default();
        bursts.for_each(|(data_ns, ack_ns)| clock.sent(Since { data_ns, ack_ns, doubt_ns: 0 }));
        clock.release()
    }

    #[test]
    fn pairs_behind_acknowledgments_are_released_by_them() {
        let pairs = (0..200).map(|index| if index % 2 == 0 { (1_990_000, 5_000) } else { (10_000, 15_000) });
        assert_eq!(release(pairs), Release::Acknowledgments);
    }

    #[test]
    fn even_packets_have_a_clock_of_their_own() {
        let even = (0..200).map(|index| (1_000_000, if index % 2 == 0 { 400_000 } else { 1_400_000 }));
        assert_eq!(release(even), Release::OwnClock);
    }

    #[test]
    fn few_bursts_say_nothing() {
        assert_eq!(release((0..5).map(|_| (1_000_000, 1_000))), Release::Unknown);
    }
}
