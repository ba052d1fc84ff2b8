//! Progress while a test runs, read from the streams themselves at each interval's end.

use std::time::Duration;

use linux::tcp_info::TcpInfo;
use model::measurement::{Heading, Interval};
use model::series::field::Field;
use model::spec::Protocol;
use units::{ByteCount, DataRate, MonoTime, PacketCount};

use super::part::Running;
use crate::engine::streams::{Stream, StreamSet};
use crate::telemetry;

/// Cuts a running test into intervals.
#[derive(Debug)]
pub struct Live {
    every: Duration,
    start: MonoTime,
    last: MonoTime,
    protocol: Protocol,
    headings: Vec<(Heading, Reading)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    bytes: u64,
    packets: u64,
    lost: u64,
    retransmits: Option<u64>,
    rtt: Option<Duration>,
    cwnd: Option<u64>,
}

impl Live {
    /// Watches a test that has just started.
    #[must_use]
    pub fn new(running: &Running, protocol: Protocol, every: Duration) -> Self {
        let streams = running.streams.streams();
        let headings = [Heading::Outbound, Heading::Inbound]
            .into_iter()
            .filter(|heading| streams.iter().any(|stream| stream.heading == *heading))
            .map(|heading| (heading, Reading::default()))
            .collect();
        Self { every, start: running.start, last: running.start, protocol, headings }
    }

    /// When the next interval ends.
    #[must_use]
    pub fn due(&self) -> MonoTime {
        self.last + self.every
    }

    /// The interval that ends now, one for each heading.
    pub fn cut(&mut self, set: &StreamSet, now: MonoTime) -> Vec<Interval> {
        let (start, end) = (self.last.since(self.start), now.since(self.start));
        self.last = now;
        let protocol = self.protocol;
        self.headings
            .iter_mut()
            .map(|(heading, before)| {
                let after = Reading::of(set, *heading, protocol);
                let before = std::mem::replace(before, after);
                interval(*heading, (start, end), (before, after), protocol)
            })
            .collect()
    }
}

fn interval(
    heading: Heading,
    (start, end): (Duration, Duration),
    (before, after): (Reading, Reading),
    protocol: Protocol,
) -> Interval {
    let bytes = ByteCount::new(after.bytes.saturating_sub(before.bytes));
    let datagrams = protocol == Protocol::Udp;
    let receives = heading == Heading::Inbound;
    Interval {
        start,
        end,
        heading,
        bytes,
        rate: DataRate::of(bytes, end.saturating_sub(start)).unwrap_or_default(),
        retransmits: after.retransmits.map(|now| PacketCount::new(now.saturating_sub(before.retransmits.unwrap_or(0)))),
        rtt: after.rtt,
        cwnd: after.cwnd.map(ByteCount::new),
        lost: (datagrams && receives).then(|| PacketCount::new(after.lost.saturating_sub(before.lost))),
        datagrams: datagrams.then(|| PacketCount::new(after.packets.saturating_sub(before.packets))),
    }
}

impl Reading {
    fn of(set: &StreamSet, heading: Heading, protocol: Protocol) -> Self {
        let streams: Vec<&Stream> = set.streams().iter().filter(|stream| stream.heading == heading).collect();
        let mut reading = Self::default();
        for stream in &streams {
            let counts = stream.counters.read();
            reading.bytes += counts.bytes;
            reading.packets += counts.packets;
            reading.lost += counts.lost;
        }
        if protocol == Protocol::Tcp && heading == Heading::Outbound {
            reading
                .take_infos(&streams.iter().filter_map(|stream| TcpInfo::read(stream.fd()).ok()).collect::<Vec<_>>());
        }
        reading
    }

    fn take_infos(&mut self, infos: &[TcpInfo]) {
        let sum = |field| infos.iter().map(|info| telemetry::value(info, field)).sum::<Option<u64>>();
        // What is acknowledged has arrived; what was handed over may still lie in the send buffer.
        self.bytes = sum(Field::BytesAcked).unwrap_or(self.bytes);
        self.retransmits = sum(Field::TotalRetrans);
        self.cwnd = infos.iter().map(cwnd_bytes).sum();
        let rtts: Vec<u64> = infos.iter().filter_map(|info| telemetry::value(info, Field::Rtt)).collect();
        self.rtt = rtts.iter().sum::<u64>().checked_div(rtts.len() as u64).map(Duration::from_micros);
    }
}

fn cwnd_bytes(info: &TcpInfo) -> Option<u64> {
    Some(telemetry::value(info, Field::SndCwnd)? * telemetry::value(info, Field::SndMss)?)
}
