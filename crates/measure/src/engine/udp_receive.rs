//! What the thread of a UDP receiver does: every datagram is counted by its number.

use std::io;
use std::time::Duration;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, Datagram, MAX_MESSAGE_BYTES, ReceiveBatch, Wait};
use linux::clock;
use linux::sockets::{Switch, set_receive_drops, set_receive_gro, set_receive_timeout};
use model::measurement::DatagramCounts;
use model::spec::Offload;
use units::{MonoTime, PacketCount};

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
        let mut bytes = 0;
        for message in self.batch.iter() {
            bytes += note(&message, &mut self.sequence, &mut self.jitter, (self.task, self.last));
            if let Some(drops) = message.report().drops {
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

/// Counts the datagrams of one message and returns their bytes. Of merged ones the first tells the transit time, since
/// all of them share its arrival.
fn note(message: &Datagram<'_>, sequence: &mut Sequence, jitter: &mut Jitter, (task, now): (&Task, MonoTime)) -> usize {
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
        if std::mem::take(&mut first) {
            let arrived_us = i64::try_from(now.as_nanos() / 1_000).unwrap_or(i64::MAX);
            jitter.note(arrived_us.saturating_sub(i64::try_from(sent_us).unwrap_or(i64::MAX)));
        }
    }
    message.bytes.saturating_sub(foreign)
}
