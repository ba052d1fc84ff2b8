//! From readings to a transfer.

use std::net::SocketAddr;
use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::Heading;
use model::run::RunId;
use model::series::RunSamples;
use model::series::field::Field;
use model::transfer::{LossEvent, SocketOwner, Transfer};
use units::{ByteCount, DataRate, MonoTime, PacketCount, WallTime};

use super::evidence;
use super::limit;
use super::loss::TimedLoss;
use super::span::Span;

/// What the watcher knows beside the kernel's numbers.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The name that the transfer gets.
    pub id: RunId,
    /// One moment on the monotonic clock.
    pub mono: MonoTime,
    /// The same moment by the calendar.
    pub wall: WallTime,
    /// This host, with the device that carries the connection.
    pub host: HostIdentity,
    /// The namespace as it was asked for.
    pub namespace: Option<String>,
    /// Whose the connection is.
    pub owner: Option<SocketOwner>,
    /// The line rate that the user declared.
    pub declared_line_rate: Option<DataRate>,
}

impl Span {
    /// The transfer, with what limited it, and its samples.
    #[must_use]
    pub fn transfer(self, around: Surroundings) -> (Transfer, RunSamples) {
        let samples = evidence::samples(&self);
        let last = self.samples.last().map(|sample| sample.reading);
        let last = |field| last.and_then(|reading| reading.get(field));
        let active = self.end.since(self.start);
        let moved = match self.heading {
            Heading::Outbound => self.sent,
            Heading::Inbound => self.received,
        };
        let watched = ByteCount::new(moved.saturating_sub(self.before));
        let earlier = units::duration::nanos(around.mono.since(self.start));
        let segment = match self.heading {
            Heading::Outbound => Field::SndMss,
            Heading::Inbound => Field::RcvMss,
        };
        let mut transfer = Transfer {
            format: Transfer::FORMAT,
            id: around.id,
            host: around.host,
            namespace: around.namespace,
            local: canonical(self.ends.local),
            peer: canonical(self.ends.peer),
            owner: around.owner,
            heading: self.heading,
            sent: ByteCount::new(self.sent),
            received: ByteCount::new(self.received),
            received_count: self.ending.received,
            before_watch: ByteCount::new(self.before),
            started: WallTime::from_unix_nanos(around.wall.unix_nanos().saturating_sub(earlier)),
            started_within: self.start_within,
            active,
            goodput: DataRate::of(watched, active).unwrap_or(DataRate::ZERO),
            end: self.ending.how,
            retransmits: PacketCount::new(self.retransmits),
            mss: last(segment).and_then(|mss| u32::try_from(mss).ok()).filter(|mss| *mss > 0),
            congestion_control: self.congestion_control,
            min_rtt: last(Field::MinRtt).filter(|rtt| KNOWN_RTT.contains(rtt)).map(Duration::from_micros),
            rtt: rtt(self.heading, last),
            declared_line_rate: around.declared_line_rate,
            expected: None,
            limits: Vec::new(),
            loss_events: self.losses.iter().map(|loss| event(*loss, self.start)).collect(),
            retransmit_runs: self.runs.iter().map(|run| run.since(self.start)).collect(),
            sample_every: self.spacing,
        };
        transfer.limits = limit::limits(&transfer, &samples);
        (transfer, samples)
    }
}

fn event(loss: TimedLoss, start: MonoTime) -> LossEvent {
    LossEvent { at: loss.at.since(start), kind: loss.kind }
}

/// An IPv4 address as such, also where the socket is one of IPv6.
#[must_use]
pub fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// What the kernel has smoothed at the end that moves data; a receiver's own estimate is 0 before it has one.
pub(super) fn rtt(heading: Heading, value: impl Fn(Field) -> Option<u64>) -> Option<Duration> {
    let field = match heading {
        Heading::Outbound => Field::Rtt,
        Heading::Inbound => Field::RcvRtt,
    };
    value(field).or_else(|| value(Field::Rtt)).filter(|rtt| KNOWN_RTT.contains(rtt)).map(Duration::from_micros)
}

/// Zero and all ones stand for none.
const KNOWN_RTT: std::ops::Range<u64> = 1..u32::MAX as u64;
