//! What the kernel did, of the lines that the guest printed.

use std::time::Duration;

use super::case::Case;

pub(crate) struct Seen {
    /// Payload that had come to the application by an instant, over all flows; both ends of each interval.
    received: Vec<(f64, f64)>,
    /// Segments that the sending kernel sent again.
    pub(crate) retransmits: u64,
    /// When the server's clock showed that the client began to send.
    began: f64,
    time: f64,
}

impl Seen {
    pub(crate) fn read(block: &str) -> Self {
        let case = Case::read(block);
        let mut received: Vec<(f64, f64)> = vec![(0.0, 0.0)];
        let mut intervals: Vec<(f64, f64)> = Vec::new();
        let mut retransmits = 0;
        for line in block.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["server", _, _, end, bytes, ..] => intervals.push((end.parse().unwrap(), bytes.parse().unwrap())),
                ["counter", "RetransSegs", count] => retransmits = count.parse().unwrap(),
                _ => {}
            }
        }
        intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        for (end, bytes) in intervals {
            sum += bytes;
            match received.last_mut() {
                Some(last) if end - last.0 < 0.02 => last.1 = sum,
                _ => received.push((end, sum)),
            }
        }
        // All delay is on the reverse path: the server starts its clock, and the client hears of it an RTT later.
        Self { received, retransmits, began: case.rtt().as_secs_f64(), time: case.time().as_secs_f64() }
    }

    /// Payload received in the time of the test.
    pub(crate) fn bytes(&self) -> f64 {
        let end = self.began + self.time;
        let after = self.received.iter().position(|(at, _)| *at >= end).unwrap_or(self.received.len() - 1).max(1);
        let ((from, before), (to, bytes)) = (self.received[after - 1], self.received[after]);
        before + (bytes - before) * ((end - from) / (to - from)).min(1.0)
    }

    /// When so much had been received.
    pub(crate) fn when(&self, bytes: f64) -> Duration {
        let after = self.received.iter().position(|(_, sum)| *sum >= bytes).unwrap_or(self.received.len() - 1).max(1);
        let ((from, before), (to, sum)) = (self.received[after - 1], self.received[after]);
        let at = from + (to - from) * (bytes - before) / (sum - before).max(1.0);
        Duration::from_secs_f64((at - self.began).max(0.001))
    }
}
