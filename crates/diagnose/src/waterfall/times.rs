//! The kernel's own clocks of what limited a sender, between two moments.

use model::series::field::Field;

use super::stream::Stream;
use super::track::Curve;

/// How the time of a step divides, in microseconds. The four add up to the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    /// Nothing was outstanding.
    pub(super) idle: u64,
    /// The receiver's window was the limit.
    pub(super) window: u64,
    /// The send buffer was the limit.
    pub(super) buffer: u64,
    /// Data was outstanding, and neither was the limit.
    pub(super) rest: u64,
}

/// The clocks of one stream, read step by step.
///
/// They tick with the kernel's timer, every 1 to 10 ms: a step may seem busier than it is long. What is too much in
/// one step is taken to the next ones.
#[derive(Debug)]
pub(super) struct KernelTimes<'a> {
    busy: Clock<'a>,
    window: Clock<'a>,
    buffer: Clock<'a>,
}

#[derive(Debug)]
struct Clock<'a> {
    curve: Curve<'a>,
    left_over: u64,
}

impl<'a> KernelTimes<'a> {
    /// `None` where the kernel does not keep them.
    pub(super) fn new(stream: &'a Stream<'_>) -> Option<Self> {
        let clock = |field| stream.sent(field).map(|curve| Clock { curve, left_over: 0 });
        Some(Self {
            busy: clock(Field::BusyTime)?,
            window: clock(Field::RwndLimited)?,
            buffer: clock(Field::SndbufLimited)?,
        })
    }

    /// The times of the step between two moments. Steps must be asked for in order.
    pub(super) fn take(&mut self, (from, to): (i64, i64)) -> Times {
        let length = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let busy = self.busy.take((from, to), length);
        let window = self.window.take((from, to), busy);
        let buffer = self.buffer.take((from, to), busy - window);
        Times { idle: length - busy, window, buffer, rest: busy - window - buffer }
    }
}

impl Clock<'_> {
    fn take(&mut self, (from, to): (i64, i64), most: u64) -> u64 {
        let there = self.left_over.saturating_add(self.curve.growth(from, to));
        let taken = there.min(most);
        self.left_over = (there - taken).min(COARSEST_TICKS_US);
        taken
    }
}

/// Two ticks of the slowest timer (`CONFIG_HZ_100`): more than that is no rounding.
const COARSEST_TICKS_US: u64 = 20_000;
