//! Segments on which no queue of a test can have built, though packets vanished there.
//!
//! TCP fills the queue of the slowest link on its path and loses packets there, on healthy paths as well. A link that is no slower than
//! those before it never has more to send than it can, and loses nothing to a queue. What vanishes there is lost to something else,
//! whether or not any flow pays for it yet. A transfer that is paced comes no faster than its pace. Between routers others may send, whom nobody here counts: there a link has to be
//! clearly faster than what comes. Where a path has all of a declared rate that is below the speeds of all its interfaces, something on it
//! is slower than it says (a line with 400 Mbit/s one way and 60 the other, on interfaces of 1 Gbit/s), and a queue may be anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::measurement::DirectionTotal;
use model::played::Finding;
use model::round::{Passage, Round, Tested};
use model::spec::Protocol;
use predict::target::flow::requested;
use units::DataRate;

use super::lost::Missing;
use super::way::way;

/// What is known of segments from both of their ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<'a> {
    pub(super) missing: &'a BTreeMap<Passage, Missing>,
    pub(super) speeds: &'a BTreeMap<String, DataRate>,
    pub(super) mtus: &'a BTreeMap<String, [u32; 2]>,
}

/// The part of what was sent that vanished, for each of them where more than a few packets did.
pub(super) fn unqueued(round: &Round, ends: Ends<'_>) -> BTreeMap<Passage, f64> {
    if has_proxies(round) {
        return BTreeMap::new();
    }
    let hosts: BTreeSet<&str> =
        round.tests.iter().flat_map(|test| [test.from.host.as_str(), test.to.host.as_str()]).collect();
    let mut queued: BTreeMap<Passage, bool> = BTreeMap::new();
    let mut busy_until = Duration::ZERO;
    let mut before: Vec<Passage> = Vec::new();
    let mut order: Vec<&Tested> = round.tests.iter().collect();
    order.sort_by_key(|tested| tested.began);
    for tested in order {
        let Some(SentTest { ways, elapsed, paced, fills }) = sent(round, tested) else { continue };
        let is_beside = tested.began < busy_until;
        for way in &ways {
            let can = can_queue(way, Arriving { paced, fills }, ends, round, &hosts);
            for (passage, can) in way.iter().zip(can) {
                *queued.entry(passage.clone()).or_default() |= can || is_beside;
            }
        }
        if is_beside {
            before.iter().for_each(|passage| *queued.entry(passage.clone()).or_default() = true);
        }
        before = ways.into_iter().flatten().collect();
        busy_until = busy_until.max(tested.began + elapsed);
    }
    let free = queued.into_iter().filter(|(_, queued)| !queued).map(|(passage, _)| passage);
    free.filter_map(|passage| lost(&passage, ends).map(|lost| (passage, lost))).collect()
}

/// Whether downloads of the round were passed on by proxies: nobody here knows over which segments, several of them at a time.
fn has_proxies(round: &Round) -> bool {
    round.tests.iter().any(|tested| match &tested.finding {
        Finding::Downloads(downloads) => {
            downloads.iter().any(|download| download.answer.as_ref().is_some_and(|answer| !answer.via.is_empty()))
        }
        _ => false,
    })
}

/// A test that sent data.
struct SentTest {
    /// The way of each of its directions, from the sender to the receiver.
    ways: Vec<Vec<Passage>>,
    /// How long it ran.
    elapsed: Duration,
    /// The rate to which its packets were spread, of all streams together: they come to no link any faster.
    paced: Option<DataRate>,
    /// The declared rate of the path, where it reached that.
    fills: Option<DataRate>,
}

fn sent(round: &Round, tested: &Tested) -> Option<SentTest> {
    let Finding::Run(run) = &tested.finding else { return None };
    let totals = &run.measurement.as_ref()?.totals;
    let ways = totals.iter().map(|total| way(round, tested, total.heading)).collect();
    // Datagrams come in bursts, whatever rate was asked for.
    let paced = requested(&run.spec).filter(|_| run.spec.protocol == Protocol::Tcp && run.spec.pace.is_some());
    let reaches = |declared: &DataRate| {
        let of_total = |total: &DirectionTotal| total.goodput.share_of(*declared).is_some_and(|part| part >= REACHED);
        totals.iter().any(of_total)
    };
    let fills = tested.expected.filter(reaches);
    Some(SentTest { ways, elapsed: totals.iter().map(|total| total.elapsed).max()?, paced, fills })
}

/// How the packets of a test come to a path.
#[derive(Clone, Copy)]
struct Arriving {
    paced: Option<DataRate>,
    fills: Option<DataRate>,
}

/// At which passages of a path its packets may wait; at all of them where a speed is not known.
fn can_queue(
    way: &[Passage],
    Arriving { paced, fills }: Arriving,
    ends: Ends<'_>,
    round: &Round,
    hosts: &BTreeSet<&str>,
) -> Vec<bool> {
    let speeds: Option<Vec<DataRate>> = way.iter().map(|passage| ends.speeds.get(&passage.segment).copied()).collect();
    let Some(speeds) = speeds else { return vec![true; way.len()] };
    let slowest = speeds.iter().min().copied();
    let is_slower = |declared: DataRate| {
        slowest.is_some_and(|slowest| u128::from(declared.bps()) * SLOWER < u128::from(slowest.bps()) * 100)
    };
    if fills.is_some_and(is_slower) {
        return vec![true; way.len()];
    }
    let mut arriving = paced;
    let mut can = Vec::with_capacity(way.len());
    for (passage, speed) in way.iter().zip(speeds) {
        let is_edge = round.segments.iter().any(|segment| {
            segment.name == passage.segment && segment.between.iter().any(|end| hosts.contains(end.as_str()))
        });
        // Of an access link the counters of its host would tell of others.
        let percent = if is_edge { OF_EDGE } else { OF_CORE };
        can.push(arriving.is_none_or(|rate| u128::from(rate.bps()) * 100 > u128::from(speed.bps()) * percent));
        arriving = Some(arriving.map_or(speed, |rate| rate.min(speed)));
    }
    can
}

/// The part that vanished, where it is more than a few packets.
fn lost(passage: &Passage, ends: Ends<'_>) -> Option<f64> {
    let missing = ends.missing.get(passage)?;
    let largest = ends.mtus.get(&passage.segment).map_or(1_500, |[one, other]| (*one).max(*other));
    let is_some = missing.is_some() && missing.least > FEW * f64::from(largest + HEADER);
    is_some.then(|| missing.ratio())
}

/// By how many percent of a link's speed packets may come without a queue: rounding of rates.
const OF_EDGE: u128 = 102;
/// The same where others may send as well.
const OF_CORE: u128 = 70;
/// Part of a declared rate that is as good as all of it.
const REACHED: f64 = 0.7;
/// In percent: a declared rate that is lower than all speeds by less is the payload of one of them.
const SLOWER: u128 = 110;
/// Packets that may have been under way while counters were read.
const FEW: f64 = 3.0;
/// Ethernet's.
const HEADER: u32 = 14;
