//! An adapter that merges the segments of a flow as it receives them (LRO, and `rx-gro-hw` of ethtool) where it should not:
//! the packets are not for its own host, and the merged one is larger than the link behind it carries. So all that was
//! merged is lost, and a segment gets through only if it comes alone.

use std::time::Duration;

use serde::Deserialize;
use units::{MonoTime, Mtu};

use crate::element::Element;
use crate::outlet::Outlet;
use crate::reason::{Delay, Drop};
use crate::spec::{ElementSpec, LONGEST, SpecError, check_not_zero};
use crate::train::{FlowHash, LINK_HEADER, PacketKind, Train};

/// A merging adapter as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MergerSpec {
    /// How long it waits for the segment that follows.
    #[serde(deserialize_with = "units::duration::text::read")]
    pub window: Duration,
    /// Whether it merges only TCP inside of a UDP tunnel (VXLAN), and leaves other TCP to the host.
    #[serde(default)]
    pub tunnelled_only: bool,
    /// The largest IP packet that the link behind it carries, in bytes.
    #[serde(default = "ethernet")]
    pub mtu: Mtu,
}

fn ethernet() -> Mtu {
    const ETHERNET: Mtu = match Mtu::new(1_500) {
        Ok(mtu) => mtu,
        Err(_) => Mtu::MIN,
    };
    ETHERNET
}

impl MergerSpec {
    /// # Errors
    /// A window that is none or too long.
    pub fn check(&self) -> Result<(), SpecError> {
        check_not_zero("merger", "window", self.window)?;
        if self.window > LONGEST {
            return Err(SpecError::TooLong { element: "merger", key: "window", longest: LONGEST });
        }
        Ok(())
    }

    fn merges(&self, kind: PacketKind) -> bool {
        match kind {
            PacketKind::TcpData => !self.tunnelled_only,
            PacketKind::TunnelledTcpData => true,
            PacketKind::TcpSyn
            | PacketKind::TcpControl
            | PacketKind::Udp
            | PacketKind::Tunnelled
            | PacketKind::Link
            | PacketKind::Other => false,
        }
    }
}

/// See [`MergerSpec`].
#[derive(Debug)]
pub(crate) struct Merger {
    spec: MergerSpec,
    /// One for each flow that is being merged, the oldest first.
    groups: Vec<Group>,
}

/// Segments of one flow that become one packet.
#[derive(Debug)]
struct Group {
    flow: FlowHash,
    /// Its first segment, while it is the only one. Those that were joined are gone.
    lone: Option<Train>,
    /// Size of its first segment on the link. A larger one is not joined, and a smaller one is the last.
    segment: u32,
    /// Size on the link of what they have become.
    bytes: u32,
    /// When it is over, if no segment follows.
    until: MonoTime,
}

impl Merger {
    pub(crate) fn new(spec: &MergerSpec) -> Self {
        Self { spec: spec.clone(), groups: Vec::with_capacity(MOST_FLOWS) }
    }

    /// Ends the group of a flow: a segment that stayed alone goes on.
    fn close(&mut self, flow: FlowHash, out: &mut Outlet<'_>) {
        if let Some(place) = self.groups.iter().position(|group| group.flow == flow) {
            self.groups.remove(place).release(out);
        }
    }

    fn open(&mut self, first: Train, out: &mut Outlet<'_>) {
        if self.groups.len() == MOST_FLOWS {
            self.groups.remove(0).release(out);
        }
        let (flow, segment) = (first.flow, first.largest());
        let until = out.now() + self.spec.window;
        self.groups.push(Group {
            flow,
            lone: Some(Train { came: out.now(), ..first }),
            segment,
            bytes: segment,
            until,
        });
    }

    /// Adds packets from the front of a train to the group of its flow, or begins another. Returns what remains.
    fn merge(&mut self, train: Train, out: &mut Outlet<'_>) -> Option<Train> {
        let place = self.groups.iter().position(|group| group.flow == train.flow);
        match place.map(|place| (place, self.groups[place].room_for(&train))) {
            Some((place, count @ 1..)) => {
                let (joining, rest) = train.split_front(count);
                self.join(place, joining?, out);
                rest
            }
            _ => {
                self.close(train.flow, out);
                let (first, rest) = train.split_front(1);
                self.open(first?, out);
                rest
            }
        }
    }

    /// Adds segments to a group, which is their end unless all fit behind the adapter.
    fn join(&mut self, place: usize, joining: Train, out: &mut Outlet<'_>) {
        let group = &mut self.groups[place];
        let is_last = joining.last_size < group.segment;
        group.bytes += payload(&joining) * joining.count.get();
        group.until = out.now() + self.spec.window;
        if group.bytes > self.spec.mtu.get() + LINK_HEADER {
            group.lone.take().into_iter().for_each(|lone| out.drop(lone, Drop::Merged));
            out.drop(joining, Drop::Merged);
        } else {
            // Model: segments that fit together are let through as they came, and the last of them may be joined again.
            self.close(joining.flow, out);
            self.open(joining, out);
        }
        if is_last {
            self.close(joining.flow, out);
        }
    }
}

impl Group {
    /// How many packets of a train may be joined. Only one at first, as it decides what becomes of both.
    fn room_for(&self, train: &Train) -> u32 {
        if train.largest() > self.segment {
            return 0;
        }
        let room = LARGEST_MERGED.saturating_sub(self.bytes) / payload(train);
        room.min(if self.lone.is_some() { 1 } else { train.count.get() })
    }

    fn release(self, out: &mut Outlet<'_>) {
        if let Some(lone) = self.lone {
            out.delayed(&lone, Delay::Merging, lone.came, out.now());
            out.pass(lone);
        }
    }
}

/// What a segment adds to a merged packet.
fn payload(segment: &Train) -> u32 {
    let headers = if segment.kind == PacketKind::TunnelledTcpData { TCP_HEADERS + TUNNEL_HEADERS } else { TCP_HEADERS };
    segment.largest().saturating_sub(headers).max(1)
}

/// Model: Ethernet, IPv4 and TCP with timestamps; IPv6 has 20 bytes more.
const TCP_HEADERS: u32 = 14 + 20 + 32;

/// IPv4, UDP, VXLAN and the inner Ethernet (RFC 7348).
const TUNNEL_HEADERS: u32 = 20 + 8 + 8 + 14;

/// The largest packet that is made: its length has 16 bits.
const LARGEST_MERGED: u32 = 65_535 + LINK_HEADER;

/// Flows that are merged at once. One more ends the oldest.
const MOST_FLOWS: usize = 64;

impl Element for Merger {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        let now = out.now();
        self.groups.retain(|group| group.until > now);
        if !self.spec.merges(train.kind) {
            // Packets of a flow stay in order.
            self.close(train.flow, out);
            return out.pass(train);
        }
        let mut left = Some(train);
        while let Some(train) = left {
            left = self.merge(train, out);
        }
    }

    fn due(&self) -> Option<MonoTime> {
        self.groups.iter().filter(|group| group.lone.is_some()).map(|group| group.until).min()
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        let now = out.now();
        while let Some(place) = self.groups.iter().position(|group| group.until <= now) {
            self.groups.remove(place).release(out);
        }
    }

    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Merger(spec) = spec {
            self.spec = spec.clone();
        }
    }
}
