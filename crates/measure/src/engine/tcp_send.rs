//! What the thread of a TCP sender does.

use std::io;
use std::net::Shutdown;
use std::time::Duration;

use linux::bulk::Progress;
use linux::clock;
use units::{ByteCount, MonoTime};

use super::gate::Gate;
use super::handover::Handover;
use super::recorder::Glances;
use super::schedule::Schedule;
use super::streams::{Closing, Finish, StreamEnd, Task, never_ran};

/// Sends until the budget is spent or the test is stopped; `None` where it never started.
pub(super) fn run(task: &Task, gate: &Gate) -> Option<StreamEnd> {
    let opened =
        Handover::open(task.spec.send, (task.conduct.length, task.share_of_memory().min(burst(task))), task.fd());
    let start = gate.wait()?;
    let mut handover = match opened {
        Ok(handover) => handover,
        Err(error) => return Some(StreamEnd { finish: Finish::Failed(error), ..never_ran() }),
    };
    let result = match task.spec.rate {
        None => pump(task, &mut handover),
        Some(rate) => pump_at_rate(task, &mut handover, Schedule::new(rate, start)),
    };
    let result = result.and_then(|()| finish_block(task, &mut handover));
    if task.conduct.closing == Closing::EndOfStream {
        // It fails only where the connection is gone already.
        let _ = socket2::SockRef::from(&task.fd()).shutdown(Shutdown::Write);
    }
    let elapsed = clock::now().since(start);
    handover.settle(task.fd());
    Some(StreamEnd {
        elapsed,
        finish: result.map_or_else(Finish::Failed, |()| Finish::Done),
        sent_by: Some(handover.method()),
        copy_fallback: handover.copy_fallback(),
        ..never_ran()
    })
}

/// The most that is sent at once: a sender that keeps to a rate needs no larger payload.
fn burst(task: &Task) -> usize {
    let schedule = task.spec.rate.map(|rate| Schedule::new(rate, MonoTime::default()));
    schedule.map_or(usize::MAX, |schedule| schedule.stream_burst(SMALLEST_BURST, usize::MAX).next_power_of_two())
}

/// Sends the rest of the last block to a receiver that counts no parts of one. A path that takes none of it is not waited
/// for.
fn finish_block(task: &Task, handover: &mut Handover) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_millis(500);
    let Some(block) = task.conduct.whole_block() else { return Ok(()) };
    let deadline = clock::now() + PATIENCE;
    let mut left = match task.counters.read().bytes % block {
        0 => 0,
        over => usize::try_from(block.get() - over).unwrap_or(0),
    };
    while left > 0 && clock::now() < deadline {
        match handover.send(task.fd(), left)? {
            Progress::Moved(sent) => {
                task.counters.add_bytes(sent);
                left -= sent;
            }
            Progress::WouldBlock | Progress::NoBuffers => {}
            // The peer has had enough, or is gone, which its control connection says better.
            Progress::BrokenPipe | Progress::EndOfStream | Progress::Reset => return Ok(()),
        }
    }
    Ok(())
}

/// The loop at full speed.
fn pump(task: &Task, handover: &mut Handover) -> io::Result<()> {
    let block = handover.block();
    let mut glances = Glances::default();
    while !task.stopped() {
        let claimed = task.budget.claim(block, block);
        if claimed == 0 || !send_all(task, handover, &mut glances, claimed)? {
            return Ok(());
        }
    }
    Ok(())
}

/// The loop of an application that keeps to a rate.
fn pump_at_rate(task: &Task, handover: &mut Handover, mut schedule: Schedule) -> io::Result<()> {
    let block = handover.block();
    let burst = match task.conduct.length {
        Some(_) => block,
        None => schedule.stream_burst(SMALLEST_BURST, block),
    };
    let mut glances = Glances::default();
    while !task.stopped() && sleep_until(schedule.due(), task) {
        let claimed = task.budget.claim(burst, block);
        if claimed == 0 || !send_all(task, handover, &mut glances, claimed)? {
            return Ok(());
        }
        schedule.note(ByteCount::new(claimed as u64));
    }
    Ok(())
}

/// Sends exactly `claimed` bytes; false where the test was stopped first.
fn send_all(task: &Task, handover: &mut Handover, glances: &mut Glances, claimed: usize) -> io::Result<bool> {
    let mut left = claimed;
    while left > 0 {
        match handover.send(task.fd(), left)? {
            Progress::Moved(sent) => {
                task.counters.add_bytes(sent);
                left -= sent;
                if let Some(now) = glances.after(sent) {
                    task.recorder.glance_of_own(now);
                }
            }
            Progress::WouldBlock | Progress::NoBuffers if task.stopped() => return Ok(false),
            Progress::WouldBlock | Progress::NoBuffers => {}
            // Our own stopping closes the direction under a sender that waits.
            Progress::BrokenPipe | Progress::Reset | Progress::EndOfStream if task.stopped() => return Ok(false),
            Progress::BrokenPipe | Progress::EndOfStream => return Err(io::ErrorKind::BrokenPipe.into()),
            Progress::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
        }
    }
    Ok(true)
}

/// Sleeps in parts short enough to notice the end of the test; false where it came.
pub(super) fn sleep_until(due: MonoTime, task: &Task) -> bool {
    clock::sleep_unless(due, || task.stopped()).unwrap_or(false)
}

/// Less than a segment would only make the kernel wait for the rest of it.
const SMALLEST_BURST: usize = 1_448;
