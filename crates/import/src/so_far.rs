//! What one reading of counters says by itself: what they stand at since they began to count, and where that is much.

use std::collections::BTreeMap;

use super::counter_kinds::{self, CounterMeaning, PartOfWhat, plain, without_queue};
use super::evidence::{
    AllowanceExceeded, CounterKind, DeviceCounters, HostFact, LateCollisions, LossKind, LostSoFar, PartOf,
    RetransmittedSoFar,
};
use super::signatures::{SignatureFact, SignatureWeight};

/// All that the only reading of some counters, or the last one, tells.
pub(crate) fn facts_of(readings: &[&DeviceCounters]) -> Vec<HostFact> {
    let late = readings.last().and_then(|last| late_collisions(last)).map(HostFact::LateCollisions);
    let [only] = readings else { return late.into_iter().collect() };
    let allowance = exceeded(only).map(HostFact::Allowance);
    let lost = lost(only).map(HostFact::LostSoFar);
    let again = retransmitted(only).map(HostFact::RetransmittedSoFar);
    let is_late = late.is_some();
    let others = meant(only).into_iter().filter(|(kind, _)| !(is_late && kind.id == HALF_DUPLEX));
    // A link of half duplex damages frames as well, so that it goes before them.
    let (duplex, others): (Vec<_>, Vec<_>) = others.partition(|(kind, _)| kind.id == HALF_DUPLEX);
    let fact = |(_, fact): (&CounterMeaning, SignatureFact)| HostFact::Signature(fact);
    let duplex: Vec<HostFact> = duplex.into_iter().map(fact).collect();
    let is_duplex = !duplex.is_empty();
    let lost =
        lost.filter(|lost| !(is_duplex && matches!(lost, HostFact::LostSoFar(one) if one.kind == LossKind::Damage)));
    let all = duplex.into_iter().chain(lost).chain(again).chain(late).chain(allowance);
    all.chain(others.into_iter().map(fact)).collect()
}

/// Collisions that come late say more than all of them.
const HALF_DUPLEX: &str = "half-duplex";

/// What counters say whose kind has a sentence.
fn meant(reading: &DeviceCounters) -> Vec<(&'static CounterMeaning, SignatureFact)> {
    // A change is said of as such.
    let is_total = reading.kind != CounterKind::KernelChange;
    let kinds = counter_kinds::all().iter().filter(|_| is_total);
    kinds.filter_map(|kind| Some((kind, said(reading, kind)?))).collect()
}

fn said(reading: &DeviceCounters, kind: &CounterMeaning) -> Option<SignatureFact> {
    let says = kind.says.as_ref()?;
    let (counter, lost) = largest(&reading.values, kind).filter(|(_, lost)| *lost >= kind.least)?;
    let of = match kind.of {
        None => String::new(),
        Some(of) => {
            let way = if of == PartOfWhat::Received { Way::Received } else { Way::Sent };
            let passed = frames(&reading.values, way)?.count;
            let all = passed.saturating_add(lost);
            (lost.saturating_mul(kind.part) >= all).then_some(())?;
            format!(" beside {passed} packets")
        }
    };
    let device = reading.device.as_deref().unwrap_or("a NIC");
    let says = says.replace("{lost}", &lost.to_string()).replace("{of}", &of).replace("{counter}", &counter);
    // Among all counters since a start that nobody dates, one that is a part of nothing is no finding; printed alone it was looked for.
    let is_finding = kind.of.is_some() || reading.values.len() <= LOOKED_FOR;
    let weight = if is_finding { SignatureWeight::Fault } else { SignatureWeight::Fact };
    Some(SignatureFact { weight, says: says.replace("{device}", device) })
}

/// Lines that `grep` leaves.
const LOOKED_FOR: usize = 4;

/// The counter of a kind that stands highest; those of a NIC's queues are added up.
fn largest(values: &BTreeMap<String, u64>, kind: &CounterMeaning) -> Option<(String, u64)> {
    let mut known: BTreeMap<String, u64> = BTreeMap::new();
    for (name, value) in values.iter().filter(|(name, _)| kind.has(&plain(name))) {
        let sum = known.entry(without_queue(name).unwrap_or_else(|| name.clone())).or_default();
        *sum = sum.saturating_add(*value);
    }
    known.into_iter().max_by_key(|(_, value)| *value)
}

/// What was lost, where it is a part of all that came that no healthy host loses.
fn lost(reading: &DeviceCounters) -> Option<LostSoFar> {
    let values = &reading.values;
    let value = |name: &str| values.get(name).copied();
    let device = reading.device.clone().unwrap_or_else(|| "a NIC".to_owned());
    let found = |kind, counter: &str, lost: u64, all: u64| LostSoFar {
        kind,
        device,
        counter: counter.to_owned(),
        lost,
        all,
        mean_length: None,
    };
    if reading.kind == CounterKind::Kernel {
        let (lost, passed) = (value("Udp.RcvbufErrors")?, value("Udp.InDatagrams")?);
        let all = lost.saturating_add(passed);
        return (lost.saturating_mul(FULL_SOCKETS) >= all && lost >= FEWEST)
            .then(|| found(LossKind::FullSocket, "Udp.RcvbufErrors", lost, all));
    }
    let most = |id: &str| largest(values, counter_kinds::of(id)?);
    // Where counters of zero were left out, a port that sent and has none of what it received has received nothing whole.
    let is_of_used = values.values().all(|value| *value > 0) && value("tx_packets").is_some();
    let nothing_whole = is_of_used && !RECEIVED.iter().any(|name| values.contains_key(*name));
    let received = frames(values, Way::Received).map(|frames| frames.count).or(nothing_whole.then_some(0))?;
    let part = |(counter, lost): (String, u64)| (counter, lost, lost.saturating_add(received));
    let is_much =
        |(_, lost, all): &(String, u64, u64), one_of: u64| lost.saturating_mul(one_of) >= *all && *lost >= FEWEST;
    let damaged = most("damage").map(part).filter(|lost| is_much(lost, DAMAGED_PART));
    let no_room = || most("full-ring").filter(|_| !nothing_whole).map(part).filter(|lost| is_much(lost, FULL_RING));
    if let Some((counter, lost, all)) = damaged {
        let bytes = values.iter().find(|(name, _)| BAD_BYTES.contains(&plain(name).as_str())).map(|(_, bytes)| *bytes);
        let mean_length = bytes.and_then(|bytes| bytes.checked_div(lost)).filter(|length| FRAME.contains(length));
        return Some(LostSoFar { mean_length, ..found(LossKind::Damage, &counter, lost, all) });
    }
    no_room().map(|(counter, lost, all)| found(LossKind::FullRing, &counter, lost, all))
}

/// What was retransmitted of all that was sent, where that is more than paths all over the Internet cost.
fn retransmitted(reading: &DeviceCounters) -> Option<RetransmittedSoFar> {
    (reading.kind == CounterKind::Kernel).then_some(())?;
    let value = |name: &str| reading.values.get(name).copied();
    let (again, sent) = (value("Tcp.RetransSegs")?, value("Tcp.OutSegs")?);
    let is_much = again.saturating_mul(100) >= sent.saturating_mul(MUCH_RETRANSMITTED) && sent >= MANY_SEGMENTS;
    // Most of them had arrived: packets overtake each other, and few are lost.
    let is_needless = value("TcpExt.TCPDSACKRecv").is_some_and(|twice| twice.saturating_mul(2) >= again);
    (is_much && !is_needless).then_some(())?;
    let order = |part: &str, whole: &str| Some(PartOf { part: value(part)?, whole: value(whole)? });
    let out_of_order = order("Tcp.OutOfOrder", "Tcp.InSequence").or_else(|| order("TcpExt.TCPOFOQueue", "Tcp.InSegs"));
    let lost_again = value("TcpExt.TCPLostRetransmit").filter(|lost| *lost > 0);
    Some(RetransmittedSoFar { again, sent, lost_again, out_of_order })
}

/// Collisions that no link of full duplex has.
fn late_collisions(reading: &DeviceCounters) -> Option<LateCollisions> {
    let values = &reading.values;
    let counts = values.iter().filter(|(name, _)| plain(name).contains("latecol")).map(|(_, count)| *count);
    let count = counts.max().filter(|count| *count > 0)?;
    let device = reading.device.clone().unwrap_or_default();
    Some(LateCollisions { device, count, sent: frames(values, Way::Sent).map(|frames| frames.count) })
}

/// What exceeded an allowance of a virtual machine most often (Documentation/networking/device_drivers/ethernet/amazon/ena.rst).
fn exceeded(reading: &DeviceCounters) -> Option<AllowanceExceeded> {
    let all = reading.values.iter().filter(|(name, count)| name.ends_with("_allowance_exceeded") && **count > 0);
    let (counter, packets) = all.max_by_key(|(_, count)| **count)?;
    let device = reading.device.clone().unwrap_or_default();
    Some(AllowanceExceeded { device, counter: counter.clone(), packets: *packets })
}

/// Frames that passed a device in one direction, and the counters that say so.
struct Frames {
    counters: String,
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Received,
    Sent,
}

impl Way {
    /// Of a counter, by its name.
    fn of(name: &str) -> Self {
        let plain = plain(name);
        let is_sent = plain.starts_with("tx") || plain.starts_with("out") || plain.contains("carrier");
        if is_sent { Self::Sent } else { Self::Received }
    }
}

/// The port of a switch chip counts by kinds of addresses; `rx_packets` of the same port is what the host behind the chip got of them.
fn frames(values: &BTreeMap<String, u64>, way: Way) -> Option<Frames> {
    let starts = if way == Way::Received { ["rx", "in"] } else { ["tx", "out"] };
    let of_port = |kinds: [&str; 2]| {
        values.iter().find(|(name, _)| {
            let plain = plain(name);
            let is_frames = ["byte", "octet", "drop", "err", "discard"].iter().all(|other| !plain.contains(other));
            // A counter of a queue has its number.
            let is_whole = !plain.contains(|letter: char| letter.is_ascii_digit());
            let rest = starts.iter().find_map(|start| plain.strip_prefix(start));
            is_frames && is_whole && rest.is_some_and(|rest| kinds.iter().any(|kind| rest.starts_with(kind)))
        })
    };
    let kinds = [["unicast", "ucast"], ["multi", "mcast"], ["broad", "bcast"]].map(of_port);
    if let [Some(unicast), multicast, broadcast] = kinds {
        let all: Vec<(&String, &u64)> = [Some(unicast), multicast, broadcast].into_iter().flatten().collect();
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let count = all.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(**count));
        let of_host = values.get(if way == Way::Received { "rx_packets" } else { "tx_packets" });
        if of_host.is_none_or(|of_host| *of_host < count) {
            return Some(Frames { counters: names.join(" + "), count });
        }
    }
    let name = if way == Way::Received { "rx_packets" } else { "tx_packets" };
    let whole = values.get(name).map(|count| Frames { counters: name.to_owned(), count: *count });
    whole.or_else(|| frames_of_queues(values, way))
}

/// Drivers that count by queues only, or under names of their own.
fn frames_of_queues(values: &BTreeMap<String, u64>, way: Way) -> Option<Frames> {
    let names: [&str; 6] = if way == Way::Received {
        ["rxqueuepackets", "rxucastpackets", "rxucastpkts", "ucastpktsrx", "rcvpkts", "driverrxpacket"]
    } else {
        ["txqueuepackets", "txucastpackets", "txucastpkts", "ucastpktstx", "xmitpkts", "drivertxpacket"]
    };
    let own = values.iter().filter(|(name, _)| names.contains(&plain(name).as_str()));
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in own {
        let sum = sums.entry(without_queue(name).unwrap_or_else(|| name.clone())).or_default();
        *sum = sum.saturating_add(*count);
    }
    sums.into_iter().max_by_key(|(_, count)| *count).map(|(counters, count)| Frames { counters, count })
}

/// Counters of packets that arrived whole.
const RECEIVED: [&str; 5] = ["rx_packets", "rx_ucast", "rx_mcast", "rx_bcast", "rx_ucast_packets"];
/// Counters of the bytes of damaged frames.
const BAD_BYTES: [&str; 3] = ["rxbadbyte", "rxbadbytes", "inbadoctets"];
/// What frames may be long.
const FRAME: std::ops::RangeInclusive<u64> = 64..=10_000;

/// One of so many datagrams is lost in full sockets.
const FULL_SOCKETS: u64 = 100;
/// One of so many packets finds no room in a NIC.
const FULL_RING: u64 = 3_000;
/// One of so many frames is damaged.
const DAMAGED_PART: u64 = 10_000;
/// Fewer say nothing.
const FEWEST: u64 = 100;
/// Hundredths of what was sent. Servers that send to users all over the Internet retransmit 2 to 3 (N. Dukkipati et al., An Argument for
/// Increasing TCP's Initial Congestion Window, CCR 40(3), 2010).
const MUCH_RETRANSMITTED: u64 = 3;
/// Of fewer segments one bad hour makes such a part.
const MANY_SEGMENTS: u64 = 10_000;

/// What the counters of drops and errors stand at, the largest first: since when is not known.
pub(crate) fn so_far(values: &BTreeMap<String, u64>) -> String {
    let is_trouble = |name: &str| TROUBLE.iter().any(|part| name.to_lowercase().contains(part));
    let mut standing: Vec<(&String, u64)> = values
        .iter()
        .filter(|(name, value)| **value > 0 && is_trouble(name))
        .map(|(name, value)| (name, *value))
        .collect();
    standing.sort_by_key(|(_, value)| std::cmp::Reverse(*value));
    standing.truncate(MOST_SHOWN);
    let Some((largest, _)) = standing.first() else { return String::new() };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (name, value) in &standing {
        let total = total_of(name, values);
        let label = total.as_ref().map(|total| total.counters.clone());
        match groups.iter_mut().find(|group| group.total.as_ref().map(|total| &total.counters) == label.as_ref()) {
            Some(group) => group.counters.push((name, *value)),
            None => groups.push(Group { total, counters: vec![(name, *value)] }),
        }
    }
    let shown: Vec<String> = groups.iter().map(Group::text).collect();
    let so = if groups.iter().all(Group::is_nothing) { ", which is next to nothing" } else { "" };
    let also = if *largest == "rx_dropped" && so.is_empty() { UNWANTED } else { "" };
    format!("; since they began to count: {}{so}{also}", shown.join(", "))
}

/// Documentation/networking/statistics.rst of the kernel, `rx_dropped`.
const UNWANTED: &str = "; rx_dropped also counts frames that nobody at this host wanted (other protocols, VLANs)";

/// Counters that are parts of one total.
struct Group<'a> {
    total: Option<Frames>,
    counters: Vec<(&'a str, u64)>,
}

impl Group<'_> {
    /// `rx_dropped 9322 (rx_packets 701244)`.
    fn text(&self) -> String {
        let shown: Vec<String> = self.counters.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let of = match &self.total {
            Some(Frames { counters, count: 0 }) => format!(" ({counters} 0: not one passed whole)"),
            Some(Frames { counters, count }) => format!(" ({counters} {count})"),
            None => String::new(),
        };
        format!("{}{of}", shown.join(", "))
    }

    fn is_nothing(&self) -> bool {
        let most = self.counters.iter().map(|(_, value)| *value).max().unwrap_or(0);
        self.total.as_ref().is_some_and(|total| most.saturating_mul(NEXT_TO_NOTHING) <= total.count)
    }
}

/// What a counter is a part of: of the same device, table and direction.
fn total_of(name: &str, values: &BTreeMap<String, u64>) -> Option<Frames> {
    if name.starts_with("Tcp") {
        let sent = values.get("Tcp.OutSegs")?;
        return Some(Frames { counters: "Tcp.OutSegs".to_owned(), count: *sent });
    }
    // Tables of the kernel count other things than frames.
    if name.contains('.') { None } else { frames(values, Way::of(name)) }
}

/// One packet of so many is what any network loses.
const NEXT_TO_NOTHING: u64 = 100_000;

/// Parts of names of counters that should stand still.
const TROUBLE: [&str; 12] =
    ["exceeded", "pause", "colls", "drop", "miss", "err", "crc", "no_buf", "discard", "fifo", "retrans", "overflow"];
const MOST_SHOWN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(kind: CounterKind, values: &[(&str, u64)]) -> DeviceCounters {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        DeviceCounters { kind, device: Some("lan1".to_owned()), values }
    }

    fn facts(kind: CounterKind, values: &[(&str, u64)]) -> Vec<HostFact> {
        facts_of(&[&counters(kind, values)])
    }

    #[test]
    fn damaged_frames_are_a_part_of_those_of_their_port() {
        let all = facts(
            CounterKind::Nic,
            &[
                ("rx_packets", 500),
                ("RXUnicast", 160_000),
                ("RxMulti", 400),
                ("RxBroad", 10),
                ("RxFcsErr", 2_000),
                ("RxBadByte", 3_000_000),
                ("tx_packets", 9),
            ],
        );
        let [HostFact::LostSoFar(lost)] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((lost.kind, lost.lost, lost.all), (LossKind::Damage, 2_000, 162_410));
        assert_eq!(lost.mean_length, Some(1_500));
    }

    #[test]
    fn counters_stand_beside_the_total_of_their_direction() {
        let of = |values: &[(&str, u64)]| so_far(&counters(CounterKind::Link, values).values);
        let both = of(&[("rx_packets", 900), ("tx_packets", 70), ("tx_errors", 8), ("rx_crc_errors", 3)]);
        assert_eq!(both, "; since they began to count: tx_errors 8 (tx_packets 70), rx_crc_errors 3 (rx_packets 900)");
        let nothing = of(&[("rx_packets", 0), ("rx_errors", 53), ("tx_packets", 9)]);
        assert_eq!(nothing, "; since they began to count: rx_errors 53 (rx_packets 0: not one passed whole)");
        assert!(of(&[("rx_packets", 900), ("rx_dropped", 30)]).contains("that nobody at this host wanted"));
    }

    #[test]
    fn only_a_part_that_the_internet_does_not_cost_is_much() {
        let of = |again: u64| facts(CounterKind::Kernel, &[("Tcp.RetransSegs", again), ("Tcp.OutSegs", 100_000)]);
        assert_eq!(of(2_900), []);
        assert!(matches!(of(3_000).as_slice(), [HostFact::RetransmittedSoFar(one)] if one.again == 3_000));
        let of_few = facts(CounterKind::Kernel, &[("Tcp.RetransSegs", 400), ("Tcp.OutSegs", 4_000)]);
        assert_eq!(of_few, []);
        let twice = [("Tcp.RetransSegs", 9_000), ("Tcp.OutSegs", 100_000), ("TcpExt.TCPDSACKRecv", 8_000)];
        assert_eq!(facts(CounterKind::Kernel, &twice), []);
    }

    #[test]
    fn late_collisions_are_found_under_each_of_their_names() {
        for name in ["late_collisions", "TxLateCol", "tx_late_collisions"] {
            let all = facts(CounterKind::Link, &[(name, 235), ("tx_packets", 900)]);
            let [HostFact::LateCollisions(late)] = all.as_slice() else { panic!("{name}: {all:?}") };
            assert_eq!((late.count, late.sent), (235, Some(900)));
        }
        assert_eq!(facts(CounterKind::Link, &[("late_collisions", 0), ("tx_packets", 900)]), []);
    }
}
