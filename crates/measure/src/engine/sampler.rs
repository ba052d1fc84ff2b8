//! Records the kernel's state of every stream at a steady pace.
//!
//! The kernel's records are kept as they came, in one growing block a stream, and understood after the test: a sample
//! costs one system call and one copy of 280 bytes. Streams at full speed take their samples themselves (see
//! [`super::recorder`]), and so do receivers from a sender that keeps to a rate, whose reads have a deadline. The thread
//! here looks after those that do not, and sends the latency probes at the same wake, since a wake costs more than either.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linux::clock;
use model::spec::Protocol;
use units::MonoTime;

use super::recorder::{self, Leeway, SampleRecorder, Wanted};
pub use super::recorder::{SampleLog, SendBufferUse};
use super::streams::{SampledBy, StreamSet};
use crate::stamp::prober::Prober;

/// The sampling of one test.
#[derive(Debug)]
pub struct Sampler {
    /// None where it would have nothing to do.
    thread: Option<JoinHandle<Option<Prober>>>,
    stop: Arc<AtomicBool>,
    recorders: Vec<Arc<SampleRecorder>>,
}

/// Most bytes that the kernel's records of one test may take at this host, each stream an equal part. A record takes twice
/// as much once it is understood, and the peer's come besides, so that a test with all its results stays below 128 MB
/// however many streams it has and however long it is.
const MEMORY_LIMIT: usize = 12 << 20;

/// For how many samples the thread sleeps while the streams look after themselves, and for how long at most, or for two
/// samples where those are farther apart. To wake a thread costs a hundred times what a sample does; but a stream that
/// stalls is without samples until it wakes.
const MOST_SKIPPED: u32 = 8;
const LONGEST_SKIP: Duration = Duration::from_millis(10);

/// How far apart two samples of a stream are at most while this program runs, of those that are wanted every `spacing`.
#[must_use]
pub fn longest_gap(spacing: Duration) -> Duration {
    spacing + recorder::early(spacing) + longest_skip(spacing) + grace(spacing)
}

fn longest_skip(spacing: Duration) -> Duration {
    LONGEST_SKIP.saturating_sub(spacing).max(spacing * 2)
}

/// How long a sample may be due before the thread takes it: the stream's own thread may be about to.
fn grace(spacing: Duration) -> Duration {
    LONGEST_GRACE.min(spacing / 2)
}

/// Samples that are seldom wanted do not wait for longer.
const LONGEST_GRACE: Duration = Duration::from_millis(5);

impl Sampler {
    /// Samples every stream of `set`, now and then every `spacing`, and sends the probes of `prober`.
    ///
    /// # Errors
    /// If the thread cannot be made.
    pub fn start(
        set: &StreamSet,
        protocol: Protocol,
        spacing: Duration,
        mut prober: Option<Prober>,
    ) -> io::Result<Self> {
        let recorders: Vec<Arc<SampleRecorder>> =
            set.streams().iter().map(|stream| Arc::clone(&stream.recorder)).collect();
        let wanted = Wanted { spacing, memory: MEMORY_LIMIT / recorders.len().max(1) };
        for stream in set.streams() {
            stream.recorder.open(stream, protocol, wanted);
            stream.recorder.glance(clock::now(), Leeway::default());
        }
        if let Some(prober) = &mut prober {
            prober.test_runs(clock::now());
        }
        let both = set.streams().iter().filter(|stream| stream.sampled_by == SampledBy::Both);
        let neglected: Vec<_> = both.map(|stream| Arc::clone(&stream.recorder)).collect();
        let is_needed = !neglected.is_empty() || prober.is_some();
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let look_after = move || {
            look_after(&neglected, spacing, prober.as_mut(), &stopped);
            prober
        };
        let thread = thread::Builder::new().name("sampler".to_owned()).stack_size(STACK);
        let thread = is_needed.then(|| thread.spawn(look_after)).transpose()?;
        Ok(Self { thread, stop, recorders })
    }

    /// Takes a last sample of each stream and returns all, and the prober, whose last answers may still be on their way.
    #[must_use]
    pub fn finish(self) -> (Vec<SampleLog>, Option<Prober>) {
        self.stop.store(true, Ordering::Relaxed);
        let prober = self.thread.and_then(|thread| {
            thread.thread().unpark();
            // The samples are in the recorders, whatever became of the thread.
            thread.join().ok().flatten()
        });
        (self.recorders.iter().filter_map(|recorder| recorder.close()).collect(), prober)
    }
}

/// Bytes of the thread's stack, which holds no buffer.
const STACK: usize = 256 << 10;

/// Takes the samples that `neglected` have not taken themselves, and sends the probes.
fn look_after(
    neglected: &[Arc<SampleRecorder>],
    spacing: Duration,
    mut prober: Option<&mut Prober>,
    stop: &AtomicBool,
) {
    const NEVER: MonoTime = MonoTime::from_nanos(u64::MAX);
    let grace = grace(spacing);
    let mut skipped = 0;
    while !stop.load(Ordering::Relaxed) {
        let earliest = neglected.iter().map(|recorder| recorder.due()).min();
        let skip = (spacing * skipped).min(longest_skip(spacing));
        let sample = earliest.map_or(NEVER, |earliest| earliest + skip + grace);
        let probe = prober.as_ref().map_or(NEVER, |prober| prober.due());
        park_until(sample.min(probe), stop);
        let now = clock::now();
        if let Some(prober) = &mut prober {
            prober.look_after(now);
        }
        // Woken for a probe: what nobody else takes and will be due soon is taken now, so that from here on one wake does for
        // both. A stream that takes its own is not disturbed.
        let early = if skipped == 0 { grace + EARLY.min(spacing / 2) } else { Duration::ZERO };
        let taken = neglected.iter().filter(|recorder| recorder.glance(now, Leeway { grace, early })).count();
        skipped = if taken > 0 { 0 } else { (2 * skipped + 1).min(MOST_SKIPPED - 1) };
    }
}

/// Sleeps in one piece, until `instant` or until [`Sampler::finish`] wakes the thread.
fn park_until(instant: MonoTime, stop: &AtomicBool) {
    loop {
        let left = instant.since(clock::now());
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            return;
        }
        thread::park_timeout(left);
    }
}

/// A sample may be taken this much before it is due, where the thread is awake anyway.
const EARLY: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use model::measurement::Heading;
    use model::spec::TestSpec;
    use units::DataRate;

    use super::*;
    use crate::control::Waker;
    use crate::engine::datagram::CounterWidth;
    use crate::engine::low_water::LowWater;
    use crate::engine::streams::{Amount, Closing, Conduct, Endpoint};

    #[test]
    fn a_receiver_to_which_nothing_comes_takes_its_samples_itself() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, remote) = listener.accept().unwrap();
        let local = receiver.local_addr().unwrap();
        let spec = TestSpec { rate: Some(DataRate::from_bps(100_000_000)), ..TestSpec::default() };
        let conduct = Conduct {
            length: None,
            amount: Amount::Exact,
            counter_width: CounterWidth::Bits64,
            closing: Closing::EndOfStream,
            waker: Waker::new().unwrap(),
        };
        let endpoint = Endpoint { socket: receiver.into(), heading: Heading::Inbound, local, remote };
        let set = StreamSet::prepare(vec![endpoint], &spec, &conduct).unwrap();
        let stream = &set.streams()[0];
        assert_eq!(stream.sampled_by, SampledBy::OwnThread);
        stream.recorder.open(stream, Protocol::Tcp, Wanted { spacing: spec.sample_every, memory: MEMORY_LIMIT });
        set.start(clock::now());
        let deadline = clock::now() + Duration::from_secs(30);
        while stream.recorder.taken() < 5 {
            assert!(clock::now() < deadline, "{} samples", stream.recorder.taken());
            thread::yield_now();
        }
        drop(sender);
    }

    #[test]
    fn samples_of_a_receiver_to_which_nothing_comes_are_as_close_as_is_promised() {
        // The kernel keeps timeouts in ticks, and waits for one more than was asked for.
        const SLOWEST_TICK: Duration = Duration::from_millis(10);
        for spacing in [10, 100].map(Duration::from_millis) {
            let apart = spacing + LowWater::PATIENCE + SLOWEST_TICK;
            assert!(apart <= longest_gap(spacing), "{apart:?} at {spacing:?}");
        }
    }
}
