//! Retransmissions by their buckets: events with a time of their own, put between the counts of packets.

use std::collections::BTreeMap;

use super::tick::Tick;

/// Retransmissions whose buckets have not closed yet. Whoever reads buckets empties it each time, so it holds what one reading gives.
#[derive(Debug, Default)]
pub struct RetransmitTimes {
    by_epoch: BTreeMap<u64, u64>,
    /// Buckets before this one have been handed on.
    next: u64,
}

impl RetransmitTimes {
    /// Takes a retransmission. One whose bucket has been handed on already, since its event was late, counts in the next.
    pub fn note(&mut self, epoch: u64) {
        let count = self.by_epoch.entry(epoch.max(self.next)).or_default();
        *count = count.saturating_add(1);
    }

    /// Hands on a bucket with packets, and before it those buckets that have retransmissions alone: the kernel reports a
    /// retransmission once its packet has been sent, which may be in the bucket after.
    pub fn join(&mut self, tick: Tick, mut each: impl FnMut(&Tick)) {
        self.settle(tick.epoch, &mut each);
        let retransmissions = self.by_epoch.remove(&tick.epoch).unwrap_or(0);
        self.next = self.next.max(tick.epoch.saturating_add(1));
        each(&Tick { retransmissions, ..tick });
    }

    /// Hands on what is left of buckets before this one, once they have closed.
    pub fn settle(&mut self, before: u64, mut each: impl FnMut(&Tick)) {
        while let Some(entry) = self.by_epoch.first_entry().filter(|entry| *entry.key() < before) {
            let (epoch, retransmissions) = entry.remove_entry();
            each(&Tick { epoch, retransmissions, ..Tick::default() });
        }
        self.next = self.next.max(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(epoch: u64) -> Tick {
        Tick { epoch, bytes: 100, packets: 1, ..Tick::default() }
    }

    #[test]
    fn each_retransmission_is_in_its_bucket_whether_packets_were_or_not() {
        let (mut times, mut ticks) = (RetransmitTimes::default(), Vec::new());
        [7, 5, 5, 9].into_iter().for_each(|epoch| times.note(epoch));
        times.join(packets(5), |tick| ticks.push(*tick));
        times.join(packets(8), |tick| ticks.push(*tick));
        times.settle(10, |tick| ticks.push(*tick));
        let seen: Vec<_> = ticks.iter().map(|tick| (tick.epoch, tick.packets, tick.retransmissions)).collect();
        assert_eq!(seen, [(5, 1, 2), (7, 0, 1), (8, 1, 0), (9, 0, 1)]);
    }

    #[test]
    fn a_late_event_counts_in_the_next_bucket_and_none_is_lost() {
        let (mut times, mut sum) = (RetransmitTimes::default(), 0);
        times.join(packets(20), |_| {});
        times.note(20);
        times.settle(21, |tick| panic!("{tick:?} has been handed on"));
        times.settle(22, |tick| sum += tick.retransmissions);
        assert_eq!(sum, 1);
    }
}
