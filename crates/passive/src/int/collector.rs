//! What many reports say: sequence gaps counted, queues and latencies by hop.

use std::collections::BTreeMap;

use model::int::{FlowOfPeak, HopTelemetry, IntInterval, SenderTelemetry};

use super::report::{IntFlow, IntHop, IntReport, ReportSender, Sequence};

/// Adds up reports of an interval. What is kept is bounded, and what is not kept is counted.
#[derive(Debug, Default)]
pub struct Collector {
    senders: BTreeMap<ReportSender, SenderState>,
    hops: BTreeMap<HopKey, HopState>,
    reports: u64,
    datagrams: u64,
    malformed: u64,
    incomplete: u64,
    without_flow: u64,
    not_kept: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HopKey {
    node: u32,
    port: Option<u16>,
    queue: Option<u8>,
}

/// The sequence numbers of one sender.
#[derive(Debug, Clone, Copy)]
struct SenderState {
    next: u32,
    bits: u8,
    /// Which of the 64 numbers before `next` have come.
    seen: u64,
    reports: u64,
    lost: u64,
    late: u64,
    duplicates: u64,
}

#[derive(Debug, Clone, Default)]
struct HopState {
    reports: u64,
    drops: u64,
    occupancy: Distribution,
    latency: Distribution,
    peak_flow: Option<IntFlow>,
}

/// A distribution by powers of two, with its greatest value.
#[derive(Debug, Clone, Default)]
struct Distribution {
    classes: Vec<u64>,
    greatest: Option<u64>,
    sum: u128,
    count: u64,
}

impl Collector {
    /// One that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A datagram came.
    pub fn datagram(&mut self) {
        self.datagrams += 1;
    }

    /// A datagram, or the rest of it, was no report.
    pub fn malformed(&mut self) {
        self.malformed += 1;
    }

    /// A report came. Several of one datagram share its sequence number: `first` says whether it is the first of them.
    pub fn report(&mut self, report: &IntReport, first: FirstOfDatagram) {
        self.reports += 1;
        self.incomplete += u64::from(report.is_incomplete);
        self.without_flow += u64::from(report.flow.is_none());
        if first == FirstOfDatagram::Yes {
            self.sequence(report.sender, report.sequence);
        }
        let last = report.hops.len().saturating_sub(1);
        for (number, hop) in report.hops.iter().enumerate() {
            // The last switch is the one that dropped it.
            let dropped = u64::from(report.why.dropped && number == last);
            self.hop(hop, report.flow, dropped);
        }
    }

    fn sequence(&mut self, sender: ReportSender, sequence: Sequence) {
        if let Some(state) = self.senders.get_mut(&sender) {
            state.take(sequence.number);
        } else if self.senders.len() < MOST_SENDERS {
            self.senders.insert(sender, SenderState::new(sequence));
        } else {
            self.not_kept += 1;
        }
    }

    fn hop(&mut self, hop: &IntHop, flow: Option<IntFlow>, dropped: u64) {
        let Some(node) = hop.node else { return };
        let key = HopKey { node, port: hop.egress_port, queue: hop.queue };
        if !self.hops.contains_key(&key) && self.hops.len() >= MOST_HOPS {
            self.not_kept += 1;
            return;
        }
        let state = self.hops.entry(key).or_default();
        state.reports += 1;
        state.drops += dropped;
        if let Some(occupancy) = hop.occupancy
            && state.occupancy.add(occupancy.into())
        {
            state.peak_flow = flow;
        }
        if let Some(latency) = hop.latency() {
            state.latency.add(latency);
        }
    }

    /// What came since the last call. The senders' sequences go on; `cell` is the unit of occupancy in bytes, where it is known.
    pub fn take_interval(&mut self, cell: Option<u32>) -> IntInterval {
        let hops = std::mem::take(&mut self.hops);
        let senders = self.senders.iter_mut().map(|(sender, state)| state.take_interval(*sender)).collect();
        let take = std::mem::take::<u64>;
        IntInterval {
            format: IntInterval::FORMAT,
            start: units::WallTime::default(),
            length: std::time::Duration::ZERO,
            datagrams: take(&mut self.datagrams),
            reports: take(&mut self.reports),
            malformed: take(&mut self.malformed),
            incomplete: take(&mut self.incomplete),
            without_flow: take(&mut self.without_flow),
            not_kept: take(&mut self.not_kept),
            dropped_at_socket: None,
            cell_bytes: cell,
            senders,
            hops: hops.into_iter().map(|(key, state)| state.telemetry(key)).collect(),
        }
    }
}

/// Whether a report is the first of its datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstOfDatagram {
    /// It is.
    Yes,
    /// It shares the sequence number of the one before.
    No,
}

impl SenderState {
    fn new(sequence: Sequence) -> Self {
        let mask = mask(sequence.bits);
        let next = sequence.number.wrapping_add(1) & mask;
        Self { next, bits: sequence.bits, seen: 1, reports: 1, lost: 0, late: 0, duplicates: 0 }
    }

    /// A number that is ahead leaves a gap, whose numbers are lost until they come; one that is behind was late or is a
    /// duplicate. A difference of half of all numbers and more counts as behind.
    fn take(&mut self, number: u32) {
        let mask = mask(self.bits);
        self.reports += 1;
        let ahead = number.wrapping_sub(self.next) & mask;
        if ahead <= mask / 2 {
            self.lost += u64::from(ahead);
            self.seen = if ahead >= 63 { 1 } else { self.seen << (ahead + 1) | 1 };
            self.next = number.wrapping_add(1) & mask;
            return;
        }
        let behind = self.next.wrapping_sub(number) & mask;
        let bit = if behind <= 64 { 1_u64 << (behind - 1) } else { 0 };
        if bit == 0 {
            self.late += 1;
        } else if self.seen & bit == 0 {
            self.seen |= bit;
            self.late += 1;
            self.lost = self.lost.saturating_sub(1);
        } else {
            self.duplicates += 1;
        }
    }

    fn take_interval(&mut self, sender: ReportSender) -> SenderTelemetry {
        SenderTelemetry {
            version: sender.version,
            node: sender.node,
            hardware: sender.hardware,
            datagrams: std::mem::take(&mut self.reports),
            lost: std::mem::take(&mut self.lost),
            late: std::mem::take(&mut self.late),
            duplicates: std::mem::take(&mut self.duplicates),
        }
    }
}

fn mask(bits: u8) -> u32 {
    u32::MAX >> (32 - u32::from(bits.clamp(1, 32)))
}

impl Distribution {
    /// Returns whether it is the greatest so far.
    fn add(&mut self, value: u64) -> bool {
        let class = usize::try_from(u64::BITS - value.leading_zeros()).unwrap_or(0);
        if self.classes.len() <= class {
            self.classes.resize(class + 1, 0);
        }
        self.classes[class] += 1;
        self.sum += u128::from(value);
        self.count += 1;
        let is_greatest = self.greatest.is_none_or(|greatest| value > greatest);
        if is_greatest {
            self.greatest = Some(value);
        }
        is_greatest
    }

    fn mean(&self) -> Option<u64> {
        self.sum.checked_div(u128::from(self.count)).and_then(|mean| u64::try_from(mean).ok())
    }
}

impl HopState {
    fn telemetry(self, key: HopKey) -> HopTelemetry {
        HopTelemetry {
            node: key.node,
            egress_port: key.port,
            queue: key.queue,
            reports: self.reports,
            dropped: self.drops,
            mean_occupancy: self.occupancy.mean(),
            most_occupancy: self.occupancy.greatest,
            occupancy_classes: self.occupancy.classes,
            mean_latency_ns: self.latency.mean(),
            most_latency_ns: self.latency.greatest,
            latency_classes: self.latency.classes,
            peak_flow: self.peak_flow.map(|flow| FlowOfPeak {
                source: flow.source,
                destination: flow.destination,
                protocol: flow.protocol,
                vlan: flow.vlan,
            }),
        }
    }
}

const MOST_SENDERS: usize = 4_096;
const MOST_HOPS: usize = 16_384;
