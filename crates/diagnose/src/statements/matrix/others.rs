//! One test beside another of other hosts, of another time, or over another distance.

use std::time::Duration;

use predict::physics::FullLink;
use units::DataRate;
use units::duration::show;

use super::measurement::{Matrix, Measurement};
use crate::statements::statement::Statement;

/// Of a few tests with one host the slowest beside the fastest: what both pass carries the faster.
pub(super) fn beside_others(matrix: &Matrix<'_>) -> Option<Statement> {
    let all: Vec<&Measurement<'_>> = matrix.all.iter().filter(|one| one.is_tcp()).collect();
    (2..=A_FEW).contains(&all.len()).then_some(())?;
    let tool = |one: &Measurement<'_>| one.run.local.software.clone();
    let pairs = all.iter().flat_map(|slow| all.iter().map(move |fast| (*slow, *fast)));
    let pairs = pairs.filter(|(slow, fast)| {
        let is_farther = slow.rtt.zip(fast.rtt).is_some_and(|(slow, fast)| slow > fast * 3);
        let is_alike = slow.streams() == fast.streams() && tool(slow).is_some() && tool(slow) == tool(fast);
        let is_alike = is_alike && slow.from != slow.to && fast.from != fast.to;
        slow.rate().bps() > 0 && fast.rate().bps() > slow.rate().bps() * TIMES && is_alike && !is_farther
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
    let (slow, fast, shared) = found.max_by_key(|(slow, fast, _)| fast.rate().bps() / slow.rate().bps())?;
    let times = fast.rate().bps() / slow.rate().bps();
    Some(Statement::fault(match shared {
        Some(shared) => format!(
            "{} to {}: {}, where {} to {} has {}, {times} times as much: {shared} and its part of the path carry that, so that what only the \
             slower one passes limits it (the other host, a tunnel, a firewall or the route to it)",
            slow.from,
            slow.to,
            slow.rate(),
            fast.from,
            fast.to,
            fast.rate()
        ),
        None => format!(
            "{} to {}: {} in one test and {} in another, {times} times as much: the path and both hosts carry that, so that what differs between \
             the two (a version, an option, the path to the same host, the time) is the suspect",
            slow.from,
            slow.to,
            slow.rate(),
            fast.rate()
        ),
    }))
}

/// A test within one host that is no faster than those over the network: the host's CPUs are the limit, whatever the network carries.
pub(super) fn loopback(matrix: &Matrix<'_>) -> Option<Statement> {
    let is_within = |one: &&Measurement<'_>| {
        one.from == one.to || one.run.peer.target == "127.0.0.1" || one.run.peer.target == "localhost"
    };
    let tests = || matrix.all.iter().filter(|one| one.is_tcp() && one.is_test() && one.rate().bps() > 0);
    let within = tests().filter(is_within).max_by_key(|one| one.rate())?;
    let over = tests().filter(|one| !is_within(one)).max_by_key(|one| one.rate())?;
    FullLink::of(over.run, over.total).is_none().then_some(())?;
    (within.rate().bps() * 10 <= over.rate().bps() * 14).then(|| {
        Statement::decisive(format!(
            "a test within {} has {}, no more than {} to {} over the network ({}): the CPUs of that host are the limit (their clock, their power saving, a quota, \
             an old version), and not the network",
            within.from,
            within.rate(),
            over.from,
            over.to,
            over.rate()
        ))
    })
}

/// Both directions of one test at once, each with nearly all that a link of a usual speed carries.
pub(super) fn both_full(matrix: &Matrix<'_>) -> Option<Statement> {
    let pairs = matrix.all.iter().zip(matrix.all.iter().skip(1));
    let (one, other) = pairs.into_iter().find(|(one, other)| std::ptr::eq(one.run, other.run) && one.is_tcp())?;
    let link = USUAL.into_iter().map(DataRate::from_bps).find(|link| {
        [one, other].iter().all(|one| one.steady().share_of(*link).is_some_and(|part| (NEARLY..=1.0).contains(&part)))
    })?;
    Some(Statement::well(format!(
        "{} to {} has {} and the other direction {} at the same time: what a link of {link} gives in both directions at once",
        one.from,
        one.to,
        one.rate(),
        other.rate()
    )))
}

/// Rates of Ethernet.
const USUAL: [u64; 7] =
    [100_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000, 25_000_000_000, 40_000_000_000, 100_000_000_000];
/// Acknowledgments of the other direction take their part.
const NEARLY: f64 = 0.88;

/// Transfers of one program whose rates go with the RTT: what is under way is the same, whatever the path.
pub(super) fn same_under_way(matrix: &Matrix<'_>) -> Option<Statement> {
    let all: Vec<&Measurement<'_>> = matrix.all.iter().filter(|one| one.is_tcp()).collect();
    (2..=A_FEW).contains(&all.len()).then_some(())?;
    let known: Vec<(&Measurement<'_>, Duration, f64)> = all
        .into_iter()
        .filter_map(|one| {
            let rtt = one.rtt.filter(|rtt| *rtt >= NOT_NEAR)?;
            #[expect(clippy::cast_precision_loss, reason = "bytes under way for display")]
            Some((one, rtt, one.rate().bps() as f64 / 8.0 * rtt.as_secs_f64()))
        })
        .collect();
    let tool = |one: &Measurement<'_>| one.run.local.software.clone();
    let pairs = known.iter().flat_map(|near| known.iter().map(move |far| (near, far)));
    let (near, far) = pairs
        .filter(|(near, far)| {
            tool(near.0).is_some() && tool(near.0) == tool(far.0) && near.0.streams() == far.0.streams()
        })
        .find(|(near, far)| far.1 > near.1 * 2 && (0.9..=1.1).contains(&(far.2 / near.2)))?;
    let bytes = near.0.rate() * near.1;
    Some(Statement::fault(format!(
        "{} with {} has {} at an RTT of {} and {} at one of {}: about {bytes} under way in both, so that a window or a buffer of that size limits it (of \
         the program, where `ss -ti` calls it app_limited), and neither the line nor losses",
        tool(far.0).unwrap_or_default(),
        far.0.from,
        near.0.rate(),
        show(near.1),
        far.0.rate(),
        show(far.1)
    )))
}

/// On a LAN the program and its disks take longer.
const NOT_NEAR: Duration = Duration::from_millis(5);

/// More tests are a matrix, which is weighed as a whole.
const A_FEW: usize = 6;
/// One run differs less from the next.
const TIMES: u64 = 3;

/// Two directions of one pair that differ by more than twice; as it should be where the line is stated so.
pub(super) fn asymmetric(matrix: &Matrix<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for (at, one) in matrix.all.iter().enumerate() {
        for other in &matrix.all[at + 1..] {
            if all.len() >= MOST {
                return all;
            }
            all.extend(asymmetric_pair(matrix, one, other));
        }
    }
    all
}

/// A mesh of a hundred hosts has ten thousand pairs of tests.
const MOST: usize = 8;

fn asymmetric_pair(matrix: &Matrix<'_>, one: &Measurement<'_>, other: &Measurement<'_>) -> Option<Statement> {
    let is_pair =
        one.from == other.to && one.to == other.from && one.from != one.to && one.streams() == other.streams();
    (is_pair && one.is_tcp() && other.is_tcp()).then_some(())?;
    let (fast, slow) = if one.rate() >= other.rate() { (one, other) } else { (other, one) };
    (slow.rate().bps() > 0 && fast.rate().bps() > 2 * slow.rate().bps()).then_some(())?;
    let is_as_stated = |one: &Measurement<'_>| {
        matrix.beside.stated().any(|stated| {
            let is_different = stated.up != stated.down;
            is_different
                && one
                    .steady()
                    .share_of(stated.towards(one.total.heading))
                    .is_some_and(|part| (FULL..=MORE).contains(&part))
        })
    };
    if is_as_stated(fast) && is_as_stated(slow) {
        return Some(Statement::well(format!(
            "{} to {} has {}, the other direction {}: each has what the line is said to have in that direction",
            fast.from,
            fast.to,
            fast.rate(),
            slow.rate()
        )));
    }
    Some(Statement::fault(format!(
        "{} to {} reaches {}, the other direction {}: what stands in one direction only is the suspect (firewall, duplex, sender, receiver or route)",
        fast.from,
        fast.to,
        fast.rate(),
        slow.rate()
    )))
}

const FULL: f64 = 0.85;
const MORE: f64 = 1.15;
