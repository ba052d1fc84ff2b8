//! What is asked of a host besides the rules of the audit: facts that are no fault by themselves, and counters beside those of
//! hosts that should be alike.

use std::ops::RangeInclusive;

use model::host::fact::Missing;
use model::host::interface::Interface;
use model::host::interface::tuning::Rings;
use model::host::qdisc::{self, Qdisc};
use model::host::shaping;
use model::host::snapshot::Snapshot;
use model::round::Member;
use units::DataRate;

use crate::signs::Flow;

/// A question to a host.
struct Question {
    /// The name that the catalogue of causes has for it.
    name: &'static str,
    /// What a host is said to do that answers yes.
    says: &'static str,
    answer: fn(&Asked<'_>) -> Option<bool>,
}

/// A host that is asked, and those that it is held against.
struct Asked<'a> {
    member: &'a Member,
    snapshot: &'a Snapshot,
    /// Hosts that should be like it.
    group: &'a [&'a Member],
    /// All hosts of the round that send or receive.
    testing: &'a [&'a Member],
    /// Affected flows that it sends.
    sends: &'a [&'a Flow],
}

const QUESTIONS: [Question; 17] = [
    Question {
        name: "kernel-defaults",
        says: "has the kernel's own buffers for TCP",
        answer: |asked| has_defaults(asked.snapshot),
    },
    Question {
        name: "scaling-switched-off",
        says: "has window scaling switched off",
        answer: |asked| is_off(asked.snapshot, "net.ipv4.tcp_window_scaling"),
    },
    Question {
        name: "sack-switched-off",
        says: "has selective acknowledgements switched off",
        answer: |asked| is_off(asked.snapshot, "net.ipv4.tcp_sack"),
    },
    Question {
        name: "ring-below-largest",
        says: "has rings far below what its NIC can hold",
        answer: |asked| has_short_rings(asked.snapshot, |rings| Some((rings.rx?, rings.rx_max?))),
    },
    Question {
        name: "transmit-ring-below-largest",
        says: "has transmit rings far below what its NIC can hold",
        answer: |asked| has_short_rings(asked.snapshot, |rings| Some((rings.tx?, rings.tx_max?))),
    },
    Question {
        name: "missed-beside-peers",
        says: "has missed many packets that its peers did not miss",
        answer: |asked| stands_out(asked, "rx_missed_errors", FEW),
    },
    Question {
        name: "dropped-beside-peers",
        says: "has dropped many packets that its peers did not drop",
        answer: |asked| stands_out(asked, "rx_dropped", FEW_STRANGE),
    },
    Question {
        name: "damaged-frames",
        says: "has received many frames with a wrong check sequence",
        answer: |asked| has_damaged_frames(asked.snapshot),
    },
    Question {
        name: "paused-often",
        says: "has sent or received pause frames by the ten thousand",
        answer: |asked| paused(asked.snapshot).map(|frames| frames > MANY_PAUSES),
    },
    Question {
        name: "own-queue-dropped",
        says: "has dropped packets in a queue of its own while it was tested",
        answer: has_dropped,
    },
    Question {
        name: "own-shaper-holds",
        says: "has a shaper whose rate is what its flows come to",
        answer: is_held_by_shaper,
    },
    Question {
        name: "slot-below-card",
        says: "has a NIC with fewer lanes, or slower ones, than the card has",
        answer: has_narrow_slot,
    },
    Question {
        name: "link-below-peers",
        says: "has a link of half the speed of its peers' links or less",
        answer: has_slow_link,
    },
    Question {
        name: "asks-for-marks-alone",
        says: "asks for congestion marks (ECN), and another host of the round does not",
        answer: asks_for_marks_alone,
    },
    Question {
        name: "merges-in-hardware",
        says: "has a NIC that merges what it receives in hardware (rx-gro-hw or LRO)",
        answer: |asked| merges_in_hardware(asked.snapshot),
    },
    Question {
        name: "offloads-off-beside-peers",
        says: "has segmentation or receive offload switched off, and its peers have it on",
        answer: has_less_offload,
    },
    Question {
        name: "unpaced-beside-peers",
        says: "has no qdisc that spreads packets, and its peers have one",
        answer: is_unpaced_beside_peers,
    },
];

/// In words what a question asks; nothing for a rule of the audit.
#[must_use]
pub fn asks(name: &str) -> Option<&'static str> {
    QUESTIONS.iter().find(|question| question.name == name).map(|question| question.says)
}

/// Whom a host is held against, and what is wrong with what it sends.
pub(super) struct Beside<'a> {
    /// Hosts that should be like it.
    pub(super) group: &'a [&'a Member],
    /// All hosts that send or receive.
    pub(super) testing: &'a [&'a Member],
    /// Affected flows that it sends.
    pub(super) sends: &'a [&'a Flow],
}

/// The answers for one host, where there are any.
pub(super) fn facts(member: &Member, beside: &Beside<'_>) -> Vec<(&'static str, bool)> {
    let Some(snapshot) = latest(member) else { return Vec::new() };
    let Beside { group, testing, sends } = *beside;
    let asked = Asked { member, snapshot, group, testing, sends };
    QUESTIONS.iter().filter_map(|question| Some((question.name, (question.answer)(&asked)?))).collect()
}

/// Whether the NIC of a host merges what it receives, where that is known.
pub(super) fn merges(member: &Member) -> Option<bool> {
    merges_in_hardware(latest(member)?)
}

fn latest(member: &Member) -> Option<&Snapshot> {
    member.after.as_deref().or(member.before.as_deref())
}

fn has_defaults(snapshot: &Snapshot) -> Option<bool> {
    let own = snapshot.own()?;
    let largest = |key: &str| own.sysctl(key)?.split_whitespace().last()?.parse::<u64>().ok();
    let (receive, send) = (largest("net.ipv4.tcp_rmem")?, largest("net.ipv4.tcp_wmem")?);
    Some(DEFAULT_RECEIVE.contains(&receive) && send == DEFAULT_SEND)
}

fn has_short_rings(snapshot: &Snapshot, of: fn(&Rings) -> Option<(u32, u32)>) -> Option<bool> {
    let interfaces = &snapshot.own()?.interfaces;
    // A device without rings has none that is too small.
    let none =
        || interfaces.iter().any(|interface| interface.rings.reading == Err(Missing::Unsupported)).then_some(false);
    let rings = interfaces.iter().filter_map(|interface| interface.rings.value());
    let short = rings.filter_map(of).map(|(now, largest)| now < largest / SHORT_RING);
    any(short).or_else(none)
}

/// Whether one of several answers is yes; [`None`] where there is no answer.
fn any(answers: impl Iterator<Item = bool>) -> Option<bool> {
    answers.fold(None, |any: Option<bool>, answer| Some(any.unwrap_or(false) || answer))
}

/// Whether a counter, since the host started, is far above that of the quietest of its peers.
fn stands_out(asked: &Asked<'_>, counter: &str, few: u64) -> Option<bool> {
    let own = counted(asked.snapshot, counter)?;
    let least = peers(asked).filter_map(|other| counted(other, counter)).min()?;
    Some(own > least.saturating_mul(FAR) && own > few)
}

fn peers<'a>(asked: &Asked<'a>) -> impl Iterator<Item = &'a Snapshot> {
    let own = &asked.member.name;
    asked.group.iter().filter(move |other| other.name != *own).filter_map(|other| latest(other))
}

/// By count, or by their part of what was received.
fn has_damaged_frames(snapshot: &Snapshot) -> Option<bool> {
    let damaged = counted(snapshot, "rx_crc_errors")?;
    let received = counted(snapshot, "rx_packets").unwrap_or(u64::MAX);
    Some(damaged > FEW || damaged >= FEW_DROPS && damaged >= received / CLEAN)
}

/// Pause frames by all the names that drivers have for them.
fn paused(snapshot: &Snapshot) -> Option<u64> {
    let counters = interfaces(snapshot)?.filter_map(|interface| interface.driver_counters.value());
    let is_pause = |name: &str| name.contains("xoff") || name.contains("pause");
    let frames = counters.flatten().filter(|(name, _)| is_pause(name)).map(|(_, count)| *count);
    sum(frames)
}

/// Whether queueing disciplines dropped packets between the snapshots, other than to tell TCP that it is too fast.
fn has_dropped(asked: &Asked<'_>) -> Option<bool> {
    let dropped = |member: Option<&Snapshot>| {
        let plain = qdiscs(member?)?.filter(|qdisc| !DROPS_EARLY.contains(&qdisc.kind.as_str()));
        sum(plain.filter_map(|qdisc| qdisc.counters.get("drops").copied()))
    };
    let before = dropped(asked.member.before.as_deref())?;
    let after = dropped(asked.member.after.as_deref())?;
    Some(after.saturating_sub(before) >= FEW_DROPS)
}

/// Whether a shaper of its own has the rate at which flows end that should be faster. What it lets through is a little more, by the
/// headers of packets.
fn is_held_by_shaper(asked: &Asked<'_>) -> Option<bool> {
    let (mut of_all, mut of_each) = (Vec::new(), Vec::new());
    for qdiscs in interfaces(asked.snapshot)?.filter_map(|interface| interface.qdiscs.value()) {
        let tree: Vec<&Qdisc> = qdiscs.iter().filter(|qdisc| qdisc.parent != qdisc::INGRESS).collect();
        of_all.extend(shaping::ceiling(&tree).ok()?);
        of_each.extend(shaping::flow_ceiling(tree));
    }
    let is_held = |flow: &Flow, rate: &DataRate| {
        flow.wanted().is_some_and(|wanted| wanted > *rate)
            && flow.goodput.share_of(*rate).is_some_and(|part| SHAPED.contains(&part))
    };
    Some(asked.sends.iter().any(|flow| {
        let of_its_own = of_each.iter().filter(|_| flow.shape.streams == 1);
        of_all.iter().chain(of_its_own).any(|rate| is_held(flow, rate))
    }))
}

/// Whether a card runs at half of what it could, or less.
fn has_narrow_slot(asked: &Asked<'_>) -> Option<bool> {
    let buses = interfaces(asked.snapshot)?.filter_map(|interface| interface.bus.value());
    any(buses.filter_map(|bus| {
        let now = lanes(bus.pcie_speed.as_deref()?, bus.pcie_width?)?;
        let largest = lanes(bus.pcie_max_speed.as_deref()?, bus.pcie_max_width?)?;
        Some(now * 2.0 <= largest)
    }))
}

/// Transfers a second over all lanes: the kernel writes the speed of one as `8.0 GT/s PCIe`.
fn lanes(speed: &str, width: u32) -> Option<f64> {
    Some(speed.split_whitespace().next()?.parse::<f64>().ok()? * f64::from(width))
}

/// Whether the fastest link of a host has half of the speed of the slowest of its peers' fastest, or less.
fn has_slow_link(asked: &Asked<'_>) -> Option<bool> {
    let own = fastest(asked.snapshot)?;
    let others = peers(asked).filter_map(fastest).min()?;
    Some(own.bps().saturating_mul(2) <= others.bps())
}

/// What all hosts ask for is no peculiarity of one of them: where they are marked, the queue is the fault. Routers open no
/// connections, and have the kernel's own setting.
fn asks_for_marks_alone(asked: &Asked<'_>) -> Option<bool> {
    let own = &asked.member.name;
    let others =
        asked.testing.iter().filter(|other| other.name != *own).filter_map(|other| asks_for_marks(latest(other)?));
    let is_alone = any(others.map(|asks| !asks))?;
    Some(asks_for_marks(asked.snapshot)? && is_alone)
}

/// `tcp_ecn` of 1 asks on connections that the host opens, 2 only answers (ip-sysctl).
fn asks_for_marks(snapshot: &Snapshot) -> Option<bool> {
    Some(matches!(snapshot.own()?.sysctl("net.ipv4.tcp_ecn")?.trim(), "1" | "3" | "4"))
}

fn is_off(snapshot: &Snapshot, setting: &str) -> Option<bool> {
    Some(snapshot.own()?.sysctl(setting)?.trim() == "0")
}

/// Whether a NIC merges segments into larger packets before the kernel sees them.
fn merges_in_hardware(snapshot: &Snapshot) -> Option<bool> {
    let features = interfaces(snapshot)?.filter_map(|interface| interface.features.value());
    any(features.flat_map(|features| MERGING.iter().filter_map(|name| Some(features.get(*name)?.active))))
}

/// Whether the CPU of a host does what the NICs of all its peers do. What cannot be switched is no setting of it.
fn has_less_offload(asked: &Asked<'_>) -> Option<bool> {
    any(OFFLOADS.iter().filter_map(|name| {
        let on = |snapshot| {
            let features = interfaces(snapshot)?.filter_map(|interface| interface.features.value());
            let known = features.filter_map(|features| features.get(*name)).filter(|feature| !feature.nochange);
            known.map(|feature| feature.active).reduce(|all, on| all && on)
        };
        let own = on(asked.snapshot)?;
        let others = peers(asked).filter_map(on).reduce(|all, on| all && on)?;
        Some(!own && others)
    }))
}

/// Whether a host sends as fast as its link does, where a peer of it spreads what it sends.
fn is_unpaced_beside_peers(asked: &Asked<'_>) -> Option<bool> {
    let own = spreads(asked.snapshot)?;
    let others = any(peers(asked).filter_map(spreads))?;
    Some(!own && others)
}

/// Whether a qdisc of a host spreads its packets.
fn spreads(snapshot: &Snapshot) -> Option<bool> {
    any(qdiscs(snapshot)?.map(|qdisc| SPREADS.contains(&qdisc.kind.as_str())))
}

fn qdiscs(snapshot: &Snapshot) -> Option<impl Iterator<Item = &Qdisc>> {
    Some(interfaces(snapshot)?.filter_map(|interface| interface.qdiscs.value()).flatten())
}

fn interfaces(snapshot: &Snapshot) -> Option<impl Iterator<Item = &Interface>> {
    Some(snapshot.own()?.interfaces.iter())
}

fn fastest(snapshot: &Snapshot) -> Option<DataRate> {
    let speed = |interface: &Interface| interface.mode.value()?.speed;
    interfaces(snapshot)?.filter_map(speed).max()
}

fn counted(snapshot: &Snapshot, counter: &str) -> Option<u64> {
    let counters = interfaces(snapshot)?.filter_map(|interface| interface.counters.value());
    let values = counters.filter_map(|counters| counters.get(counter).copied());
    sum(values)
}

/// The sum of counts; [`None`] where there is none.
fn sum(counts: impl Iterator<Item = u64>) -> Option<u64> {
    counts.reduce(u64::saturating_add)
}

/// `tcp_init` (net/ipv4/tcp.c): 6 MiB for reading, 32 MiB since Linux 6.18; 4 MiB for writing. Hosts with little memory have
/// less and are not recognised.
const DEFAULT_RECEIVE: [u64; 2] = [6 << 20, 32 << 20];
const DEFAULT_SEND: u64 = 4 << 20;
/// Rings of less than this part of the largest are short.
const SHORT_RING: u32 = 4;
/// So many times what a peer has counted is far more.
const FAR: u64 = 10;
/// So many packets in the life of a host are few.
const FEW: u64 = 1_000;
/// So many packets dropped in the life of a host are what any network brings: a strange frame in each five minutes of two years.
const FEW_STRANGE: u64 = 200_000;
/// A link that damages one frame in so many or fewer is clean: a bit error rate of 1e-9.
const CLEAN: u64 = 100_000;
/// Disciplines whose drops are how they tell TCP to slow down.
const DROPS_EARLY: [&str; 8] = ["codel", "fq_codel", "cake", "pie", "fq_pie", "red", "fq", "ingress"];
/// What a NIC or the kernel does for whole segments at once, as `ethtool -k` names it.
const OFFLOADS: [&str; 3] = ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"];
/// Features by which a NIC merges segments, as `ethtool -k` names them: an overlay's packets become too large to be passed on.
const MERGING: [&str; 2] = ["rx-gro-hw", "rx-lro"];
/// Disciplines that send at a rate, and not as fast as the link does (tc-fq(8), tc-tbf(8)).
const SPREADS: [&str; 5] = ["fq", "tbf", "htb", "cake", "netem"];
/// What a flow has of the rate of a shaper that holds it, as payload: 94 % with packets of 1,500 bytes, less while it starts.
const SHAPED: RangeInclusive<f64> = 0.8..=1.02;
/// So many drops in a round of tests are no chance.
const FEW_DROPS: u64 = 10;
/// More pause frames than this in the life of a host are no chance: each stops a link of 10 Gbit/s for 3 ms at the most.
const MANY_PAUSES: u64 = 10_000;
