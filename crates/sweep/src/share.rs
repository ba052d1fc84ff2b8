//! Which of all transfers one machine of several does.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A share of an experiment: the second of eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    number: u32,
    of: NonZeroU32,
}

/// No share is written like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no share; write 2/8 for the second of eight")]
pub struct NoShare(String);

impl Share {
    /// All of it.
    pub const WHOLE: Self = Self { number: 1, of: NonZeroU32::MIN };

    /// Which one it is, from one.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// How many there are.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of.get()
    }

    /// Whether it has the transfer of this number. Neighbours go to different shares, so that all take about equally long.
    #[must_use]
    pub fn has(self, index: u64) -> bool {
        index % u64::from(self.of.get()) == u64::from(self.number - 1)
    }
}

impl FromStr for Share {
    type Err = NoShare;

    fn from_str(text: &str) -> Result<Self, NoShare> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let share = numbers.map(|(number, of)| Self { number, of });
        share.filter(|share| (1..=share.of.get()).contains(&share.number)).ok_or_else(|| NoShare(text.to_owned()))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_each_transfer_once() {
        for index in 0..50 {
            let shares = (1..=7).map(|number| format!("{number}/7").parse::<Share>().unwrap());
            assert_eq!(shares.filter(|share| share.has(index)).count(), 1, "{index}");
            assert!(Share::WHOLE.has(index));
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["", "3", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert_eq!(text.parse::<Share>(), Err(NoShare(text.to_owned())));
        }
    }
}
