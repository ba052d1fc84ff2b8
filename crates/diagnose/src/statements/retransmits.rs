//! Retransmits that a host's kernel counted, all connections together: how many of all, and whether they were needed.

use model::counters::CounterReadings;

use super::statement::{Statement, percent, ratio};

/// What the counters of a host say of them.
pub(super) fn of(host: &str, readings: &CounterReadings) -> Vec<Statement> {
    let Some(again) = readings.change("Tcp.RetransSegs") else { return Vec::new() };
    let needless = needless(host, again, readings).or_else(|| overtaken(host, again, readings));
    let needed = needed(again, readings).filter(|_| needless.is_none());
    let so = needed.as_ref().map_or("", |needed| needed.so.as_str());
    let of = Sent::of(readings).filter(|sent| sent.count > 0);
    let says = match &of {
        Some(sent) => {
            let part = if again > 0 { format!(" ({})", percent(ratio([again, sent.count]))) } else { String::new() };
            format!("{host}: {again} of {} {} retransmitted{part}, all connections together{so}", sent.count, sent.what)
        }
        None if needed.is_some() || needless.is_some() => {
            format!(
                "{host}: {again} segments retransmitted, all connections together{so}; of how many `Tcp.OutSegs` has"
            )
        }
        None => return Vec::new(),
    };
    let is_much = match &of {
        Some(sent) => ratio([again, sent.count]) >= LOSSY,
        None => needed.is_some_and(|needed| needed.is_lost_again),
    };
    let is_lossy = is_much && again >= A_FEW && needless.is_none();
    let own = if is_lossy { Statement::fault(says) } else { Statement::fact(says) };
    needless.into_iter().chain([own]).collect()
}

/// What was sent, by the best of the counters that are there.
struct Sent {
    count: u64,
    what: &'static str,
}

impl Sent {
    fn of(readings: &CounterReadings) -> Option<Self> {
        let of = |name: &str, what| Some(Self { count: readings.change(name)?, what });
        of("Tcp.OutSegs", "TCP segments")
            .or_else(|| of("Ip.OutRequests", "IP packets (of all protocols)"))
            // What a device counts as packets may be many segments each (TSO).
            .or_else(|| {
                let segments = readings.change("Link.tx_bytes")? / USUAL_SEGMENT;
                Some(Self { count: segments, what: "segments (tx_bytes of 1448 B each)" })
            })
    }
}

/// Payload of an Ethernet frame with IPv4, TCP and timestamps.
const USUAL_SEGMENT: u64 = 1448;

/// Most of what was retransmitted had arrived already, by the word of those who received it twice (DSACK, RFC 2883).
fn needless(host: &str, again: u64, readings: &CounterReadings) -> Option<Statement> {
    let twice = readings.change("TcpExt.TCPDSACKRecv").filter(|twice| again >= A_FEW && twice * 2 >= again)?;
    let overtaken =
        ["TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder"].iter().filter_map(|name| readings.change(name)).sum::<u64>();
    let seen = if overtaken > 0 { format!(", and packets were overtaken {overtaken} times") } else { String::new() };
    Some(Statement::fault(format!(
        "{host}: {twice} of {again} retransmitted segments had arrived already (DSACK){seen}: packets arrive out of order and few are lost; \
         look for load balancing by packets over links or ways that differ"
    )))
}

/// Most recoveries were of segments that came later and were not lost, by what the kernel has seen itself.
fn overtaken(host: &str, again: u64, readings: &CounterReadings) -> Option<Statement> {
    let sum = |names: &[&str]| names.iter().filter_map(|name| readings.change(name)).sum::<u64>();
    let seen = sum(&["TcpExt.TCPRenoReorder", "TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder"]);
    let recoveries = sum(&["TcpExt.TCPRenoRecovery", "TcpExt.TCPSackRecovery"]);
    let noun = if recoveries == 1 { "recovery was" } else { "recoveries were" };
    let is_most = seen >= A_FEW && recoveries > 0 && seen * 2 >= recoveries && again >= A_FEW;
    is_most.then(|| {
        Statement::fault(format!(
            "{host}: {seen} of {recoveries} {noun} of packets that had only been overtaken (TCPRenoReorder and the like), with {again} segments \
             retransmitted: packets arrive out of order and few are lost; look for load balancing by packets over links or ways that differ"
        ))
    })
}

/// What shows that segments were lost, and not only overtaken.
struct Needed {
    so: String,
    is_lost_again: bool,
}

fn needed(again: u64, readings: &CounterReadings) -> Option<Needed> {
    let part = |name: &str| readings.change(name).map(|count| ratio([count, again]));
    let twice = part("TcpExt.TCPDSACKRecv").filter(|twice| *twice < SELDOM && again >= A_FEW);
    let lost_again = part("TcpExt.TCPLostRetransmit").filter(|lost| *lost >= LOST_AGAIN && again >= A_FEW);
    let timeouts = readings.change("TcpExt.TCPTimeouts").filter(|count| *count > 0);
    let known = [
        twice.map(|twice| format!("only {} of them had arrived already (DSACK)", percent(twice))),
        lost_again.map(|lost| format!("{} of them were lost again", percent(lost))),
        timeouts.map(|count| format!("{count} timeouts")),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let so = if twice.is_some() || lost_again.is_some() { ": packets are lost, and not only overtaken" } else { "" };
    (!known.is_empty())
        .then(|| Needed { so: format!("; {}{so}", known.join(", ")), is_lost_again: lost_again.is_some() })
}

/// A part of retransmits that were needless which says that most were needed.
const SELDOM: f64 = 0.1;
/// A part of retransmits that were lost as well: as many as of all packets at that moment.
const LOST_AGAIN: f64 = 0.01;
/// One segment in a thousand.
pub(super) const LOSSY: f64 = 1e-3;
/// Fewer segments are chance.
pub(super) const A_FEW: u64 = 20;
