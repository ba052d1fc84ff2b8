//! What a tool has printed of one test, in its own order and with its own gaps.

use std::collections::BTreeMap;
use std::time::Duration;

use model::measurement::{CpuUse, End, Heading};
use model::run::Role;
use model::spec::{Direction, Dscp, Family, Limit, Protocol, SendMethod};
use units::{ByteCount, DataRate, Mss, WallTime};

use super::Format;
use super::anomaly::Anomalies;

/// All that is printed of one test.
#[derive(Debug, Clone)]
pub(crate) struct ParsedTest {
    pub(crate) format: Format,
    /// The line at which it starts.
    pub(crate) line: usize,
    /// The tool's version without its name.
    pub(crate) version: Option<String>,
    pub(crate) host_name: Option<String>,
    pub(crate) kernel: Option<String>,
    pub(crate) command: Vec<String>,
    pub(crate) options: TestOptions,
    pub(crate) role: Option<Role>,
    pub(crate) started: Option<WallTime>,
    /// Who was called, or who called.
    pub(crate) target: Option<String>,
    pub(crate) connections: Vec<Connection>,
    pub(crate) rows: Vec<Row>,
    pub(crate) covered: CoveredSpans,
    pub(crate) ends: Vec<EndRow>,
    /// Segment size that is printed for the connections.
    pub(crate) mss: Option<u32>,
    /// RTT of the handshake.
    pub(crate) handshake: Option<Duration>,
    pub(crate) local_cpu: Option<CpuUse>,
    pub(crate) peer_cpu: Option<CpuUse>,
    /// Congestion control of the sender.
    pub(crate) congestion_control: Option<String>,
    pub(crate) peer_output: Option<String>,
    pub(crate) error: Option<String>,
    /// `iperf Done.` was printed: both ends have told their counts.
    pub(crate) done: bool,
    /// Datagrams that came after one with a higher sequence.
    pub(crate) reordered: Option<u64>,
    /// What the reader has to say besides anomalies.
    pub(crate) notes: Vec<String>,
    pub(crate) anomalies: Anomalies,
}

impl ParsedTest {
    pub(crate) fn new(format: Format, line: usize) -> Self {
        Self {
            format,
            line,
            version: None,
            host_name: None,
            kernel: None,
            command: Vec::new(),
            options: TestOptions::default(),
            role: None,
            started: None,
            target: None,
            connections: Vec::new(),
            rows: Vec::new(),
            covered: CoveredSpans::default(),
            ends: Vec::new(),
            mss: None,
            handshake: None,
            local_cpu: None,
            peer_cpu: None,
            congestion_control: None,
            peer_output: None,
            error: None,
            done: false,
            reordered: None,
            notes: Vec::new(),
            anomalies: Anomalies::default(),
        }
    }

    /// Whether the tool is iperf3.
    pub(crate) fn is_iperf3(&self) -> bool {
        !matches!(self.format, Format::Iperf2Text | Format::NuttcpText | Format::NuttcpPairs)
    }

    /// Whether all that is known of the test is that a key ended it.
    pub(crate) fn is_only_an_interrupt(&self) -> bool {
        self.rows.is_empty()
            && self.ends.is_empty()
            && self.connections.is_empty()
            && self.error.as_ref().is_some_and(|error| error.starts_with("interrupt"))
    }

    /// Whether an end has the zero of a count that never came: it stands beside the other end's bytes, and nothing says that the
    /// test has ended.
    pub(crate) fn lacks_a_count(&self) -> bool {
        let of = |end: End| self.ends.iter().filter(move |count| count.end == end).map(|count| count.row.bytes);
        let sum = |end: End| of(end).fold(ByteCount::ZERO, |sum, bytes| sum.max(bytes));
        let (sent, received) = (sum(End::Sender), sum(End::Receiver));
        let zero_is_told = of(End::Sender).count() > 0 && of(End::Receiver).count() > 0;
        self.format == Format::Iperf3Text
            && !self.done
            && zero_is_told
            && sent.min(received).get() == 0
            && sent != received
    }

    /// Whether the tool is iperf 2.
    pub(crate) fn is_iperf2(&self) -> bool {
        self.format == Format::Iperf2Text
    }

    /// Which way a row goes, seen from the host that printed it.
    pub(crate) fn heading(&self, row: &Row) -> Heading {
        if let Some(heading) = row.heading {
            return heading;
        }
        let of_first = self.rows.first().filter(|_| self.options.direction.is_none()).and_then(|first| first.datagrams);
        if let Some(first) = of_first {
            // Only a receiver counts what is missing, whether it is a server or the client of a reverse test.
            return if first.lost.is_some() { Heading::Inbound } else { Heading::Outbound };
        }
        let towards_server = match self.options.direction {
            Some(Direction::Reverse) => false,
            Some(Direction::Forward | Direction::Bidirectional) => true,
            // A server does not print the direction, but only a sender prints retransmissions.
            None => {
                self.role != Some(Role::Server) || self.rows.first().is_none_or(|first| first.retransmits.is_none())
            }
        };
        if towards_server == (self.role != Some(Role::Server)) { Heading::Outbound } else { Heading::Inbound }
    }

    /// The protocol, where anything shows it.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        let datagrams =
            || self.rows.iter().chain(self.ends.iter().map(|end| &end.row)).any(|row| row.datagrams.is_some());
        self.options.protocol.or_else(|| datagrams().then_some(Protocol::Udp))
    }
}

/// What was asked for, as far as it is printed.
#[derive(Debug, Clone, Default)]
pub(crate) struct TestOptions {
    pub(crate) protocol: Option<Protocol>,
    pub(crate) direction: Option<Direction>,
    pub(crate) limit: Option<Limit>,
    pub(crate) omit: Option<Duration>,
    pub(crate) streams: Option<u16>,
    pub(crate) rate: Option<DataRate>,
    pub(crate) pace: Option<DataRate>,
    pub(crate) congestion_control: Option<String>,
    pub(crate) mss: Option<Mss>,
    pub(crate) window: Option<ByteCount>,
    pub(crate) dscp: Option<Dscp>,
    pub(crate) length: Option<ByteCount>,
    pub(crate) send: Option<SendMethod>,
    pub(crate) family: Option<Family>,
    pub(crate) bind: Option<std::net::IpAddr>,
    pub(crate) device: Option<String>,
    pub(crate) cpu: Option<u16>,
    pub(crate) interval: Option<Duration>,
}

/// Both addresses of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// The tool's number of the stream: iperf3 prints the socket's.
    pub(crate) stream: u32,
    pub(crate) local: String,
    pub(crate) peer: String,
}

/// `192.0.2.1` of `192.0.2.1:5201`, `2001:db8::1` of `[2001:db8::1]:5201`.
pub(crate) fn host_of(address: &str) -> &str {
    match address.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => address.rsplit_once(':').map_or(address, |(host, _)| host),
    }
}

/// Whose row it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    /// The tool's number of the stream.
    Stream(u32),
    /// All streams together.
    Sum,
}

/// How far intervals have come, so that no row need be looked at twice: a log of a day has 86,400 of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CoveredSpans {
    /// The end of the last interval of any stream.
    pub(crate) latest: Duration,
    /// The same of each stream, without omitted intervals.
    of_stream: BTreeMap<DirectedStream, Duration>,
}

impl CoveredSpans {
    /// Adds an interval.
    pub(crate) fn add(&mut self, row: &Row) {
        self.latest = self.latest.max(row.end);
        if !row.omitted {
            let last = self.of_stream.entry(DirectedStream::of(row)).or_default();
            *last = row.end.max(*last);
        }
    }

    /// Whether a row of an interval lies within what its stream printed before: a line that was copied twice.
    pub(crate) fn repeats(&self, row: &Row) -> bool {
        let half = row.end.saturating_sub(row.start) / 2;
        let last = self.of_stream.get(&DirectedStream::of(row));
        !row.start.is_zero() && !row.omitted && last.is_some_and(|last| row.start + half < *last)
    }

    /// Whether a row that begins at zero covers all that its stream printed before: a summary.
    pub(crate) fn are_within(&self, row: &Row) -> bool {
        self.of_stream.get(&DirectedStream::of(row)).is_some_and(|last| row.end >= *last)
    }
}

/// A stream in one direction: with `--bidir` one number stands for two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DirectedStream {
    label: Label,
    heading: Option<Heading>,
}

impl DirectedStream {
    fn of(row: &Row) -> Self {
        Self { label: row.label, heading: row.heading }
    }
}

/// A number as printed: the truth is within `within` of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrintedAmount {
    pub(crate) bytes: ByteCount,
    pub(crate) within: u64,
}

/// Datagrams of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Datagrams {
    /// Missing ones; a sender does not know, and reordering across intervals makes it negative.
    pub(crate) lost: Option<i64>,
    /// Sent by a sender; at a receiver by how far the sequence went on.
    pub(crate) total: u64,
}

/// One interval of one stream, or of all.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) label: Label,
    /// Which way, where the row says so.
    pub(crate) heading: Option<Heading>,
    pub(crate) start: Duration,
    pub(crate) end: Duration,
    pub(crate) bytes: ByteCount,
    pub(crate) rate: Option<DataRate>,
    pub(crate) retransmits: Option<u64>,
    pub(crate) cwnd: Option<PrintedAmount>,
    pub(crate) snd_wnd: Option<ByteCount>,
    pub(crate) rtt: Option<Duration>,
    pub(crate) rttvar: Option<Duration>,
    pub(crate) pmtu: Option<u32>,
    pub(crate) jitter: Option<Duration>,
    pub(crate) datagrams: Option<Datagrams>,
    /// A number behind the rate of which no heading says what it counts.
    pub(crate) unnamed: Option<u64>,
    pub(crate) omitted: bool,
}

impl Row {
    pub(crate) fn new(label: Label, start: Duration, end: Duration, bytes: ByteCount) -> Self {
        Self {
            label,
            heading: None,
            start,
            end,
            bytes,
            rate: None,
            retransmits: None,
            cwnd: None,
            snd_wnd: None,
            rtt: None,
            rttvar: None,
            pmtu: None,
            jitter: None,
            datagrams: None,
            unnamed: None,
            omitted: false,
        }
    }
}

impl Row {
    /// The two ends in one row of UDP that mixes them: its bytes are those sent, its losses those of the receiver.
    pub(crate) fn both_ends(&self) -> [EndRow; 2] {
        let sender = Self { datagrams: None, jitter: None, ..self.clone() };
        let receiver = Self { bytes: self.arrived(), rate: None, ..self.clone() };
        [EndRow { end: End::Sender, row: sender }, EndRow { end: End::Receiver, row: receiver }]
    }

    /// The payload that arrived, of a row whose bytes were sent: datagrams have one size.
    fn arrived(&self) -> ByteCount {
        let Some(Datagrams { lost: Some(lost), total }) = self.datagrams else { return self.bytes };
        let came = total.saturating_sub(u64::try_from(lost).unwrap_or(0));
        let bytes = u128::from(self.bytes.get()) * u128::from(came) / u128::from(total.max(1));
        ByteCount::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// A row of the summary.
#[derive(Debug, Clone)]
pub(crate) struct EndRow {
    /// Whose count it is.
    pub(crate) end: End,
    pub(crate) row: Row,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrived_follows_from_what_was_lost() {
        let mut row = Row::new(Label::Sum, Duration::ZERO, Duration::from_secs(1), ByteCount::new(1000));
        row.datagrams = Some(Datagrams { lost: Some(3), total: 10 });
        assert_eq!(row.both_ends().map(|count| count.row.bytes.get()), [1000, 700]);
    }
}
