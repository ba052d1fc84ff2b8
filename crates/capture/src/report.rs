//! What comes of a trace: all that is shown, as values.

use std::net::SocketAddr;

use serde::Serialize;

use crate::connection::Connection;
use crate::decode::address;
use crate::direction::Direction;
use crate::direction::event::EventType;
use crate::direction::losses::LossRecord;
use crate::direction::owner::Owner;
use crate::direction::series::Series;
use crate::file::{DropCounts, FileError};
use crate::order::OrderFaults;
use crate::verdict::{Verdict, judge};

/// What the packets of a trace were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketCounts {
    /// Packets with a TCP header, copies included.
    pub tcp: u64,
    /// Packets with anything but TCP.
    pub other: u64,
    /// Later fragments of IP packets with TCP.
    pub fragments: u64,
    /// Of these, fragments whose first one the capture lacks, or has much earlier or later: their bytes are not counted.
    pub fragments_apart: u64,
    /// Packets of which too little was stored.
    pub cut_short: u64,
    /// Packets of a link layer that is not known.
    pub unknown_link: u64,
    /// The first such link layer, by its `LINKTYPE_` number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_unknown_link: Option<u16>,
}

/// What one capture file holds, with what could not be read of it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceReport {
    /// Packets in the file.
    pub packets: u64,
    /// What they were.
    pub counts: PacketCounts,
    /// How their times were out of order.
    pub order: OrderFaults,
    /// What the file says was lost while it was written.
    pub drops: DropCounts,
    /// Why the file was not read to its end.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub damage: Option<FileError>,
    /// In the order of their ends.
    pub connections: Vec<ConnectionReport>,
    /// Connections that are not reported: many larger ones are.
    pub left_out: u64,
}

/// One TCP connection of a trace, with a transfer for each direction that carries data.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectionReport {
    /// Who opened it, as far as the capture shows.
    pub client: SocketAddr,
    /// The host that was connected to.
    pub server: SocketAddr,
    /// A digest of tags and tunnels around its packets; 0 where there are none.
    pub outer: u32,
    /// The tags and tunnels of its first packet, the outermost first; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
    /// When its first packet came, in nanoseconds since 1970.
    pub first_ns: i64,
    /// When its last packet came.
    pub last_ns: i64,
    /// The frame of its first packet.
    pub first_frame: u64,
    /// Packets of both directions, without copies.
    pub packets: u64,
    /// Copies of packets that were left out.
    pub duplicates: u64,
    /// Segments of which the snap length has cut TCP options.
    pub cut_options: u64,
    /// Whether the handshake was captured.
    pub has_handshake: bool,
    /// Whether a RST was seen.
    pub was_reset: bool,
    /// The directions in which data was sent, client first.
    pub transfers: Vec<TransferReport>,
}

/// Where on its path a transfer was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CapturePoint {
    /// At or near the host that sends the data.
    Sender,
    /// At or near the host that receives it.
    Receiver,
    /// Between them.
    Between,
    /// The capture does not show it.
    Unknown,
}

/// The data of one direction.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferReport {
    /// Who sent it.
    pub from: SocketAddr,
    /// Who received it.
    pub to: SocketAddr,
    /// Where it was captured.
    pub captured_at: CapturePoint,
    /// When its first data was sent, in nanoseconds since 1970.
    pub first_ns: i64,
    /// From there until its last data was acknowledged.
    pub duration_ns: i64,
    /// Payload that the receiver has acknowledged.
    pub delivered_bytes: u64,
    /// Packets and segments by what became of them.
    pub counts: TransferCounts,
    /// RTT of the whole path; absent without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<RttReport>,
    /// The receiver's window: least, greatest, and its scale where the handshake was captured.
    pub window: WindowReport,
    /// Bytes outstanding after each data packet: mean and greatest.
    pub outstanding_mean_bytes: u64,
    /// The greatest of them.
    pub outstanding_max_bytes: u64,
    /// The longest that a packet waited in the sending host, in nanoseconds, where time stamps show that packets did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_max_ns: Option<i64>,
    /// Bytes in flight (RFC 6675) at most.
    pub flight_max_bytes: u64,
    /// The time from the first data to the last acknowledgment, and the handshake, by what limited the sender.
    pub budget: Vec<BudgetShare>,
    /// What happened, the costliest first; numbers count from 1 in the order of time.
    pub events: Vec<EventReport>,
    /// Events for which there was no room.
    pub events_left_out: u64,
    /// What limited it, the most important first.
    pub verdicts: Vec<Verdict>,
    /// What it did over time, where a picture is wanted.
    #[serde(skip)]
    pub series: Option<Box<Series>>,
    /// What was lost and what passed, where transfers between the same hosts may explain it.
    #[serde(skip)]
    pub(crate) losses: Option<Box<LossRecord>>,
}

/// Time of one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetShare {
    /// What limited the sender.
    pub owner: Owner,
    /// For how long in all, in nanoseconds.
    pub time_ns: i64,
}

/// What was counted of a transfer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferCounts {
    /// Packets with data, retransmissions included.
    pub data_packets: u64,
    /// Segments of at most an MSS in them.
    pub segments: u64,
    /// Payload on the wire, retransmissions included.
    pub payload_bytes: u64,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// Packets that segmentation offload had not cut yet.
    pub super_packets: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Retransmitted segments that had arrived before.
    pub spurious: u64,
    /// Acknowledgments with a DSACK block.
    pub dsacks: u64,
    /// Segments that were overtaken.
    pub reordered: u64,
    /// How often the retransmission timer fired.
    pub timeouts: u64,
    /// Tail loss probes.
    pub tail_probes: u64,
    /// Loss recoveries that duplicate acknowledgments, SACK or RACK began.
    pub recoveries: u64,
    /// Keep-alive segments.
    pub keep_alives: u64,
    /// Segments that acknowledge this data, with or without data of their own.
    pub acks: u64,
    /// Duplicate acknowledgments.
    pub duplicate_acks: u64,
    /// How often the receiver closed its window.
    pub zero_windows: u64,
    /// Packets with congestion experienced.
    pub ce_marks: u64,
    /// Acknowledgments with ECE.
    pub ece_acks: u64,
    /// Bytes that were acknowledged and never seen.
    pub unseen_bytes: u64,
    /// Packets that waited in the sending host while others left, as their time stamps show: its qdisc held them back.
    pub held_packets: u64,
}

/// RTTs from sender to receiver and back, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RttReport {
    /// Segments that gave one: sent once, acknowledged without a hole before them.
    pub samples: u64,
    /// The least one: propagation, and the queues that are never empty.
    pub min_ns: i64,
    /// The median, right to 6 %.
    pub median_ns: i64,
    /// The 95th percentile, right to 6 %.
    pub p95_ns: i64,
    /// The greatest one, without samples of retransmitted segments.
    pub max_ns: i64,
}

/// The window that the receiver offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowReport {
    /// The least one; 0 is a closed window.
    pub min_bytes: u64,
    /// The greatest one, which bounds the rate by window over RTT.
    pub max_bytes: u64,
    /// Its scale, where the handshake was captured; else the sizes are the least that explain what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<u8>,
}

/// Something that happened to a transfer, with its cost and the frames that show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventReport {
    /// Its number in the order of time, as pictures show it.
    pub number: usize,
    /// What it is.
    pub event: EventType,
    /// When it began, from the first data on.
    pub from_ns: i64,
    /// When it ended.
    pub to_ns: i64,
    /// The frame that shows its begin.
    pub first_frame: u64,
    /// The last frame of it.
    pub last_frame: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Those of them that had arrived before.
    pub spurious: u64,
    /// Bytes outstanding when it began.
    pub flight_bytes: u64,
    /// Bytes that were not delivered because of it.
    pub cost_bytes: u64,
    /// The time that these would have taken at the rate before it.
    pub cost_ns: i64,
}

fn as_text<S: serde::Serializer>(damage: &Option<FileError>, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(&damage.as_ref().map(ToString::to_string).unwrap_or_default())
}

/// A trace as programs read it: what `linerate trace --json` prints for each file.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceDocument {
    /// The version of this format.
    pub format: u32,
    /// Name of the file as it was given; `-` is standard input.
    pub file: String,
    /// What it holds; connections with the costliest transfers first.
    #[serde(flatten)]
    pub report: TraceReport,
}

/// The schema of [`TraceDocument`].
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(TraceDocument)
}

impl ConnectionReport {
    pub(crate) fn of(connection: Connection) -> Self {
        let ends = connection.endpoints;
        let client = SocketAddr::new(address(ends.source), ends.source_port);
        let server = SocketAddr::new(address(ends.destination), ends.destination_port);
        let has_handshake = connection.handshake.to_client_ns.is_some() && connection.handshake.client_isn.is_some();
        let last_ns = connection.last_ns;
        let [mut one, mut other] = connection.directions;
        one.hops.peer.clone_from(&other.hops.own);
        other.hops.peer.clone_from(&one.hops.own);
        let transfers = [(one, client, server), (other, server, client)];
        let transfers = transfers.into_iter().filter(|(direction, ..)| direction.counts.data_packets > 0);
        Self {
            client,
            server,
            outer: ends.outer,
            tags: None,
            first_ns: connection.first_ns,
            last_ns,
            first_frame: connection.first_frame,
            packets: connection.packets,
            duplicates: connection.duplicates,
            cut_options: connection.cut_options,
            has_handshake,
            was_reset: connection.was_reset,
            transfers: transfers.map(|(direction, from, to)| TransferReport::of(direction, from, to)).collect(),
        }
    }

    /// Payload of both directions.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        self.transfers.iter().map(|transfer| transfer.counts.payload_bytes).sum()
    }
}

/// Data packets of a transfer that matters to others through the same bucket.
const LEAST_SHARED: u64 = 50;

impl TransferReport {
    fn of(mut direction: Direction, from: SocketAddr, to: SocketAddr) -> Self {
        let end_ns = direction.end();
        direction.settle_writer();
        let verdicts = judge(&direction);
        let counts = &direction.counts;
        let counts_data = counts.data_packets;
        let mean = direction.outstanding_total / u128::from(counts.data_packets.max(1));
        Self {
            from,
            to,
            captured_at: capture_point(&direction),
            first_ns: direction.span.first_data_ns,
            duration_ns: (end_ns - direction.span.first_data_ns).max(0),
            delivered_bytes: direction.delivered().saturating_sub(u64::from(direction.numbers.saw_fin)),
            counts: TransferCounts::of(&direction),
            rtt: rtt(&direction),
            window: WindowReport {
                min_bytes: direction.window.min.unwrap_or_default(),
                max_bytes: direction.window.max,
                scale: direction.window.scale,
            },
            outstanding_mean_bytes: u64::try_from(mean).unwrap_or(u64::MAX),
            outstanding_max_bytes: direction.max_outstanding,
            held_max_ns: (direction.waited.packets > 0).then_some(direction.waited.most_ns),
            flight_max_bytes: counts.max_flight,
            budget: Owner::ALL.map(|owner| BudgetShare { owner, time_ns: direction.budget.spent_ns(owner) }).to_vec(),
            events: events(&direction),
            events_left_out: direction.events.left_out,
            verdicts,
            series: direction.series,
            losses: (counts_data > LEAST_SHARED).then(|| Box::new(direction.losses)),
        }
    }

    /// Bytes that all its events cost.
    #[must_use]
    pub fn cost_bytes(&self) -> u64 {
        self.events.iter().map(|event| event.cost_bytes).sum()
    }

    /// Payload a second, in bits; none for a transfer of no duration.
    #[must_use]
    pub fn goodput_bps(&self) -> Option<u64> {
        let duration_ns = u128::try_from(self.duration_ns).ok().filter(|ns| *ns > 0)?;
        u64::try_from(u128::from(self.delivered_bytes) * 8_000_000_000 / duration_ns).ok()
    }
}

impl TransferCounts {
    fn of(direction: &Direction) -> Self {
        let counts = &direction.counts;
        Self {
            data_packets: counts.data_packets,
            segments: counts.segments,
            payload_bytes: counts.payload_bytes,
            mss_bytes: direction.mss(),
            super_packets: counts.super_packets,
            retransmits: counts.retransmits,
            spurious: counts.spurious,
            dsacks: counts.dsacks,
            reordered: counts.reordered,
            timeouts: counts.timeouts,
            tail_probes: counts.tail_probes,
            recoveries: counts.recoveries,
            keep_alives: counts.keep_alives,
            acks: counts.acks,
            duplicate_acks: counts.duplicate_acks,
            zero_windows: counts.zero_windows,
            ce_marks: counts.ce_marks,
            ece_acks: counts.ece_acks,
            unseen_bytes: counts.unseen_bytes,
            held_packets: direction.waited.packets.into(),
        }
    }
}

fn capture_point(direction: &Direction) -> CapturePoint {
    let (to_sender_ns, to_receiver_ns) = (direction.sender_lag_ns, direction.rtt.min_ns);
    match (direction.rtt.samples, direction.has_sender_lag || direction.least_lag_ns.is_some()) {
        (0, _) | (_, false) => CapturePoint::Unknown,
        _ if to_sender_ns == 0 => CapturePoint::Sender,
        _ if to_receiver_ns * 10 < to_sender_ns => CapturePoint::Receiver,
        _ => CapturePoint::Between,
    }
}

fn rtt(direction: &Direction) -> Option<RttReport> {
    let (meter, lag_ns) = (&direction.rtt, direction.sender_lag_ns);
    let quantile = |share| meter.histogram.quantile_ns(share).map(|ns| ns.clamp(meter.min_ns, meter.max_ns) + lag_ns);
    Some(RttReport {
        samples: meter.samples,
        min_ns: meter.min_ns + lag_ns,
        median_ns: quantile(0.5)?,
        p95_ns: quantile(0.95)?,
        max_ns: meter.max_ns + lag_ns,
    })
}

#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "costs are not negative, and casts saturate"
)]
fn events(direction: &Direction) -> Vec<EventReport> {
    let first_ns = direction.span.first_data_ns;
    let mut ordered: Vec<_> = direction.events.list.iter().collect();
    ordered.sort_by_key(|event| event.from_ns);
    let mut events: Vec<EventReport> = (1..)
        .zip(ordered)
        .map(|(number, event)| EventReport {
            number,
            event: event.event_type,
            from_ns: event.from_ns - first_ns,
            to_ns: event.to_ns - first_ns,
            first_frame: event.first_frame,
            last_frame: event.last_frame,
            retransmits: event.retransmits,
            spurious: event.spurious,
            flight_bytes: event.flight,
            cost_bytes: event.cost_bytes as u64,
            cost_ns: event.cost_ns as i64,
        })
        .collect();
    events.sort_by_key(|event| std::cmp::Reverse((event.cost_bytes, event.to_ns - event.from_ns)));
    events
}
