//! Steps of the wall clock, seen against the clock that never steps.

use std::time::Duration;

use linux::clock;
use units::WallTime;

/// How far the wall clock is ahead of the time since boot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    ahead: i128,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { ahead: ahead(clock::wall_now(), clock::since_boot()) }
    }

    /// By how many nanoseconds the wall clock was stepped since the last time, if it was.
    pub(super) fn step(&mut self) -> Option<i128> {
        self.step_at(clock::wall_now(), clock::since_boot())
    }

    fn step_at(&mut self, wall: WallTime, up: Duration) -> Option<i128> {
        let now = ahead(wall, up);
        let step = now - self.ahead;
        // A clock that is slewed moves by less than 500 µs a second (adjtime(3)), and does so for good.
        self.ahead = now;
        (step.abs() >= LEAST).then_some(step)
    }
}

fn ahead(wall: WallTime, up: Duration) -> i128 {
    i128::from(wall.unix_nanos()) - i128::try_from(up.as_nanos()).unwrap_or(i128::MAX)
}

/// A time on the clock as it was before a step, on the clock as it is now.
pub(super) fn moved(time: WallTime, step: i128) -> WallTime {
    let nanos = (i128::from(time.unix_nanos()) + step).clamp(0, i128::from(u64::MAX));
    WallTime::from_unix_nanos(u64::try_from(nanos).unwrap_or_default())
}

/// A step in words: `+3600.0 s`.
pub(super) fn words(step: i128) -> String {
    let tenths = step / 100_000_000;
    let sign = if tenths < 0 { '-' } else { '+' };
    format!("{sign}{}.{} s", tenths.abs() / 10, tenths.abs() % 10)
}

/// What counts as a step, in nanoseconds: a second.
const LEAST: i128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_back_is_seen_once_and_time_that_passes_is_none() {
        let second = 1_000_000_000;
        let at = |seconds: u64| WallTime::from_unix_nanos(seconds * second);
        let mut clock = Clock { ahead: ahead(at(10_000), Duration::from_secs(10)) };
        assert_eq!(clock.step_at(at(10_600), Duration::from_secs(610)), None);
        let step = clock.step_at(at(7_010), Duration::from_secs(620)).unwrap();
        assert_eq!(words(step), "-3600.0 s");
        assert_eq!(clock.step_at(at(7_020), Duration::from_secs(630)), None);
        assert_eq!((moved(at(10_000), step), moved(at(1), step)), (at(6_400), at(0)));
    }
}
