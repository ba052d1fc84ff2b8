//! Runs: what window and time allow, where they stood still, which link their rate is that of.

use std::time::Duration;

use model::counters::CounterReadings;
use model::measurement::{DirectionTotal, Heading, Interval, Measurement};
use model::round::Tested;
use model::run::{FailureKind, Outcome, Run};
use model::series::RunSamples;
use model::spec::{Limit, Protocol};
use predict::physics::facts::rtt;
use predict::physics::{FullLink, LossOfStart, LossVerdict, LossWitness, RttSource};
use units::duration::show;
use units::{ByteCount, DataRate};

use super::statement::{Statement, percent, ratio};
use super::{bursts, counters, crawling, usual_window};

/// All of one run. A send buffer may grow to `most_send`, where the settings of its host are printed.
pub(super) fn of(tested: &Tested, run: &Run, most_send: Option<ByteCount>) -> Vec<Statement> {
    let mut all = Vec::new();
    if let Outcome::Failed(failure) = &run.outcome {
        all.extend(failed(tested, failure.kind, &failure.detail));
    }
    let Some(found) = &run.measurement else { return all };
    for total in &found.totals {
        let whose = from_to(tested, total);
        let intervals: Vec<&Interval> = found.intervals.iter().filter(|of| of.heading == total.heading).collect();
        all.extend(crawling::of(&whose, found, total));
        all.extend(of_some_streams(&whose, found, total));
        all.extend(within_host(&whose, tested, found));
        let dead = dead(&whose, &intervals);
        if run.spec.protocol == Protocol::Udp {
            all.extend(dead);
            continue;
        }
        let hole = black_hole(&whose, total, &intervals).or(dead);
        let stops = if hole.is_none() { stops(&whose, &intervals) } else { None };
        let fell = if stops.is_none() && hole.is_none() { fell(&whose, &intervals) } else { None };
        let still = fell.is_none() && stops.is_none() && hole.is_none();
        all.extend(hole.into_iter().chain(stops).chain(fell));
        all.extend(bursts::of(&whose, &intervals));
        if still {
            all.extend(window(&whose, run, total, &intervals));
        }
        all.extend(link_speed(&whose, run, total));
        all.extend(used_up(&whose, run, total));
        all.extend(moved(&whose, run, total));
        all.extend(retransmitted(&whose, run, total));
    }
    if let Some(samples) = &tested.samples {
        all.extend(sockets(tested, samples, most_send));
    }
    all.extend(counted(tested, found));
    all
}

/// Files that a program moved: what it printed.
fn moved(whose: &str, run: &Run, total: &DirectionTotal) -> Option<Statement> {
    let tool = run
        .local
        .software
        .as_deref()
        .filter(|_| matches!(run.spec.limit, Limit::Bytes(_)) && run.command.is_empty())?;
    let found = run.measurement.as_ref().filter(|found| found.intervals.is_empty() && found.flows.is_empty())?;
    let (bytes, time, rate) = (total.received?, show(total.elapsed), total.goodput);
    let faults = found.anomalies.iter().find(|note| note.contains("attempts failed"));
    let files = found.anomalies.iter().find(|note| note.ends_with(" on average"));
    let of = files.map_or_else(String::new, |files| format!(" ({files})"));
    let says = format!("{whose}: {bytes} by {tool} in {time}{of}, {rate}; disks and the program are part of that");
    Some(match faults {
        Some(faults) => Statement::fault(format!("{says}; {faults}")),
        None => Statement::fact(says),
    })
}

/// How much was retransmitted, and whether that is the rate.
fn retransmitted(whose: &str, run: &Run, total: &DirectionTotal) -> Option<Statement> {
    let again = total.retransmits.filter(|count| count.get() > 0)?.get();
    if let Some(full) = FullLink::of(run, total).filter(|link| link.is_steady) {
        let segments = total.sent.or(total.received)?.get() / u64::from(full.mtu - HEADERS);
        let part = percent(ratio([again, segments]));
        return Some(Statement::fact(format!(
            "{whose}: {again} segments retransmitted ({part}), and the rate is all that a link of {} gives: they cost it nothing{}",
            full.rate,
            if ratio([again, segments]) >= MANY { LONGER_PATH } else { "" }
        )));
    }
    let witness = LossWitness::of(run, total);
    if let Some(start) = LossOfStart::of(run, total)
        .filter(|_| witness.as_ref().is_none_or(|witness| witness.verdict == LossVerdict::AllowsMore))
    {
        return Some(Statement::fact(of_start(whose, &start)));
    }
    let says = match &witness {
        Some(witness) => format!("{whose}: {again} segments retransmitted; {witness}"),
        None => {
            let segments = total.sent.or(total.received)?.get() / USUAL_SEGMENT;
            let part = percent(ratio([again, segments]));
            format!(
                "{whose}: {again} of about {segments} segments retransmitted ({part}); whether that is the rate needs the RTT (`--rtt`)"
            )
        }
    };
    // A rate by itself says nothing of an RTT that is reckoned from it.
    let limits = witness.is_some_and(|witness| {
        let is_known = witness.facts.rtt.source != RttSource::WindowOverRate;
        witness.verdict != LossVerdict::AllowsMore && witness.facts.loss() >= LIMITING && is_known
    });
    Some(if limits { Statement::fault(says) } else { Statement::fact(says) })
}

/// What a flow lost while it started.
fn of_start(whose: &str, start: &LossOfStart) -> String {
    let LossOfStart { until, first, later, rest, .. } = *start;
    let later = if later == 0 { "none".to_owned() } else { format!("{later}") };
    format!(
        "{whose}: {first} segments retransmitted within the first {}, as a start does that overflows a queue, and {later} in the {} after it: the \
         path itself loses next to nothing",
        show(until),
        show(rest)
    )
}

/// More than a full queue at the sender's own link costs: one in a hundred.
const MANY: f64 = 0.01;
const LONGER_PATH: &str = "; so many would limit a longer path: counters of the NICs at both ends (`ethtool -S`), and a test in the other \
                           direction, tell where they are lost";

/// One segment in two thousand: what holds TCP below a gigabit over a few milliseconds.
const LIMITING: f64 = 5e-4;
/// IPv4 and TCP with timestamps.
const HEADERS: u32 = 52;
/// Payload of an Ethernet frame with them.
const USUAL_SEGMENT: u64 = 1448;

/// `dtn1 to dtn2`, in the direction of the data.
pub(super) fn from_to(tested: &Tested, total: &DirectionTotal) -> String {
    let (from, to) = (&tested.from.host, &tested.to.host);
    if total.heading == Heading::Outbound { format!("{from} to {to}") } else { format!("{to} to {from}") }
}

fn failed(tested: &Tested, kind: FailureKind, detail: &str) -> Option<Statement> {
    let target = if tested.to.host == "unknown" { "the server" } else { &tested.to.host };
    let lower = detail.to_lowercase();
    let says = match kind {
        FailureKind::Unreachable if lower.contains("refused") => format!(
            "{target} refused the connection: it is up, and no server listens at this port, or a firewall rejects; start `iperf3 -s` there"
        ),
        FailureKind::Unreachable if lower.contains("no route") => {
            format!(
                "no route to {target}: a router or a firewall rejects it, or it is not on this network; `ip route get {target}` tells which"
            )
        }
        FailureKind::Unreachable if lower.contains("not known") => format!("the name {target} is not known"),
        FailureKind::Unreachable => format!(
            "{target} did not answer: a firewall drops packets to this port, or the host is down; `ping {target}` tells the two apart"
        ),
        FailureKind::Busy => format!("the server at {target} was busy with another test: repeat it later"),
        _ => return None,
    };
    Some(Statement::fault(says))
}

/// Nothing came after the initial window.
fn black_hole(whose: &str, total: &DirectionTotal, intervals: &[&Interval]) -> Option<Statement> {
    let received = total.received.unwrap_or_default();
    let sent = total.sent.unwrap_or_default();
    let silent = intervals.iter().skip(1).all(|of| of.bytes == ByteCount::ZERO);
    (received == ByteCount::ZERO && sent > ByteCount::ZERO && sent.get() <= FIRST_WINDOWS && silent && total.elapsed >= LONG).then(|| {
        Statement::fault(format!(
            "{whose}: the connection was made, and of the first {sent} nothing arrived within {}: large packets vanish (path MTU) or \
             the path broke; `ping -M do -s 1472` and `tracepath` tell which",
            show(total.elapsed)
        ))
    })
}

/// What a sender sends before it needs an acknowledgement, and the socket buffer that iperf counts as sent.
const FIRST_WINDOWS: u64 = 4 << 20;
const LONG: Duration = Duration::from_secs(3);

/// Nothing in any interval: what came before is not in the log, or was left out.
fn dead(whose: &str, intervals: &[&Interval]) -> Option<Statement> {
    let (first, last) = (intervals.first()?, intervals.last()?);
    let time = last.end.saturating_sub(first.start);
    (intervals.len() >= 3 && time >= LONG && intervals.iter().all(|of| of.bytes == ByteCount::ZERO)).then(|| {
        Statement::fault(format!(
            "{whose}: no data in any of the {} intervals, {}{}: the transfer stands still",
            intervals.len(),
            show(time),
            if first.start.is_zero() { String::new() } else { format!(" from {} on", show(first.start)) }
        ))
    })
}

/// A log that was cut has rows of some of the streams, and their sum is not the rate of the test.
fn of_some_streams(whose: &str, found: &Measurement, total: &DirectionTotal) -> Option<Statement> {
    let note = found.anomalies.iter().find(|note| note.starts_with("the log has rows of "))?;
    Some(Statement::fact(format!("{whose}, {}: {note}", total.goodput)))
}

/// Both ends are one host, or the connection ends at a program of the sender.
fn within_host(whose: &str, tested: &Tested, found: &Measurement) -> Option<Statement> {
    let is_loopback = |address: &str| {
        let host = address.trim_start_matches('[');
        host.starts_with("127.") || host.starts_with("::1]")
    };
    if tested.from.host == tested.to.host {
        return Some(Statement::fact(format!(
            "{whose}: both ends are one host, so that its memory and CPUs are measured and no network"
        )));
    }
    let first = found.flows.first().filter(|flow| is_loopback(&flow.peer_address))?;
    Some(Statement::fact(format!(
        "{whose}: the connection goes to {}, a program of the same host that passes the data on: its speed is part of the rate",
        first.peer_address
    )))
}

/// Intervals without any data between others.
fn stops(whose: &str, intervals: &[&Interval]) -> Option<Statement> {
    let silent: Vec<&&Interval> = intervals.iter().filter(|of| of.bytes == ByteCount::ZERO).collect();
    let first = silent.first()?;
    (silent.len() < intervals.len() && first.end.saturating_sub(first.start) >= Duration::from_millis(100)).then(|| {
        Statement::fault(format!(
            "{whose}: no data in {} of {} intervals, the first at {}: the path was dead, or the sender waited for a retransmission timeout",
            silent.len(),
            intervals.len(),
            show(first.start)
        ))
    })
}

/// Fast for the first intervals and then slower at an even rate, with losses: what a policer leaves, or a bottleneck behind a queue.
fn fell(whose: &str, intervals: &[&Interval]) -> Option<Statement> {
    let end = intervals.len().checked_sub(FEWEST_EVEN)?;
    // A bucket that is full at first, or credits that a cloud gives, may last for minutes.
    let (at, median) = (2..=end).find_map(|at| Some((at, even(&intervals[at..])?)))?;
    let first = intervals.iter().take(at).map(|of| of.rate).max()?;
    let later = &intervals[at..];
    let losses = later.iter().filter(|of| of.retransmits.is_some_and(|count| count.get() > 0)).count();
    let (fast, slow) = (intervals.get(at - 1)?.end, intervals.last()?.end);
    let is_long = slow.saturating_sub(fast) * 4 >= slow;
    (first.bps() > 2 * median.bps() && is_long && losses * 2 >= later.len()).then(|| {
        let when = if at > 2 { format!("up to {}", show(fast)) } else { "at first".to_owned() };
        let also = if at > 2 { " (as clouds give their smaller machines: a rate for minutes, then less)" } else { "" };
        Statement::fault(format!(
            "{whose}: {first} {when}, then evenly {median} with losses all the time: what a policer{also}, or a slower link behind a short queue, \
             leaves"
        ))
    })
}

/// The median rate of intervals that differ little.
fn even(intervals: &[&Interval]) -> Option<DataRate> {
    let mut rates: Vec<DataRate> = intervals.iter().map(|of| of.rate).collect();
    rates.sort_unstable();
    let (least, median, most) = (*rates.first()?, *rates.get(rates.len() / 2)?, *rates.last()?);
    (median.bps() > 0 && most.bps() * 10 <= least.bps() * 13).then_some(median)
}

/// Of a line, in percent, that TCP gets at an MTU of 1500 B less what access lines' headers take.
const FULL_LINE: u64 = 92;

/// Of fewer intervals being alike may be chance.
const FEWEST_EVEN: usize = 3;

/// What the congestion window allows at the RTT, against what was reached.
fn window(whose: &str, run: &Run, total: &DirectionTotal, intervals: &[&Interval]) -> Vec<Statement> {
    let mut all = Vec::new();
    // What the test itself asked for is no limit of a window.
    let asked = run.spec.rate.map(|rate| rate.bps().saturating_mul(u64::from(run.spec.streams.max(1))));
    if asked.is_some_and(|asked| total.goodput.bps() * 10 >= asked * 9) {
        return all;
    }
    // A full link is the limit, whatever the windows are.
    let fastest = intervals.iter().map(|of| of.rate).max().unwrap_or(total.goodput);
    if run.declared_line_rate.is_some_and(|rate| fastest.bps() * 100 >= rate.bps() * FULL_LINE) {
        return all;
    }
    let Some(rtt) = rtt(run, total).filter(|rtt| rtt.source != RttSource::WindowOverRate) else {
        all.extend(still_window(whose, intervals));
        return all;
    };
    if let Some(asked) = run.spec.window.filter(|asked| *asked > ByteCount::ZERO)
        && let Some(allows) = DataRate::of(asked, rtt.low)
        && total.goodput.bps() < allows.bps() * 5 / 2
        && total.goodput.bps() > allows.bps() / FAR_BELOW
    {
        all.push(Statement::fault(format!(
            "{whose}: the test itself asked for a window of {asked}, which at {} allows {allows}, or twice that where the kernel doubles it; \
             repeat it without `-w`",
            show(rtt.low)
        )));
        return all;
    }
    let lossless = total.retransmits.is_some_and(|count| count.get() == 0);
    let mut windows: Vec<ByteCount> = intervals.iter().skip(intervals.len() / 2).filter_map(|of| of.cwnd).collect();
    windows.sort_unstable();
    let (Some(least), Some(most)) = (windows.first(), windows.last()) else {
        let usual = usual_window::of(whose, total, [rtt.low, rtt.high], intervals);
        all.extend(usual.or_else(|| usual_window::under_way(whose, run, total, rtt.low)));
        return all;
    };
    let Some(allows) = DataRate::of(*least, rtt.high) else { return all };
    // After the start-up, as the windows are.
    let mut rates: Vec<DataRate> = intervals.iter().skip(intervals.len() / 2).map(|of| of.rate).collect();
    rates.sort_unstable();
    let Some(reached) = rates.get(rates.len() / 2).copied() else { return all };
    let is_flat = most.get() * 10 <= least.get() * 11;
    if !lossless || reached.is_zero() || rtt.low < NEAR {
        return all;
    }
    if reached.bps() * 5 >= allows.bps() * 4 && reached.bps() * 3 <= allows.bps() * 4 && is_flat {
        all.push(Statement::fault(format!(
            "{whose}: the congestion window stood at {least} without a loss, and at {} that is {allows}, the rate: the sender's buffer limits it \
             (`net.ipv4.tcp_wmem`)",
            show(rtt.high)
        )));
    } else if reached.bps() * 3 < allows.bps() {
        all.push(Statement::fault(format!(
            "{whose}: the congestion window of {least} at {} would allow {allows}, it reached {reached} without a loss: the receive window, \
             or one of the two programs, limits it (`net.ipv4.tcp_rmem` at the receiver)",
            show(rtt.high)
        )));
    }
    all
}

/// Of a window of which a flow uses less than this part, the window is not the limit.
const FAR_BELOW: u64 = 4;

/// A window that neither grows nor is cut, where the RTT is not known: it says which RTT would make it the limit.
fn still_window(whose: &str, intervals: &[&Interval]) -> Option<Statement> {
    let late = &intervals[intervals.len() / 3..];
    let mut windows: Vec<ByteCount> = late.iter().filter_map(|of| of.cwnd).collect();
    let mut rates: Vec<DataRate> = late.iter().map(|of| of.rate).collect();
    windows.sort_unstable();
    rates.sort_unstable();
    let (least, most) = (*windows.first()?, *windows.last()?);
    let (slowest, rate, fastest) = (*rates.first()?, *rates.get(rates.len() / 2)?, *rates.last()?);
    // A receiver's log may have them of its sender by the interval only.
    let lossless = intervals.iter().all(|of| of.retransmits.is_some_and(|count| count.get() == 0));
    let is_flat = most.get() * 20 <= least.get() * 21 && fastest.bps() * 10 <= slowest.bps() * 13;
    #[expect(clippy::cast_precision_loss, reason = "a time for display")]
    let time = least.get() as f64 * 8.0 / rate.bps().max(1) as f64;
    let time = Duration::try_from_secs_f64(time).ok().filter(|time| (NEAR..VERY_FAR).contains(time))?;
    (windows.len() >= FEWEST_WINDOWS && lossless && is_flat).then(|| {
        Statement::fact(format!(
            "{whose}: the congestion window stood at {least} without a loss, and the rate at {rate}: at an RTT of about {} a window is the limit \
             (buffers of the hosts, `-w`), at a shorter one a link, a shaper or a program is; `--rtt` tells which",
            show(time)
        ))
    })
}

/// Fewer windows that are the same may be chance.
const FEWEST_WINDOWS: usize = 3;
/// No path on Earth has an RTT like this, but for queues.
const VERY_FAR: Duration = Duration::from_secs(1);

/// On a LAN windows say little.
const NEAR: Duration = Duration::from_millis(2);

/// The mean of so long is no start.
const A_MINUTE: Duration = Duration::from_mins(1);

/// Goodput of TCP over Ethernet of a usual speed.
fn link_speed(whose: &str, run: &Run, total: &DirectionTotal) -> Option<Statement> {
    let full = FullLink::of(run, total)?;
    let link = full.rate;
    let declared = run.declared_line_rate.or(run.declared.expected);
    let is_known = declared.is_some_and(|rate| rate.bps() <= link.bps() + link.bps() / 10);
    // A rate that losses explain is no link's, unless it stays there.
    let is_of_losses = || LossWitness::of(run, total).is_some_and(|witness| witness.verdict == LossVerdict::Explains);
    let packets = if full.mtu > USUAL_MTU { format!(" with packets of {} B", full.mtu) } else { String::new() };
    (!is_known && (full.is_steady || !is_of_losses())).then(|| {
        let says = format!(
            "{whose}: {} is what TCP gets of an Ethernet link of {link}{packets}: `ethtool DEVICE` at both hosts says whether theirs is one",
            full.reached
        );
        // Slower ports are hardly made any more.
        let is_long = total.elapsed >= A_MINUTE;
        if (full.is_steady || is_long) && link >= GIGABIT { Statement::well(says) } else { Statement::fact(says) }
    })
}

const USUAL_MTU: u32 = 1500;
const GIGABIT: DataRate = DataRate::from_bps(1_000_000_000);

/// A program that has all of one CPU: no stream is faster than it.
fn used_up(whose: &str, run: &Run, total: &DirectionTotal) -> Option<Statement> {
    let found = run.measurement.as_ref()?;
    let ends = match total.heading {
        Heading::Outbound => [found.local_cpu, found.peer_cpu],
        Heading::Inbound => [found.peer_cpu, found.local_cpu],
    };
    let lossless = total
        .retransmits
        .is_none_or(|count| count.get() * SELDOM < total.sent.unwrap_or_default().get() / USUAL_SEGMENT);
    let names = [("sending", "zero copy (`-Z`)"), ("receiving", "discarding what arrives (`--skip-rx-copy`)")];
    ends.into_iter().zip(names).filter(|_| lossless).find_map(|(end, (name, also))| {
        let used = end.map(|used| used.user + used.system).filter(|used| (NEARLY_USED_UP..ONE_CPU).contains(used))?;
        if used < USED_UP {
            return Some(Statement::fault(format!(
                "{whose}: the {name} program used {} of a CPU and next to nothing was lost: with the soft interrupts that receive packets for it, \
                 which are counted elsewhere, one CPU of that host is the likely limit (`mpstat -P ALL 1` during a test tells)",
                percent(used)
            )));
        }
        Some(Statement::fault(format!(
            "{whose}: the {name} program used {} of a CPU and next to nothing was lost: one process is no faster there; several processes \
             or threads, {also} or a faster CPU help, and the network is not the limit",
            percent(used)
        )))
    })
}

/// Parts of a CPU that a program has all of: more than one CPU is several threads.
const USED_UP: f64 = 0.95;
const NEARLY_USED_UP: f64 = 0.85;
const ONE_CPU: f64 = 1.05;
/// One segment lost in so many is no reason for a rate.
const SELDOM: u64 = 10_000;

fn sockets(tested: &Tested, samples: &RunSamples, most_send: Option<ByteCount>) -> Vec<Statement> {
    samples.streams.iter().flat_map(|stream| counters::of_socket(tested, stream, most_send)).collect()
}

fn counted(tested: &Tested, found: &Measurement) -> Vec<Statement> {
    let of = |host: &str, readings: &Option<CounterReadings>| {
        readings.as_ref().map(|readings| counters::of(host, readings)).unwrap_or_default()
    };
    let mut all = of(&tested.from.host, &found.local_counters);
    all.extend(of(&tested.to.host, &found.peer_counters));
    all
}
