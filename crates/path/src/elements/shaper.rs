//! A shaper: what comes faster than agreed waits.
//!
//! The token bucket of Linux's tbf (net/sched/sch_tbf.c) without its peak rate: a packet leaves when there are tokens
//! for all of it, and one larger than the bucket never would, so it is dropped as it comes.

use serde::Deserialize;
use units::{ByteCount, DataRate, MonoTime};

use crate::bucket::Bucket;
use crate::buffer::{Batch, Buffer, BufferSpec, Meanwhile, Role};
use crate::element::Element;
use crate::outlet::Outlet;
use crate::random::Seed;
use crate::reason::{Delay, Drop};
use crate::spec::{ElementSpec, SpecError, check_burst, check_not_zero};
use crate::train::Train;
use crate::transmitter::{LONGEST_BATCH, Pace};

/// A shaper as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShaperSpec {
    /// What passes in the long run, with the headers of the link.
    #[serde(deserialize_with = "units::text::read")]
    pub rate: DataRate,
    /// What passes at once.
    #[serde(deserialize_with = "units::text::read")]
    pub burst: ByteCount,
    /// The queue before it; without one everything waits that comes too fast.
    #[serde(default)]
    pub queue: BufferSpec,
}

impl ShaperSpec {
    /// # Errors
    /// A rate of zero, a burst of less than a packet, or a queue that cannot be.
    pub fn check(&self) -> Result<(), SpecError> {
        check_not_zero("shaper", "rate", self.rate)?;
        check_burst("shaper", self.burst)?;
        self.queue.check()
    }
}

/// See [`ShaperSpec`].
#[derive(Debug)]
pub(crate) struct Shaper {
    bucket: Bucket,
    burst: u64,
    /// What leaves at one instant, once the bucket is empty.
    batch: u64,
    buffer: Buffer,
    /// When there are tokens for what is next; [`None`] where nothing waits.
    due: Option<MonoTime>,
}

impl Shaper {
    pub(crate) fn new(spec: &ShaperSpec, seed: Seed, start: MonoTime) -> Self {
        let pace = Pace::Bits(spec.rate);
        let role = Role { full: Drop::QueueFull, waiting: Delay::Shaping, packet_time: pace.packet_time() };
        Self {
            bucket: Bucket::new(spec.rate, spec.burst, start),
            burst: spec.burst.get(),
            batch: pace.batch(LONGEST_BATCH).bytes,
            buffer: Buffer::new(&spec.queue, role, seed),
            due: None,
        }
    }

    /// Lets out what there are tokens for, and reckons when there will be some for the next.
    fn serve(&mut self, out: &mut Outlet<'_>) {
        self.bucket.fill(out.now());
        while let Some(front) = self.buffer.front() {
            let tokens = self.bucket.bytes();
            let wanted = self.wanted(front);
            if tokens < wanted {
                self.due = Some(out.now() + self.bucket.wait_for(wanted));
                return;
            }
            let batch = Batch { bytes: tokens, packets: u32::MAX };
            if let Some(train) = self.buffer.take(out.now(), batch, out) {
                self.bucket.spend(train.bytes());
                out.pass(train);
            }
        }
        self.due = None;
    }

    /// For how many bytes there have to be tokens before packets of a train leave: as many packets as leave together,
    /// but one at least, and no more than the bucket holds.
    fn wanted(&self, front: &Train) -> u64 {
        let batch = Batch { bytes: self.batch.min(self.burst), packets: u32::MAX };
        front.bytes_of_front(batch.packets_of(front)).get().min(self.burst)
    }
}

impl Element for Shaper {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        let (fits, last) = (u64::from(train.size) <= self.burst, u64::from(train.last_size) <= self.burst);
        let lost = if fits { 0 } else { train.count.get() - u32::from(last) };
        let (lost, rest) = train.split_front(lost);
        if let Some(lost) = lost {
            out.drop(lost, Drop::TooBig);
        }
        if let Some(rest) = rest {
            self.buffer.offer(Train { came: out.now(), ..rest }, Meanwhile::default(), out);
            self.serve(out);
        }
    }

    fn due(&self) -> Option<MonoTime> {
        self.due
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        self.serve(out);
    }

    fn adopt(&mut self, spec: &ElementSpec, out: &mut Outlet<'_>) {
        let ElementSpec::Shaper(spec) = spec else { return };
        let pace = Pace::Bits(spec.rate);
        self.bucket.adopt(spec.rate, spec.burst, out.now());
        (self.burst, self.batch) = (spec.burst.get(), pace.batch(LONGEST_BATCH).bytes);
        self.buffer.adopt(&spec.queue, pace.packet_time());
        self.serve(out);
    }
}
