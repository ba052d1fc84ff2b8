//! One measurement beside another that differs from it in one thing.

use std::collections::BTreeSet;

use import::figures::{Distance, Figure, FigureSource, FigureValue, Moment, Thing, Towards};
use model::spec::Protocol;
use units::DataRate;
use units::duration::show;

use super::mechanism;
use crate::statements::statement::Statement;

/// Two rates that transfers had.
struct Pair<'a> {
    slow: &'a Figure,
    fast: &'a Figure,
    slower: DataRate,
    faster: DataRate,
}

/// In what two measurements differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Axis {
    Thing(Thing, Told),
    Mtu,
    Protocol,
    Streams,
    Distance,
    Towards,
    Moment,
    Ends,
    Name,
}

/// How it is known of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    /// Both say it.
    Both,
    /// One says it.
    One,
}

/// Contrasts by a thing that both measurements name.
pub(super) fn named(all: &[&Figure]) -> Vec<Statement> {
    said(all, TIMES, is_decisive)
}

/// The others, of which a text has few.
pub(super) fn others(all: &[&Figure]) -> Vec<Statement> {
    said(all, MANY_TIMES, |axis| !is_decisive(axis))
}

/// Files are slower than memory for many reasons, of which others are named more exactly.
fn is_decisive(axis: &Axis) -> bool {
    match axis {
        Axis::Thing(Thing::Disk, _) => false,
        Axis::Thing(thing, Told::One) => is_switched(*thing) || matches!(thing, Thing::OtherServer | Thing::Pacing),
        Axis::Thing(_, Told::Both) | Axis::Mtu => true,
        _ => false,
    }
}

fn said(all: &[&Figure], times: u64, of: impl Fn(&Axis) -> bool) -> Vec<Statement> {
    let pairs = pairs(all, times);
    let mut found: Vec<(Axis, u64, Statement)> = Vec::new();
    for pair in &pairs {
        let axes = axes(pair);
        let Some(axis) = axes.first().copied().filter(|axis| axes.len() == 1 && of(axis)) else { continue };
        let times = pair.faster.bps() / pair.slower.bps().max(1);
        if let Some(statement) = says(axis, pair) {
            let same = found.iter_mut().find(|(other, _, _)| *other == axis);
            match same {
                Some(same) if same.1 < times => *same = (axis, times, statement),
                Some(_) => {}
                None => found.push((axis, times, statement)),
            }
        }
    }
    found.sort_by_key(|(axis, _, _)| *axis);
    found.into_iter().take(MOST).map(|(_, _, statement)| statement).collect()
}

/// More say the same again.
const MOST: usize = 2;
/// What differs so much, with all else alike, is no chance.
const TIMES: u64 = 2;
/// Where less is known of the two.
const MANY_TIMES: u64 = 3;
/// More measurements are a matrix, of which each pair says little.
const A_FEW: usize = 40;

fn pairs<'a>(all: &[&'a Figure], times: u64) -> Vec<Pair<'a>> {
    let reached: Vec<(&Figure, DataRate)> =
        all.iter().filter_map(|one| one.reached().filter(|rate| rate.bps() > 0).map(|rate| (*one, rate))).collect();
    if reached.len() > A_FEW {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for (slow, slower) in &reached {
        if is_as_it_should(all, *slower) {
            continue;
        }
        for (fast, faster) in &reached {
            if faster.bps() >= slower.bps().saturating_mul(times) {
                pairs.push(Pair { slow, fast, slower: *slower, faster: *faster });
            }
        }
    }
    pairs
}

/// Whether a rate is what somebody says that it should be.
fn is_as_it_should(all: &[&Figure], rate: DataRate) -> bool {
    all.iter().any(|one| match one.value {
        FigureValue::Expected(expected) => {
            rate.share_of(expected).is_some_and(|part| (FULL..=MORE_THAN_FULL).contains(&part))
        }
        _ => false,
    })
}

const FULL: f64 = 0.8;
const MORE_THAN_FULL: f64 = 1.1;

/// All in which they are known to differ.
fn axes(pair: &Pair<'_>) -> BTreeSet<Axis> {
    let (slow, fast) = (&pair.slow.of, &pair.fast.of);
    let mut found = BTreeSet::new();
    fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
        one.zip(other).is_some_and(|(one, other)| one != other)
    }
    for mark in slow.marks.iter().chain(&fast.marks) {
        let state = |marks: &[import::figures::Mark]| {
            marks.iter().find(|other| other.thing == mark.thing).map(|other| other.on)
        };
        match (state(&slow.marks), state(&fast.marks)) {
            (Some(one), Some(other)) if one != other => {
                found.insert(Axis::Thing(mark.thing, Told::Both));
            }
            // What only the slower one passes, or what was switched off for the faster one.
            (Some(true), None) if is_on_the_way(mark.thing) => {
                found.insert(Axis::Thing(mark.thing, Told::One));
            }
            (None, Some(false)) if is_switched(mark.thing) => {
                found.insert(Axis::Thing(mark.thing, Told::One));
            }
            (None, Some(true)) if matches!(mark.thing, Thing::Bbr | Thing::Pacing | Thing::OtherServer) => {
                found.insert(Axis::Thing(mark.thing, Told::One));
            }
            _ => {}
        }
    }
    // One that both name outweighs those that one names.
    if found.iter().any(|axis| matches!(axis, Axis::Thing(_, Told::Both))) {
        found.retain(|axis| matches!(axis, Axis::Thing(_, Told::Both)));
    }
    if differ(slow.mtu.as_ref(), fast.mtu.as_ref()) {
        found.insert(Axis::Mtu);
    }
    if differ(slow.streams.as_ref(), fast.streams.as_ref()) {
        found.insert(Axis::Streams);
    }
    if differ(slow.towards.as_ref(), fast.towards.as_ref()) {
        found.insert(Axis::Towards);
    }
    if differ(slow.protocol.as_ref(), fast.protocol.as_ref()) {
        found.insert(Axis::Protocol);
    }
    let farther = slow.rtt.zip(fast.rtt).is_some_and(|(slow, fast)| slow > fast * 2 || fast > slow * 2);
    if farther || differ(slow.distance.as_ref(), fast.distance.as_ref()) {
        found.insert(Axis::Distance);
    }
    if differ(slow.moment.as_ref(), fast.moment.as_ref()) {
        found.insert(Axis::Moment);
    }
    if differ(slow.ends.as_ref(), fast.ends.as_ref()) {
        found.insert(Axis::Ends);
    }
    if found.is_empty() && differ(slow.name.as_ref(), fast.name.as_ref()) {
        found.insert(Axis::Name);
    }
    found
}

/// What a path may have or not have.
fn is_on_the_way(thing: Thing) -> bool {
    matches!(
        thing,
        Thing::Tunnel | Thing::Overlay | Thing::Guest | Thing::Wifi | Thing::Relay | Thing::Firewall | Thing::Disk
    )
}

/// What is there unless somebody switches it off.
fn is_switched(thing: Thing) -> bool {
    matches!(thing, Thing::SendOffload | Thing::ReceiveOffload | Thing::Offload | Thing::PowerSaving | Thing::Firewall)
}

fn says(axis: Axis, pair: &Pair<'_>) -> Option<Statement> {
    // Tests and transfers that were read as a whole are compared where more is known of them.
    let are_outputs = pair.slow.source == FigureSource::Output && pair.fast.source == FigureSource::Output;
    let is_of_words = matches!(axis, Axis::Thing(..) | Axis::Moment | Axis::Mtu);
    if are_outputs && !is_of_words {
        return None;
    }
    match axis {
        Axis::Thing(thing, _) => by_thing(thing, pair),
        Axis::Mtu => by_mtu(pair),
        Axis::Protocol => by_protocol(pair),
        Axis::Streams => by_streams(pair),
        Axis::Distance => by_distance(pair),
        Axis::Towards => by_direction(pair),
        Axis::Moment => by_moment(pair),
        Axis::Ends => by_ends(pair),
        Axis::Name => by_name(pair),
    }
}

/// `30.0 Mbit/s (line 3) where 940 Mbit/s (line 5)`.
fn beside(pair: &Pair<'_>) -> String {
    format!("{} (line {}) beside {} (line {})", pair.slower, pair.slow.line, pair.faster, pair.fast.line)
}

fn by_thing(thing: Thing, pair: &Pair<'_>) -> Option<Statement> {
    let mechanism = mechanism::of(thing);
    let slow = pair.slow.of.marks.iter().find(|mark| mark.thing == thing).map(|mark| mark.on);
    let fast = pair.fast.of.marks.iter().find(|mark| mark.thing == thing).map(|mark| mark.on);
    let slow_has = slow.unwrap_or(fast == Some(false));
    if thing == Thing::OtherServer && !slow_has {
        return Some(Statement::decisive(format!(
            "{} from or to the server in question (line {}) and {} with another one (line {}): {}",
            pair.slower, pair.slow.line, pair.faster, pair.fast.line, mechanism.faster_with
        )));
    }
    // A test of memory that is slower than a copy says nothing of the copy.
    (slow_has || thing != Thing::Disk).then_some(())?;
    // What a port of 100 Mbit/s leaves is no disk's rate.
    (thing != Thing::Disk || !FAST_ETHERNET.contains(&pair.slower.bps())).then_some(())?;
    let (with, means) = if slow_has { ("with", mechanism.slower_with) } else { ("without", mechanism.faster_with) };
    let other = if slow_has { "without" } else { "with" };
    let told = slow.is_some() && fast.is_some() || slow.is_none() && fast == Some(false);
    let make = if told && thing != Thing::Disk { Statement::decisive } else { Statement::fault };
    Some(make(format!(
        "{} {with} {} (line {}) and {} {other} (line {}): {means}",
        pair.slower, mechanism.name, pair.slow.line, pair.faster, pair.fast.line
    )))
}

/// Payload of TCP in an Ethernet of 100 Mbit/s.
const FAST_ETHERNET: std::ops::RangeInclusive<u64> = 93_500_000..=95_000_000;

fn by_mtu(pair: &Pair<'_>) -> Option<Statement> {
    let (slow, fast) = (pair.slow.of.mtu?, pair.fast.of.mtu?);
    let thing = if slow > fast { Thing::SmallSegments } else { Thing::Jumbo };
    Some(Statement::decisive(format!(
        "with an MTU of {slow} B it is {} (line {}), and with {fast} B {} (line {}): {}",
        pair.slower,
        pair.slow.line,
        pair.faster,
        pair.fast.line,
        mechanism::of(thing).faster_with
    )))
}

fn by_protocol(pair: &Pair<'_>) -> Option<Statement> {
    (pair.slow.of.protocol == Some(Protocol::Tcp)).then(|| {
        Statement::fault(format!(
            "TCP has {}: datagrams get through at the faster rate, so that the path carries it, and TCP is kept down by a window, by losses that it \
             takes for congestion, or by an end",
            beside(pair)
        ))
    })
}

fn by_streams(pair: &Pair<'_>) -> Option<Statement> {
    let (few, many) = (pair.slow.of.streams?, pair.fast.of.streams?);
    (many > few).then_some(())?;
    let ratio = u64::from(many / few.max(1));
    let is_each = pair.faster.bps() * 10 >= pair.slower.bps() * ratio * 6;
    let under_way =
        pair.slow.of.rtt.or(pair.fast.of.rtt).map_or_else(String::new, |rtt| {
            format!(", about {} under way at an RTT of {}", pair.slower * rtt, show(rtt))
        });
    let each = if is_each {
        "each stream has a limit of its own (a window or a buffer over the RTT, loss, a CPU, a limit for each connection), which the path does not have"
    } else {
        "one stream does not use what the path carries (a window or a buffer over the RTT, loss, or a CPU)"
    };
    Some(Statement::fault(format!(
        "{few} stream{} {} and {many} {}{under_way} (lines {} and {}): {each}",
        if few == 1 { " has" } else { "s have" },
        pair.slower,
        pair.faster,
        pair.slow.line,
        pair.fast.line
    )))
}

fn by_distance(pair: &Pair<'_>) -> Option<Statement> {
    let (slow, fast) = (&pair.slow.of, &pair.fast.of);
    let is_far = slow.distance == Some(Distance::Far) || slow.rtt.zip(fast.rtt).is_some_and(|(slow, fast)| slow > fast);
    is_far.then_some(())?;
    let same = slow.rtt.zip(fast.rtt).filter(|(slow, fast)| {
        let [one, other] = [(pair.slower, *slow), (pair.faster, *fast)].map(|(rate, rtt)| (rate * rtt).get());
        one.abs_diff(other) * 5 <= one.max(other)
    });
    let means = match same {
        Some((rtt, _)) => format!(
            "rate times RTT is the same, about {}: a window or a buffer of that size is the limit, and neither the line nor losses",
            pair.slower * rtt
        ),
        None => "what is near is fast, so that the hosts are not the limit: a window or a buffer over the longer RTT, or losses on the longer path, are"
            .to_owned(),
    };
    Some(Statement::fault(format!("from afar it is {}: {means}", beside(pair))))
}

fn by_direction(pair: &Pair<'_>) -> Option<Statement> {
    // Access lines are so by contract.
    (pair.slow.line.abs_diff(pair.fast.line) <= DIRECTIONS_NEAR).then_some(())?;
    let slow = if pair.slow.of.towards == Some(Towards::Up) { "sending" } else { "receiving" };
    Some(Statement::fact(format!(
        "{slow} has {}: if the line is not so by contract, what stands in that direction alone is the suspect (loss or a policer on that way, duplex, \
         the sender, the receiver's NIC or CPU, another route)",
        beside(pair)
    )))
}

fn by_moment(pair: &Pair<'_>) -> Option<Statement> {
    let means = match (pair.slow.of.moment?, pair.fast.of.moment?) {
        (Moment::After, Moment::Before) => {
            "the same transfer was fast before: what was changed between the two (a device, a version, a route, a setting) is the suspect"
        }
        (Moment::Busy, Moment::Quiet) => {
            "the same transfer is fast when others are quiet: a link, a server or a host that is shared is full at the busy time"
        }
        _ => return None,
    };
    Some(Statement::fault(format!("it is {}: {means}", beside(pair))))
}

fn by_ends(pair: &Pair<'_>) -> Option<Statement> {
    let ([from, to], [other_from, other_to]) = (pair.slow.of.ends.as_ref()?, pair.fast.of.ends.as_ref()?);
    let means = if from == other_from {
        format!("{from} sends faster to {other_to}, so that {to} or the way to it is the suspect")
    } else if to == other_to {
        format!("{to} receives faster from {other_from}, so that {from} or the way from it is the suspect")
    } else if from == other_to && to == other_from {
        "one direction is slow only: what stands in that direction alone is the suspect".to_owned()
    } else {
        return None;
    };
    Some(Statement::fault(format!("{from} to {to} has {}: {means}", beside(pair))))
}

fn by_name(pair: &Pair<'_>) -> Option<Statement> {
    let (slow, fast) = (pair.slow.of.name.as_ref()?, pair.fast.of.name.as_ref()?);
    let words = |name: &str| name.split_whitespace().map(str::to_lowercase).collect::<BTreeSet<_>>();
    let (of_slow, of_fast) = (words(slow), words(fast));
    let are_alike = of_slow.len() <= SHORT && of_fast.len() <= SHORT && of_slow.intersection(&of_fast).next().is_some();
    let are_near = pair.slow.line.abs_diff(pair.fast.line) <= NEAR;
    (are_alike && are_near).then(|| {
        Statement::fault(format!(
            "\u{201c}{slow}\u{201d} has {}, which is \u{201c}{fast}\u{201d}: what differs between the two is the suspect, and what both pass carries \
             the faster rate",
            beside(pair)
        ))
    })
}

const SHORT: usize = 5;
const NEAR: usize = 6;
const DIRECTIONS_NEAR: usize = 3;
