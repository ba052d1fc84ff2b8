//! What a flow should reach, and how that is known: the one yardstick of grid, diagnosis and alarms.

use serde::{Deserialize, Serialize};
use units::DataRate;

/// The rate that a flow is judged against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetRate {
    /// A line rate, or a goodput: see [`TargetSource::is_line_rate`].
    #[serde(rename = "rate_bps")]
    pub rate: DataRate,
    /// How it is known.
    pub source: TargetSource,
    /// From what, in words: `the plan`, `na-arc-1 to na-arc-2`.
    pub from: String,
}

/// How a target is known, the most trusted first. Of several the first one that is known counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetSource {
    /// The plan, the user, or the rate of a link that the plan names.
    Declared,
    /// The test asked for no more.
    Requested,
    /// Earlier rounds of the same plan.
    Baseline,
    /// Another test of the same pair in the same round.
    SamePair,
    /// What both hosts reach with other hosts of the same round.
    SameHosts,
    /// The 75th percentile of the comparable pairs of the same round.
    ComparablePairs,
    /// The slower of the two hosts' NICs: an upper bound, since the path between them may be slower.
    LinkSpeed,
    /// What settings and RTT allow, by a model of TCP.
    Model,
}

impl TargetSource {
    /// All of them, the most trusted first.
    pub const ALL: [Self; 8] = [
        Self::Declared,
        Self::Requested,
        Self::Baseline,
        Self::SamePair,
        Self::SameHosts,
        Self::ComparablePairs,
        Self::LinkSpeed,
        Self::Model,
    ];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Requested => "requested",
            Self::Baseline => "baseline",
            Self::SamePair => "same_pair",
            Self::SameHosts => "same_hosts",
            Self::ComparablePairs => "comparable_pairs",
            Self::LinkSpeed => "link_speed",
            Self::Model => "model",
        }
    }

    /// What it is, as it stands after "relative to".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Declared => "the declared rate",
            Self::Requested => "the rate that the test asked for",
            Self::Baseline => "the baseline of earlier rounds",
            Self::SamePair => "another test of the same pair",
            Self::SameHosts => "what the same hosts reach with others",
            Self::ComparablePairs => "the 75th percentile of comparable pairs",
            Self::LinkSpeed => "the speed of the slower NIC",
            Self::Model => "what the settings allow",
        }
    }

    /// Whether the rate counts headers and framing as well as payload.
    #[must_use]
    pub const fn is_line_rate(self) -> bool {
        matches!(self, Self::Declared | Self::LinkSpeed)
    }

    /// The part of the target below which a flow is slow. What somebody promised is held to; what was inferred from other pairs
    /// may differ by their noise, and the path between two NICs may be slower than both.
    #[must_use]
    pub const fn slow_below(self) -> f64 {
        match self {
            Self::Declared | Self::Requested | Self::Baseline => 0.8,
            Self::SamePair | Self::SameHosts | Self::ComparablePairs => 0.6,
            Self::LinkSpeed | Self::Model => 0.5,
        }
    }
}

impl TargetRate {
    /// Which part of the target a goodput is, headers counted where the target counts them; `None` for a target of zero.
    ///
    /// Model: Ethernet without tags, IPv4, TCP with timestamps: 90 bytes around each segment.
    #[must_use]
    pub fn part(&self, goodput: DataRate, segment_bytes: Option<u32>) -> Option<f64> {
        let segment = f64::from(segment_bytes.filter(|bytes| *bytes > 0).unwrap_or(ETHERNET_SEGMENT));
        let around = if self.source.is_line_rate() { (segment + HEADERS) / segment } else { 1.0 };
        goodput.share_of(self.rate).map(|part| part * around)
    }
}

/// Preamble 8, header 14, check sequence 4 and gap 12 (IEEE 802.3), IPv4 20, TCP 20, timestamps 12.
const HEADERS: f64 = 90.0;
/// Payload of a full segment where nobody knows it.
const ETHERNET_SEGMENT: u32 = 1448;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_count_only_towards_line_rates() {
        let target = |source| TargetRate { rate: DataRate::from_bps(1_000_000_000), source, from: String::new() };
        let goodput = DataRate::from_bps(941_000_000);
        let part = |source| target(source).part(goodput, None).unwrap_or_default();
        assert!((part(TargetSource::Declared) - 0.9995).abs() < 1e-3);
        assert!((part(TargetSource::SameHosts) - 0.941).abs() < 1e-9);
    }

    #[test]
    fn sources_are_ordered_by_trust() {
        assert!(TargetSource::ALL.is_sorted());
    }
}
