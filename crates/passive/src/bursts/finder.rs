//! Buckets of one direction in order of time, to bursts and distributions.

use std::collections::VecDeque;
use std::time::Duration;

use model::bursts::{Burst, DirectionBursts};
use model::measurement::Heading;
use units::{ByteCount, DataRate, PacketCount, Percent, WallTime};

use super::flows::{FlowTally, SampledPacket};
use super::heat::Heat;
use super::queue::VirtualQueue;
use super::steps::Steps;
use super::tick::{Passed, Tick, count, flows, rate};

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// How long a bucket is.
    pub bucket: Duration,
    /// The line rate on the physical layer; without one there are no bursts, only rates.
    pub line_rate: Option<DataRate>,
    /// More than this part of the line rate is a burst.
    pub threshold: Percent,
    /// The rate of a slower link, whose queue is reckoned.
    pub drain: Option<DataRate>,
    /// The first bucket that is watched.
    pub first: u64,
    /// The calendar time at which that began.
    pub start: WallTime,
    /// Whether flows and marks are looked at.
    pub looks_into_packets: LooksIntoPackets,
    /// Whether ticks have the retransmissions of this direction.
    pub retransmissions: RetransmissionsKnown,
}

/// Whether somebody counts when TCP retransmits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetransmissionsKnown {
    /// They are in the ticks.
    Yes,
    /// Nobody counts them, or not in this direction.
    No,
}

/// Whether who counts looks into packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LooksIntoPackets {
    /// Marks and flows are known.
    Yes,
    /// They are not.
    No,
}

/// Finds bursts of one direction.
#[derive(Debug)]
pub struct BurstFinder {
    search: Search,
    /// More bytes than these in a bucket are a part of a burst.
    threshold: Option<u64>,
    sum: Tick,
    wire: u64,
    last: Option<u64>,
    open: Option<Open>,
    samples: VecDeque<SampledPacket>,
    bursts: u64,
    in_bursts: u64,
    by_length: Vec<u64>,
    by_volume: Vec<u64>,
    largest: Vec<Burst>,
    second: Window,
    busiest_bucket: u64,
    queue: Option<VirtualQueue>,
    steps: Steps,
    heat: Heat,
    missed: u64,
}

/// A burst that goes on.
#[derive(Debug, Clone, Default)]
struct Open {
    first: u64,
    sum: Tick,
    peak: u64,
    flows: FlowTally,
}

/// The busiest of windows that lie side by side.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    number: u64,
    bytes: u64,
    busiest: u64,
}

impl BurstFinder {
    /// One that has seen nothing.
    #[must_use]
    pub fn new(search: Search) -> Self {
        let full = search.line_rate.map(|rate| (rate * search.bucket).get());
        let part = u128::from(search.threshold.get());
        let threshold = full.map(|full| u64::try_from(u128::from(full) * part / 100).unwrap_or(u64::MAX));
        Self {
            search,
            threshold,
            sum: Tick::default(),
            wire: 0,
            last: None,
            open: None,
            samples: VecDeque::new(),
            bursts: 0,
            in_bursts: 0,
            by_length: Vec::new(),
            by_volume: Vec::new(),
            largest: Vec::new(),
            second: Window::default(),
            busiest_bucket: 0,
            queue: search.drain.map(VirtualQueue::new),
            steps: Steps::new(search.first),
            heat: Heat::new(search.first, search.bucket),
            missed: 0,
        }
    }

    /// Takes a packet that was looked at, before its bucket comes.
    pub fn sample(&mut self, packet: SampledPacket) {
        if self.threshold.is_none() {
            return;
        }
        if self.samples.len() >= MOST_SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(packet);
    }

    /// Takes a bucket. One that is not later than the last is left out.
    pub fn push(&mut self, tick: &Tick) {
        if self.last.is_some_and(|last| tick.epoch <= last) || tick.epoch < self.search.first {
            return;
        }
        let wire = tick.on_wire();
        add(&mut self.sum, tick);
        self.wire = self.wire.saturating_add(wire);
        self.busiest_bucket = self.busiest_bucket.max(wire);
        self.steps.push(tick.passed());
        let second = tick.epoch / self.buckets_in(Duration::from_secs(1));
        self.second.push(Passed { number: second, ..tick.passed() });
        let passed = tick.epoch - self.last.unwrap_or(tick.epoch);
        if let Some(queue) = &mut self.queue {
            queue.push(wire, self.search.bucket.saturating_mul(u32::try_from(passed).unwrap_or(u32::MAX)));
        }
        let is_full = self.threshold.is_some_and(|threshold| wire > threshold);
        if passed > 1 || !is_full {
            self.close();
        }
        if is_full {
            let open = self.open.get_or_insert_with(|| Open { first: tick.epoch, ..Open::default() });
            add(&mut open.sum, tick);
            open.peak = open.peak.max(wire);
        }
        // Samples of buckets before belong to no burst.
        while let Some(sample) = self.samples.pop_front_if(|sample| sample.epoch <= tick.epoch) {
            if let Some(open) = self.open.as_mut().filter(|_| sample.epoch == tick.epoch) {
                open.flows.take(&sample);
            }
        }
        self.last = Some(tick.epoch);
    }

    /// Buckets were not read in time.
    pub fn missed(&mut self, buckets: u64) {
        self.missed = self.missed.saturating_add(buckets);
        self.close();
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let length = self.last.unwrap_or(open.first) - open.first + 1;
        self.bursts += 1;
        self.in_bursts = self.in_bursts.saturating_add(open.sum.bytes);
        count(&mut self.by_length, length);
        self.heat.push(open.first, length);
        count(&mut self.by_volume, open.sum.bytes >> 10);
        let looks = self.search.looks_into_packets == LooksIntoPackets::Yes;
        let burst = Burst {
            start: self.time_of(open.first),
            length: self.search.bucket.saturating_mul(u32::try_from(length).unwrap_or(u32::MAX)),
            bytes: ByteCount::new(open.sum.bytes),
            packets: PacketCount::new(open.sum.packets),
            marked: PacketCount::new(open.sum.marked),
            peak: rate(open.peak, self.search.bucket),
            flows: looks.then(|| flows(open.sum.flows)),
            retransmissions: self.knows_retransmissions().then_some(open.sum.retransmissions),
            busiest: Vec::new(),
        };
        let place = self.largest.partition_point(|known| known.bytes >= burst.bytes);
        if place < MOST_LARGEST {
            let busiest = open.flows.busiest(open.sum.bytes);
            self.largest.insert(place, Burst { busiest, ..burst });
            self.largest.truncate(MOST_LARGEST);
        }
    }

    fn knows_retransmissions(&self) -> bool {
        self.search.retransmissions == RetransmissionsKnown::Yes
    }

    fn time_of(&self, epoch: u64) -> WallTime {
        let since = u128::from(epoch.saturating_sub(self.search.first)) * self.search.bucket.as_nanos();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        WallTime::from_unix_nanos(self.search.start.unix_nanos().saturating_add(since))
    }

    fn buckets_in(&self, time: Duration) -> u64 {
        u64::try_from(time.as_nanos() / self.search.bucket.as_nanos().max(1)).unwrap_or(u64::MAX).max(1)
    }

    /// What was found in so much time.
    #[must_use]
    pub fn report(mut self, heading: Heading, length: Duration) -> DirectionBursts {
        self.close();
        let looks = self.search.looks_into_packets == LooksIntoPackets::Yes;
        let second = Duration::from_secs(1).min(length.max(self.search.bucket));
        let mean = rate(self.wire, length);
        DirectionBursts {
            heading,
            bytes: ByteCount::new(self.sum.bytes),
            packets: PacketCount::new(self.sum.packets),
            marked: looks.then(|| PacketCount::new(self.sum.marked)),
            retransmissions: self.knows_retransmissions().then_some(self.sum.retransmissions),
            missed_buckets: self.missed,
            mean,
            // Seconds are cut where the search began, and `length` is that of a clock: no part can be below the whole.
            busiest_second: rate(self.second.busiest(), second).max(mean),
            busiest_bucket: rate(self.busiest_bucket, self.search.bucket),
            bursts: self.bursts,
            in_bursts: ByteCount::new(self.in_bursts),
            by_length: self.by_length,
            by_volume: self.by_volume,
            largest: self.largest,
            queue: self.queue.map(VirtualQueue::need),
            steps: self.steps.rates(self.search.bucket),
            over_time: self.heat.over_time(),
        }
    }
}

impl Window {
    fn push(&mut self, passed: Passed) {
        let Passed { number, bytes, .. } = passed;
        if number != self.number {
            *self = Self { number, bytes: 0, busiest: self.busiest() };
        }
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn busiest(&self) -> u64 {
        self.busiest.max(self.bytes)
    }
}

fn add(sum: &mut Tick, tick: &Tick) {
    sum.bytes = sum.bytes.saturating_add(tick.bytes);
    sum.packets = sum.packets.saturating_add(tick.packets);
    sum.marked = sum.marked.saturating_add(tick.marked);
    sum.flows |= tick.flows;
    sum.retransmissions = sum.retransmissions.saturating_add(tick.retransmissions);
}

const MOST_LARGEST: usize = 20;
/// As many as the rings of both sides hold, and more.
const MOST_SAMPLES: usize = 1 << 16;
