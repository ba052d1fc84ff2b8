//! What is lost where it is sent otherwise: paced, as datagrams, or in the other direction.

use import::evidence::HostFact;
use import::figures::FigureValue;

use super::measurement::{Matrix, Measurement};
use crate::statements::beside::MOST_FACTS;
use crate::statements::counters;
use crate::statements::statement::{Statement, percent, ratio};

/// A sender that loses when it sends as fast as it can, and far less at a rate that it keeps to, which is more: what loses is a short queue, and
/// no bad wire.
pub(super) fn paced(matrix: &Matrix<'_>) -> Option<Statement> {
    let tests = || matrix.all.iter().filter(|one| one.is_tcp() && one.is_test());
    let pairs = tests().flat_map(|free| tests().map(move |paced| (free, paced)));
    let (free, paced) = pairs.filter(|(free, paced)| !free.is_paced() && paced.is_paced()).find(|(free, paced)| {
        let is_pair = free.from == paced.from && free.to == paced.to;
        let lost = free.retransmits().unwrap_or_default();
        let far_less = paced.retransmits().is_some_and(|again| again * 10 <= lost);
        is_pair && lost >= FEWEST_BURST && far_less && paced.rate().bps() * 5 > free.rate().bps() * 6
    })?;
    let rate = paced.run.spec.pace.or(paced.run.spec.rate);
    let kept = rate.map_or_else(|| "behind a shaper".to_owned(), |rate| format!("when it keeps to {rate}"));
    Some(Statement::decisive(format!(
        "{} to {}: {} with {} segments retransmitted when it sends as fast as it can, and {} with {} {kept}: bursts overflow a short \
         queue (or a policer's bucket) where the path becomes slower (a fast NIC or port before a slow one), and the path itself loses next to nothing; pace the sender (fq, \
         `--fq-rate`), shape just below the slow link, or give that device more buffer",
        free.from,
        free.to,
        free.rate(),
        free.retransmits().unwrap_or_default(),
        paced.rate(),
        paced.retransmits().unwrap_or_default()
    )))
}

/// Fewer may be another transfer's.
const FEWEST_BURST: u64 = 20;

/// Datagrams that all arrive, many of them after later ones, where TCP retransmits: it takes for loss what is none.
pub(super) fn overtaken(matrix: &Matrix<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for pair in matrix.pairs() {
        let of_pair = matrix.of_pair(pair);
        let tcp =
            of_pair.iter().filter(|one| one.is_tcp()).find(|one| one.again().is_some_and(|again| again >= RETRANSMITS));
        let udp = of_pair.iter().filter(|one| !one.is_tcp()).find_map(|one| {
            let counts = one.total.datagrams.filter(|_| one.lost().is_some_and(|lost| lost <= NEXT_TO_NONE))?;
            let part = ratio([counts.reordered.get(), counts.sent.get()]);
            (part >= OVERTAKEN && counts.reordered.get() >= FEWEST_BURST).then_some((*one, part))
        });
        let Some((tcp, (udp, part))) = tcp.zip(udp) else { continue };
        all.push(Statement::decisive(format!(
            "{} to {}: datagrams at {} are not lost, but {} of them arrive after later ones, and TCP has {} with {} of its segments retransmitted: \
             packets overtake each other (balancing by packet over links or ways that differ), and TCP takes that for loss: balance by flow; \
             no bad cable, no congestion",
            pair[0],
            pair[1],
            udp.offered(),
            percent(part),
            tcp.rate(),
            percent(tcp.again().unwrap_or_default())
        )));
    }
    all
}

/// Fewer retransmits are a queue's.
const RETRANSMITS: f64 = 2e-3;
const NEXT_TO_NONE: f64 = 1e-3;
const OVERTAKEN: f64 = 5e-3;

/// Datagrams of which few arrive, however many are sent, where TCP of the same pair has far more.
pub(super) fn own_bursts(matrix: &Matrix<'_>) -> Vec<Statement> {
    matrix.pairs().into_iter().filter_map(|pair| own_bursts_of(matrix, pair)).collect()
}

fn own_bursts_of(matrix: &Matrix<'_>, pair: [&str; 2]) -> Option<Statement> {
    let all = matrix.of_pair(pair);
    let tcp = all.iter().filter(|one| one.is_tcp() && one.is_test()).max_by_key(|one| one.rate())?;
    let cut = all
        .iter()
        .filter(|one| !one.is_tcp() && one.lost().is_some_and(|lost| lost >= 0.05))
        .max_by_key(|one| one.rate())?;
    let passes = all.iter().find(|one| {
        !one.is_tcp() && one.lost().is_some_and(|lost| lost < 0.01) && one.rate().bps() * 2 > cut.rate().bps() * 3
    });
    (tcp.rate().bps() * 2 > cut.rate().bps() * 3 && tcp.rate().bps() * 10 > cut.offered().bps() * 9).then_some(())?;
    let begin = format!(
        "{} to {}: TCP has {}, and of datagrams at {} only {} arrive ({} lost)",
        pair[0],
        pair[1],
        tcp.rate(),
        cut.offered(),
        cut.rate(),
        percent(cut.lost().unwrap_or_default())
    );
    let bursts = "the path carries TCP's rate; iperf3 before 3.2 sends the datagrams of 100 ms at once, at the speed of its NIC, and a short queue where \
                  the path becomes slower drops the rest of each burst";
    Some(match passes {
        Some(passes) => Statement::decisive(format!(
            "{begin}, while another test sends {} and loses {}: no policer and no bad line; {bursts}: test with another version, or with iperf 2",
            passes.offered(),
            percent(passes.lost().unwrap_or_default())
        )),
        None => Statement::decisive(format!(
            "{begin}: no slow link and no bad line; {bursts}; or something treats UDP otherwise than TCP: iperf 2, or a newer iperf3, at the same rate \
             tells which"
        )),
    })
}

/// A counter that went up by what was retransmitted, of one test or of all: there it is lost.
pub(super) fn counted(matrix: &Matrix<'_>) -> Option<Statement> {
    // With the ring's size beside it, more is said of it elsewhere.
    let has_rings = matrix.beside.facts.iter().take(MOST_FACTS).any(|(_, fact)| matches!(fact, HostFact::Rings(_)));
    (!has_rings).then_some(())?;
    let tests: Vec<&Measurement<'_>> =
        matrix.all.iter().filter(|one| one.is_tcp() && one.retransmits().is_some()).collect();
    let sum = tests.iter().filter_map(|one| one.retransmits()).sum::<u64>();
    let mut each = tests.iter().filter_map(|one| one.retransmits()).chain([sum]).filter(|again| *again >= MANY);
    let (again, (name, by)) = each.find_map(|again| Some((again, counter_of(matrix, again)?)))?;
    let means = counters::meaning(&name).map_or_else(String::new, |means| format!(": {means}"));
    Some(Statement::decisive(format!(
        "{name} went up by {by}, and {again} segments were retransmitted meanwhile: it is there that they are lost{means}"
    )))
}

/// Fewer may be alike by chance.
const MANY: u64 = 50;

/// Datagrams that arrive at a rate that TCP of the same pair is far from.
pub(super) fn datagrams_pass(matrix: &Matrix<'_>) -> Vec<Statement> {
    matrix.pairs().into_iter().filter_map(|pair| datagrams_pass_of(matrix, pair)).collect()
}

fn datagrams_pass_of(matrix: &Matrix<'_>, pair: [&str; 2]) -> Option<Statement> {
    let all = matrix.of_pair(pair);
    let tcp = all.iter().filter(|one| one.is_tcp() && one.is_test() && !one.is_paced()).max_by_key(|one| one.rate())?;
    let clean = all.iter().filter(|one| !one.is_tcp() && one.lost().is_some_and(|lost| lost <= NEXT_TO_NONE));
    let udp = clean.max_by_key(|one| one.rate())?;
    // What is cut at a rate is said of the limit.
    let is_cut = all.iter().any(|one| !one.is_tcp() && one.lost().is_some_and(|lost| lost >= 0.015));
    (!matrix.is_of_host()).then_some(())?;
    (udp.rate().bps() > tcp.steady().bps() * 2 && tcp.rate().bps() > 0 && !is_cut).then_some(())?;
    let again = tcp.again();
    let begin = format!(
        "{} to {}: datagrams pass at {} with {} lost, and TCP has {}",
        pair[0],
        pair[1],
        udp.rate(),
        udp.lost().filter(|lost| *lost > 0.0).map_or_else(|| "none".to_owned(), percent),
        tcp.rate()
    );
    let excludes = "the path carries the faster rate, and loses next to nothing of what comes evenly: no slow link, no policer at TCP's rate and no dirty line";
    if again.is_some_and(|again| again >= RETRANSMITS / 4.0) {
        let part = percent(again.unwrap_or_default());
        return Some(Statement::fault(format!(
            "{begin} with {part} of its segments retransmitted: {excludes}; what TCP sends in bursts is lost in a short queue (a step to a slower port, a small \
             ring), or overtaken on the way: the same with pacing (`--fq-rate`), and DSACKs (`nstat`), tell which"
        )));
    }
    let rtt = tcp.rtt.filter(|rtt| *rtt >= std::time::Duration::from_millis(1));
    let under_way = rtt.map_or_else(String::new, |rtt| {
        format!(
            " ({} under way for each stream at an RTT of {})",
            units::DataRate::from_bps(tcp.steady().bps() / u64::from(tcp.streams().max(1))) * rtt,
            units::duration::show(rtt)
        )
    });
    let lossless = if again.is_some() { "without losses worth the name" } else { "with losses that nobody printed" };
    Some(Statement::fault(format!(
        "{begin} {lossless}: {excludes}; TCP is kept down by a window or a buffer{under_way}, or by a CPU: several streams, and `ss -ti` while it runs, tell which"
    )))
}

/// A direction that loses, where the other does not.
pub(super) fn one_direction(matrix: &Matrix<'_>) -> Vec<Statement> {
    matrix.pairs().into_iter().filter_map(|pair| lossy_direction(matrix, pair)).collect()
}

fn lossy_direction(matrix: &Matrix<'_>, [from, to]: [&str; 2]) -> Option<Statement> {
    let tests = |pair: [&str; 2]| matrix.of_pair(pair).into_iter().filter(|one| one.is_tcp() && one.is_test());
    let is_lossy = |one: &&Measurement<'_>| one.again().is_none_or(|again| again >= LOSSY);
    let slow = tests([from, to]).filter(is_lossy).min_by_key(|one| one.rate())?;
    let back = tests([to, from]).filter(|one| one.streams() == slow.streams()).max_by_key(|one| one.rate())?;
    (back.rate().bps() > slow.rate().bps() * 2).then_some(())?;
    let slow_bus = slow_bus(matrix, slow, back);
    let begin = format!("{from} to {to} has {}", slow.rate());
    let Some((again, lost)) = slow.retransmits().zip(slow.again()) else {
        // Nobody printed what was lost; the other direction shows what the receiver's end carries.
        let bus = slow_bus?;
        return Some(Statement::fault(format!(
            "{begin}, the other direction {}: {bus}; its counters before and after a test tell",
            back.rate()
        )));
    };
    let is_one_way = back.again().is_none_or(|other| other * 10.0 < lost);
    (again >= FEWEST_BURST && is_one_way).then_some(())?;
    let begin = format!("{begin} and loses {} of its segments, the other direction {}", percent(lost), back.rate());
    if let Some((name, count)) = counter_of(matrix, again) {
        return Some(Statement::decisive(format!(
            "{begin}: {name} went up by {count}, which is what was retransmitted ({again}): they are lost there, in this direction alone"
        )));
    }
    Some(match slow_bus {
        Some(says) => Statement::decisive(format!("{begin}: {says}")),
        None => Statement::fault(format!(
            "{begin}: what only this direction passes loses them: the receiving NIC of {to} (rings, pause frames), the port before it, or a link that is \
             dirty in one direction; counters of {to} and of that port before and after a test tell"
        )),
    })
}

/// A host that sends no more than a part of its link has a slower bus behind it, and a burst at the link's rate overruns that.
fn slow_bus(matrix: &Matrix<'_>, slow: &Measurement<'_>, back: &Measurement<'_>) -> Option<String> {
    let to = slow.to;
    (slow.is_near() || back.is_near()).then_some(())?;
    let link = link_of(matrix, to).filter(|link| back.steady().bps() * 2 < *link && back.is_even())?;
    Some(format!(
        "{to} sends no more than {} itself over a link of {}, and evenly: what carries it behind the link (a USB or PCIe NIC, a CPU) is slower, and \
         what comes in bursts at the link's rate overruns the NIC or the port before it, which drop; pause frames (flow control) at both ends of that \
         link, or a sender that paces below that",
        back.steady(),
        units::DataRate::from_bps(link)
    ))
}

/// One segment in three thousand.
const LOSSY: f64 = 3e-4;

/// A counter that went up by what was retransmitted.
fn counter_of(matrix: &Matrix<'_>, again: u64) -> Option<(String, u64)> {
    let is_same = |by: u64| by.abs_diff(again) * 100 <= again * SAME;
    let of_hosts = matrix
        .beside
        .counters
        .iter()
        .map(|of| (of.host.clone().unwrap_or_else(|| "this host".to_owned()), &of.readings));
    let of_tests =
        matrix.all.iter().filter_map(|one| Some((one.run, one.run.measurement.as_ref()?))).flat_map(|(run, found)| {
            let own = found.local_counters.iter().map(move |readings| (run.local_name(), readings));
            own.chain(found.peer_counters.iter().map(move |readings| (run.peer_name(), readings)))
        });
    let of_hosts = of_hosts.chain(of_tests).flat_map(|(host, readings)| {
        let shown =
            |name: &str| name.strip_prefix("nic.").or_else(|| name.strip_prefix("dev.")).unwrap_or(name).to_owned();
        readings.moved().map(|(name, by)| (format!("{host}: {}", shown(name)), by)).collect::<Vec<_>>()
    });
    let drops = |name: &str| {
        let name = name.to_lowercase();
        let is_drop = ["drop", "discard", "missed", "crc", "no_buf", "out_of", "overrun", "fifo", "rcvbuferr"]
            .iter()
            .any(|part| name.contains(part));
        is_drop && !name.contains("retrans")
    };
    let found = of_hosts.filter(|(name, by)| drops(name) && is_same(*by)).min_by_key(|(_, by)| by.abs_diff(again));
    found.or_else(|| {
        matrix.figures.iter().find_map(|figure| match figure.value {
            FigureValue::Counted(_, by) if is_same(by) => Some((format!("a counter of line {}", figure.line), by)),
            _ => None,
        })
    })
}

/// Of a hundred: some are lost of which others are counted.
const SAME: u64 = 15;

/// The rate of a host's link, where it is printed; that of the only host of which one is, too.
fn link_of(matrix: &Matrix<'_>, host: &str) -> Option<u64> {
    let links = || {
        matrix.beside.facts.iter().take(MOST_FACTS).filter_map(|(of, fact)| match fact {
            HostFact::Link(link) => Some((of.as_deref(), link.rate?.bps())),
            _ => None,
        })
    };
    let own = links().filter(|(of, _)| *of == Some(host)).map(|(_, rate)| rate).min();
    own.or_else(|| {
        let rates: Vec<u64> = links().map(|(_, rate)| rate).collect();
        rates.first().copied().filter(|first| rates.iter().all(|rate| rate == first))
    })
}
