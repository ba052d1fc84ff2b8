//! Records the kernel's state of every stream at a steady pace, from a thread of its own.
//!
//! The kernel's records are kept as they came, in one growing block a stream, and understood after the test: a sample
//! costs one system call and one copy of 280 bytes.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linux::clock;
use linux::tcp_info::{self, TcpInfo};
use model::measurement::{End, Heading};
use model::spec::Protocol;
use units::MonoTime;

use super::counters::{Counts, StreamCounters};
use super::streams::StreamSet;

/// The sampling thread of one test.
#[derive(Debug)]
pub struct Sampler {
    thread: JoinHandle<Vec<SampleLog>>,
    stop: Arc<AtomicBool>,
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
    socket: Arc<OwnedFd>,
    counters: Arc<StreamCounters>,
    protocol: Protocol,
}

/// Most bytes that the samples of one test may take. When they are full, every second sample is given up and the pace
/// halved: an hour keeps its shape.
const MEMORY_LIMIT: usize = 256 << 20;

impl Sampler {
    /// Samples every stream of `set`, now and then every `spacing`.
    ///
    /// # Errors
    /// If the thread cannot be made.
    pub fn start(set: &StreamSet, protocol: Protocol, spacing: Duration) -> io::Result<Self> {
        let mut logs: Vec<SampleLog> = set.streams().iter().map(|stream| SampleLog::new(stream, protocol)).collect();
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name("sampler".to_owned()).spawn(move || {
            record(&mut logs, spacing, &stopped);
            logs
        })?;
        Ok(Self { thread, stop })
    }

    /// Takes a last sample of each stream and returns all.
    #[must_use]
    pub fn finish(self) -> Vec<SampleLog> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_default()
    }
}

fn record(logs: &mut [SampleLog], spacing: Duration, stop: &AtomicBool) {
    let mut spacing = spacing;
    let mut next = clock::now();
    while !stop.load(Ordering::Relaxed) {
        for log in logs.iter_mut() {
            log.take();
        }
        if logs.iter().map(SampleLog::memory).sum::<usize>() > MEMORY_LIMIT {
            logs.iter_mut().for_each(SampleLog::thin);
            spacing *= 2;
        }
        next = next + spacing;
        let now = clock::now();
        if next < now {
            // Late: samples at the wrong time are not made up for in a burst, which would only be later still.
            next = now;
        }
        pause_until(next, stop);
    }
    logs.iter_mut().for_each(SampleLog::take);
}

/// Sleeps to the instant, in parts short enough to notice the end of the test.
fn pause_until(instant: MonoTime, stop: &AtomicBool) {
    const GLANCE: Duration = Duration::from_millis(20);
    loop {
        let now = clock::now();
        let step = instant.min(now + GLANCE);
        if now >= instant || stop.load(Ordering::Relaxed) || clock::sleep_until(step).is_err() {
            return;
        }
    }
}

impl SampleLog {
    fn new(stream: &super::streams::Stream, protocol: Protocol) -> Self {
        Self {
            stream: stream.number,
            heading: stream.heading,
            end: stream.end(),
            at: Vec::new(),
            counts: Vec::new(),
            thinned: 0,
            records: Vec::new(),
            record_len: 0,
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
        true
    }

    fn memory(&self) -> usize {
        self.records.len() + self.at.len() * (size_of::<MonoTime>() + size_of::<Counts>())
    }

    /// Gives up every second sample.
    fn thin(&mut self) {
        let before = self.at.len();
        keep_every_second(&mut self.at, 1);
        keep_every_second(&mut self.counts, 1);
        keep_every_second(&mut self.records, self.record_len);
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
    use super::keep_every_second;

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
