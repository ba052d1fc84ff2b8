//! What is recorded of one stream, and who records it.
//!
//! To read the kernel's state of a socket takes the socket's lock, which a thread that sends or receives at full speed
//! holds nearly always. So whoever comes by first when a sample is due takes it: the stream's own thread between two
//! calls, when the lock is free and no thread has to be woken, or the sampler's, where the stream waits in the kernel,
//! which then holds no lock.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use linux::tcp_info::{self, TcpInfo};
use linux::{clock, sockets};
use model::measurement::{End, Heading};
use model::spec::Protocol;
use units::MonoTime;
use units::duration::nanos;

use super::counters::{Counts, StreamCounters};
use super::streams::Stream;

/// The samples of one stream, while it is sampled.
#[derive(Debug)]
pub struct SampleRecorder {
    /// When the next sample is due, in nanoseconds; never while nobody wants any.
    due: AtomicU64,
    /// How many nanoseconds before that the stream's own thread may take it.
    early: AtomicU64,
    entries: Mutex<Option<Entries>>,
}

#[derive(Debug)]
struct Entries {
    log: SampleLog,
    wanted: Wanted,
}

/// Which samples are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// How far apart.
    pub(super) spacing: Duration,
    /// How many bytes all of them may take. When they are full, every second sample is given up and the pace halved.
    pub(super) memory: usize,
}

/// The samples of one stream, as they came.
#[derive(Debug)]
pub struct SampleLog {
    /// Number of the stream.
    pub stream: u32,
    /// Which way its payload goes.
    pub heading: Heading,
    /// Which end this host is.
    pub end: End,
    /// When each sample was taken.
    pub at: Vec<MonoTime>,
    /// What the stream's thread had done by then.
    pub counts: Vec<Counts>,
    /// Samples given up to stay within the memory limit.
    pub thinned: u64,
    records: Vec<u8>,
    record_len: usize,
    /// Of a sender over TCP, what lay in its send buffer.
    send_buffers: Vec<SendBufferUse>,
    socket: Arc<OwnedFd>,
    counters: Arc<StreamCounters>,
    protocol: Protocol,
}

/// What lies in a send buffer and below it, and what it takes. Absent where the kernel does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendBufferUse {
    /// Memory of what is in it (`sk_wmem_queued`), in bytes.
    pub queued: Option<u32>,
    /// From how much on its program waits (`sk_sndbuf`), in bytes.
    pub limit: Option<u32>,
    /// Memory of what the qdiscs and NIC of this host did not send yet (`sk_wmem_alloc`), in bytes.
    pub below: Option<u32>,
}

/// How exactly a sample is taken when it is due.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Leeway {
    /// For so long it is left to somebody else.
    pub(super) grace: Duration,
    /// So much before that it may be taken.
    pub(super) early: Duration,
}

const NEVER: u64 = u64::MAX;

/// How long before it is due a stream's own thread takes a sample, of those that are wanted every `spacing`. As long as
/// the sampler waits for it: a thread that comes by once each `spacing` then takes every sample, at whatever moment
/// between two of them it comes.
pub(super) fn early(spacing: Duration) -> Duration {
    spacing / 2
}

impl Default for SampleRecorder {
    fn default() -> Self {
        Self { due: AtomicU64::new(NEVER), early: AtomicU64::new(0), entries: Mutex::new(None) }
    }
}

impl SampleRecorder {
    /// Wants a sample of `stream` now, and then as far apart as is wanted.
    pub(super) fn open(&self, stream: &Stream, protocol: Protocol, wanted: Wanted) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        *entries = Some(Entries { log: SampleLog::new(stream, protocol), wanted });
        self.early.store(nanos(early(wanted.spacing)), Ordering::Relaxed);
        self.due.store(0, Ordering::Relaxed);
    }

    /// The stream's own thread comes by: it takes a sample that is nearly due, since an application that keeps to a rate
    /// comes as often as samples are wanted, and would be a moment early each time.
    pub(super) fn glance_of_own(&self, now: MonoTime) {
        self.take_when(now, now + Duration::from_nanos(self.early.load(Ordering::Relaxed)));
    }

    /// Takes a sample if one has been due for `grace` at `now`, or will have been `early` later, and says whether it was.
    /// Never waits.
    pub(super) fn glance(&self, now: MonoTime, Leeway { grace, early }: Leeway) -> bool {
        let until = now.as_nanos().saturating_add(nanos(early)).saturating_sub(nanos(grace));
        self.take_when(now, MonoTime::from_nanos(until))
    }

    /// Takes a sample at `now` if one is due by `until`.
    fn take_when(&self, now: MonoTime, until: MonoTime) -> bool {
        if until < self.due() {
            return false;
        }
        // Who holds the lock is taking the very sample.
        let Ok(mut guard) = self.entries.try_lock() else { return false };
        let Some(entries) = guard.as_mut().filter(|_| until >= self.due()) else { return false };
        entries.log.take();
        if entries.log.memory() > entries.wanted.memory {
            entries.log.thin();
            entries.wanted.spacing *= 2;
        }
        let spacing = nanos(entries.wanted.spacing);
        let next = self.due.load(Ordering::Relaxed).saturating_add(spacing);
        // Late: samples that were missed are not made up for in a burst, which would only be later still.
        let next = if next <= now.as_nanos() { now.as_nanos().saturating_add(spacing) } else { next };
        self.due.store(next, Ordering::Relaxed);
        true
    }

    /// When the next sample is due.
    pub(super) fn due(&self) -> MonoTime {
        MonoTime::from_nanos(self.due.load(Ordering::Relaxed))
    }

    /// How many samples were taken and kept so far.
    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        self.entries.lock().unwrap().as_ref().map_or(0, |entries| entries.log.at.len())
    }

    /// Takes a last sample and returns all.
    pub(super) fn close(&self) -> Option<SampleLog> {
        self.due.store(NEVER, Ordering::Relaxed);
        let mut log = self.entries.lock().unwrap_or_else(PoisonError::into_inner).take()?.log;
        log.take();
        Some(log)
    }
}

/// Tells a stream's thread when to look at the clock: once for so many bytes, since a look costs as much as a
/// thousand of them.
#[derive(Debug, Default)]
pub(super) struct Glances {
    moved: usize,
}

impl Glances {
    const EVERY: usize = 32 << 10;

    /// The time, if it is worth a look after so many bytes more.
    pub(super) fn after(&mut self, moved: usize) -> Option<MonoTime> {
        self.moved += moved;
        (self.moved >= Self::EVERY).then(|| {
            self.moved = 0;
            clock::now()
        })
    }
}

impl SampleLog {
    fn new(stream: &Stream, protocol: Protocol) -> Self {
        Self {
            stream: stream.number,
            heading: stream.heading,
            end: stream.end(),
            at: Vec::new(),
            counts: Vec::new(),
            thinned: 0,
            records: Vec::new(),
            record_len: 0,
            send_buffers: Vec::new(),
            socket: stream.share(),
            counters: Arc::clone(&stream.counters),
            protocol,
        }
    }

    /// The kernel's record of sample `index`; `None` of datagrams, and of a record the kernel would not give.
    #[must_use]
    pub fn info(&self, index: usize) -> Option<TcpInfo> {
        let record = self.records.get(index * self.record_len..(index + 1) * self.record_len)?;
        (!record.is_empty()).then(|| TcpInfo::from_bytes(record))
    }

    /// The kernel's records of all samples; none of datagrams.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.records.chunks_exact(self.record_len.max(1))
    }

    fn take(&mut self) {
        if self.protocol == Protocol::Tcp && !self.take_record() {
            return;
        }
        self.at.push(clock::now());
        self.counts.push(self.counters.read());
    }

    /// Adds the kernel's record; false where there is none, so that rows stay whole.
    fn take_record(&mut self) -> bool {
        let mut record = [0; tcp_info::RECORD_LEN];
        let Ok(length) = tcp_info::read_into(self.socket.as_fd(), &mut record) else { return false };
        if self.record_len == 0 {
            self.record_len = length;
        }
        // One kernel gives every record of a connection the same length.
        if length != self.record_len || length == 0 {
            return false;
        }
        self.records.extend_from_slice(&record[..length]);
        if self.end == End::Sender {
            let memory = sockets::memory(&self.socket).unwrap_or_default();
            let (queued, limit, below) = (memory.wmem_queued, memory.sndbuf, memory.wmem_alloc);
            self.send_buffers.push(SendBufferUse { queued, limit, below });
        }
        true
    }

    /// What lay in the send buffer at each sample; nothing of receivers and of datagrams.
    #[must_use]
    pub fn send_buffers(&self) -> &[SendBufferUse] {
        &self.send_buffers
    }

    fn memory(&self) -> usize {
        self.records.len()
            + self.send_buffers.len() * size_of::<SendBufferUse>()
            + self.at.len() * (size_of::<MonoTime>() + size_of::<Counts>())
    }

    /// Gives up every second sample.
    fn thin(&mut self) {
        let before = self.at.len();
        keep_every_second(&mut self.at, 1);
        keep_every_second(&mut self.counts, 1);
        keep_every_second(&mut self.records, self.record_len);
        keep_every_second(&mut self.send_buffers, 1);
        self.thinned += (before - self.at.len()) as u64;
    }
}

/// Keeps rows 0, 2, 4, … of rows of `width` values.
fn keep_every_second<T: Copy>(values: &mut Vec<T>, width: usize) {
    if width == 0 {
        return;
    }
    let rows = values.len() / width;
    for row in (2..rows).step_by(2) {
        values.copy_within(row * width..(row + 1) * width, row / 2 * width);
    }
    values.truncate(rows.div_ceil(2) * width);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> SampleRecorder {
        recorder_within(usize::MAX)
    }

    /// One whose samples may take so many bytes.
    fn recorder_within(memory: usize) -> SampleRecorder {
        let (socket, _) = std::os::unix::net::UnixStream::pair().unwrap();
        let log = SampleLog {
            stream: 1,
            heading: Heading::Outbound,
            end: End::Sender,
            at: Vec::new(),
            counts: Vec::new(),
            thinned: 0,
            records: Vec::new(),
            record_len: 0,
            send_buffers: Vec::new(),
            socket: Arc::new(socket.into()),
            counters: Arc::default(),
            protocol: Protocol::Udp,
        };
        let wanted = Wanted { spacing: Duration::from_millis(1), memory };
        SampleRecorder {
            due: AtomicU64::new(0),
            early: AtomicU64::new(500_000),
            entries: Mutex::new(Some(Entries { log, wanted })),
        }
    }

    const EXACTLY: Leeway = Leeway { grace: Duration::ZERO, early: Duration::ZERO };

    const fn at(us: u64) -> MonoTime {
        MonoTime::from_nanos(us * 1_000)
    }

    #[test]
    fn whoever_comes_first_takes_the_sample_and_the_other_none() {
        let (recorder, leeway) = (recorder(), Leeway { grace: Duration::from_micros(500), early: Duration::ZERO });
        assert!(recorder.glance(at(0), EXACTLY));
        assert!(!recorder.glance(at(999), EXACTLY));
        assert!(!recorder.glance(at(1_499), leeway), "the stream's thread still has time");
        assert!(recorder.glance(at(1_500), leeway), "it did not come");
        assert!(!recorder.glance(at(1_999), EXACTLY));
        assert!(recorder.glance(at(2_000), EXACTLY), "the pace is kept");
        assert_eq!(recorder.close().unwrap().at.len(), 4, "three and the last one");
        assert!(!recorder.glance(at(9_000_000), EXACTLY), "nobody wants any more");
    }

    #[test]
    fn the_thread_of_a_stream_that_comes_a_moment_early_each_time_takes_every_sample() {
        let recorder = recorder();
        for number in 0..100_u64 {
            let late = number % 2 == 0;
            recorder.glance_of_own(at(if late { number * 1_000 + 200 } else { number * 1_000 - 200 }));
        }
        assert_eq!(recorder.due(), at(100_000), "the pace is kept");
        assert_eq!(recorder.close().unwrap().at.len(), 101, "all, and the last one");
    }

    #[test]
    fn at_whatever_moment_between_two_samples_a_thread_comes_each_time_it_takes_all() {
        for moment in (0..1_000).step_by(50) {
            let recorder = recorder();
            assert!(recorder.glance(at(0), EXACTLY));
            let early = |number: u64| if number.is_multiple_of(3) { 100 } else { 0 };
            let visits = (1..=100).map(|number| at(number * 1_000 + moment - early(number)));
            visits.for_each(|visit| recorder.glance_of_own(visit));
            let taken = recorder.close().unwrap().at.len() - 2;
            assert!(taken >= 99, "{taken} of 100, {moment} us after each");
        }
    }

    #[test]
    fn missed_samples_are_not_made_up_for() {
        let recorder = recorder();
        assert!(recorder.glance(at(0), EXACTLY));
        assert!(recorder.glance(at(7_300), EXACTLY));
        assert_eq!(recorder.due(), at(8_300));
        assert!(!recorder.glance(at(7_301), EXACTLY));
    }

    #[test]
    fn samples_that_fill_their_memory_are_thinned_and_halve_the_pace() {
        const SAMPLE: usize = size_of::<MonoTime>() + size_of::<Counts>();
        let recorder = recorder_within(5 * SAMPLE);
        for ms in 0..6 {
            assert!(recorder.glance(at(ms * 1_000), EXACTLY));
        }
        assert_eq!((recorder.taken(), recorder.due()), (3, at(7_000)));
        let log = recorder.close().unwrap();
        assert_eq!((log.at.len(), log.thinned), (4, 3));
    }

    #[test]
    fn the_clock_is_read_once_for_many_bytes() {
        let mut glances = Glances::default();
        let looks = (0..1_000).filter(|_| glances.after(1_448).is_some()).count();
        assert_eq!(looks, 1_000 / Glances::EVERY.div_ceil(1_448));
    }

    #[test]
    fn thinning_keeps_every_second_row_whole() {
        let mut rows = vec![1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
        keep_every_second(&mut rows, 2);
        assert_eq!(rows, [1, 1, 3, 3, 5, 5]);
        let mut none: Vec<u8> = Vec::new();
        keep_every_second(&mut none, 0);
        assert!(none.is_empty());
    }
}
