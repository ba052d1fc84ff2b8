//! A level down to which the flight drains before each burst, however large the burst before was. Of a buffer that the kernel overfills, what is
//! left when a writer is woken is two thirds of it, and up to all of it where the writer tries again by a timer; what was sent before is ten
//! times as much in one burst as in another. An application does not see acknowledgments: how much is left when it writes differs as much as
//! what it wrote before.

use super::pause::Pause;

/// See the module: the last pauses in which a third of the flight and more drained.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Drains {
    last: [Drain; KEPT],
    count: usize,
}

/// Bytes outstanding when a pause began and ended, and whether an acknowledgment ended it at once.
#[derive(Debug, Clone, Copy, Default)]
struct Drain {
    peak: u64,
    left: u64,
    is_released: bool,
}

/// Pauses that show a level together. More would be those of another one: a window that grows.
const KEPT: usize = 12;
/// A third of an application's bursts never follow an acknowledgment at once (12 to 16 of 100).
const LEAST_RELEASED: usize = KEPT / 3;
/// What there was differs by an eighth and more.
const LEAST_DIFFERENCE: u64 = 8;
/// What is left differs so many times less than what there was, and than it is itself.
const STEADIER: u64 = 3;

impl Drains {
    pub(super) fn take(&mut self, pause: &Pause) {
        let drain = Drain { peak: pause.peak, left: pause.after, is_released: pause.is_released };
        self.last[self.count % KEPT] = drain;
        self.count += 1;
    }

    /// Bytes outstanding at which bursts begin, where it is one level.
    pub(super) fn level(&self) -> Option<u64> {
        let is_released = self.last.iter().filter(|drain| drain.is_released).count() >= LEAST_RELEASED;
        if self.count < KEPT || !is_released {
            return None;
        }
        let left = Spread::of(self.last.map(|drain| drain.left));
        let peak = Spread::of(self.last.map(|drain| drain.peak));
        let is_steady = left.deviation * STEADIER <= left.mean && left.deviation * STEADIER <= peak.deviation;
        // Bursts that are all the same leave as much each time, whoever writes them.
        (is_steady && peak.deviation * LEAST_DIFFERENCE >= peak.mean).then_some(left.mean)
    }
}

/// A mean, and how far values are from it.
#[derive(Debug, Clone, Copy)]
struct Spread {
    mean: u64,
    deviation: u64,
}

impl Spread {
    fn of(values: [u64; KEPT]) -> Self {
        let mean_of = |values: [u64; KEPT]| values.iter().map(|value| value / KEPT as u64).sum::<u64>();
        let mean = mean_of(values);
        Self { mean, deviation: mean_of(values.map(|value| value.abs_diff(mean))) }
    }
}

saved!(Drains { last, count });
saved!(Drain { peak, left, is_released });

#[cfg(test)]
mod tests {
    use super::*;

    fn level(drains: impl Iterator<Item = (u64, u64, bool)>) -> Option<u64> {
        let mut seen = Drains::default();
        for (peak, after, is_released) in drains {
            seen.take(&Pause { from_ns: 0, to_ns: 1, peak, before: after + 2_856, after, is_released });
        }
        seen.level()
    }

    /// As a buffer of 262 kB was seen over 100 ms whose writer is woken at 165 kB and tries again each 20 ms: every second burst is small.
    #[test]
    fn bursts_of_any_size_behind_about_as_little_show_a_buffer() {
        let peaks = [3_152, 372, 3_312, 1_156, 3_513, 949, 3_724, 715, 3_932, 578, 4_142, 294, 4_359, 1_095];
        let left = [232, 211, 161, 178, 188, 165, 160, 166, 161, 238, 160, 165, 160, 148];
        let bursts = peaks.into_iter().zip(left).map(|(peak, left)| (peak * 1_000, left * 1_000, left < 200));
        let level = level(bursts);
        assert!(level.is_some_and(|level| (150_000..220_000).contains(&level)), "{level:?}");
    }

    #[test]
    fn what_is_left_of_an_applications_bursts_differs_as_they_do() {
        let random = |number: u64| number * 7_919 % 97;
        let bursts = |is_released: fn(u64) -> bool| {
            (0..40)
                .map(move |number| (100_000 + random(number) * 9_000, random(number + 1) * 3_000, is_released(number)))
        };
        assert_eq!(level(bursts(|_| true)), None);
        // One level, and behind no acknowledgment; the same burst each time.
        let behind_none = (0..40).map(|number| (100_000 + random(number) * 9_000, 60_000, number % 7 == 0));
        assert_eq!(level(behind_none), None);
        assert_eq!(level((0..40).map(|_| (300_000, 60_000, true))), None);
    }
}
