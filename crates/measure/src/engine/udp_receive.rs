//! What the thread of a UDP receiver does: every datagram is counted by its number.

use std::io;
use std::time::Duration;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, Datagram, MAX_MESSAGE_BYTES, ReceiveBatch, Wait};
use linux::clock;
use linux::sockets::{Switch, set_receive_drops, set_receive_gro, set_receive_time, set_receive_timeout};
use model::measurement::DatagramCounts;
use model::spec::Offload;
use units::{MonoTime, PacketCount, WallTime};

use super::datagram::{self, HEADER_LEN, Jitter};
use super::gate::Gate;
use super::sequence::Sequence;
use super::streams::{Finish, StreamEnd, Task, never_ran};

/// Receives until the test is stopped; `None` where it never started.
pub(super) fn run(task: &Task, gate: &Gate) -> Option<StreamEnd> {
    let merged = match task.spec.udp_gro {
        Offload::On => set_receive_gro(task.fd(), Switch::On).is_ok(),
        Offload::Off => false,
    };
    let counts_drops = set_receive_drops(task.fd(), Switch::On).is_ok();
    // A batch is read when this thread is scheduled; jitter is of the arrivals. Where it is refused, the reading has to do.
    let _ = set_receive_time(task.fd(), Switch::On);
    let timed = set_receive_timeout(task.fd(), Some(GLANCE));
    let start = gate.wait()?;
    let mut receiver = Receiver {
        batch: ReceiveBatch::new(if merged { merged_within(task.share_of_memory()) } else { SINGLE }),
        task,
        sequence: Sequence::default(),
        jitter: Jitter::default(),
        drops: 0,
        last: start,
    };
    let result = timed.and_then(|()| receiver.drain());
    Some(StreamEnd {
        elapsed: receiver.last.since(start),
        finish: result.map_or_else(Finish::Failed, |()| Finish::Done),
        datagrams: Some(receiver.counts(counts_drops)),
        ..never_ran()
    })
}

/// How soon the end of the test is seen while nothing comes.
const GLANCE: Duration = Duration::from_millis(20);

/// Merged datagrams: each message may hold 64 KiB, and every header in it is needed.
fn merged_within(memory: usize) -> BatchShape {
    const MOST: usize = 16;
    BatchShape { messages: (memory / MAX_MESSAGE_BYTES).clamp(1, MOST), message_bytes: MAX_MESSAGE_BYTES }
}

/// Single datagrams: only the header is copied, the kernel still tells the length.
const SINGLE: BatchShape = BatchShape { messages: 128, message_bytes: HEADER_LEN };

struct Receiver<'a> {
    task: &'a Task,
    batch: ReceiveBatch,
    sequence: Sequence,
    jitter: Jitter,
    drops: u64,
    last: MonoTime,
}

impl Receiver<'_> {
    fn drain(&mut self) -> io::Result<()> {
        loop {
            let stopped = self.task.stopped();
            // Once stopped, what already lies in the socket is still counted.
            let wait = if stopped { Wait::Never } else { Wait::ForFirst };
            match self.batch.receive(self.task.fd(), wait)? {
                Progress::Moved(_) => self.note_batch(),
                _ if stopped => return Ok(()),
                Progress::WouldBlock | Progress::NoBuffers | Progress::EndOfStream => {}
                Progress::BrokenPipe | Progress::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
            }
        }
    }

    fn note_batch(&mut self) {
        self.last = clock::now();
        self.task.recorder.glance_of_own(self.last);
        let reading = Reading { mono: self.last, wall: clock::wall_now() };
        let mut bytes = 0;
        for message in self.batch.iter() {
            let report = message.report();
            let arrived = report.received_at.map_or(self.last, |at| reading.arrival(at));
            bytes += note(&message, &mut self.sequence, &mut self.jitter, (self.task, arrived));
            if let Some(drops) = report.drops {
                self.drops = u64::from(drops);
            }
        }
        self.task.counters.add_bytes(bytes);
        self.task.counters.set_datagrams(self.sequence.received().get(), self.sequence.missing().get(), self.drops);
    }

    fn counts(&self, counts_drops: bool) -> DatagramCounts {
        let highest = PacketCount::new(self.sequence.highest());
        DatagramCounts {
            // The sender's own count, which knows of the tail, comes with its results.
            sent: highest,
            received: self.sequence.received(),
            lost: self.sequence.missing(),
            lost_at_tail: PacketCount::ZERO,
            reordered: self.sequence.reordered(),
            duplicated: self.sequence.duplicated(),
            dropped_at_socket: counts_drops.then(|| PacketCount::new(self.drops)),
            jitter: self.jitter.smoothed(),
        }
    }
}

/// When a batch was read, by both clocks.
#[derive(Debug, Clone, Copy)]
struct Reading {
    mono: MonoTime,
    wall: WallTime,
}

impl Reading {
    /// When a message came, by the clock that is never stepped: as long before the reading as the wall clock says. A wall clock that
    /// was stepped in between counts as no time at all, or as the longest that a batch can have lain in a socket.
    fn arrival(self, received: WallTime) -> MonoTime {
        let waited = self.wall.unix_nanos().saturating_sub(received.unix_nanos()).min(LONGEST_WAIT);
        MonoTime::from_nanos(self.mono.as_nanos().saturating_sub(waited))
    }
}

/// A full socket of 64 MiB at 1 Gbit/s is read within half of this, in nanoseconds.
const LONGEST_WAIT: u64 = 1_000_000_000;

/// Counts the datagrams of one message and returns their bytes. Of merged ones the first tells the transit time: the kernel's time
/// of the message is when that one arrived.
fn note(message: &Datagram<'_>, sequence: &mut Sequence, jitter: &mut Jitter, (task, at): (&Task, MonoTime)) -> usize {
    let mut first = true;
    let mut foreign = 0;
    for segment in message.segments() {
        let Some((sent_us, number)) = datagram::read(segment, task.conduct.counter_width).filter(|(_, n)| *n > 0)
        else {
            // Not of the test, such as a greeting that was sent twice.
            foreign += segment.len();
            continue;
        };
        sequence.arrived(number);
        let is_first = std::mem::take(&mut first);
        if jitter.begins_a_batch(sent_us) && is_first {
            let arrived_us = i64::try_from(at.as_nanos() / 1_000).unwrap_or(i64::MAX);
            jitter.note(arrived_us.saturating_sub(i64::try_from(sent_us).unwrap_or(i64::MAX)));
        }
    }
    message.bytes.saturating_sub(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrived_before_it_was_read_whatever_the_wall_clock_did() {
        let read =
            Reading { mono: MonoTime::from_nanos(5_000_000_000), wall: WallTime::from_unix_nanos(900_000_000_000) };
        let of = |unix_nanos| read.arrival(WallTime::from_unix_nanos(unix_nanos)).as_nanos();
        assert_eq!(of(899_999_700_000), 4_999_700_000);
        assert_eq!(of(905_000_000_000), 5_000_000_000, "stepped back in between");
        assert_eq!(of(100_000_000_000), 4_000_000_000, "stepped forward in between");
    }
}
