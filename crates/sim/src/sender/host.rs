//! The processor that makes frames, and the adapter that sends them.

use std::collections::VecDeque;
use std::time::Duration;

use path::{Spacing, Train};
use units::{ByteCount, DataRate, MonoTime};

/// Frames on their way out of a host.
#[derive(Debug)]
pub(crate) struct Host {
    adapter: DataRate,
    processor: Option<DataRate>,
    processor_free: MonoTime,
    adapter_free: MonoTime,
    /// What the last frame had in bytes, and how long it took the processor and the adapter: most are alike.
    last: (ByteCount, Duration, Duration),
    /// Frames with the instant at which the adapter begins to send them.
    waiting: VecDeque<(MonoTime, Train)>,
}

impl Host {
    pub(crate) fn new(adapter: DataRate, processor: Option<DataRate>) -> Self {
        Self {
            adapter,
            processor,
            processor_free: MonoTime::default(),
            adapter_free: MonoTime::default(),
            last: (ByteCount::ZERO, Duration::ZERO, Duration::ZERO),
            waiting: VecDeque::with_capacity(FIRST_ROOM),
        }
    }

    /// When the processor is free to make the next frame, where it is not yet.
    pub(crate) fn busy_until(&self, now: MonoTime) -> Option<MonoTime> {
        (self.processor_free > now).then_some(self.processor_free)
    }

    /// Whether nothing waits before the adapter.
    pub(crate) fn is_idle(&self, now: MonoTime) -> bool {
        self.adapter_free <= now
    }

    /// When no more than `bytes` wait before the adapter, where more do now.
    pub(crate) fn queued_until(&self, bytes: u64, now: MonoTime) -> Option<MonoTime> {
        let allowed = self.adapter.time_for(ByteCount::new(bytes)).unwrap_or(Duration::MAX);
        (self.adapter_free > now + allowed).then(|| self.adapter_free - allowed)
    }

    /// Takes a frame.
    ///
    /// Model: a frame of many segments goes to the path whole as the NIC begins to send it, and says how they follow.
    pub(crate) fn take(&mut self, train: Train, now: MonoTime) {
        let bytes = train.bytes();
        if bytes != self.last.0 {
            let time = |rate: DataRate| rate.time_for(bytes).unwrap_or(Duration::MAX);
            self.last = (bytes, self.processor.map_or(Duration::ZERO, time), time(self.adapter));
        }
        self.processor_free = self.processor_free.max(now) + self.last.1;
        let spacing = Spacing::of(self.last.2, train.count);
        let begins = self.adapter_free.max(now);
        self.adapter_free = begins + self.last.2;
        if train.count.get() <= FEW {
            // At rates for which frames are so small a queue may hold few packets, and each counts.
            let each = self.last.2 / train.count.get();
            self.waiting.extend((0_u32..).zip(train.packets()).map(|(index, packet)| (begins + each * index, packet)));
        } else {
            self.waiting.push_back((begins, Train { spacing, ..train }));
        }
    }

    /// When a frame goes out next.
    pub(crate) fn due(&self) -> Option<MonoTime> {
        self.waiting.front().map(|(at, _)| *at)
    }

    /// A frame that goes out by now.
    pub(crate) fn released(&mut self, now: MonoTime) -> Option<Train> {
        self.waiting.pop_front_if(|(at, _)| *at <= now).map(|(_, train)| train)
    }
}

const FIRST_ROOM: usize = 256;

/// Segments of a frame up to which each goes to the path by itself.
const FEW: u32 = 4;
