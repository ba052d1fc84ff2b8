//! Bytes and packets of a device in buckets of time, counted by a small program at both hooks of the device (tcx).
//!
//! A bucket is taken anew when its time comes, so the program never stops and nobody tells it to start; each CPU has its own
//! buckets, so it takes no lock. Packets that the kernel holds as one (GRO, TSO) count with the headers that each has on
//! the wire. The program lets every packet pass, and other programs at the hook as well (`TCX_NEXT`). Of some packets it keeps
//! the beginning ([`Sample`]), so that a bucket has flows and not only bytes.

use std::io;
use std::time::Duration;

use units::MonoTime;

use super::counting::{Shape, instructions};
use super::layout::WORDS;
use super::map::{Extent, SharedArray, WordAt};
pub use super::program::Hook;
use super::program::{Link, Program};
use super::ring::RecordRing;
pub use super::sample::Sample;
use super::sample::Sampling;
use crate::{Reason, Unavailable, affinity};

/// Counts the packets of one device in both directions until it is dropped.
#[derive(Debug)]
pub struct BurstMeter {
    tick: Duration,
    buckets: u32,
    cpus: usize,
    directions: Vec<Direction>,
}

#[derive(Debug)]
struct Direction {
    hook: Hook,
    array: SharedArray,
    samples: RecordRing,
    program: Program,
    link: Option<Link>,
    read: u64,
}

/// What passed in one tick, on all CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bucket {
    /// Which tick: the time of the monotonic clock over the length of a tick.
    pub epoch: u64,
    /// Bytes on the wire from the Ethernet header on, without check sequence, preamble and gap.
    pub bytes: u64,
    /// Packets on the wire.
    pub packets: u64,
    /// Packets as the kernel held them: several of the wire may be one.
    pub aggregates: u64,
    /// Packets with the mark CE (RFC 3168).
    pub marked: u64,
    /// One bit of 128 for each flow, by its hash.
    pub flows: u128,
    /// Samples for which there was no room.
    pub samples_lost: u64,
}

/// What one call of [`BurstMeter::read`] could not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overrun {
    /// Ticks whose buckets had been taken anew before they were read.
    pub ticks: u64,
}

impl BurstMeter {
    /// For the device with this index in the network namespace of the calling thread. Takes `CAP_BPF` and `CAP_NET_ADMIN` outside
    /// of any user namespace, and Linux 6.6.
    ///
    /// # Errors
    /// [`Denied`](Reason::Denied) without the rights, [`Unsupported`](Reason::Unsupported) by an older kernel.
    pub fn open(interface: u32, tick: Duration) -> Result<Self, Unavailable> {
        let mut meter = Self::detached(tick, &[Hook::Ingress, Hook::Egress])?;
        for direction in &mut meter.directions {
            let link = direction.program.attach(interface, direction.hook);
            direction.link = Some(link.map_err(|error| unavailable("attach the program to the device", &error))?);
        }
        Ok(meter)
    }

    /// The programs without a device.
    fn detached(tick: Duration, hooks: &[Hook]) -> Result<Self, Unavailable> {
        let cpus = affinity::online_cpus().map_err(|error| unavailable("count CPUs", &error))?;
        let cpus = cpus.into_iter().max().unwrap_or(0) + 1;
        let buckets = buckets(tick, cpus);
        let now = epoch(crate::clock::now(), tick);
        let mut directions = Vec::new();
        for &hook in hooks {
            let entries = u32::try_from(cpus).unwrap_or(u32::MAX).saturating_mul(buckets);
            let array = SharedArray::new(Extent { entries, words: WORDS })
                .map_err(|error| unavailable("make a map", &error))?;
            let (samples, writer) = RecordRing::new(cpus).map_err(|error| unavailable("make a ring", &error))?;
            let sampling = Sampling::new(writer, tick);
            let shape = Shape { hook, map: array.number(), sampling, tick, buckets };
            let instructions = instructions(&shape)
                .map_err(|error| Unavailable::failed("the program of the meter", error.to_string()))?;
            let program =
                Program::load(&instructions, hook).map_err(|error| unavailable("load the program", &error))?;
            directions.push(Direction { hook, array, samples, program, link: None, read: now });
        }
        Ok(Self { tick, buckets, cpus, directions })
    }

    /// How long a tick is.
    #[must_use]
    pub fn tick(&self) -> Duration {
        self.tick
    }

    /// How much time the buckets hold: whoever reads less often misses some.
    #[must_use]
    pub fn memory(&self) -> Duration {
        self.tick.saturating_mul(self.buckets)
    }

    /// Hands the samples of a direction since the last call to `each`, about in order of time. Those of a bucket are there before
    /// the bucket can be read.
    pub fn samples(&mut self, hook: Hook, mut each: impl FnMut(Sample<'_>)) {
        if let Some(direction) = self.directions.iter_mut().find(|direction| direction.hook == hook) {
            direction.samples.drain(|record| {
                if let Some(sample) = Sample::read(record) {
                    each(sample);
                }
            });
        }
    }

    /// Hands the buckets of a direction that have closed since the last call to `each`, in order of time; ticks in which
    /// nothing passed have none.
    pub fn read(&mut self, hook: Hook, now: MonoTime, mut each: impl FnMut(Bucket)) -> Overrun {
        let mut overrun = Overrun::default();
        let current = epoch(now, self.tick);
        let Some(direction) = self.directions.iter_mut().find(|direction| direction.hook == hook) else {
            return overrun;
        };
        // One tick stays open longer: a CPU may have looked at the clock before this one did.
        let end = current.saturating_sub(1);
        let oldest = current.saturating_sub(u64::from(self.buckets) - 2);
        if direction.read < oldest {
            overrun.ticks = oldest - direction.read;
            direction.read = oldest;
        }
        for wanted in direction.read..end {
            let mut sum = Bucket { epoch: wanted, ..Bucket::default() };
            for cpu in 0..self.cpus {
                let slot = usize::try_from(wanted & u64::from(self.buckets - 1)).unwrap_or(0);
                let entry = cpu * usize::try_from(self.buckets).unwrap_or(0) + slot;
                if let Some(bucket) = direction.array.bucket(entry, wanted) {
                    sum.add(&bucket);
                }
            }
            if sum.aggregates > 0 {
                each(sum);
            }
        }
        direction.read = direction.read.max(end);
        overrun
    }
}

impl SharedArray {
    /// A bucket, if it is of this tick before and behind the reading of it.
    fn bucket(&self, entry: usize, wanted: u64) -> Option<Bucket> {
        let word = |word| self.word(WordAt { entry, word });
        if word(0) != wanted {
            return None;
        }
        let bucket = Bucket {
            epoch: wanted,
            bytes: word(1),
            packets: word(2),
            aggregates: word(3),
            marked: word(4),
            flows: u128::from(word(5)) | u128::from(word(6)) << 64,
            samples_lost: word(7),
        };
        (word(0) == wanted).then_some(bucket)
    }
}

impl Bucket {
    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.aggregates += other.aggregates;
        self.marked += other.marked;
        self.flows |= other.flows;
        self.samples_lost += other.samples_lost;
    }
}

/// The tick of a moment.
#[must_use]
pub fn epoch(at: MonoTime, tick: Duration) -> u64 {
    at.as_nanos() / units::duration::nanos(tick).max(1)
}

/// As many buckets as hold some seconds, within [`MOST_BYTES`] for each direction: a power of two.
fn buckets(tick: Duration, cpus: usize) -> u32 {
    let wanted = u64::try_from(MEMORY.as_nanos() / tick.as_nanos().max(1)).unwrap_or(u64::MAX);
    let room = MOST_BYTES / (u64::from(WORDS) * 8) / (cpus as u64).max(1);
    let most = 1_u64 << room.max(LEAST_BUCKETS).ilog2();
    u32::try_from(wanted.next_power_of_two().clamp(LEAST_BUCKETS, most)).unwrap_or(u32::MAX / 2 + 1)
}

fn unavailable(what: &str, error: &io::Error) -> Unavailable {
    let mut unavailable = Unavailable::because(format!("a program in the kernel (eBPF): cannot {what}"), error);
    // A kernel without tcx does not know the way to attach.
    if error.raw_os_error() == Some(libc::EINVAL) {
        unavailable.reason = Reason::Unsupported;
    }
    unavailable
}

/// How much time buckets hold: ten readings, each of which may come late.
const MEMORY: Duration = Duration::from_secs(2);
const LEAST_BUCKETS: u64 = 1_024;
/// For all CPUs together, each direction.
const MOST_BYTES: u64 = 32 << 20;

#[cfg(test)]
pub(super) mod for_tests {
    use super::*;

    impl BurstMeter {
        /// One that sees only frames that a test runs it over.
        pub(in crate::bpf) fn of_frames(tick: Duration, hook: Hook) -> Result<Self, Unavailable> {
            Self::detached(tick, &[hook])
        }

        /// Runs the program over a frame, so often. Returns the mean time in nanoseconds.
        pub(in crate::bpf) fn pass(&self, frame: &[u8], repeat: u32) -> u32 {
            let run = self.directions[0].program.run(frame, repeat).unwrap();
            assert_eq!(run.returned, u32::MAX, "the next program decides");
            run.nanos
        }
    }
}
