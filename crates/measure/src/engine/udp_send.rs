//! What the thread of a UDP sender does: numbered datagrams in batches, one clock read a batch.

use std::io;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, MAX_MESSAGE_BYTES, SendBatch, Wait, max_segments};
use linux::{clock, host};
use model::spec::Offload;
use units::{ByteCount, MonoTime};

use super::datagram::{self, HEADER_LEN};
use super::gate::Gate;
use super::handover::fill;
use super::schedule::Schedule;
use super::streams::{Finish, StreamEnd, Task, datagrams_sent, never_ran};
use super::tcp_send::sleep_until;

/// Sends until the budget is spent or the test is stopped; `None` where it never started.
pub(super) fn run(task: &Task, gate: &Gate) -> Option<StreamEnd> {
    let mut sender = Sender::new(task);
    let start = gate.wait()?;
    let result = sender.pump(start);
    let (sent, anomaly) = (sender.next - 1, sender.anomaly.take());
    Some(StreamEnd {
        elapsed: clock::now().since(start),
        finish: result.map_or_else(Finish::Failed, |()| Finish::Done),
        datagrams: Some(datagrams_sent(sent)),
        anomaly,
        ..never_ran()
    })
}

/// Messages of one system call at full speed: with segmentation half a megabyte, which the second-level cache holds.
const MESSAGES: usize = 8;
/// The same without segmentation, where a message is one datagram.
const SINGLE_MESSAGES: usize = 64;

struct Sender<'a> {
    task: &'a Task,
    batch: SendBatch,
    length: usize,
    /// Datagrams into which the kernel cuts a message.
    segments: usize,
    /// Number of the next datagram.
    next: u64,
    anomaly: Option<String>,
}

impl<'a> Sender<'a> {
    fn new(task: &'a Task) -> Self {
        let length = task.conduct.length.unwrap_or(1_448).clamp(HEADER_LEN, MAX_MESSAGE_BYTES);
        let segments = match (task.spec.udp_gso, host::kernel_version()) {
            (Offload::On, Some(kernel)) => max_segments(kernel).min(MAX_MESSAGE_BYTES / length).max(1),
            _ => 1,
        };
        let mut sender = Self {
            task,
            batch: batch(length, segments, task.share_of_memory()),
            length,
            segments,
            next: 1,
            anomaly: None,
        };
        sender.use_segments(segments);
        sender
    }

    fn use_segments(&mut self, segments: usize) {
        self.segments = segments;
        self.batch = batch(self.length, segments, self.task.share_of_memory());
        if segments > 1 {
            // The length is that of a datagram, which every size that a test can have is.
            let _ = self.batch.set_segment_bytes(Some(self.length));
        }
    }

    fn pump(&mut self, start: MonoTime) -> io::Result<()> {
        let mut schedule = self.task.spec.rate.map(|rate| Schedule::new(rate, start));
        while !self.task.stopped() {
            let mut room = self.batch.shape().messages * self.segments;
            if let Some(schedule) = &schedule {
                if !sleep_until(schedule.due(), self.task) {
                    return Ok(());
                }
                room = schedule.burst(self.length, room * self.length) / self.length;
            }
            let claimed = self.task.budget.claim(room * self.length, self.length).div_ceil(self.length);
            if claimed == 0 {
                return Ok(());
            }
            self.send(claimed)?;
            if let Some(schedule) = &mut schedule {
                schedule.note(ByteCount::new((claimed * self.length) as u64));
            }
        }
        Ok(())
    }

    /// Sends `count` datagrams, which one batch holds.
    fn send(&mut self, count: usize) -> io::Result<()> {
        let mut left = count;
        while left > 0 && !self.task.stopped() {
            let messages = self.number(left);
            let sent = self.send_messages(messages)?;
            let datagrams = sent.min(left);
            self.next += datagrams as u64;
            left -= datagrams;
            self.task.counters.add_bytes(datagrams * self.length);
            self.task.counters.add_packets(datagrams as u64);
        }
        Ok(())
    }

    /// Writes the headers of the next datagrams, and returns how many messages they fill.
    fn number(&mut self, count: usize) -> usize {
        let now = clock::now();
        self.task.recorder.glance_of_own(now);
        let (mut number, mut left, mut message) = (self.next, count, 0);
        while left > 0 && message < self.batch.shape().messages {
            let here = left.min(self.segments);
            let payload = self.batch.payload_mut(message);
            for datagram in payload.chunks_exact_mut(self.length).take(here) {
                datagram::write(datagram, now, number, self.task.conduct.counter_width);
                number += 1;
            }
            self.batch.set_length(message, here * self.length);
            left -= here;
            message += 1;
        }
        message
    }

    /// Hands messages over and returns how many datagrams went.
    fn send_messages(&mut self, messages: usize) -> io::Result<usize> {
        let mut gone = 0;
        while gone < messages && !self.task.stopped() {
            match self.batch.send(self.task.fd(), gone..messages, Wait::ForFirst) {
                Ok(Progress::Moved(moved)) => gone += moved,
                Ok(Progress::WouldBlock | Progress::NoBuffers) => {}
                Ok(Progress::BrokenPipe | Progress::Reset | Progress::EndOfStream) => {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                Err(error) if self.segments > 1 && gone == 0 && cannot_segment(&error) => {
                    self.anomaly =
                        Some(format!("the kernel does not segment these datagrams ({error}); sent one by one"));
                    self.use_segments(1);
                    return Ok(0);
                }
                Err(error) => return Err(error),
            }
        }
        let bytes = usize::try_from(self.batch.bytes_in(0..gone)).unwrap_or(usize::MAX);
        Ok(bytes / self.length)
    }
}

fn batch(length: usize, segments: usize, memory: usize) -> SendBatch {
    let most = if segments > 1 { MESSAGES } else { SINGLE_MESSAGES };
    let messages = (memory / (length * segments)).clamp(1, most);
    let mut batch = SendBatch::new(BatchShape { messages, message_bytes: length * segments });
    for message in 0..batch.shape().messages {
        fill(batch.payload_mut(message));
    }
    batch
}

/// The errors of `sendmmsg` by which kernel, device or path refuse segmentation.
fn cannot_segment(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let refusals = [Errno::INVAL, Errno::MSGSIZE, Errno::IO, Errno::OPNOTSUPP];
    refusals.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
