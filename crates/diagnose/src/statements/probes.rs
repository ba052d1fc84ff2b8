//! Echoes, hops, path MTU, downloads.

use std::time::Duration;

use model::played::Finding;
use model::probe::download::Download;
use model::probe::echo::EchoSeries;
use model::probe::hops::{Hop, Trace, TraceEnd};
use model::probe::path_mtu::{MtuLimit, PathMtu};
use model::round::{Round, Tested};
use model::run::{FailureKind, Outcome};
use units::duration::show;

use super::echo_times;
use super::statement::{Statement, percent, ratio};

/// Losses and RTT.
pub(super) fn of_echoes(tested: &Tested, echoes: &EchoSeries) -> Vec<Statement> {
    let rtt = &echoes.summary.rtt;
    let (sent, lost) = (rtt.sent.get(), rtt.lost.get());
    if sent == 0 {
        return Vec::new();
    }
    let time = |micros: Option<u64>| micros.map(|micros| show(Duration::from_micros(micros)));
    let times = match (time(rtt.min_us), time(rtt.median_us), time(rtt.max_us)) {
        (Some(least), Some(median), Some(most)) => format!(", RTT min/median/max {least}/{median}/{most}"),
        (Some(least), None, Some(most)) => format!(", RTT min/max {least}/{most}"),
        _ => String::new(),
    };
    let size = u64::from(echoes.spec.payload_bytes) + HEADERS;
    let part = if lost == 0 { String::new() } else { format!(" ({})", percent(ratio([lost, sent]))) };
    // Large ones may be too large.
    let silent = if lost == sent && sent > 1 && size < SMALL {
        ": nothing answers, so that the host is down, a firewall drops echoes, or a route is missing, there or in the reverse direction"
    } else {
        ""
    };
    let says = format!(
        "echoes of {size} B from {} to {}: {lost} of {sent} lost{part}{times}{silent}",
        tested.from.host, tested.to.host
    );
    // One that is lost may be chance, unless it is all there was.
    let is_fault = lost > 0 && ratio([lost, sent]) >= LOSSY && (lost > 1 || lost == sent);
    let mut all = vec![if is_fault { Statement::fault(says) } else { Statement::fact(says) }];
    all.extend(echo_times::of(tested, echoes));
    all
}

/// IPv4 and ICMP.
const HEADERS: u64 = 28;
/// Every path carries packets of this size (RFC 791 section 3.2).
const SMALL: u64 = 576;
/// One echo of a hundred, which TCP feels.
const LOSSY: f64 = 0.01;

/// Where losses begin that go on to the end.
pub(super) fn of_hops(tested: &Tested, trace: &Trace) -> Vec<Statement> {
    let to = &tested.to.host;
    let Some(last) = trace.hops.last() else { return Vec::new() };
    let mut all = vec![Statement::fact(hops_in_words(to, trace))];
    all.extend(far_step(trace).or_else(|| far_steps(trace)));
    all.extend(slow_from_the_start(trace));
    if trace.end != TraceEnd::Destination {
        return all;
    }
    let end = lost(last);
    // Few probes of a hop say nothing of its losses.
    if last.sent < FEWEST {
        return all;
    }
    if end >= LOSSY && lost_probes(last) < A_FEW {
        let says = format!("{} of {} probes to {to} are lost, too few to tell where", lost_probes(last), last.sent);
        all.push(Statement::fact(says));
    } else if end >= LOSSY {
        let lossy = |hop: &&Hop| hop.answers.is_empty() || lost(hop) >= end / 2.0;
        let tail = trace.hops.iter().rev().take_while(lossy).count();
        let before = trace.hops.len() - tail;
        let first = trace.hops[before..].iter().find(|hop| !hop.answers.is_empty()).unwrap_or(last);
        let clean = before.checked_sub(1).and_then(|at| trace.hops.get(at));
        let behind = clean.map_or_else(
            || "from the first hop on".to_owned(),
            |clean| format!("from hop {} on and not at hop {}: between these two", named(first), named(clean)),
        );
        all.push(Statement::fault(format!("{} of the probes to {to} are lost, {behind}", percent(end))));
    } else if let Some(hop) = trace.hops.iter().find(|hop| !hop.answers.is_empty() && lost(hop) >= SEEN) {
        all.push(Statement::fact(format!(
            "hop {} answers only {} of its probes, and nothing is lost behind it: it limits its answers, the path loses nothing",
            named(hop),
            percent(1.0 - lost(hop))
        )));
    }
    all
}

/// Two neighbours on the path between which most of its RTT lies: an ocean, a detour or a queue.
fn far_step(trace: &Trace) -> Option<Statement> {
    let least = |hop: &Hop| hop.answers.iter().map(|answer| answer.rtt).min();
    let answering: Vec<(&Hop, Duration)> = trace.hops.iter().filter_map(|hop| Some((hop, least(hop)?))).collect();
    let (_, end) = *answering.last()?;
    let steps = answering.windows(2).enumerate();
    let (at, step) = steps.map(|(at, pair)| (at, pair[1].1.saturating_sub(pair[0].1))).max_by_key(|(_, step)| *step)?;
    let [(before, _), (behind, there)] = [*answering.get(at)?, *answering.get(at + 1)?];
    // A router that answers late is no part of the path: what is behind it takes as long.
    let stays = answering[at + 1..].iter().all(|(_, rtt)| *rtt * 5 >= there * 4);
    (step >= FAR && step * 2 >= end && stays).then(|| {
        Statement::fact(format!(
            "the RTT grows by {} between hop {} and hop {}, and stays so behind it: a long way, a detour or a queue there; repeated probes \
             (`mtr`) tell a queue, whose time comes and goes, from a way",
            show(step),
            named(before),
            named(behind)
        ))
    })
}

/// Two or more steps as long as an ocean is wide: a path that goes far out, and maybe back.
fn far_steps(trace: &Trace) -> Option<Statement> {
    let least = |hop: &Hop| hop.answers.iter().map(|answer| answer.rtt).min();
    let answering: Vec<(&Hop, Duration)> = trace.hops.iter().filter_map(|hop| Some((hop, least(hop)?))).collect();
    let steps = answering.windows(2).enumerate().filter_map(|(at, pair)| {
        let [(before, near), (behind, far)] = [pair[0], pair[1]];
        let stays = answering[at + 1..].iter().all(|(_, rtt)| *rtt * 5 >= far * 4);
        let step = far.checked_sub(near).filter(|step| *step >= AN_OCEAN && stays)?;
        Some(format!("by {} between hop {} and hop {}", show(step), named(before), named(behind)))
    });
    let steps: Vec<String> = steps.collect();
    (steps.len() >= 2).then(|| {
        Statement::fact(format!(
            "the RTT grows {}, and stays so: steps as long as an ocean is wide, one after the other; where both ends are nearer to each other than \
             that, the path is a detour, which no buffer shortens (its routers' names and the providers' routes tell)",
            steps.join(" and ")
        ))
    })
}

/// 6,000 km of fibre and back.
const AN_OCEAN: Duration = Duration::from_millis(60);

/// 10,000 km of fibre and back.
const FAR: Duration = Duration::from_millis(100);

/// An echo that takes long at the first hop as at all behind it waits there.
fn slow_from_the_start(trace: &Trace) -> Option<Statement> {
    let spread = |hop: &Hop| {
        let times = || hop.answers.iter().map(|answer| answer.rtt);
        Some((times().min()?, times().max()?))
    };
    let mut answering = trace.hops.iter().filter(|hop| hop.answers.len() >= FEW_ANSWERS);
    let first = answering.next()?;
    let (least, most) = spread(first)?;
    // Model: of a report the third answer is the mean of all.
    let mean = first.answers.get(2)?.rtt;
    let alike = answering.all(|hop| spread(hop).is_some_and(|(low, high)| (high - low) * 2 >= most - least));
    (alike && most - least >= WAITS && mean > least * 3).then(|| {
        Statement::fault(format!(
            "answers of hop {} take {} to {}, {} on average, and those of all hops behind it as long: they wait in the first link (its queue, \
             or radio)",
            named(first),
            show(least),
            show(most),
            show(mean)
        ))
    })
}

/// Less is what routers take for an answer.
const WAITS: Duration = Duration::from_millis(50);

/// Answers of a hop whose spread says something.
const FEW_ANSWERS: usize = 5;

/// Probes of a hop that say something of losses.
const FEWEST: u8 = 10;
/// Answers that are missed without a second look.
const SEEN: f64 = 0.1;

fn hops_in_words(to: &str, trace: &Trace) -> String {
    let rtt = trace.hops.last().and_then(|hop| hop.answers.iter().map(|answer| answer.rtt).min());
    let end = match trace.end {
        TraceEnd::Destination => String::new(),
        TraceEnd::Unreachable => ", where a router says that there is no way on".to_owned(),
        TraceEnd::Limit | TraceEnd::Stopped => match trace.hops.iter().rev().find(|hop| !hop.answers.is_empty()) {
            Some(hop) => format!(", of which {} is the last that answers and is not the destination", named(hop)),
            None => ", none of which answers".to_owned(),
        },
    };
    let rtt = rtt.map_or_else(String::new, |rtt| format!(", RTT {}", show(rtt)));
    format!("{} hops to {to}{rtt}{end}", trace.hops.last().map_or(0, |hop| hop.number))
}

fn named(hop: &Hop) -> String {
    match hop.answers.first().and_then(|answer| answer.address) {
        Some(address) => format!("{} ({address})", hop.number),
        None => hop.number.to_string(),
    }
}

fn lost(hop: &Hop) -> f64 {
    ratio([lost_probes(hop), u64::from(hop.sent)])
}

fn lost_probes(hop: &Hop) -> u64 {
    let answered = u64::try_from(hop.answers.len()).unwrap_or(u64::MAX);
    u64::from(hop.sent).saturating_sub(answered)
}

/// Of fewer lost probes than this nobody knows where they were lost: a router that answers seldom loses as many.
const A_FEW: u64 = 3;

/// What fits, and who says so.
pub(super) fn of_mtu(tested: &Tested, mtu: &PathMtu) -> Vec<Statement> {
    let (from, to) = (&tested.from.host, &tested.to.host);
    if let (Some(path), Some(limit), false) =
        (mtu.path_mtu, &mtu.limit, mtu.sizes.is_empty() && mtu.interface_mtu.is_some())
    {
        return of_sizes([from, to], mtu, path.get(), limit).into_iter().collect();
    }
    let (Some(path), Some(interface)) = (mtu.path_mtu, mtu.interface_mtu) else { return Vec::new() };
    let (path, interface) = (path.get(), interface.get());
    vec![Statement::fact(if path < interface {
        format!(
            "the path to {to} carries packets of {path} B, the interface sends up to {interface} B: a router says so, and TCP follows"
        )
    } else {
        format!("the path to {to} carries packets of {path} B, as large as the interface sends")
    })]
}

/// What sizes that were tried one by one show.
fn of_sizes([from, to]: [&str; 2], mtu: &PathMtu, path: u32, limit: &MtuLimit) -> Option<Statement> {
    let lost = mtu.sizes.iter().find(|tried| tried.packet_bytes > path && tried.answered == 0);
    let least = lost.map_or(path + 1, |tried| tried.packet_bytes);
    let segment = path.checked_sub(TCP_HEADERS)?;
    match limit {
        MtuLimit::Interface => None,
        MtuLimit::Told { .. } => Some(Statement::fact(format!(
            "packets of {path} B pass from {from} to {to} with DF set, those of {least} B do not and a router says so: TCP follows with segments \
             of up to {segment} B"
        ))),
        MtuLimit::Silent => Some(Statement::fault(format!(
            "packets of {path} B pass from {from} to {to} with DF set, those of {least} B vanish and no router says so (an MTU black hole): TCP \
             transfers with larger packets hang; let ICMP \u{201c}fragmentation needed\u{201d} pass, or limit the MSS to {segment} B"
        ))),
    }
}

/// IPv4 and TCP without options.
const TCP_HEADERS: u32 = 40;

/// How much, how fast, how it ended.
pub(super) fn of_downloads(downloads: &[Download]) -> Vec<Statement> {
    let one = |download: &Download| {
        let (from, body, total) = (&download.subject.target, download.body, download.times.total);
        let time = if total.is_zero() { String::new() } else { format!(" in {}", show(total)) };
        let rate = download.goodput.or(download.overall).map_or_else(String::new, |rate| format!(", {rate}"));
        match &download.outcome {
            Outcome::Complete => Statement::fact(format!("{body} from {from}{time}{rate}")),
            // Nobody stops a download but its user; the last rate is that of a few seconds.
            Outcome::Failed(failure) if failure.kind == FailureKind::Interrupted => {
                Statement::fact(format!("{body} from {from}{rate} at its end, {}", failure.detail))
            }
            Outcome::Failed(failure) => Statement::fault(format!("{body} from {from}{time}{rate}: {}", failure.detail)),
        }
    };
    let mut all: Vec<Statement> = downloads.iter().filter_map(late_connection).take(1).collect();
    all.extend(downloads.iter().filter_map(|download| late_name(download).or_else(|| late_answer(download))).take(1));
    all.extend(downloads.iter().take(MOST_DOWNLOADS).map(one));
    all
}

/// A name that took most of the time.
fn late_name(download: &Download) -> Option<Statement> {
    let (resolved, total) = (download.times.resolved?, download.times.total);
    (resolved >= A_SECOND && resolved * 2 >= total).then(|| {
        Statement::fault(format!(
            "the name of {} was known after {} of {}: the resolver is slow, or the first of several does not answer (5 s is what libc waits for one); \
             the transfer itself is not",
            download.subject.target,
            show(resolved),
            show(total)
        ))
    })
}

/// An answer that came late over a connection that stood at once: the server thought.
fn late_answer(download: &Download) -> Option<Statement> {
    let (first, connected, total) = (download.times.first_byte?, download.times.connected?, download.times.total);
    let waited = first.checked_sub(connected)?;
    (waited >= A_SECOND && waited * 2 >= total && connected * 4 < waited).then(|| {
        Statement::fault(format!(
            "{} answered {} after the connection stood, of {} for all: the server (or what it asks) takes that time before its first byte, and not the \
             network",
            download.subject.target,
            show(waited),
            show(total)
        ))
    })
}

/// Less is a server far away.
const A_SECOND: Duration = Duration::from_secs(1);

/// A connection that stood only after its SYN was sent again: after 1, 3, 7, 15, 31, 63 s (RFC 6298, section 2: the timeout doubles).
fn late_connection(download: &Download) -> Option<Statement> {
    let connected = download.times.connected?;
    let seconds = connected.as_secs_f64();
    let again = (1..=6_u32).find(|again| {
        let waited = f64::from((1_u32 << again) - 1);
        (waited - 0.01..waited + LATE).contains(&seconds)
    })?;
    Some(Statement::decisive(format!(
        "the connection to {} stood after {}, as when its SYN or the answer is lost {again} times (it is retransmitted after 1, 3, 7, 15, 31 and 63 s): SYNs \
         are dropped (a full table of connections or backlog, a firewall, wrong checksums), and what follows is not slow",
        download.subject.target,
        show(connected)
    )))
}

/// The RTT, and what the host takes.
const LATE: f64 = 0.35;

const MOST_DOWNLOADS: usize = 8;

/// Two series of echoes to one host, the RTT of which differs by far more than paths vary: a queue under load.
pub(super) fn of_queue(round: &Round) -> Vec<Statement> {
    let series: Vec<(&Tested, u64)> = round
        .tests
        .iter()
        .filter_map(|tested| match &tested.finding {
            Finding::Echo(echoes) => Some((tested, echoes.summary.rtt.min_us?)),
            _ => None,
        })
        .collect();
    let mut all: Vec<Statement> = standing_queue(round).into_iter().collect();
    if !all.is_empty() {
        return all;
    }
    for (at, (one, least)) in series.iter().enumerate() {
        let alike = series[at + 1..].iter().filter(|(other, _)| other.to == one.to && other.from == one.from);
        let Some(most) = alike.map(|(_, micros)| *micros).max() else { continue };
        let (low, high) = (most.min(*least), most.max(*least));
        if high >= 2 * low && high - low >= QUEUE_US {
            let time = |micros: u64| show(Duration::from_micros(micros));
            all.push(Statement::fault(format!(
                "the least RTT from {} to {} is {} in one series of echoes and {} in another: {} of queue under load, or another path",
                one.from.host,
                one.to.host,
                time(low),
                time(high),
                time(high - low)
            )));
            break;
        }
    }
    all
}

/// Two series of echoes to one host of which the later, or the earlier, took five times as long and 100 ms more for most echoes.
fn standing_queue(round: &Round) -> Option<Statement> {
    let series = round.tests.iter().filter_map(|tested| match &tested.finding {
        Finding::Echo(echoes) => Some((tested, echoes.summary.rtt.median_us?)),
        _ => None,
    });
    let series: Vec<(&Tested, u64)> = series.take(MOST_SERIES).collect();
    series.iter().enumerate().find_map(|(at, (one, first))| {
        let alike = series[at + 1..].iter().filter(|(other, _)| other.to == one.to && other.from == one.from);
        let second = alike.map(|(_, micros)| *micros).max_by_key(|micros| micros.abs_diff(*first))?;
        let (low, high) = (second.min(*first), second.max(*first));
        (high >= 5 * low && high - low >= STANDING_US).then(|| {
            let time = |micros: u64| show(Duration::from_micros(micros));
            Statement::fault(format!(
                "the RTT from {} to {} is {} in one series of echoes and {} in another (medians): {} of queue under load, in front of the slowest \
                 link on the path (most often the access link)",
                one.from.host,
                one.to.host,
                time(*first),
                time(second),
                time(high - low)
            ))
        })
    })
}

/// A monitor has thousands.
const MOST_SERIES: usize = 200;
/// No path changes by as much as this and five times its RTT.
const STANDING_US: u64 = 100_000;

/// Less is jitter of hosts.
const QUEUE_US: u64 = 10_000;
