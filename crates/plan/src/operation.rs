//! What a plan says about running for good: how often, how much, and when not.

use std::time::Duration;

use units::{ByteCount, WallTime};

/// Hosts and segments that something is said of; both empty for the whole mesh.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// By number.
    pub hosts: Vec<usize>,
    /// By number.
    pub segments: Vec<usize>,
}

/// A time in which nothing is measured, and nothing alarms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// What is done then.
    pub about: Option<String>,
    /// Where.
    pub scope: Scope,
    /// When.
    pub window: Window,
}

/// When maintenance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Once.
    Once {
        /// Its first moment.
        from: WallTime,
        /// The first moment after it.
        until: WallTime,
    },
    /// Every week.
    Weekly {
        /// On which days it begins, in UTC.
        days: Weekdays,
        /// How long after midnight UTC, less than a day.
        at: Duration,
        /// How long it lasts, at most a day.
        lasts: Duration,
    },
}

/// Days of the week, a bit each, Monday the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weekdays(u8);

/// How many bytes tests may move over hosts or segments in a day of UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Of each of these.
    pub scope: Scope,
    /// Payload, both directions together.
    pub bytes_a_day: ByteCount,
}

/// What starts the runs of a test that goes on for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trigger {
    /// Its period, and a change in the light tests of its pair.
    #[default]
    TimeOrChange,
    /// Its period alone.
    Time,
    /// A change in the light tests of its pair.
    Change,
}

impl Weekdays {
    /// All seven.
    pub const ALL: Self = Self(0x7f);

    /// These; [`None`] where one is not `mon`, `tue`, `wed`, `thu`, `fri`, `sat` or `sun`, or there is none.
    #[must_use]
    pub fn named(names: &[String]) -> Option<Self> {
        let bit = |name: &String| DAYS.iter().position(|day| day == name).map(|place| 1_u8 << place);
        let bits = names.iter().map(bit).collect::<Option<Vec<u8>>>()?;
        Some(Self(bits.into_iter().fold(0, |all, bit| all | bit))).filter(|days| days.0 != 0)
    }

    /// Their names in order.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        DAYS.iter().enumerate().filter(|(place, _)| self.0 & (1 << place) != 0).map(|(_, day)| *day).collect()
    }

    /// Whether a day that is so many after 1970-01-01, a Thursday, is one of them.
    #[must_use]
    pub const fn includes(self, day: u64) -> bool {
        self.0 & (1 << ((day + 3) % 7)) != 0
    }
}

impl Window {
    /// Whether any moment from `from` to `until` is in it.
    #[must_use]
    pub fn touches(&self, from: WallTime, until: WallTime) -> bool {
        match self {
            Self::Once { from: begins, until: ends } => *begins < until && from < *ends,
            Self::Weekly { days, at, lasts } => {
                let first = (from.unix_nanos() / DAY_NANOS).saturating_sub(1);
                (first..=until.unix_nanos() / DAY_NANOS).filter(|day| days.includes(*day)).any(|day| {
                    let begins = day * DAY_NANOS + units::duration::nanos(*at);
                    begins < until.unix_nanos() && from.unix_nanos() < begins + units::duration::nanos(*lasts)
                })
            }
        }
    }
}

impl Scope {
    /// Whether it is the whole mesh.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.hosts.is_empty() && self.segments.is_empty()
    }
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const DAY_NANOS: u64 = 86_400_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    fn at(day: u64, hours: u64) -> WallTime {
        WallTime::from_unix_nanos(day * DAY_NANOS + hours * HOUR)
    }

    #[test]
    fn a_weekly_window_reaches_past_midnight_and_no_further() {
        let days = Weekdays::named(&["tue".to_owned()]).unwrap();
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        let window = Window::Weekly { days, at: hours(22), lasts: hours(4) };
        // 1970-01-06 was a Tuesday.
        let cases =
            [((5, 20), (5, 22), false), ((5, 20), (5, 23), true), ((6, 1), (6, 3), true), ((6, 2), (12, 21), false)];
        for (from, until, touches) in cases {
            assert_eq!(window.touches(at(from.0, from.1), at(until.0, until.1)), touches, "{from:?} to {until:?}");
        }
        assert_eq!(Weekdays::named(&["tues".to_owned()]), None);
        assert_eq!(Weekdays::ALL.names().len(), 7);
    }
}
