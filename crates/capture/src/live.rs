//! Packets as they pass: what limits each transfer at the moment, and in the end the report of a trace.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde::Serialize;

use crate::connection::Connection;
use crate::decode::address;
use crate::direction::Direction;
use crate::direction::owner::{Budget, Owner};
use crate::file::{DropCounts, FileError, Packet};
use crate::report::TraceReport;
use crate::stream::PacketOrder;
use crate::trace::{Ended, Flows, TraceOptions};

/// Follows the connections of a device. Memory does not grow with time: see [`TraceOptions`].
#[derive(Debug)]
pub struct LiveTrace {
    packets: PacketOrder,
    flows: Flows,
    frames: u64,
    /// The time of the first packet.
    first_ns: Option<i64>,
    before: Totals,
}

/// Transfers as they were at the end of the last interval.
#[derive(Debug, Default)]
struct Totals {
    at_ns: Option<i64>,
    packets: u64,
    missed: u64,
    transfers: HashMap<Name, Total>,
}

/// Two transfers of the same addresses and ports differ in when they began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Name {
    from: SocketAddr,
    to: SocketAddr,
    first_ns: i64,
}

/// What is counted of a transfer from its first packet on.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    delivered: u64,
    retransmits: u64,
    owned_ns: [i64; Owner::ALL.len()],
    is_writer_in_doubt: bool,
    flight: u64,
    rtt_ns: Option<i64>,
}

/// An interval of a live capture.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveInterval {
    /// The version of this format.
    pub format: u32,
    /// The device that is listened on, or the file that grows.
    pub device: String,
    /// When the interval ended, in nanoseconds since 1970.
    pub at_ns: i64,
    /// How long it was, in nanoseconds.
    pub length_ns: i64,
    /// Packets that passed.
    pub packets: u64,
    /// Packets that came faster than they were taken.
    pub missed: u64,
    /// Connections that are followed.
    pub connections: u64,
    /// Transfers that moved something or waited with data in flight; those that moved most first.
    pub transfers: Vec<LiveTransfer>,
    /// Transfers beyond those.
    pub left_out: u64,
}

/// A transfer within an interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveTransfer {
    /// Who sends.
    pub from: SocketAddr,
    /// Who receives.
    pub to: SocketAddr,
    /// Payload that the receiver has acknowledged in the interval.
    pub delivered_bytes: u64,
    /// The same a second, in bits.
    pub goodput_bps: u64,
    /// Segments retransmitted in the interval.
    pub retransmits: u64,
    /// Bytes in flight (RFC 6675) at its end.
    pub flight_bytes: u64,
    /// RTT of the whole path, smoothed (RFC 6298); absent without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<i64>,
    /// What limited it for most of the interval.
    pub limit: Owner,
    /// Share of the interval in which that did, from 0 to 1.
    pub limit_share: f64,
}

/// Transfers of an interval that are named.
const MAX_SHOWN: usize = 1_000;

impl LiveTrace {
    /// No packet has passed yet.
    #[must_use]
    pub fn new(options: TraceOptions) -> Self {
        Self {
            packets: PacketOrder::new(options.sort_window_ns),
            flows: Flows::new(options),
            frames: 0,
            first_ns: None,
            before: Totals::default(),
        }
    }

    /// One packet, whose number is given here.
    pub fn take(&mut self, packet: &Packet<'_>) {
        self.frames += 1;
        self.first_ns.get_or_insert(packet.time_ns);
        let Self { packets, flows, frames, .. } = self;
        packets.take(&Packet { frame: *frames, ..*packet }, |next| flows.take(next));
    }

    /// The time of the latest packet with TCP, as the order of packets has it: where a clock is set back, time goes on.
    #[must_use]
    pub fn newest_ns(&self) -> Option<i64> {
        self.packets.newest_ns()
    }

    /// What happened since the last call, or the first packet, up to `at_ns`: all packets until then have been taken, but for `missed` since the start.
    pub fn interval(&mut self, device: &str, at_ns: i64, missed: u64) -> LiveInterval {
        let Self { packets, flows, frames, first_ns, before } = self;
        packets.release(at_ns, |next| flows.take(next));
        let start_ns = before.at_ns.or(*first_ns);
        let length_ns = start_ns.map_or(0, |start_ns| at_ns.saturating_sub(start_ns)).max(1);
        let now: HashMap<Name, Total> = flows.live().flat_map(|connection| totals(connection, at_ns)).collect();
        let mut transfers: Vec<LiveTransfer> = now
            .iter()
            .filter_map(|(name, total)| {
                let earlier = before.transfers.get(name).copied().unwrap_or_default();
                LiveTransfer::of(name, &earlier, total, length_ns)
            })
            .collect();
        transfers.sort_by_key(|one| (std::cmp::Reverse(one.delivered_bytes), one.from, one.to));
        let left_out = transfers.len().saturating_sub(MAX_SHOWN) as u64;
        transfers.truncate(MAX_SHOWN);
        let interval = LiveInterval {
            format: 1,
            device: device.to_owned(),
            at_ns,
            length_ns,
            packets: *frames - before.packets,
            missed: missed.saturating_sub(before.missed),
            connections: flows.live().len() as u64,
            transfers,
            left_out,
        };
        *before = Totals { at_ns: Some(at_ns), packets: *frames, missed, transfers: now };
        interval
    }

    /// The end: of packets that passed and were not taken, and of a file that cannot be read on.
    #[must_use]
    pub fn end(mut self, drops: DropCounts, damage: Option<FileError>) -> TraceReport {
        let Self { packets, flows, frames, .. } = &mut self;
        packets.end(|next| flows.take(next));
        let Ended { mut connections, left_out } = flows.end();
        packets.name_tags(&mut connections);
        TraceReport {
            packets: *frames,
            counts: packets.counts(),
            order: packets.faults(),
            drops,
            damage,
            connections,
            left_out,
        }
    }
}

impl LiveTransfer {
    /// None where nothing moved and nothing waited for anything but the application.
    fn of(name: &Name, earlier: &Total, total: &Total, length_ns: i64) -> Option<Self> {
        let delivered_bytes = total.delivered.saturating_sub(earlier.delivered);
        let mut spent = Budget::default();
        for ((owner, now), before) in Owner::ALL.into_iter().zip(total.owned_ns).zip(earlier.owned_ns) {
            spent.add(owner, now - before);
        }
        if !total.is_writer_in_doubt {
            spent.reassign_all(Owner::ApplicationOrSendBuffer, Owner::Application);
        }
        let of_owners = Owner::ALL.into_iter().map(|owner| (owner, spent.spent_ns(owner)));
        let (limit, limit_ns) = of_owners.max_by_key(|(_, spent_ns)| *spent_ns)?;
        if delivered_bytes == 0 && total.flight == 0 {
            return None;
        }
        let bits = u128::from(delivered_bytes) * 8_000_000_000 / u128::from(length_ns.unsigned_abs().max(1));
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let limit_share = (limit_ns as f64 / length_ns as f64).clamp(0.0, 1.0);
        Some(Self {
            from: name.from,
            to: name.to,
            delivered_bytes,
            goodput_bps: u64::try_from(bits).unwrap_or(u64::MAX),
            retransmits: total.retransmits.saturating_sub(earlier.retransmits),
            flight_bytes: total.flight,
            rtt_ns: total.rtt_ns,
            limit,
            limit_share,
        })
    }
}

/// A total for each direction that carries data.
fn totals(connection: &Connection, at_ns: i64) -> impl Iterator<Item = (Name, Total)> {
    let ends = connection.endpoints;
    let client = SocketAddr::new(address(ends.source), ends.source_port);
    let server = SocketAddr::new(address(ends.destination), ends.destination_port);
    let first_ns = connection.first_ns;
    let [one, other] = &connection.directions;
    [(one, client, server), (other, server, client)]
        .into_iter()
        .filter(|(direction, ..)| direction.counts.data_packets > 0)
        .map(move |(direction, from, to)| (Name { from, to, first_ns }, Total::of(direction, at_ns)))
}

impl Total {
    fn of(direction: &Direction, at_ns: i64) -> Self {
        let mut owned_ns = Owner::ALL.map(|owner| direction.budget.spent_ns(owner));
        // The time since the last packet has its owner too.
        let since_ns = at_ns.saturating_sub(direction.span.owned_until_ns);
        if since_ns > 0
            && let Some(open) = owned_ns.get_mut(direction.owner_before(at_ns) as usize)
        {
            *open = open.saturating_add(since_ns);
        }
        Self {
            delivered: direction.delivered().saturating_sub(u64::from(direction.numbers.saw_fin)),
            retransmits: direction.counts.retransmits,
            owned_ns,
            is_writer_in_doubt: direction.is_writer_in_doubt(),
            flight: direction.flight(),
            rtt_ns: (direction.rtt.samples > 0).then(|| direction.rtt.smoothed_ns + direction.sender_lag_ns),
        }
    }
}

/// The schema of [`LiveInterval`].
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(LiveInterval)
}
