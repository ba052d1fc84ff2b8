//! Records the kernel's state of every stream at a steady pace.
//!
//! The kernel's records are kept as they came, in one growing block a stream, and understood after the test: a sample
//! costs one system call and one copy of 280 bytes. Streams at full speed take their samples themselves (see
//! [`diary`](super::diary)); the thread here looks after those that do not.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linux::clock;
use model::spec::Protocol;

use super::diary::Diary;
pub use super::diary::SampleLog;
use super::streams::StreamSet;

/// The sampling of one test.
#[derive(Debug)]
pub struct Sampler {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
    diaries: Vec<Arc<Diary>>,
}

/// Most bytes that the samples of one test may take. When they are full, every second sample is given up and the pace
/// halved: an hour keeps its shape.
const MEMORY_LIMIT: usize = 256 << 20;

/// For how many samples the thread sleeps while the streams look after themselves, and for how long at most. To wake a
/// thread costs a hundred times what a sample does; but a stream that stalls is without samples until it wakes.
const MOST_SKIPPED: u32 = 8;
const LONGEST_SKIP: Duration = Duration::from_millis(10);

/// How long a sample may be due before the thread takes it: the stream's own thread may be about to.
const GRACE: Duration = Duration::from_millis(1);

impl Sampler {
    /// Samples every stream of `set`, now and then every `spacing`.
    ///
    /// # Errors
    /// If the thread cannot be made.
    pub fn start(set: &StreamSet, protocol: Protocol, spacing: Duration) -> io::Result<Self> {
        let diaries: Vec<Arc<Diary>> = set.streams().iter().map(|stream| Arc::clone(&stream.diary)).collect();
        for stream in set.streams() {
            stream.diary.open(stream, protocol, spacing);
            stream.diary.glance(clock::now(), Duration::ZERO);
        }
        let stop = Arc::<AtomicBool>::default();
        let (watched, stopped) = (diaries.clone(), Arc::clone(&stop));
        let thread =
            thread::Builder::new().name("sampler".to_owned()).spawn(move || look_after(&watched, spacing, &stopped))?;
        Ok(Self { thread, stop, diaries })
    }

    /// Takes a last sample of each stream and returns all.
    #[must_use]
    pub fn finish(self) -> Vec<SampleLog> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        // Its samples are in the diaries, whatever became of it.
        let _ = self.thread.join();
        self.diaries.iter().filter_map(|diary| diary.close()).collect()
    }
}

fn look_after(diaries: &[Arc<Diary>], spacing: Duration, stop: &AtomicBool) {
    let grace = GRACE.min(spacing / 2);
    let mut spacing = spacing;
    let mut skipped = 0;
    while !stop.load(Ordering::Relaxed) {
        let earliest = diaries.iter().map(|diary| diary.due()).min().unwrap_or_default();
        let skip = (spacing * skipped).min(LONGEST_SKIP.saturating_sub(spacing));
        // It fails for no instant that can be.
        let _ = clock::sleep_unless(earliest + skip + grace, || stop.load(Ordering::Relaxed));
        let now = clock::now();
        let neglected = diaries.iter().filter(|diary| diary.glance(now, grace)).count();
        skipped = if neglected > 0 { 0 } else { (2 * skipped + 1).min(MOST_SKIPPED - 1) };
        if diaries.iter().map(|diary| diary.memory()).sum::<usize>() > MEMORY_LIMIT {
            diaries.iter().for_each(|diary| diary.thin());
            spacing *= 2;
        }
    }
}
