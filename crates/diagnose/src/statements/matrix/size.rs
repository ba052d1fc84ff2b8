//! Packets of one size beside others: what passes small and not large.

use model::played::Finding;
use model::probe::path_mtu::MtuLimit;

use super::measurement::{Matrix, Measurement};
use crate::statements::statement::Statement;

/// A size from which on packets vanish, with a transfer that stands still beside it, or one of smaller segments that does not.
pub(super) fn of(matrix: &Matrix<'_>) -> Option<Statement> {
    let sizes = matrix.beside.round.tests.iter().find_map(|tested| match &tested.finding {
        Finding::PathMtu(found) if matches!(found.limit, Some(MtuLimit::Silent)) => {
            let path = found.path_mtu?.get();
            let lost = found.sizes.iter().find(|tried| tried.packet_bytes > path && tried.answered == 0)?.packet_bytes;
            Some((tested.to.host.as_str(), path, lost))
        }
        _ => None,
    });
    let tests: Vec<&Measurement<'_>> = matrix.all.iter().filter(|one| one.is_tcp()).collect();
    let is_there = |one: &Measurement<'_>| sizes.is_none_or(|(to, ..)| one.to == to || one.from == to);
    let small = tests.iter().find_map(|small| {
        let mss = small.run.spec.mss?;
        let full = tests.iter().find(|full| {
            let is_pair = full.from == small.from && full.to == small.to && full.run.spec.mss.is_none();
            is_pair && full.streams() == small.streams() && small.rate().bps() > full.rate().bps() * 2
        })?;
        is_there(full).then_some((*full, *small, mss))
    });
    let stands = tests.iter().find(|one| is_there(one) && stands_still(one));
    let segment = sizes.and_then(|(_, path, _)| path.checked_sub(TCP_HEADERS));
    let cure = segment.map_or_else(String::new, |segment| {
        format!(", or limit the MSS to {segment} B (MSS clamping, the MTU of the tunnel's or host's interface)")
    });
    let means = format!(
        "an MTU black hole: large packets vanish and no router says so; let ICMP \u{201c}fragmentation needed\u{201d} pass{cure}"
    );
    let passes = sizes
        .map(|(to, path, lost)| format!("packets of {path} B pass to {to} with DF set and those of {lost} B vanish"));
    match (passes, small, stands) {
        (passes, Some((full, small, mss)), _) if passes.is_some() || stands_still(full) => {
            let passes = passes.map_or_else(String::new, |passes| format!("{passes}; "));
            Some(Statement::decisive(format!(
                "{passes}{} to {} has {} with full segments and {} with segments of {} B: {means}",
                full.from,
                full.to,
                full.rate(),
                small.rate(),
                mss.get()
            )))
        }
        (Some(passes), None, Some(one)) => Some(Statement::decisive(format!(
            "{passes}, and a transfer from {} to {} stands still ({}): {means}",
            one.from,
            one.to,
            one.rate()
        ))),
        _ => None,
    }
}

/// IPv4 and TCP without options.
const TCP_HEADERS: u32 = 40;

/// Whether nothing went on in a third of its intervals and more.
fn stands_still(one: &Measurement<'_>) -> bool {
    let intervals = one.run.measurement.iter().flat_map(|found| &found.intervals);
    let (mut all, mut still) = (0_usize, 0_usize);
    for interval in intervals.filter(|interval| interval.heading == one.total.heading) {
        all += 1;
        still += usize::from(interval.rate.bps() == 0);
    }
    all >= 3 && still * 3 >= all || one.rate().bps() < HARDLY && all >= 1
}

/// A path that carries a connection carries more.
const HARDLY: u64 = 30_000;
