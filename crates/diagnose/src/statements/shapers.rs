//! Qdiscs of `tc -s`: one with a rate is what nothing leaves faster than.

use import::evidence::{HostFact, PolicedTraffic, QdiscState};
use units::DataRate;

use super::beside::{Beside, MOST_FACTS, Sent, named};
use super::statement::{Statement, percent, ratio};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let qdiscs = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::Qdisc(qdisc) => Some((host.as_ref(), qdisc)),
        _ => None,
    });
    let mut qdiscs: Vec<(Option<&String>, &QdiscState)> = qdiscs.take(MOST_LOOKED_AT).collect();
    // Of several shapers the slowest limits the most.
    qdiscs.sort_by_key(|(_, qdisc)| qdisc.rate.map_or(u64::MAX, DataRate::bps));
    let lines = beside.facts.iter().take(MOST_FACTS).filter_map(|(_, fact)| match fact {
        HostFact::Access(rates) => Some([rates.download, rates.upload]),
        _ => None,
    });
    let measured = Measured { sent: beside.sent(), lines: lines.flatten().flatten().collect() };
    let said = qdiscs.iter().filter_map(|(host, qdisc)| match qdisc.rate {
        Some(rate) => Some(shaper(*host, qdisc, rate, &measured)),
        None if repeats_its_leaves(&qdiscs, *host, qdisc) => waited(named(*host), qdisc),
        None => queue(named(*host), qdisc),
    });
    let mut all: Vec<Statement> = said.take(MOST).collect();
    all.extend(beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::Policed(one) => policed(named(host.as_ref()), one),
        _ => None,
    }));
    all
}

/// A policer that dropped: TCP takes that for congestion, the more so the shorter its burst is.
fn policed(host: &str, one: &PolicedTraffic) -> Option<Statement> {
    (one.dropped > 0).then_some(())?;
    let part = percent(ratio([one.dropped, one.passed.saturating_add(one.dropped)]));
    let burst = one.burst.map_or_else(String::new, |burst| {
        let time = units::duration::show(import::time_at(burst, one.rate).unwrap_or_default());
        format!(", with a burst of {burst}, {time} of that rate")
    });
    Some(Statement::decisive(format!(
        "a policer of {} at {host}{burst} dropped {} of {} packets ({part}): it has no queue, so that what TCP sends at once beyond its burst is lost, \
         and a larger window loses more; a larger burst (an RTT of the rate), a shaper in its place, or a sender that paces",
        one.rate,
        one.dropped,
        one.passed.saturating_add(one.dropped)
    )))
}

/// A NIC of 128 queues has a qdisc for each.
const MOST: usize = 8;
const MOST_LOOKED_AT: usize = 256;

/// Whether all that a qdisc with leaves dropped is what its leaves dropped: the kernel counts it at each level (`qdisc_tree_reduce_backlog`,
/// net/sched/sch_api.c).
fn repeats_its_leaves(qdiscs: &[(Option<&String>, &QdiscState)], host: Option<&String>, parent: &QdiscState) -> bool {
    let is_leaf = |(of, qdisc): &&(Option<&String>, &QdiscState)| {
        *of == host && qdisc.device == parent.device && !WITH_LEAVES.contains(&qdisc.kind.as_str())
    };
    let leaves = qdiscs.iter().filter(is_leaf).filter_map(|(_, qdisc)| qdisc.dropped);
    let dropped = leaves.fold(0_u64, u64::saturating_add);
    WITH_LEAVES.contains(&parent.kind.as_str()) && dropped > 0 && parent.dropped == Some(dropped)
}

/// Qdiscs that hand packets to others.
const WITH_LEAVES: [&str; 6] = ["htb", "hfsc", "cbq", "prio", "mq", "mqprio"];

/// What a shaper may explain.
struct Measured<'a> {
    sent: Vec<Sent<'a>>,
    /// What access lines carried in either direction.
    lines: Vec<DataRate>,
}

fn shaper(host: Option<&String>, qdisc: &QdiscState, rate: DataRate, measured: &Measured<'_>) -> Statement {
    let (kind, on) = (&qdisc.kind, on(qdisc));
    let dropped = qdisc.dropped.filter(|dropped| *dropped > 0);
    let waits = qdisc.backlog.filter(|backlog| backlog.get() > 0);
    // A name of a prompt is that of a test from the same prompt.
    let of_host = |test: &&Sent<'_>| host.is_none_or(|host| test.from == host.as_str());
    let is_near = |of: DataRate| (rate.bps() / 10 * 7..=rate.bps() / 20 * 21).contains(&of.bps());
    let explained = measured.sent.iter().filter(of_host).find(|test| is_near(test.rate));
    let line = measured.lines.iter().find(|line| explained.is_none() && is_near(**line));
    let mut says = match dropped {
        Some(dropped) => {
            format!("a shaper ({kind}) of {rate}{on} of {} dropped {dropped} packets{}", named(host), part(qdisc))
        }
        None => format!("a shaper ({kind}) of {rate} stands{on} of {}", named(host)),
    };
    if let Some(backlog) = waits {
        says.push_str(&format!(", and {backlog} wait in it"));
    }
    says.push_str(": nothing leaves faster");
    if let Some(test) = explained {
        says.push_str(&format!(
            ", and the {} to {} are that rate; `tc qdisc del` removes it if nobody wants it",
            test.rate, test.to
        ));
    }
    if let Some(line) = line {
        says.push_str(&format!(
            ", and the {line} of the access line are that rate: set it to what the line carries, or remove it"
        ));
    }
    let is_explained = explained.is_some() || line.is_some();
    // It drops, and a flow has its rate: no policer on the path has to be looked for.
    if is_explained && dropped.is_some() {
        return Statement::decisive(says);
    }
    let is_fault = is_explained || dropped.is_some();
    if is_fault { Statement::fault(says) } else { Statement::fact(says) }
}

/// ` of 6120388 (0.2 %)`.
fn part(qdisc: &QdiscState) -> String {
    let all = qdisc.sent.zip(qdisc.dropped).map(|(sent, dropped)| (dropped, sent.saturating_add(dropped)));
    all.map_or_else(String::new, |(dropped, all)| format!(" of {all} ({})", percent(ratio([dropped, all]))))
}

fn on(qdisc: &QdiscState) -> String {
    qdisc.device.as_ref().map_or_else(String::new, |device| format!(" on {device}"))
}

/// A queue without a rate drops where the link behind it is slower than what is sent, which is its work.
fn queue(host: &str, qdisc: &QdiscState) -> Option<Statement> {
    let (kind, on) = (&qdisc.kind, on(qdisc));
    let Some(dropped) = qdisc.dropped.filter(|dropped| *dropped > 0) else { return waited(host, qdisc) };
    let so = if MANAGED.contains(&kind.as_str()) { ", which is how it keeps its queue short" } else { "" };
    let says =
        format!("the qdisc ({kind}){on} of {host} dropped {dropped} packets{} since it was made{so}", part(qdisc));
    // What leaves a host is held back where programs wait for its queue; a part that is dropped is lost before any path.
    let is_much = qdisc.sent.is_some_and(|sent| dropped.saturating_mul(MUCH) >= sent) && so.is_empty();
    Some(if is_much {
        Statement::fault(format!("{says}: they are lost in the sender itself, and not on the path"))
    } else {
        Statement::fact(says)
    })
}

/// A qdisc that limits a rate, and did.
fn waited(host: &str, qdisc: &QdiscState) -> Option<Statement> {
    let (kind, on) = (&qdisc.kind, on(qdisc));
    let waited = qdisc.overlimits.filter(|waited| *waited > 0 && LIMITING.contains(&kind.as_str()))?;
    Some(Statement::fact(format!(
        "the shaper ({kind}){on} of {host} made packets wait {waited} times (overlimits): its rate, which `tc -s class show` prints, was reached"
    )))
}

/// One dropped packet of so many is more than bursts cost.
const MUCH: u64 = 1_000;
/// Qdiscs that hold packets back for a rate.
const LIMITING: [&str; 4] = ["htb", "hfsc", "tbf", "cbq"];
/// Qdiscs that drop early, so that packets do not wait (RFC 7567).
const MANAGED: [&str; 5] = ["fq_codel", "codel", "cake", "pie", "fq_pie"];
