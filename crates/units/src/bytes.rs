//! How much data, and how many packets.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::parse::{Grammar, ParseError, Unit, write_scaled};

/// An amount of data in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ByteCount(u64);

impl ByteCount {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// An amount of `bytes` bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// What is left after `other` is taken away, or nothing.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for ByteCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for ByteCount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for ByteCount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl std::iter::Sum for ByteCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::ZERO, Add::add)
    }
}

/// Shown in powers of ten, as rates are, so that the two can be compared by eye.
impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(
            f,
            self.0,
            &[(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")],
        )
    }
}

impl FromStr for ByteCount {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        GRAMMAR.parse(text).map(Self)
    }
}

const GRAMMAR: Grammar = Grammar {
    quantity: "bytes",
    example: "4MiB",
    units: &[
        Unit { name: "B", factor: 1 },
        Unit { name: "kB", factor: 1_000 },
        Unit { name: "MB", factor: 1_000_000 },
        Unit { name: "GB", factor: 1_000_000_000 },
        Unit { name: "TB", factor: 1_000_000_000_000 },
        Unit { name: "KiB", factor: 1 << 10 },
        Unit { name: "MiB", factor: 1 << 20 },
        Unit { name: "GiB", factor: 1 << 30 },
        Unit { name: "TiB", factor: 1 << 40 },
    ],
    hint: |unit| match unit {
        "k" | "K" => "write `KiB` for 2^10 or `kB` for 10^3 bytes".to_owned(),
        "m" | "M" => "write `MiB` for 2^20 or `MB` for 10^6 bytes".to_owned(),
        "g" | "G" => "write `GiB` for 2^30 or `GB` for 10^9 bytes".to_owned(),
        "t" | "T" => "write `TiB` for 2^40 or `TB` for 10^12 bytes".to_owned(),
        _ => "write `B`, `kB`, `MB`, `GB`, `KiB`, `MiB` or `GiB`".to_owned(),
    },
};

/// A number of packets, segments or datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct PacketCount(u64);

impl PacketCount {
    /// No packet.
    pub const ZERO: Self = Self(0);

    /// `packets` packets.
    #[must_use]
    pub const fn new(packets: u64) -> Self {
        Self(packets)
    }

    /// The number of packets.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// What is left after `other` are taken away, or none.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This many out of `whole`, for display; `None` where `whole` is zero.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share is shown, never counted with")]
    pub fn share_of(self, whole: Self) -> Option<f64> {
        (whole.0 != 0).then(|| self.0 as f64 / whole.0 as f64)
    }
}

impl Add for PacketCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl std::iter::Sum for PacketCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for PacketCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_and_of_two_are_different_units() {
        assert_eq!("4MB".parse(), Ok(ByteCount::new(4_000_000)));
        assert_eq!("4MiB".parse(), Ok(ByteCount::new(4_194_304)));
        assert_eq!("1.5KiB".parse(), Ok(ByteCount::new(1_536)));
    }

    #[test]
    fn a_bare_m_is_refused_with_both_meanings() {
        let error = "4M".parse::<ByteCount>().unwrap_err().to_string();
        assert_eq!(error, "`M` in `4M` is not a unit of bytes: write `MiB` for 2^20 or `MB` for 10^6 bytes");
    }

    #[test]
    fn amounts_are_shown_in_powers_of_ten() {
        assert_eq!(ByteCount::new(13_958_643_712).to_string(), "14.0 GB");
        assert_eq!(ByteCount::new(512).to_string(), "512 B");
    }
}
