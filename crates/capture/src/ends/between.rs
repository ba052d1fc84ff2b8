//! Loss, reordering and delay of one direction between two captures.

use super::clock::ClockDifference;
use super::pairing::Pairing;
use super::recording::Passage;
use super::report::{AckCounts, Crossing, DelayReport, LossBurst, SegmentCounts};

/// Which way a direction goes: by whose clock its packets are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Towards {
    Server,
    Client,
}

/// Losses that follow each other within this are one burst.
const BURST_NS: i64 = 1_000_000;
/// Bursts that are listed: the largest.
const MOST_BURSTS: usize = 64;

/// All that happened to a direction between the captures.
pub(super) fn crossing(pairing: &Pairing<'_>, clocks: &ClockDifference, towards: Towards) -> Crossing {
    let view = Passages { pairing, clocks, towards };
    let Sent { segments, lost, not_captured } = view.sent();
    let (bursts, bursts_left_out) = bursts(&lost);
    let arrived = pairing.arrived.iter().flatten().count() as u64;
    let acks = AckCounts { sent: pairing.acks_near, paired: pairing.acks.len() as u64 };
    Crossing {
        segments: SegmentCounts {
            sent: segments,
            arrived,
            lost: lost.len() as u64,
            lost_bytes: lost.iter().map(|one| u64::from(one.bytes)).sum(),
            duplicated: pairing.duplicated,
            reordered: view.reordered(),
            not_captured_after: not_captured,
            not_captured_before: pairing.never_sent,
        },
        acks,
        delay: view.delays(),
        bursts,
        bursts_left_out,
    }
}

/// What became of the segments that the far capture may have.
#[derive(Default)]
pub(super) struct Sent {
    segments: u64,
    pub(super) lost: Vec<Passage>,
    /// Missed by the far capture.
    not_captured: u64,
}

/// What passed the first place, and what became of it.
pub(super) struct Passages<'a> {
    pub(super) pairing: &'a Pairing<'a>,
    pub(super) clocks: &'a ClockDifference,
    pub(super) towards: Towards,
}

impl Passages<'_> {
    /// The delay of a packet, with the difference of the clocks taken out.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "captures are shorter than 2^53 ns"
    )]
    pub(super) fn delay_ns(&self, near: &Passage, far: &Passage) -> i64 {
        let raw = far.time_ns.saturating_sub(near.time_ns) as f64;
        let delay = match self.towards {
            Towards::Server => raw - self.clocks.ahead_ns(near.time_ns),
            Towards::Client => raw + self.clocks.ahead_ns(far.time_ns),
        };
        delay as i64
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, &Passage, &Passage, bool)> {
        let Self { pairing, .. } = self;
        pairing.near.iter().zip(&pairing.arrived).filter_map(|(near, arrival)| {
            let arrival = (*arrival)?;
            let at = arrival.at as usize;
            Some((at, near, pairing.far.get(at)?, arrival.is_certain))
        })
    }

    /// Segments that the far capture may have: sent before it ended, by what the last ones took.
    fn covered(&self) -> impl Iterator<Item = (&Passage, bool)> {
        let Self { pairing, .. } = self;
        // Frames after the last one that arrived may be on their way at its end, and before the first one at its start.
        let has = |arrival: &Option<super::pairing::Arrival>| arrival.is_some();
        let first = pairing.arrived.iter().position(has).unwrap_or_default();
        let last = pairing.arrived.iter().rposition(has).map_or(0, |at| at + 1);
        let acked = pairing.acked;
        pairing.near.iter().zip(&pairing.arrived).enumerate().filter_map(move |(at, (near, arrival))| {
            // The last segments of all were lost if the connection went on without them.
            let is_inside = (first..last).contains(&at) || (at >= last && near.to() <= acked);
            is_inside.then_some((near, arrival.is_some()))
        })
    }

    /// What is not in the far capture was lost, but for what was acknowledged and never seen: that the capture missed.
    pub(super) fn sent(&self) -> Sent {
        let missing = self.missing();
        let mut sent = Sent::default();
        for (near, arrived) in self.covered() {
            sent.segments += 1;
            match arrived {
                true => {}
                false if missing.contains(near) => sent.not_captured += 1,
                false => sent.lost.push(*near),
            }
        }
        sent
    }

    /// Acknowledged bytes of which no transmission is in the far capture.
    fn missing(&self) -> Missing {
        let Self { pairing, .. } = self;
        let mut arrived: Vec<(u64, u64)> = pairing
            .far
            .iter()
            .map(|far| {
                let from = far.from.wrapping_add_signed(pairing.shift);
                (from, from + u64::from(far.bytes))
            })
            .collect();
        arrived.sort_unstable();
        let (mut holes, mut end) = (Vec::new(), arrived.first().map_or(0, |first| first.0));
        for (from, to) in arrived {
            if from > end {
                holes.push((end, from.min(pairing.acked)));
            }
            end = end.max(to);
        }
        holes.retain(|(from, to)| from < to);
        Missing { holes }
    }

    /// Packets that a later transmission overtook (RFC 4737).
    fn reordered(&self) -> u64 {
        let mut by_arrival: Vec<(usize, usize)> = self
            .pairing
            .arrived
            .iter()
            .enumerate()
            .filter_map(|(sent, arrival)| Some((arrival.as_ref()?.at as usize, sent)))
            .collect();
        by_arrival.sort_unstable();
        let (mut highest, mut count) = (0, 0);
        for (_, sent) in by_arrival {
            count += u64::from(sent < highest);
            highest = highest.max(sent);
        }
        count
    }

    fn delays(&self) -> Option<DelayReport> {
        let mut delays: Vec<i64> = self
            .pairs()
            .filter(|(_, _, _, is_certain)| *is_certain)
            .map(|(_, near, far, _)| self.delay_ns(near, far))
            .collect();
        delays.sort_unstable();
        let at = |share: usize| delays.get((delays.len().saturating_sub(1)) * share / 100).copied();
        Some(DelayReport {
            samples: delays.len() as u64,
            min_ns: at(0)?,
            median_ns: at(50)?,
            p95_ns: at(95)?,
            p99_ns: at(99)?,
            max_ns: at(100)?,
        })
    }
}

/// Numbers that the far capture lacks.
struct Missing {
    holes: Vec<(u64, u64)>,
}

impl Missing {
    fn contains(&self, passage: &Passage) -> bool {
        let at = self.holes.partition_point(|(_, to)| *to <= passage.from);
        self.holes.get(at).is_some_and(|(from, to)| *from <= passage.from && passage.to() <= *to)
    }
}

/// Losses that belong together; the largest, in the order of time.
fn bursts(lost: &[Passage]) -> (Vec<LossBurst>, u64) {
    let mut bursts: Vec<LossBurst> = Vec::new();
    for one in lost {
        match bursts.last_mut().filter(|burst| one.time_ns - burst.to_ns <= BURST_NS) {
            Some(burst) => {
                burst.segments += 1;
                (burst.to_ns, burst.last_frame) = (one.time_ns, one.frame);
            }
            None => bursts.push(LossBurst {
                from_ns: one.time_ns,
                to_ns: one.time_ns,
                segments: 1,
                first_frame: one.frame,
                last_frame: one.frame,
            }),
        }
    }
    let left_out = bursts.len().saturating_sub(MOST_BURSTS) as u64;
    bursts.sort_by_key(|burst| std::cmp::Reverse(burst.segments));
    bursts.truncate(MOST_BURSTS);
    bursts.sort_by_key(|burst| burst.from_ns);
    (bursts, left_out)
}
