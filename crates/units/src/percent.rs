//! Parts of a whole.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of a whole in hundredths, 1 to 100. Never 0, so that the whole follows from the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u32", into = "u32")]
pub struct Percent(u32);

/// A part that is nothing, or more than the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} % is outside 1 to 100 %")]
pub struct PercentError(u32);

impl Percent {
    /// A part of `hundredths`.
    ///
    /// # Errors
    /// If `hundredths` is outside 1 to 100.
    pub const fn new(hundredths: u32) -> Result<Self, PercentError> {
        if hundredths < 1 || hundredths > WHOLE { Err(PercentError(hundredths)) } else { Ok(Self(hundredths)) }
    }

    /// A part that stands in the source: outside 1 to 100 it does not compile.
    #[must_use]
    pub const fn of<const HUNDREDTHS: u32>() -> Self {
        const { assert!(HUNDREDTHS >= 1 && HUNDREDTHS <= WHOLE, "a part is 1 to 100 hundredths") };
        Self(HUNDREDTHS)
    }

    /// The number of hundredths.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// This part of `whole`, rounded down.
    #[must_use]
    pub const fn part_of(self, whole: u64) -> u64 {
        let (whole_hundreds, rest) = (whole / WHOLE as u64, whole % WHOLE as u64);
        // The whole times the part overflows for large ones.
        whole_hundreds * self.0 as u64 + rest * self.0 as u64 / WHOLE as u64
    }

    /// The whole of which this part is `part`, rounded down; [`u64::MAX`] where it is more.
    #[must_use]
    pub fn whole_of(self, part: u64) -> u64 {
        u64::try_from(u128::from(part) * u128::from(WHOLE) / u128::from(self.0)).unwrap_or(u64::MAX)
    }
}

const WHOLE: u32 = 100;

impl TryFrom<u32> for Percent {
    type Error = PercentError;

    fn try_from(hundredths: u32) -> Result<Self, PercentError> {
        Self::new(hundredths)
    }
}

impl From<Percent> for u32 {
    fn from(part: Percent) -> Self {
        part.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_more_than_the_whole_are_no_parts() {
        assert!([1, 50, 100].map(Percent::new).iter().all(Result::is_ok));
        assert_eq!(Percent::new(0), Err(PercentError(0)));
        assert_eq!(Percent::new(101).unwrap_err().to_string(), "101 % is outside 1 to 100 %");
    }

    #[test]
    fn a_part_is_rounded_down_and_does_not_overflow() {
        let half = Percent::of::<50>();
        assert_eq!([0, 1, 131_071].map(|whole| half.part_of(whole)), [0, 0, 65_535]);
        assert_eq!(Percent::of::<100>().part_of(u64::MAX), u64::MAX);
        assert_eq!(half.part_of(u64::MAX), u64::MAX / 2);
        assert_eq!(half.whole_of(u64::MAX / 2 + 1), u64::MAX);
    }
}
