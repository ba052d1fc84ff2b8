//! Where the line rate went: the gap between what a line could have carried and what arrived, in shares that add up.
//!
//! * [`cause`]: the names of shares, and what shows them
//! * [`mod@line`]: the line rate, and what headers take of it
//! * [`losses`]: losses ranked by what they cost
//! * [`check`]: the kernel's own clocks against the table
//! * [`facts`]: what matters most, in sentences, and what to try next
//!
//! Inside: `track` reads samples at any moment, `stream` puts both ends together, `startup`, `ceiling`, `losses`, `times` and
//! `writer` find what holds over many samples, `split` gives the time of each step to reasons, `ledger` the bytes.

pub mod cause;
mod ceiling;
pub mod check;
pub mod facts;
mod fill;
mod ledger;
pub mod line;
pub mod losses;
mod observed;
mod split;
mod startup;
mod stream;
#[cfg(test)]
mod tests;
mod times;
mod track;
mod view;
mod writer;

use std::time::Duration;

use model::measurement::{DirectionTotal, Heading, Measurement};
use model::run::Run;
use model::series::RunSamples;
use model::spec::Protocol;
use serde::{Deserialize, Serialize};
use units::ByteCount;

use crate::exact::{apportion, fraction};
use cause::{Cause, Reason};
use check::KernelCheck;
use facts::Fact;
use ledger::{Allowance, Ledger};
use line::{Framing, LineRate};
use losses::LossEvents;
pub use observed::Observed;
use stream::{Setting, Stream};
use view::View;

/// Where the line rate of one direction went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waterfall {
    /// Which way.
    pub heading: Heading,
    /// What the line could have carried. Its bits are those of Ethernet's physical layer.
    pub line_rate: LineRate,
    /// How long the direction took.
    #[serde(rename = "time_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub time: Duration,
    /// Line rate times time.
    #[serde(rename = "line_bytes")]
    pub line: ByteCount,
    /// Payload that arrived.
    #[serde(rename = "delivered_bytes")]
    pub delivered: ByteCount,
    /// The one less the other.
    #[serde(rename = "gap_bytes")]
    pub gap: ByteCount,
    /// What arrived beyond line rate times time: then the line is faster than was said.
    #[serde(rename = "beyond_line_bytes")]
    pub beyond_line: ByteCount,
    /// Headers and payload of a full segment.
    pub framing: Framing,
    /// Where the gap went, the largest share first. They add up to it exactly.
    pub shares: Vec<Share>,
    /// The kernel's own clocks against this table.
    pub check: KernelCheck,
    /// Losses, ranked by what they cost.
    pub losses: LossEvents,
    /// What the sentences refer to.
    pub observed: Observed,
    /// What matters most, the most first; at most three.
    pub facts: Vec<Fact>,
}

/// What one cause took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// What took it: the owner of these bytes in the order of precedence.
    pub cause: Cause,
    /// Bytes of the line that it took.
    pub bytes: ByteCount,
    /// The time that these take at line rate.
    #[serde(rename = "time_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub time: Duration,
    /// Part of what the line could have carried, 0 to 1.
    pub part_of_line_rate: f64,
    /// What showed it, the most first. These add up to the share.
    pub because: Vec<Because>,
}

impl Share {
    /// Whether it is mostly what the qdisc or NIC of the sending host did not take.
    fn is_host_queue(&self) -> bool {
        self.because.first().is_some_and(|because| because.reason == Reason::HostQueue)
    }

    /// Whether it is mostly the rate that a program, which is no test, has its kernel pace at.
    fn is_socket_pace(&self) -> bool {
        self.because.first().is_some_and(|because| because.reason == Reason::SocketPace)
    }
}

/// What showed a part of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Because {
    /// What was seen.
    pub reason: Reason,
    /// Bytes that it explains.
    pub bytes: ByteCount,
}

impl Waterfall {
    /// Bytes that `cause` took.
    #[must_use]
    pub fn bytes_of(&self, cause: Cause) -> ByteCount {
        self.shares.iter().find(|share| share.cause == cause).map_or(ByteCount::ZERO, |share| share.bytes)
    }

    /// A few words for a share in a table: what the path did to be taken for loss, and whose rate was kept to, where that is known.
    #[must_use]
    pub fn label(&self, cause: Cause) -> &'static str {
        let share = || self.shares.iter().find(|share| share.cause == cause);
        match cause {
            Cause::LossRecovery if self.losses.is_reordering() => "reordering",
            Cause::ConfiguredCap if share().is_some_and(Share::is_socket_pace) => "pacing rate",
            Cause::PathCapacity if share().is_some_and(Share::is_host_queue) => "queue of the sending host",
            _ => cause.label(),
        }
    }

    /// The cause that took most, headers aside.
    #[must_use]
    pub fn dominant(&self) -> Option<&Share> {
        self.shares.iter().find(|share| share.cause != Cause::ProtocolOverhead)
    }
}

/// Where the line rate of each direction of a TCP run went; none of a run over UDP, or that measured nothing.
#[must_use]
pub fn explain(run: &Run, samples: &RunSamples, line_rate: LineRate) -> Vec<Waterfall> {
    let measurement = run.measurement.as_ref().filter(|_| run.spec.protocol == Protocol::Tcp);
    let Some(measurement) = measurement else { return Vec::new() };
    let directions = measurement.totals.iter();
    directions.map(|total| of_direction(&Case { run, measurement, samples, total }, line_rate)).collect()
}

/// One direction of a run.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    run: &'a Run,
    measurement: &'a Measurement,
    samples: &'a RunSamples,
    total: &'a DirectionTotal,
}

/// A run may deliver this part of the line rate more than the line rate: link speeds and times are rounded.
const LINE_TOLERANCE: u64 = 20;

fn of_direction(case: &Case<'_>, line_rate: LineRate) -> Waterfall {
    let total = case.total;
    let streams = Stream::all(case.samples, total.heading);
    let end = i64::try_from(total.elapsed.as_micros()).unwrap_or(i64::MAX);
    let setting = Setting::new(case.measurement, &case.run.spec, &streams, (total.heading, end));
    let framing = Framing::of(&case.measurement.flows, total.heading, observed::told(&streams));
    let delivered = delivered(total);
    // A run that went beyond what was declared or is known of its path has shown that it is wrong: nothing is a part of it.
    let allowed = line_rate.over(total.elapsed).get();
    let is_disproved = delivered.get() > allowed.saturating_add(allowed / LINE_TOLERANCE);
    let line_rate = if line_rate.rate.is_zero() || is_disproved {
        LineRate { rate: observed::peak(&streams, &setting, (framing, total.goodput)), ..LineRate::UNKNOWN }
    } else {
        line_rate
    };
    let line = line_rate.over(total.elapsed);
    let gap = line.saturating_sub(delivered);
    let views: Vec<View<'_>> = streams.iter().map(|stream| View::new(stream, &setting)).collect();
    let path = ceiling::payload_per_second(&views, &setting).map(|payload| framing.wire(payload));
    let ledger = ledger(&views, &setting, (line_rate, path, framing));
    let shares = shares((gap, line, line_rate), framing.around(delivered.get()), &ledger.wire);
    let observed = Observed {
        reverse_queue: observed::reverse_queue(&case.samples.probes, total.heading),
        ..Observed::new(&streams, &setting, (line_rate, path))
    };
    let mut waterfall = Waterfall {
        heading: total.heading,
        line_rate,
        time: total.elapsed,
        line,
        delivered,
        gap,
        beyond_line: delivered.saturating_sub(line),
        framing,
        shares,
        check: KernelCheck::new(&ledger.clocks),
        losses: LossEvents::rank(ledger.episodes).with_reordering(&streams),
        observed,
        facts: Vec::new(),
    };
    waterfall.facts = facts::facts(&waterfall, case.run);
    waterfall
}

/// Payload that arrived. Of a receiver that reported nothing, what was acknowledged, as its goodput has it: what lies in a send
/// buffer has not arrived.
fn delivered(total: &DirectionTotal) -> ByteCount {
    let acknowledged = |sent: ByteCount| (total.goodput * total.elapsed).min(sent);
    total.received.or_else(|| total.sent.map(acknowledged)).unwrap_or_default()
}

fn ledger(
    views: &[View<'_>],
    setting: &Setting<'_>,
    (line_rate, path, framing): (LineRate, Option<u64>, Framing),
) -> Ledger {
    let asked = usize::from(setting.spec.streams);
    let count = views.len().max(asked).max(1) as u64;
    let line = line_rate.rate.bytes_per_second() / count;
    let path = path.map(|path| path / count).filter(|path| *path < line);
    let mut ledger = Ledger::new();
    if views.is_empty() {
        ledger.give(Reason::NoSamples, 1);
    }
    for view in views {
        ledger.add(view, setting, Allowance { line, path, framing });
    }
    ledger
}

/// Splits the gap exactly: headers first, the rest in proportion to the ledger.
fn shares((gap, line, line_rate): (ByteCount, ByteCount, LineRate), headers: u64, wire: &[u64]) -> Vec<Share> {
    let headers = headers.min(gap.get());
    let mut bytes = apportion(gap.get() - headers, wire);
    if wire.iter().all(|weight| *weight == 0)
        && let Some(unexplained) = bytes.get_mut(Reason::NotInSamples.index())
    {
        *unexplained = gap.get() - headers;
    }
    if let Some(own) = bytes.get_mut(Reason::Headers.index()) {
        *own += headers;
    }
    let whole = line_rate.rate.time_for(gap).unwrap_or_default();
    let of_cause = |cause| -> Vec<Because> {
        let mut because: Vec<Because> = Reason::ALL
            .iter()
            .zip(&bytes)
            .filter(|(reason, bytes)| reason.cause() == cause && **bytes > 0)
            .map(|(reason, bytes)| Because { reason: *reason, bytes: ByteCount::new(*bytes) })
            .collect();
        because.sort_by_key(|because| std::cmp::Reverse(because.bytes));
        because
    };
    let causes: Vec<(Cause, Vec<Because>)> = Cause::ALL
        .into_iter()
        .map(|cause| (cause, of_cause(cause)))
        .filter(|(_, because)| !because.is_empty())
        .collect();
    let sums: Vec<u64> = causes.iter().map(|(_, because)| because.iter().map(|part| part.bytes.get()).sum()).collect();
    let times = apportion(units::duration::micros(whole), &sums);
    let mut shares: Vec<Share> = causes
        .into_iter()
        .zip(sums)
        .zip(times)
        .map(|(((cause, because), bytes), time)| Share {
            cause,
            bytes: ByteCount::new(bytes),
            time: Duration::from_micros(time),
            part_of_line_rate: fraction(bytes, line.get()),
            because,
        })
        .collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.bytes));
    shares
}
