//! What is wanted of a host: without it no buffer is too small.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use crate::fact::{Fact, FactMap, Missing, Reason};
use crate::scope::HostFacts;

/// What is wanted of a host. What is not given is left to the defaults of [`Profile::complete`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// What it does.
    pub roles: Vec<Role>,
    /// The rate it should reach to one peer.
    #[serde(deserialize_with = "units::text::read_some")]
    pub target_rate: Option<DataRate>,
    /// Round-trip time to its farthest peer.
    #[serde(deserialize_with = "units::duration::text::read_some")]
    pub rtt: Option<Duration>,
    /// Streams of one transfer.
    pub streams: Option<u32>,
    /// TCP connections at one time.
    pub flows: Option<u32>,
    /// By when one transfer must be done.
    #[serde(deserialize_with = "units::duration::text::read_some")]
    pub deadline: Option<Duration>,
    /// Size of one transfer.
    #[serde(deserialize_with = "units::text::read_some")]
    pub transfer: Option<ByteCount>,
    /// Rate of the reserved or policed circuit.
    #[serde(deserialize_with = "units::text::read_some")]
    pub circuit: Option<DataRate>,
    /// Payload of one segment.
    pub mss_bytes: Option<u32>,
    /// Whether connections are kept open between transfers.
    pub persistent: bool,
    /// The congestion control that is wanted.
    pub congestion_control: Option<String>,
    /// What was learnt from the host's own connections; what is given goes first.
    pub learnt: Learnt,
}

/// What real connections of the host showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Learnt {
    /// Round-trip time to the farthest peer that got a share of the traffic.
    #[serde(deserialize_with = "units::duration::text::read_some")]
    pub rtt: Option<Duration>,
    /// Connections to one peer at one time.
    pub streams: Option<u32>,
    /// Connections at one time.
    pub flows: Option<u32>,
}

/// What a host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Moves bulk data both ways: a sender and a receiver.
    Dtn,
    /// Sends bulk data.
    Sender,
    /// Receives bulk data.
    Receiver,
    /// Measures paths.
    Measurement,
    /// Passes data on for others: a gateway, a proxy, a redirector.
    Proxy,
    /// Carries virtual machines.
    VmHost,
    /// Is a virtual machine.
    VmGuest,
    /// Carries containers whose traffic goes through tunnels.
    OverlayNode,
}

/// Where a value of the profile comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Somebody said it.
    Given,
    /// The host's own connections showed it.
    Learnt,
    /// The snapshot shows it.
    Snapshot,
    /// A default of this program, which nobody declared or measured.
    Assumed,
}

/// A value of the profile that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileValue {
    /// Name by which rules ask for it, such as `rtt`.
    pub name: String,
    /// The value as people write it; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
}

/// A profile with nothing left open, but what must not be guessed.
#[derive(Debug, Clone, PartialEq)]
pub struct CompleteProfile {
    /// All roles, those that a role implies included.
    pub roles: Vec<Role>,
    /// What was used, for people.
    pub values: Vec<ProfileValue>,
    /// The same as facts.
    pub facts: FactMap,
}

impl Role {
    /// Every role with its word.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Dtn, "dtn"),
        (Self::Sender, "sender"),
        (Self::Receiver, "receiver"),
        (Self::Measurement, "measurement"),
        (Self::Proxy, "proxy"),
        (Self::VmHost, "vm-host"),
        (Self::VmGuest, "vm-guest"),
        (Self::OverlayNode, "overlay-node"),
    ];

    /// The word in a profile's file.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(role, _)| *role == self).map_or("", |(_, word)| word)
    }
}

impl Profile {
    /// Fills what is not given: from the host's own connections, from the snapshot, or by a default. The round-trip time has
    /// no default: half of all buffers depend on it, and a wrong one would make every answer wrong.
    #[must_use]
    pub fn complete(&self, host: &HostFacts) -> CompleteProfile {
        let mut made = Making::default();
        let (roles, origin) = self.all_roles(host);
        let named = |roles: &[Role]| roles.iter().map(|role| role.word()).collect::<Vec<_>>();
        made.show("role", Some(named(&roles).join(", ")), origin);
        made.fact("roles", Fact::List(named(&roles).into_iter().map(|word| Fact::Text(word.to_owned())).collect()));
        let (rate, origin) = first([
            (self.target_rate.map(DataRate::bps), Origin::Given),
            (main_link(host).speed_bps, Origin::Snapshot),
        ]);
        made.show("target rate", rate.map(|rate| DataRate::from_bps(rate).to_string()), origin);
        let rtt = [(self.rtt, Origin::Given), (self.learnt.rtt, Origin::Learnt)];
        let (rtt, origin) =
            first(rtt.map(|(rtt, origin)| (rtt.and_then(|rtt| u64::try_from(rtt.as_micros()).ok()), origin)));
        made.show("rtt", rtt.map(|rtt| units::duration::show(Duration::from_micros(rtt))), origin);
        // Where a round trip is given, the transfer is one that somebody plans: how many streams others have now is no part
        // of it, and dividing its need by theirs would silence every rule of buffers.
        let learnt = if self.rtt.is_none() { self.learnt } else { Learnt::default() };
        let streams = [(self.streams, Origin::Given), (learnt.streams, Origin::Learnt), (Some(1), Origin::Assumed)];
        let (streams, origin) = first(streams.map(|(streams, origin)| (streams.map(u64::from), origin)));
        made.show("streams", streams.map(|streams| streams.to_string()), origin);
        made.counted("target_bps", rate);
        made.counted("rtt_us", rtt);
        made.counted("streams", streams);
        let bdp = rate.zip(rtt).map(|(rate, rtt)| bdp_bytes(rate, rtt));
        made.counted("bdp_bytes", bdp);
        made.counted("flow_bdp_bytes", bdp.zip(streams).map(|(bdp, streams)| bdp.div_ceil(streams.max(1))));
        let flows = self.flows.or(learnt.flows).map(u64::from).or(streams);
        made.counted("flows", flows);
        self.rest(host, &mut made);
        CompleteProfile { roles, values: made.values, facts: made.facts }
    }

    fn rest(&self, host: &HostFacts, made: &mut Making) {
        let micros = |time: Option<Duration>| time.map_or(0, units::duration::micros);
        made.counted("deadline_us", Some(micros(self.deadline)));
        made.counted("transfer_bytes", Some(self.transfer.map_or(0, ByteCount::get)));
        made.counted("circuit_bps", Some(self.circuit.map_or(0, DataRate::bps)));
        let from_mtu = main_link(host).mtu_bytes.and_then(|mtu| mtu.checked_sub(HEADERS));
        made.counted("mss_bytes", self.mss_bytes.map(u64::from).or(from_mtu).or(Some(USUAL_MSS)));
        made.fact("persistent", Fact::Bool(self.persistent));
        made.fact("congestion_control", Fact::Text(self.congestion_control.clone().unwrap_or_default()));
    }

    /// Roles that were given, or a DTN and what else the snapshot shows; with those that they imply.
    fn all_roles(&self, host: &HostFacts) -> (Vec<Role>, Origin) {
        let (mut roles, origin) = if self.roles.is_empty() {
            (shown_roles(host), Origin::Assumed)
        } else {
            (self.roles.clone(), Origin::Given)
        };
        if roles.contains(&Role::Dtn) {
            roles.extend([Role::Sender, Role::Receiver]);
        }
        roles.sort_unstable();
        roles.dedup();
        (roles, origin)
    }
}

fn shown_roles(host: &HostFacts) -> Vec<Role> {
    let mut roles = vec![Role::Dtn];
    let virtual_machine = host.facts.get("virt").and_then(Fact::as_map).and_then(|virt| virt.get("guest"));
    if virtual_machine == Some(&Fact::Bool(true)) {
        roles.push(Role::VmGuest);
    }
    let kinds = host.facts.get("overlay").and_then(Fact::as_map).and_then(|overlay| overlay.get("kinds"));
    if kinds.and_then(Fact::as_list).is_some_and(|kinds| !kinds.is_empty()) {
        roles.push(Role::OverlayNode);
    }
    roles
}

/// Speed and MTU of a link, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LinkSize {
    speed_bps: Option<u64>,
    mtu_bytes: Option<u64>,
}

/// Those of the host's fastest link; where no link reports a speed, of that of the default route.
fn main_link(host: &HostFacts) -> LinkSize {
    let links = host.namespaces.iter().flat_map(|namespace| &namespace.links);
    let facts = links.filter_map(|link| link.facts.get("link")?.as_map());
    let number = |facts: &FactMap, name: &str| match facts.get(name)? {
        Fact::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let rank = |facts: &&FactMap| {
        (number(facts, "speed_bps"), facts.get("default_route") == Some(&Fact::Bool(true)), number(facts, "mtu"))
    };
    facts.max_by_key(rank).map_or_else(LinkSize::default, |facts| LinkSize {
        speed_bps: number(facts, "speed_bps"),
        mtu_bytes: number(facts, "mtu"),
    })
}

fn first<const N: usize>(candidates: [(Option<u64>, Origin); N]) -> (Option<u64>, Origin) {
    let found = candidates.iter().find(|(value, _)| value.is_some());
    found.copied().unwrap_or((None, Origin::Assumed))
}

fn bdp_bytes(rate_bps: u64, rtt_us: u64) -> u64 {
    u64::try_from(u128::from(rate_bps) * u128::from(rtt_us) / 8_000_000).unwrap_or(u64::MAX)
}

#[derive(Default)]
struct Making {
    values: Vec<ProfileValue>,
    facts: FactMap,
}

impl Making {
    fn show(&mut self, name: &str, value: Option<String>, origin: Origin) {
        self.values.push(ProfileValue { name: name.to_owned(), value, origin });
    }

    fn fact(&mut self, name: &str, fact: Fact) {
        self.facts.insert(name.to_owned(), fact);
    }

    fn counted(&mut self, name: &str, value: Option<u64>) {
        let fact = value.map(|value| Fact::Int(i64::try_from(value).unwrap_or(i64::MAX)));
        self.fact(name, fact.unwrap_or_else(|| Fact::Missing(Missing::new(Reason::NotGiven, ""))));
    }
}

/// Headers of IPv4 (20) and TCP (20) with timestamps (12), RFC 9293 and RFC 7323.
const HEADERS: u64 = 52;
/// Payload of a segment on Ethernet without jumbo frames.
const USUAL_MSS: u64 = 1448;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_need_of_a_flow_is_rate_times_round_trip_over_streams() {
        let profile = Profile {
            target_rate: Some(DataRate::from_bps(10_000_000_000)),
            rtt: Some(Duration::from_millis(190)),
            streams: Some(4),
            ..Profile::default()
        };
        let complete = profile.complete(&HostFacts::default());
        assert_eq!(complete.facts["bdp_bytes"], Fact::Int(237_500_000));
        assert_eq!(complete.facts["flow_bdp_bytes"], Fact::Int(59_375_000));
        assert_eq!(complete.roles, [Role::Dtn, Role::Sender, Role::Receiver]);
    }

    #[test]
    fn the_round_trip_time_is_never_guessed() {
        let complete = Profile::default().complete(&HostFacts::default());
        assert!(matches!(complete.facts["rtt_us"], Fact::Missing(_)));
        assert!(matches!(complete.facts["flow_bdp_bytes"], Fact::Missing(_)));
        let learnt = Learnt { rtt: Some(Duration::from_millis(88)), ..Learnt::default() };
        let complete = Profile { learnt, ..Profile::default() }.complete(&HostFacts::default());
        assert_eq!(complete.facts["rtt_us"], Fact::Int(88_000));
    }

    #[test]
    fn a_declared_path_is_not_divided_by_streams_of_others() {
        let learnt = Learnt { rtt: Some(Duration::from_millis(241)), streams: Some(16), flows: Some(16) };
        let declared = Profile {
            rtt: Some(Duration::from_millis(100)),
            target_rate: Some(DataRate::from_bps(10_000_000_000)),
            learnt,
            ..Profile::default()
        };
        let complete = declared.complete(&HostFacts::default());
        assert_eq!(complete.facts["flow_bdp_bytes"], Fact::Int(125_000_000));
        assert_eq!((&complete.facts["streams"], &complete.facts["flows"]), (&Fact::Int(1), &Fact::Int(1)));
    }
}
