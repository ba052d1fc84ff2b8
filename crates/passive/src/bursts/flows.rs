//! Which flows a burst had, from packets of which somebody kept the beginning.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use model::bursts::BurstFlow;
use units::ByteCount;

use crate::int::flow_of;

/// A packet that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledPacket {
    /// Its bucket: time over the length of a bucket.
    pub epoch: u64,
    /// Bytes that it stands for.
    pub bytes: u64,
    /// Its flow; none where it is neither TCP nor UDP.
    pub flow: Option<FlowEnds>,
}

/// What packets of one flow have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowEnds {
    pub(super) source: SocketAddr,
    pub(super) destination: SocketAddr,
    pub(super) protocol: u8,
}

impl FlowEnds {
    /// Of a packet that begins with a header of Ethernet, however short it was cut.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        let flow = flow_of(head)?;
        Some(Self { source: flow.source, destination: flow.destination, protocol: flow.protocol })
    }
}

/// Bytes by flow.
#[derive(Debug, Clone, Default)]
pub(super) struct FlowTally {
    flows: BTreeMap<FlowEnds, u64>,
    all: u64,
}

impl FlowTally {
    pub(super) fn take(&mut self, packet: &SampledPacket) {
        self.all = self.all.saturating_add(packet.bytes);
        let Some(flow) = packet.flow else { return };
        if self.flows.len() < MOST_FLOWS || self.flows.contains_key(&flow) {
            let bytes = self.flows.entry(flow).or_default();
            *bytes = bytes.saturating_add(packet.bytes);
        }
    }

    /// The flows with most of so many bytes, the most first.
    pub(super) fn busiest(&self, burst: u64) -> Vec<BurstFlow> {
        let of_burst = |bytes: u64| {
            let scaled = u128::from(bytes) * u128::from(burst) / u128::from(self.all.max(1));
            ByteCount::new(u64::try_from(scaled).unwrap_or(u64::MAX))
        };
        let mut flows: Vec<BurstFlow> = self
            .flows
            .iter()
            .map(|(flow, bytes)| BurstFlow {
                source: flow.source,
                destination: flow.destination,
                protocol: flow.protocol,
                bytes: of_burst(*bytes),
            })
            .collect();
        flows.sort_by_key(|flow| std::cmp::Reverse(flow.bytes));
        flows.truncate(MOST_NAMED);
        flows
    }
}

/// A burst of more has no flow that stands out.
const MOST_FLOWS: usize = 4_096;
const MOST_NAMED: usize = 8;
