//! The first process of a host.

use std::io::{self, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, pidfd_send_signal, waitid};

/// The first process of a host. All processes of the host end with this value, and with the process that owns it.
#[derive(Debug)]
pub struct Init {
    pid: Pid,
    pidfd: OwnedFd,
    /// Where it hears of other turns.
    orders: PipeWriter,
}

/// The part of time in which the processes of a host run; in the rest they are stopped.
///
/// Model: a slow processor works slowly all the time; this one works at full speed in turns with none. Over times much
/// longer than a turn both do the same work. Processes see `SIGCONT`, and one that was stopped by its user goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DutyCycle {
    /// How long they run in each turn.
    pub on: Duration,
    /// How long they are stopped after that.
    pub off: Duration,
}

impl Init {
    /// Starts it as the first child of the calling thread, which was [separated](super::separate) before, and shows
    /// the processes of the new host under /proc.
    ///
    /// # Errors
    /// What making a process gives, and what mounting /proc does: `EPERM` where a part of the outer /proc is covered,
    /// as containers do (mount_namespaces(7)).
    pub fn start(duty: Option<DutyCycle>) -> io::Result<Self> {
        let maker = pidfd_open(getpid(), PidfdFlags::empty())?;
        let (mut answer, word) = io::pipe()?;
        let (heard, orders) = io::pipe()?;
        // SAFETY: the child makes system calls on its own stack only and never returns, so it does not matter what
        // other threads of this process were doing (signal-safety(7)).
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            be_init([maker.as_raw_fd(), heard.as_raw_fd()], word.as_raw_fd(), duty);
        }
        let pid = Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error)?;
        let init = Self { pid, pidfd: pidfd_open(pid, PidfdFlags::empty())?, orders };
        drop(word);
        let mut errno = [0; 4];
        answer.read_exact(&mut errno)?;
        match i32::from_ne_bytes(errno) {
            0 => Ok(init),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// Its number in the namespace of processes of its maker.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Has the processes of the host run in other turns from now on, or all the time.
    ///
    /// # Errors
    /// `EPIPE` where the process has ended.
    pub fn set_duty(&self, duty: Option<DutyCycle>) -> io::Result<()> {
        (&self.orders).write_all(&order(duty))
    }

    /// Has all processes of the host end at once; dropping the value waits until they have.
    pub fn kill(&self) {
        // It fails only where the process has ended already.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

impl AsFd for Init {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        self.kill();
        // The kernel ends the first process of a namespace only after all others in it are gone
        // (kernel/pid_namespace.c, zap_pid_ns_processes).
        let _ = waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED);
    }
}

/// Turns as they are told to the process: how long on, how long off, in nanoseconds; never off is all the time.
fn order(duty: Option<DutyCycle>) -> [u8; ORDER_LEN] {
    let nanos = |time: Duration| units::duration::nanos(time).to_ne_bytes();
    let mut order = [0; ORDER_LEN];
    if let Some(DutyCycle { on, off }) = duty {
        order[..8].copy_from_slice(&nanos(on));
        order[8..].copy_from_slice(&nanos(off));
    }
    order
}

fn read_order(order: [u8; ORDER_LEN]) -> Option<DutyCycle> {
    let (on, off) = order.split_first_chunk()?;
    let off = off.first_chunk()?;
    let [on, off] = [on, off].map(|nanos: &[u8; 8]| Duration::from_nanos(u64::from_ne_bytes(*nanos)));
    (!off.is_zero()).then_some(DutyCycle { on, off })
}

const ORDER_LEN: usize = 16;

/// What the child does, for ever: it waits for the end of its maker. Only system calls from here on.
fn be_init([maker, heard]: [RawFd; 2], word: RawFd, mut duty: Option<DutyCycle>) -> ! {
    let errno = settle_in();
    // SAFETY: `errno` is readable for its four bytes. The descriptors are this process's own, and nobody else in it
    // uses any: its memory is a copy, of which no other thread runs.
    unsafe {
        libc::write(word, ptr::from_ref(&errno).cast(), size_of_val(&errno));
        // Out of the way of the two places first.
        let [maker, heard] = [maker, heard].map(|file| libc::fcntl(file, libc::F_DUPFD, 3));
        let placed = libc::dup2(maker, MAKER) == MAKER && libc::dup2(heard, ORDERS) == ORDERS;
        libc::syscall(libc::SYS_close_range, 2, libc::c_uint::MAX, 0);
        if errno != 0 || !placed {
            libc::_exit(1);
        }
    }
    let mut had_turns = false;
    loop {
        let Some(DutyCycle { on, off }) = duty else {
            if had_turns {
                // A process that was made just as all were stopped has been seen to stand still after they went on.
                wait(Some(SETTLED), &mut duty);
                signal_all(libc::SIGCONT);
                had_turns = duty.is_some();
            } else {
                wait(None, &mut duty);
            }
            continue;
        };
        had_turns = true;
        wait(Some(on), &mut duty);
        if duty != Some(DutyCycle { on, off }) {
            // They run already, and the stop of the old turns may be long.
            continue;
        }
        signal_all(libc::SIGSTOP);
        wait(Some(off), &mut duty);
        signal_all(libc::SIGCONT);
    }
}

/// After this all processes that were made before a change of turns are there.
const SETTLED: Duration = Duration::from_millis(100);

/// Returns the error number of what does not work, or zero.
fn settle_in() -> i32 {
    // SAFETY: constant, terminated strings, and zero for all other pointers.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"lab-host".as_ptr());
        // Not in the terminal's group, so that Ctrl-C is its maker's affair.
        libc::setsid();
        // Orphans are this process's children then, and nobody waits for them.
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        if libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, ptr::null()) != 0 {
            return io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        }
    }
    0
}

/// Waits so long or for an order, and ends this process if its maker has ended.
fn wait(time: Option<Duration>, duty: &mut Option<DutyCycle>) {
    let mut events = [MAKER, ORDERS].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let time = time.map(|time| libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: two entries and a time that live through the call.
    let ready = unsafe { libc::ppoll(events.as_mut_ptr(), 2, time, ptr::null()) };
    let [maker, orders] = events;
    if ready <= 0 {
        return;
    }
    if maker.revents != 0 {
        // SAFETY: ends the process, which has nothing to clean up.
        unsafe { libc::_exit(0) };
    }
    let mut order = [0; ORDER_LEN];
    // SAFETY: there is room for as many bytes as are asked for.
    let read = unsafe { libc::read(orders.fd, order.as_mut_ptr().cast(), ORDER_LEN) };
    // Orders are shorter than what a pipe takes in one piece (pipe(7)). Without any, the maker is about to end.
    if usize::try_from(read) == Ok(ORDER_LEN) {
        *duty = read_order(order);
    }
}

/// Signals all other processes of the namespace (kill(2): -1 is everyone but init).
fn signal_all(signal: libc::c_int) {
    // SAFETY: takes numbers only.
    unsafe { libc::kill(-1, signal) };
}

/// Descriptors of the first process.
const MAKER: RawFd = 0;
const ORDERS: RawFd = 1;

/// A pipe whose ends close on exec, for use between `fork` and `exec`.
pub(super) fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut ends = MaybeUninit::<[RawFd; 2]>::uninit();
    // SAFETY: there is room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr().cast(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so both are open, and ours.
    Ok(unsafe { ends.assume_init() }.map(|end| unsafe { OwnedFd::from_raw_fd(end) }))
}
