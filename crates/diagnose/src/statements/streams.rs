//! One test beside another of the same pair: several streams against one, one direction against the other.

use std::time::Duration;

use model::measurement::Heading;
use model::played::Finding;
use model::round::Round;
use model::spec::Protocol;
use predict::physics::facts::rtt;
use predict::physics::{LossVerdict, LossWitness, RttSource};
use units::duration::show;
use units::{ByteCount, DataRate};

use super::statement::Statement;

/// A direction of a run, by its hosts.
struct Direction<'a> {
    from: &'a str,
    to: &'a str,
    streams: u16,
    goodput: DataRate,
    /// What its losses allow, where they explain its rate at an RTT that is known.
    by_loss: Option<String>,
    /// The least RTT that is known.
    rtt: Option<Duration>,
    /// The program that printed it.
    tool: Option<&'a str>,
    /// The rate that it was asked to keep to.
    paced: Option<DataRate>,
    /// Segments that were retransmitted.
    retransmits: Option<u64>,
}

/// All pairs of tests that say more together than alone.
pub(super) fn of(round: &Round) -> Vec<Statement> {
    let all = directions(round);
    let mut statements = Vec::new();
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            if statements.len() >= MOST {
                return statements;
            }
            statements.extend(more_streams(one, other).or_else(|| more_streams(other, one)));
            statements.extend(asymmetric(one, other));
        }
    }
    statements
}

/// A mesh of a hundred hosts has ten thousand pairs of tests.
const MOST: usize = 8;

fn directions(round: &Round) -> Vec<Direction<'_>> {
    let mut all = Vec::new();
    for tested in round.tests.iter().take(MOST_TESTS) {
        let Finding::Run(run) = &tested.finding else { continue };
        if run.spec.protocol != Protocol::Tcp {
            continue;
        }
        for total in run.measurement.iter().flat_map(|found| &found.totals) {
            let ends = (tested.from.host.as_str(), tested.to.host.as_str());
            let (from, to) = if total.heading == Heading::Outbound { ends } else { (ends.1, ends.0) };
            let witness = LossWitness::of(run, total).filter(|witness| {
                let is_known = witness.facts.rtt.source != RttSource::WindowOverRate;
                witness.verdict == LossVerdict::Explains && witness.facts.retransmits >= FEWEST_LOST && is_known
            });
            let by_loss = witness.map(|witness| witness.to_string());
            let rtt = rtt(run, total).filter(|rtt| rtt.source != RttSource::WindowOverRate).map(|rtt| rtt.low);
            let tool = run.local.software.as_deref();
            all.push(Direction {
                from,
                to,
                streams: run.spec.streams,
                goodput: total.goodput,
                by_loss,
                rtt,
                tool,
                paced: run.spec.pace.or(run.spec.rate),
                retransmits: total.retransmits.map(units::PacketCount::get),
            });
        }
    }
    all
}

const MOST_TESTS: usize = 200;

/// Fewer losses may be one event of a queue.
const FEWEST_LOST: u64 = 3;

/// A stream that its losses keep at its rate, beside several that together have far more: the path carries it, and loses too much for one.
pub(super) fn limited(round: &Round) -> Vec<Statement> {
    let all = directions(round);
    let one = |few: &Direction<'_>| {
        let allows = few.by_loss.as_ref()?;
        let many = all.iter().find(|many| {
            many.from == few.from
                && many.to == few.to
                && many.streams > few.streams
                && many.goodput.bps() > few.goodput.bps() * 3
        })?;
        Some(Statement::fault(format!(
            "{} to {}: {} with {} streams and {} with {}, so that the path carries more than a stream gets: {allows}; find where packets are lost, \
             and until then use several streams or another congestion control",
            few.from, few.to, many.goodput, many.streams, few.goodput, few.streams
        )))
    };
    all.iter().filter_map(one).take(MOST).collect()
}

/// A sender that loses when it sends as fast as it can, and far less at a rate that it keeps to, which is more: what loses is a short queue, and
/// no bad wire.
pub(super) fn paced(round: &Round) -> Option<Statement> {
    let all = directions(round);
    let pairs = all.iter().flat_map(|free| all.iter().map(move |paced| (free, paced)));
    let (free, paced, rate) =
        pairs.filter_map(|(free, paced)| Some((free, paced, paced.paced?))).find(|(free, paced, _)| {
            let is_pair = free.paced.is_none() && free.from == paced.from && free.to == paced.to;
            let lost = free.retransmits.unwrap_or_default();
            let far_less = paced.retransmits.is_some_and(|again| again * 10 <= lost);
            is_pair && lost >= FEWEST_BURST && far_less && paced.goodput.bps() > free.goodput.bps() * 2
        })?;
    Some(Statement::decisive(format!(
        "{} to {}: {} with {} segments retransmitted when it sends as fast as it can, and {} with {} when it keeps to {rate}: bursts overflow a short \
         queue where the path becomes slower (a fast NIC or port before a slow one), and the path itself loses next to nothing; pace the sender (fq, \
         `--fq-rate`), or give that device more buffer",
        free.from,
        free.to,
        free.goodput,
        free.retransmits.unwrap_or_default(),
        paced.goodput,
        paced.retransmits.unwrap_or_default()
    )))
}

/// Fewer may be another transfer's.
const FEWEST_BURST: u64 = 20;

/// Streams that are each as fast as one alone: every stream has a limit of its own.
fn more_streams(few: &Direction<'_>, many: &Direction<'_>) -> Option<Statement> {
    (few.from == many.from && few.to == many.to && few.from != few.to && many.streams > few.streams).then_some(())?;
    let (one, all) = (few.goodput.bps(), many.goodput.bps());
    let ratio = u64::from(many.streams / few.streams.max(1));
    (one > 0 && all > one * 3 / 2).then(|| {
        let each = if all * 10 >= one * ratio * 7 {
            "each stream has a limit of its own (window, buffer, loss or one CPU), which the path does not have"
        } else {
            "one stream does not use what the path carries"
        };
        Statement::fact(format!(
            "{} to {}: {} with {} streams and {} with {}: {each}",
            many.from, many.to, many.goodput, many.streams, few.goodput, few.streams
        ))
    })
}

/// Of a few tests with one host the slowest beside the fastest: what both pass carries the faster.
pub(super) fn beside_others(round: &Round) -> Option<Statement> {
    let all = directions(round);
    (2..=A_FEW).contains(&all.len()).then_some(())?;
    let pairs = all.iter().flat_map(|slow| all.iter().map(move |fast| (slow, fast)));
    let pairs = pairs.filter(|(slow, fast)| {
        let is_farther = slow.rtt.zip(fast.rtt).is_some_and(|(slow, fast)| slow > fast * 3);
        let is_alike = slow.streams == fast.streams && slow.tool.is_some() && slow.tool == fast.tool;
        let is_alike = is_alike && slow.from != slow.to && fast.from != fast.to;
        slow.goodput.bps() > 0 && fast.goodput.bps() > slow.goodput.bps() * TIMES && is_alike && !is_farther
    });
    let found = pairs.filter_map(|(slow, fast)| {
        let shared = match (slow.from == fast.from, slow.to == fast.to) {
            (true, true) => None,
            (true, false) => Some(slow.from),
            (false, true) => Some(slow.to),
            (false, false) => return None,
        };
        Some((slow, fast, shared))
    });
    let (slow, fast, shared) = found.max_by_key(|(slow, fast, _)| fast.goodput.bps() / slow.goodput.bps())?;
    let times = fast.goodput.bps() / slow.goodput.bps();
    Some(Statement::fault(match shared {
        Some(shared) => format!(
            "{} to {}: {}, where {} to {} has {}, {times} times as much: {shared} and its part of the path carry that, so that what only the \
             slower one passes limits it (the other host, a tunnel, a firewall or the route to it)",
            slow.from, slow.to, slow.goodput, fast.from, fast.to, fast.goodput
        ),
        None => format!(
            "{} to {}: {} in one test and {} in another, {times} times as much: the path and both hosts carry that, so that what differs between \
             the two (a version, an option, the path to the same host, the time) is the suspect",
            slow.from, slow.to, slow.goodput, fast.goodput
        ),
    }))
}

/// Transfers of one program whose rates go with the RTT: what is under way is the same, whatever the path.
pub(super) fn same_under_way(round: &Round) -> Option<Statement> {
    let all = directions(round);
    (2..=A_FEW).contains(&all.len()).then_some(())?;
    let known: Vec<(&Direction<'_>, Duration, f64)> = all
        .iter()
        .filter_map(|one| {
            let rtt = one.rtt.filter(|rtt| *rtt >= NOT_NEAR)?;
            #[expect(clippy::cast_precision_loss, reason = "bytes under way for display")]
            Some((one, rtt, one.goodput.bps() as f64 / 8.0 * rtt.as_secs_f64()))
        })
        .collect();
    let pairs = known.iter().flat_map(|near| known.iter().map(move |far| (near, far)));
    let (near, far) = pairs
        .filter(|(near, far)| near.0.tool.is_some() && near.0.tool == far.0.tool && near.0.streams == far.0.streams)
        .find(|(near, far)| far.1 > near.1 * 2 && (0.9..=1.1).contains(&(far.2 / near.2)))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes under way are no more than a file"
    )]
    let bytes = ByteCount::new(near.2 as u64);
    Some(Statement::fault(format!(
        "{} with {} has {} at an RTT of {} and {} at one of {}: about {bytes} under way in both, so that a window or a buffer of that size limits it (of \
         the program, where `ss -ti` calls it app_limited), and neither the line nor losses",
        far.0.tool.unwrap_or_default(),
        far.0.from,
        near.0.goodput,
        show(near.1),
        far.0.goodput,
        show(far.1)
    )))
}

/// On a LAN the program and its disks take longer.
const NOT_NEAR: Duration = Duration::from_millis(5);

/// More tests are a matrix, which is weighed as a whole.
const A_FEW: usize = 6;
/// One run differs less from the next.
const TIMES: u64 = 3;

/// Two directions of one pair that differ by more than twice.
fn asymmetric(one: &Direction<'_>, other: &Direction<'_>) -> Option<Statement> {
    (one.from == other.to && one.to == other.from && one.from != one.to && one.streams == other.streams)
        .then_some(())?;
    let (fast, slow) = if one.goodput >= other.goodput { (one, other) } else { (other, one) };
    (slow.goodput.bps() > 0 && fast.goodput.bps() > 2 * slow.goodput.bps()).then(|| {
        Statement::fault(format!(
            "{} to {} reaches {}, the other direction {}: what stands in one direction only is the suspect (firewall, duplex, sender, \
             receiver or route)",
            fast.from, fast.to, fast.goodput, slow.goodput
        ))
    })
}
