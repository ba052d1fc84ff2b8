//! What the thread of a TCP receiver does.

use std::io;

use linux::bulk::{Progress, receive_copy, receive_discard};
use linux::clock;
use model::spec::ReceiveMethod;

use super::gate::Gate;
use super::recorder::Glances;
use super::streams::{Finish, StreamEnd, Task, never_ran};

/// Bytes of one receive into memory: within the second-level cache.
const COPY_BLOCK: usize = 256 << 10;
/// Bytes of one receive that drops the payload: whatever is there.
const DISCARD_BLOCK: usize = 16 << 20;

/// Receives to the end of the stream, or until the test is stopped; `None` where it never started.
pub(super) fn run(task: &Task, gate: &Gate) -> Option<StreamEnd> {
    let method = match task.spec.receive {
        // Nothing is cheaper on any kernel; whether a host can also touch what it gets is asked for with `copy`.
        ReceiveMethod::Auto | ReceiveMethod::Discard => ReceiveMethod::Discard,
        ReceiveMethod::Copy => ReceiveMethod::Copy,
    };
    let mut buffer = vec![0; if method == ReceiveMethod::Copy { COPY_BLOCK } else { 0 }];
    let start = gate.wait()?;
    let finish = drain(task, &mut buffer);
    Some(StreamEnd {
        elapsed: clock::now().since(start),
        finish: finish.unwrap_or_else(Finish::Failed),
        received_by: Some(method),
        ..never_ran()
    })
}

fn drain(task: &Task, buffer: &mut [u8]) -> io::Result<Finish> {
    let mut glances = Glances::default();
    let mut low_water = task.low_water;
    loop {
        let progress = if buffer.is_empty() {
            receive_discard(task.fd(), DISCARD_BLOCK)?
        } else {
            receive_copy(task.fd(), buffer)?
        };
        let received = if let Progress::Moved(received) = progress { received } else { 0 };
        task.counters.add_bytes(received);
        match &mut low_water {
            // Each read is late by design, or ends a wait in which nothing came: nobody else looks after the samples.
            Some(low_water) => {
                let now = clock::now();
                task.recorder.glance_of_own(now);
                low_water.look(task.fd(), now);
            }
            None => {
                if let Some(now) = glances.after(received) {
                    task.recorder.glance_of_own(now);
                }
            }
        }
        match progress {
            Progress::Moved(_) => {}
            // Our own stopping closes the direction under a receiver that waits.
            _ if task.stopped() => return Ok(Finish::Done),
            Progress::EndOfStream => return Ok(Finish::EndOfStream),
            Progress::Reset | Progress::BrokenPipe => return Err(io::ErrorKind::ConnectionReset.into()),
            Progress::WouldBlock | Progress::NoBuffers => {}
        }
    }
}
