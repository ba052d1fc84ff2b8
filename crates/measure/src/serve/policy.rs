//! What a test partner allows.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use model::spec::{Direction, Limit, Protocol, TestSpec};
use units::DataRate;
use units::duration::show;

/// Limits that a test partner enforces itself, whatever the client promises.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Networks that may test; all where empty.
    pub allow: Vec<IpNet>,
    /// Highest rate of a test, over all streams.
    pub max_rate: Option<DataRate>,
    /// Highest rate of a test over UDP, over all streams.
    pub max_udp_rate: Option<DataRate>,
    /// Longest test.
    pub max_time: Duration,
    /// Most streams in one direction.
    pub max_streams: u16,
    /// Most tests that may wait.
    pub max_queue: u16,
    /// What is asked of the ticket of a client; nothing where it is [`None`].
    pub ticket: Option<TicketCheck>,
}

/// Whether a ticket permits a test: of a client that has one, and of a client that has none.
#[derive(Clone)]
pub struct TicketCheck(pub Arc<TicketRule>);

/// Says why a test is not permitted.
pub type TicketRule = dyn Fn(Option<&str>, &TestSpec) -> Result<(), String> + Send + Sync;

impl fmt::Debug for TicketCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TicketCheck(..)")
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            max_rate: None,
            max_udp_rate: None,
            max_time: Duration::from_secs(3_600),
            max_streams: wire::limits::MAX_STREAMS,
            max_queue: 16,
            ticket: None,
        }
    }
}

/// A limit that a test would break.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// Faster than allowed, or without a rate where one is demanded.
    #[error("tests are limited to {limit} over all streams; ask for --rate {} or less for each", typed(*each))]
    Rate {
        /// Highest rate of a test over its protocol, all streams together.
        limit: DataRate,
        /// What each stream may have.
        each: DataRate,
    },
    /// Longer than allowed.
    #[error("tests are limited to {}", show(*limit))]
    Time {
        /// Longest test that the partner allows.
        limit: Duration,
    },
    /// More streams than allowed.
    #[error("tests are limited to {limit} streams in one direction")]
    Streams {
        /// Most streams in one direction that the partner allows.
        limit: u16,
    },
}

/// The rate as it is typed, three digits of it, never rounded up: what is asked for must be allowed.
fn typed(rate: DataRate) -> String {
    let bps = rate.bps();
    let Some(digits) = bps.checked_ilog10().map(|log| log + 1) else { return "0bit/s".to_owned() };
    let unit = 10_u64.pow(digits.saturating_sub(3));
    let (factor, name) = match digits {
        0..=3 => (1, "bit/s"),
        4..=6 => (1_000, "kbit/s"),
        7..=9 => (1_000_000, "Mbit/s"),
        _ => (1_000_000_000, "Gbit/s"),
    };
    let rounded = bps / unit * unit;
    let (whole, rest) = (rounded / factor, rounded % factor);
    if rest == 0 {
        return format!("{whole}{name}");
    }
    let width = usize::try_from(factor.ilog10()).unwrap_or(0);
    format!("{whole}.{}{name}", format!("{rest:0width$}").trim_end_matches('0'))
}

impl Breach {
    /// iperf3's number of the error (src/iperf_api.h, 3.21).
    #[must_use]
    pub const fn iperf3_code(&self) -> i32 {
        match self {
            Self::Rate { .. } => 27,
            Self::Time { .. } => 37,
            Self::Streams { .. } => 6,
        }
    }
}

impl Policy {
    /// Whether a host may test at all.
    #[must_use]
    pub fn allows(&self, peer: IpAddr) -> bool {
        self.allow.is_empty() || self.allow.iter().any(|network| network.contains(&peer.to_canonical()))
    }

    /// Whether a test keeps to the limits.
    ///
    /// # Errors
    /// The first limit that it would break.
    pub fn check(&self, spec: &TestSpec) -> Result<(), Breach> {
        if spec.streams > self.max_streams {
            return Err(Breach::Streams { limit: self.max_streams });
        }
        if let Limit::Time(time) = spec.limit
            && time + spec.omit > self.max_time
        {
            return Err(Breach::Time { limit: self.max_time });
        }
        let Some(limit) = self.rate_limit(spec.protocol) else { return Ok(()) };
        let ways = if spec.direction == Direction::Bidirectional { 2 } else { 1 };
        let streams = u64::from(spec.streams) * ways;
        let each = DataRate::from_bps(limit.bps() / streams);
        // The sender's pacing is as good a promise as its own cap.
        match [spec.rate, spec.pace].into_iter().flatten().min() {
            Some(rate) if rate <= each => Ok(()),
            _ => Err(Breach::Rate { limit, each }),
        }
    }

    /// The highest rate of a test of this protocol.
    #[must_use]
    pub fn rate_limit(&self, protocol: Protocol) -> Option<DataRate> {
        match protocol {
            Protocol::Tcp => self.max_rate,
            Protocol::Udp => [self.max_rate, self.max_udp_rate].into_iter().flatten().min(),
        }
    }

    /// The longest that a test may take, from its start to the client's word that it is over.
    #[must_use]
    pub fn longest(&self, spec: &TestSpec) -> Duration {
        /// A client may be slow to notice the end.
        const GRACE: Duration = Duration::from_secs(5);
        match spec.limit {
            Limit::Time(time) if !time.is_zero() => time + spec.omit + GRACE,
            // An iperf3 says zero for a test that the user ends.
            // No client knows when its amount has to be through, so there is nothing to be slow about.
            Limit::Time(_) | Limit::Bytes(_) | Limit::Blocks(_) => self.max_time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited() -> Policy {
        Policy {
            max_rate: Some(DataRate::from_bps(1_000_000_000)),
            max_udp_rate: Some(DataRate::from_bps(100_000_000)),
            max_time: Duration::from_secs(60),
            max_streams: 4,
            ..Policy::default()
        }
    }

    #[test]
    fn an_unlimited_test_breaks_a_rate_limit_and_is_told_what_to_ask_for() {
        let spec = TestSpec { streams: 4, ..TestSpec::default() };
        let breach = limited().check(&spec).unwrap_err();
        assert_eq!(
            breach.to_string(),
            "tests are limited to 1.00 Gbit/s over all streams; ask for --rate 250Mbit/s or less for each"
        );
        let capped = TestSpec { rate: Some(DataRate::from_bps(250_000_000)), ..spec };
        assert_eq!(limited().check(&capped), Ok(()));
        let both_ways = TestSpec { direction: Direction::Bidirectional, ..capped };
        assert!(limited().check(&both_ways).is_err());
    }

    #[test]
    fn the_rate_to_ask_for_can_be_typed_and_is_allowed() {
        for bps in [7, 1_000, 66_666_666, 33_333_333_333, 250_000_000, 999_999_999_999, 1_050_000] {
            let limit = DataRate::from_bps(bps);
            let asked: DataRate = typed(limit).parse().unwrap();
            assert!(asked <= limit && asked.bps() * 100 >= bps * 99, "{} of {limit}", typed(limit));
        }
        assert_eq!(typed(DataRate::from_bps(66_666_666)), "66.6Mbit/s");
    }

    #[test]
    fn datagrams_have_a_limit_of_their_own() {
        let rate = Some(DataRate::from_bps(200_000_000));
        let spec = TestSpec { protocol: Protocol::Udp, rate, ..TestSpec::default() };
        assert!(matches!(limited().check(&spec), Err(Breach::Rate { .. })));
        assert_eq!(limited().check(&TestSpec { protocol: Protocol::Tcp, ..spec }), Ok(()));
    }

    #[test]
    fn a_test_without_an_end_of_its_own_may_take_as_long_as_any() {
        let until = |limit| limited().longest(&TestSpec { limit, ..TestSpec::default() });
        assert_eq!(until(Limit::Time(Duration::from_secs(10))), Duration::from_secs(15));
        for limit in [Limit::Time(Duration::ZERO), Limit::Blocks(1)] {
            assert_eq!(until(limit), Duration::from_secs(60));
        }
    }

    #[test]
    fn too_long_and_too_many_are_named() {
        let long = TestSpec { limit: Limit::Time(Duration::from_secs(61)), ..TestSpec::default() };
        assert_eq!(limited().check(&long), Err(Breach::Time { limit: Duration::from_secs(60) }));
        let many = TestSpec { streams: 5, ..TestSpec::default() };
        assert_eq!(limited().check(&many), Err(Breach::Streams { limit: 4 }));
    }

    #[test]
    fn peers_outside_the_networks_are_not_let_in_however_their_address_is_written() {
        let policy = Policy { allow: vec!["192.0.2.0/24".parse().unwrap()], ..Policy::default() };
        assert!(policy.allows("192.0.2.7".parse().unwrap()));
        assert!(policy.allows("::ffff:192.0.2.7".parse().unwrap()));
        assert!(!policy.allows("198.51.100.1".parse().unwrap()));
        assert!(Policy::default().allows("198.51.100.1".parse().unwrap()));
    }
}
