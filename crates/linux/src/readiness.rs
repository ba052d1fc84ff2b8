//! Waiting until one of many files can be read, to the microsecond, and waking who waits.

use std::io;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll, eventfd, poll};
use rustix::io::Errno;

/// Files that are watched, each with a number. A file is told of when something new has come, and not again for what
/// is still there (`EPOLLET`): who is told reads until there is no more.
#[derive(Debug)]
pub struct Readiness {
    epoll: OwnedFd,
    bell: Arc<OwnedFd>,
}

/// Wakes who waits for a [`Readiness`], from any thread.
#[derive(Debug, Clone)]
pub struct Bell(Arc<OwnedFd>);

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Not at all.
    None,
    /// So long.
    For(Duration),
    /// Until something comes.
    Endless,
}

impl Readiness {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// What the kernel says where it has no more files to give.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &bell, epoll::EventData::new_u64(BELL), epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        Ok(Self { epoll, bell: Arc::new(bell) })
    }

    /// Watches a file under a number. What it holds already is told of too.
    ///
    /// # Errors
    /// What `epoll_ctl` gives.
    pub fn add(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        let data = epoll::EventData::new_u64(u64::from(number));
        Ok(epoll::add(&self.epoll, file, data, epoll::EventFlags::IN | epoll::EventFlags::ET)?)
    }

    /// What wakes who waits here.
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell(Arc::clone(&self.bell))
    }

    /// Waits, and calls `ready` for each file to which something has come. Returns early when the bell rings, and when
    /// a signal comes.
    ///
    /// # Errors
    /// What `ppoll` and `epoll_wait` give.
    pub fn wait(&self, patience: Patience, mut ready: impl FnMut(u32)) -> io::Result<()> {
        if patience != Patience::None && !self.sleep(patience)? {
            // Nothing to ask for: a thread that wakes some thousand times a second by its timers is spared half of its calls.
            return Ok(());
        }
        let timeout = Some(Timespec { tv_sec: 0, tv_nsec: 0 });
        let mut events = [const { MaybeUninit::uninit() }; EVENTS];
        let told = match epoll::wait(&self.epoll, &mut events, timeout.as_ref()) {
            Ok((told, _)) => &*told,
            Err(Errno::INTR) => &[],
            Err(errno) => return Err(errno.into()),
        };
        for event in told {
            let data = event.data;
            // The bell is silenced by its edge: nobody needs to read it.
            u32::try_from(data.u64()).into_iter().for_each(&mut ready);
        }
        Ok(())
    }

    /// Sleeps until there is something, and returns whether there may be. `epoll_wait` counts in milliseconds before Linux 5.11;
    /// `ppoll` never did.
    fn sleep(&self, patience: Patience) -> io::Result<bool> {
        let timeout = match patience {
            Patience::Endless => None,
            Patience::None => Some(Duration::ZERO),
            Patience::For(time) => Some(time),
        };
        let timeout = timeout.map(|time| Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        });
        match poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], timeout.as_ref()) {
            Ok(files) => Ok(files > 0),
            Err(Errno::INTR) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Bell {
    /// Wakes.
    pub fn ring(&self) {
        // Full after 2^64 - 2 rings, each of which was heard.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

/// Whether nobody will read what is written to this file any more: the reader of a pipe has gone, the other end of a
/// socket has closed, a terminal has hung up. Never so of a plain file.
#[must_use]
pub fn is_abandoned(file: impl AsFd) -> bool {
    let mut asked = [PollFd::new(&file, PollFlags::empty())];
    // These are told without being asked for (poll(2)).
    let gone = PollFlags::ERR | PollFlags::HUP;
    poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok() && asked[0].revents().intersects(gone)
}

/// Has the calling thread woken when it asked to be, and not up to 50 µs later so that other timers share the
/// interrupt (`PR_SET_TIMERSLACK`).
///
/// # Errors
/// What `prctl` gives.
pub fn wake_exactly() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?)
}

/// Beyond every number of a file.
const BELL: u64 = u64::MAX;

/// How many files one call tells of; what is left comes with the next.
const EVENTS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_told_of_once_for_what_has_come() {
        let readiness = Readiness::new().unwrap();
        let (read, write) = rustix::pipe::pipe().unwrap();
        readiness.add(&read, 7).unwrap();
        let mut told = Vec::new();
        readiness.wait(Patience::None, |number| told.push(number)).unwrap();
        assert!(told.is_empty());
        rustix::io::write(&write, b"x").unwrap();
        readiness.wait(Patience::Endless, |number| told.push(number)).unwrap();
        readiness.wait(Patience::None, |number| told.push(number)).unwrap();
        assert_eq!(told, [7]);
    }

    #[test]
    fn pipe_without_a_reader_is_abandoned_and_a_file_never() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        assert!(!is_abandoned(&write));
        drop(read);
        assert!(is_abandoned(&write));
        assert!(!is_abandoned(std::fs::File::open("/dev/null").unwrap()));
    }

    #[test]
    fn bell_wakes_from_another_thread() {
        let readiness = Readiness::new().unwrap();
        let bell = readiness.bell();
        std::thread::scope(|scope| {
            scope.spawn(|| bell.ring());
            readiness.wait(Patience::Endless, |number| panic!("{number} is no file")).unwrap();
        });
        readiness.wait(Patience::For(Duration::from_micros(10)), |number| panic!("{number} is no file")).unwrap();
    }
}
