//! The least RTT over time: a queue moves it for a while and with the flight, another path for good.

/// Blocks of a few rounds each, with the least RTT of each.
#[derive(Debug, Default)]
pub(crate) struct RttFloor {
    blocks: Vec<Block>,
    open: Option<Block>,
    per_block: u32,
}

/// A round of one RTT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundSeen {
    pub(crate) at_ns: i64,
    pub(crate) frame: u64,
    pub(crate) least_rtt_ns: i64,
    /// The most bytes in flight.
    pub(crate) flight: u64,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    from_ns: i64,
    frame: u64,
    least_rtt_ns: i64,
    flight: u64,
    rounds: u32,
}

/// The least RTT has moved from one value to another, and stayed there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FloorStep {
    pub(crate) at_ns: i64,
    pub(crate) frame: u64,
    pub(crate) before_ns: i64,
    pub(crate) after_ns: i64,
    /// Rounds since then.
    pub(crate) rounds: u64,
}

/// Rounds of a block at first; when there are many blocks, each two become one.
const ROUNDS: u32 = 4;
const MAX_BLOCKS: usize = 512;
/// Blocks before and after a step that have to agree among themselves: 20 rounds.
const SIDE: usize = 5;
/// A smaller step is that of a queue or of hosts: a millisecond, and 3 % of the RTT.
const LEAST_STEP_NS: i64 = 1_000_000;
const LEAST_STEP_PERCENT: i64 = 3;
/// Blocks of a side differ by less than this part of the step.
const FLATNESS: i64 = 3;

impl RttFloor {
    pub(crate) fn take(&mut self, round: RoundSeen) {
        self.per_block = self.per_block.max(ROUNDS);
        let block = self.open.get_or_insert(Block {
            from_ns: round.at_ns,
            frame: round.frame,
            least_rtt_ns: round.least_rtt_ns,
            flight: 0,
            rounds: 0,
        });
        block.least_rtt_ns = block.least_rtt_ns.min(round.least_rtt_ns);
        block.flight = block.flight.max(round.flight);
        block.rounds += 1;
        if block.rounds < self.per_block {
            return;
        }
        self.blocks.extend(self.open.take());
        if self.blocks.len() >= MAX_BLOCKS {
            self.blocks = self.blocks.chunks(2).filter_map(Block::merged).collect();
            self.per_block = self.per_block.saturating_mul(2);
        }
    }

    /// Steps that are not those of the flight, in the order of time.
    pub(crate) fn steps(&self) -> Vec<FloorStep> {
        let mut steps: Vec<FloorStep> = Vec::new();
        let mut last = None::<usize>;
        for at in SIDE..self.blocks.len().saturating_sub(SIDE - 1) {
            let Some(step) = self.step(at) else { continue };
            // The block in which the path changes belongs to neither side: several places show the same step.
            if last.is_some_and(|last| at - last < SIDE) {
                continue;
            }
            last = Some(at);
            steps.push(step);
        }
        steps
    }

    fn step(&self, at: usize) -> Option<FloorStep> {
        let before = Side::of(self.blocks.get(at - SIDE..at)?)?;
        let after = Side::of(self.blocks.get(at..at + SIDE)?)?;
        let gap_ns =
            if after.low_ns > before.high_ns { after.low_ns - before.high_ns } else { before.low_ns - after.high_ns };
        let least_ns = LEAST_STEP_NS.max(before.low_ns.max(after.low_ns) * LEAST_STEP_PERCENT / 100);
        let is_flat = |side: &Side| (side.high_ns - side.low_ns) * FLATNESS <= gap_ns;
        if gap_ns < least_ns || !is_flat(&before) || !is_flat(&after) || follows_flight(&before, &after) {
            return None;
        }
        let first = self.blocks.get(at)?;
        let rounds = self.blocks.get(at..)?.iter().map(|block| u64::from(block.rounds)).sum();
        Some(FloorStep {
            at_ns: first.from_ns,
            frame: first.frame,
            before_ns: before.low_ns,
            after_ns: after.low_ns,
            rounds,
        })
    }
}

impl Block {
    fn merged(blocks: &[Self]) -> Option<Self> {
        let first = *blocks.first()?;
        Some(blocks.iter().skip(1).fold(first, |all, block| Self {
            least_rtt_ns: all.least_rtt_ns.min(block.least_rtt_ns),
            flight: all.flight.max(block.flight),
            rounds: all.rounds + block.rounds,
            ..all
        }))
    }
}

/// The blocks before a step, or after it.
struct Side {
    low_ns: i64,
    high_ns: i64,
    flight: u64,
}

impl Side {
    fn of(blocks: &[Block]) -> Option<Self> {
        let mut flights: Vec<u64> = blocks.iter().map(|block| block.flight).collect();
        flights.sort_unstable();
        Some(Self {
            low_ns: blocks.iter().map(|block| block.least_rtt_ns).min()?,
            high_ns: blocks.iter().map(|block| block.least_rtt_ns).max()?,
            flight: *flights.get(flights.len() / 2)?,
        })
    }
}

/// Behind a busy bottleneck the RTT is what the flight makes it: both grow and shrink together.
#[expect(clippy::cast_precision_loss, reason = "ratios")]
fn follows_flight(before: &Side, after: &Side) -> bool {
    let ratio = |one: f64, other: f64| if one > 0.0 { other / one } else { f64::INFINITY };
    let rtt = ratio(before.low_ns as f64, after.low_ns as f64).ln();
    let flight = ratio(before.flight as f64, after.flight as f64).ln();
    rtt.signum() == flight.signum() && flight.abs() > rtt.abs() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds with an RTT in milliseconds and a flight.
    fn steps(rounds: impl Iterator<Item = (i64, u64)>) -> Vec<(i64, i64)> {
        let mut floor = RttFloor::default();
        for (number, (rtt_ms, flight)) in (0..).zip(rounds) {
            floor.take(RoundSeen { at_ns: number, frame: 0, least_rtt_ns: rtt_ms * 1_000_000, flight });
        }
        floor.steps().iter().map(|step| (step.before_ns / 1_000_000, step.after_ns / 1_000_000)).collect()
    }

    #[test]
    fn another_path_moves_the_least_rtt_and_not_the_flight() {
        let there_and_back = |round: i64| if (50..100).contains(&round) { (36, 1_000) } else { (30, 1_000) };
        assert_eq!(steps((0..150).map(there_and_back)), [(30, 36), (36, 30)]);
        let long = |round: i64| (if round < 20_000 { 30 } else { 40 }, 1_000);
        assert_eq!(steps((0..40_000).map(long)), [(30, 40)]);
    }

    #[test]
    fn a_queue_does_both_or_does_not_stay() {
        assert_eq!(steps((0..100).map(|round| if round < 50 { (30, 1_000) } else { (60, 2_000) })), []);
        assert_eq!(steps((0..100).map(|round| (if (50..60).contains(&round) { 60 } else { 30 }, 1_000))), []);
        assert_eq!(steps((0..200).map(|round| (30 + round / 4, 1_000))), []);
    }
}
