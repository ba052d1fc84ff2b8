//! The receiving host below TCP: the ring of its NIC, and the CPU that takes segments from it one after the other.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

use path::Train;
use units::{ByteCount, DataRate, MonoTime};

/// How fast a receiving host takes segments, and how many wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSpec {
    /// Packets that the ring of the NIC holds (`ethtool -G rx`); what comes beyond them is dropped.
    pub ring: NonZeroU32,
    /// How long the NIC waits for more before it interrupts a CPU that waits (`ethtool -C rx-usecs`).
    pub coalescing: Duration,
    /// How fast one CPU takes what comes in order.
    pub rate: DataRate,
    /// How fast it takes what comes while others are missing before it: each such segment is acknowledged by itself, and is put
    /// into the queue of those out of order (`tcp_data_queue_ofo`, net/ipv4/tcp_input.c).
    pub out_of_order_rate: DataRate,
}

/// Whether others are missing before what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    InOrder,
    OutOfOrder,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Inbox {
    spec: HostSpec,
    ring: VecDeque<Train>,
    /// Packets in the ring, those that are being taken among them.
    held: u32,
    /// When the first of them has been taken.
    taken: Option<MonoTime>,
    pub(crate) dropped: u64,
}

impl Inbox {
    pub(crate) fn new(spec: HostSpec) -> Self {
        Self { spec, ring: VecDeque::with_capacity(FIRST_ROOM), held: 0, taken: None, dropped: 0 }
    }

    /// When the CPU has taken the next.
    pub(crate) fn due(&self) -> Option<MonoTime> {
        self.taken
    }

    /// Packets have come.
    ///
    /// Model: all packets of a frame come at one instant, the last of them, and are taken at one as well (GRO).
    pub(crate) fn came(&mut self, train: Train, order: Order, now: MonoTime) {
        let room = self.spec.ring.get() - self.held;
        let count = train.count.get();
        self.dropped += u64::from(count.saturating_sub(room));
        let Some(count) = NonZeroU32::new(count.min(room)) else { return };
        let last_size = if count < train.count { train.size } else { train.last_size };
        self.held += count.get();
        self.ring.push_back(Train { count, last_size, ..train });
        if self.taken.is_none() {
            self.begin(order, now + self.spec.coalescing);
        }
    }

    /// The packets that the CPU has taken by now. `order` is asked what the next are, once these are at their place.
    pub(crate) fn take(&mut self, now: MonoTime) -> Option<Train> {
        if self.taken? > now {
            return None;
        }
        self.taken = None;
        let train = self.ring.pop_front()?;
        self.held -= train.count.get();
        Some(train)
    }

    /// The packets that the CPU takes next.
    pub(crate) fn next(&self) -> Option<&Train> {
        self.ring.front()
    }

    /// The CPU begins with them.
    pub(crate) fn begin(&mut self, order: Order, now: MonoTime) {
        let Some(train) = self.ring.front() else { return };
        let rate = match order {
            Order::InOrder => self.spec.rate,
            Order::OutOfOrder => self.spec.out_of_order_rate,
        };
        let bytes = ByteCount::new(train.bytes().get());
        self.taken = Some(now + rate.time_for(bytes).unwrap_or(Duration::MAX));
    }
}

const FIRST_ROOM: usize = 256;
