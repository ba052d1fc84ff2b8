//! What an agent permits, whatever the hub's tickets say.
//!
//! Pure: the ticket has been checked, the peer's addresses are looked up, the day and what was moved in it are arguments.

use std::net::IpAddr;
use std::time::Duration;

use model::spec::{Limit, TestSpec};
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate, WallTime};

use super::directory::Limits;
use crate::api::order::{Assignment, TaskOrder};

/// Bytes that tests have moved in a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DayUse {
    /// Days since 1970-01-01, in UTC.
    pub day: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Why an agent does not do what a ticket permits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The flow is faster than the agent permits.
    #[error("the test asks for {asked}, this agent permits {limit}")]
    Rate {
        /// What the test may reach.
        asked: DataRate,
        /// The agent's limit.
        limit: DataRate,
    },
    /// The flow has no rate, and the agent permits one.
    #[error("the test asks for as much as the path carries, this agent permits {0}: give the test a rate in the plan")]
    NoRate(DataRate),
    /// Nobody bounds how fast a file comes, and the agent permits a rate.
    #[error("a download takes as much as the path carries, this agent permits {0}")]
    Download(DataRate),
    /// The test takes longer than the agent permits.
    #[error("the test takes up to {asked}, this agent permits {limit}", asked = units::duration::show(*.asked), limit = units::duration::show(*.limit))]
    Time {
        /// How long the test may take.
        asked: Duration,
        /// The agent's limit.
        limit: Duration,
    },
    /// The day's bytes are used up.
    #[error("the test may move {asked}, and {left} are left of this agent's day")]
    Bytes {
        /// What it may move.
        asked: ByteCount,
        /// What is left.
        left: ByteCount,
    },
    /// The peer is not among the networks that the agent permits.
    #[error("the peer {0} is not in the networks that this agent permits")]
    Peer(String),
    /// The peer has no address.
    #[error("the peer {0} has no address")]
    NoAddress(String),
}

impl DayUse {
    /// What was used on the day of `now`.
    #[must_use]
    pub fn on(self, now: WallTime) -> Self {
        let day = now.unix_nanos() / 86_400_000_000_000;
        // A clock that went back keeps what was used: the later day counts until it is over.
        if day > self.day { Self { day, bytes: 0 } } else { self }
    }

    /// The same with more bytes.
    #[must_use]
    pub const fn with(self, bytes: ByteCount) -> Self {
        Self { bytes: self.bytes.saturating_add(bytes.get()), ..self }
    }
}

/// Whether the agent permits this. `used` is of today.
///
/// # Errors
/// Why not.
pub fn permit(limits: &Limits, assignment: &Assignment, addresses: &[IpAddr], used: DayUse) -> Result<(), Refusal> {
    if assignment.limit > limits.max_time {
        return Err(Refusal::Time { asked: assignment.limit, limit: limits.max_time });
    }
    match (&assignment.task, limits.max_rate) {
        (TaskOrder::Tcp(flow) | TaskOrder::Udp(flow), Some(limit)) => permit_rate(limit, &flow.spec)?,
        (TaskOrder::Http { .. }, Some(limit)) => return Err(Refusal::Download(limit)),
        _ => {}
    }
    if let Some(limit) = limits.max_bytes_a_day {
        let left = ByteCount::new(limit.get().saturating_sub(used.bytes));
        let asked = bytes(assignment).unwrap_or(ByteCount::new(1));
        if asked > left {
            return Err(Refusal::Bytes { asked, left });
        }
    }
    let [first, ..] = addresses else { return Err(Refusal::NoAddress(assignment.address.clone())) };
    let permits = |address: &IpAddr| {
        let address = address.to_canonical();
        limits.allow.is_empty() || limits.allow.iter().any(|network| network.contains(&address))
    };
    // Which of them is used is the resolver's to say, so all have to be permitted.
    match addresses.iter().find(|address| !permits(address)) {
        Some(address) => Err(Refusal::Peer(address.to_string())),
        None => {
            assert!(permits(first), "every address is permitted, the first as well");
            Ok(())
        }
    }
}

fn permit_rate(limit: DataRate, spec: &TestSpec) -> Result<(), Refusal> {
    let Some(asked) = rate(spec) else { return Err(Refusal::NoRate(limit)) };
    if asked > limit { Err(Refusal::Rate { asked, limit }) } else { Ok(()) }
}

/// What all streams reach together, where the test says so.
fn rate(spec: &TestSpec) -> Option<DataRate> {
    let one = spec.rate.into_iter().chain(spec.pace).min()?;
    let both = if spec.direction == model::spec::Direction::Bidirectional { 2 } else { 1 };
    Some(DataRate::from_bps(one.bps().saturating_mul(u64::from(spec.streams)).saturating_mul(both)))
}

/// What a test may move, as far as that is known before.
#[must_use]
pub fn bytes(assignment: &Assignment) -> Option<ByteCount> {
    let (TaskOrder::Tcp(flow) | TaskOrder::Udp(flow)) = &assignment.task else { return assignment.bytes };
    let of_spec = match flow.spec.limit {
        Limit::Bytes(bytes) => Some(bytes),
        Limit::Time(time) => rate(&flow.spec).or(flow.expect).map(|rate| {
            let bits = u128::from(rate.bps()) * time.saturating_add(flow.spec.omit).as_millis() / 1000;
            ByteCount::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
        }),
        Limit::Blocks(_) => None,
    };
    of_spec.or(assignment.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::order::{FlowOrder, PartnerKind, RunSide};

    fn flow(rate: Option<&str>) -> Assignment {
        let rate = rate.map(|text| text.parse().unwrap());
        Assignment {
            side: RunSide::From,
            peer: "b".to_owned(),
            address: "192.0.2.7".to_owned(),
            port: 5201,
            partner: PartnerKind::Agent,
            family: None,
            task: TaskOrder::Tcp(FlowOrder {
                spec: TestSpec { rate, streams: 2, ..TestSpec::default() },
                expect: None,
            }),
            limit: Duration::from_secs(30),
            bytes: None,
        }
    }

    fn here() -> Vec<IpAddr> {
        vec!["192.0.2.7".parse().unwrap()]
    }

    #[test]
    fn over_limit_tickets_are_refused() {
        let none = DayUse::default();
        let limits = Limits {
            max_rate: Some("1Gbit/s".parse().unwrap()),
            max_bytes_a_day: Some(ByteCount::new(2_000_000_000)),
            allow: vec!["192.0.2.0/24".parse().unwrap()],
            ..Limits::default()
        };
        let ask = |assignment: &Assignment, used| permit(&limits, assignment, &here(), used);
        assert_eq!(ask(&flow(Some("500Mbit/s")), none), Ok(()));
        assert!(matches!(ask(&flow(Some("501Mbit/s")), none), Err(Refusal::Rate { .. })));
        assert!(matches!(ask(&flow(None), none), Err(Refusal::NoRate(_))));
        let used = none.with(ByteCount::new(1_000_000_000));
        assert!(matches!(ask(&flow(Some("500Mbit/s")), used), Err(Refusal::Bytes { .. })));
        let file = TaskOrder::Http { file: "file".to_owned(), count: 1, port: 80 };
        let download = Assignment { task: file, ..flow(None) };
        assert!(matches!(ask(&download, none), Err(Refusal::Download(_))));
        assert_eq!(permit(&Limits { max_rate: None, ..limits.clone() }, &download, &here(), none), Ok(()));
        let long = Assignment { limit: Duration::from_secs(601), ..flow(Some("1Mbit/s")) };
        assert!(matches!(ask(&long, none), Err(Refusal::Time { .. })));
    }

    #[test]
    fn every_address_of_a_peer_has_to_be_permitted() {
        let limits = Limits { allow: vec!["192.0.2.0/24".parse().unwrap()], ..Limits::default() };
        let ask = |addresses: &[IpAddr]| permit(&limits, &flow(None), addresses, DayUse::default());
        assert_eq!(ask(&here()), Ok(()));
        let rebound = [here()[0], "127.0.0.1".parse().unwrap()];
        assert!(matches!(ask(&rebound), Err(Refusal::Peer(_))));
        assert!(matches!(ask(&[]), Err(Refusal::NoAddress(_))));
    }

    #[test]
    fn day_that_is_over_is_forgotten_and_one_that_comes_again_is_not() {
        let day = |number: u64| WallTime::from_unix_nanos(number * 86_400_000_000_000);
        let used = DayUse::default().on(day(10)).with(ByteCount::new(5));
        assert_eq!(used.on(day(10)).bytes, 5);
        assert_eq!(used.on(day(9)).bytes, 5);
        assert_eq!(used.on(day(11)).bytes, 0);
    }
}
