//! Starting programs in a host.

use std::fs;
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::Arc;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};

use super::Init;
use super::init::pipe;

/// The way into a host, by its first process.
#[derive(Debug, Clone)]
pub struct Entrance {
    init: Arc<OwnedFd>,
    kinds: ThreadNameSpaceType,
}

impl Entrance {
    /// The way into the host of a process of this one's own.
    ///
    /// # Errors
    /// Too many open files.
    pub fn of(init: &Init) -> io::Result<Self> {
        Ok(Self { init: Arc::new(init.as_fd().try_clone_to_owned()?), kinds: KINDS })
    }

    /// The way into the host whose first process has this number. The number may have been given to another process
    /// meanwhile: `is_right` is asked once it can change no more.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where there is no such process, or another one.
    pub fn open(pid: u32, is_right: impl FnOnce() -> bool) -> io::Result<Self> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
        let init = pidfd_open(number, PidfdFlags::empty()).map_err(|_| gone())?;
        if !is_right() {
            return Err(gone());
        }
        let of = |process: &str| fs::metadata(format!("/proc/{process}/ns/user")).map(|metadata| metadata.ino());
        let user = if of("self")? == of(&pid.to_string())? {
            // Nobody may enter a user namespace again (setns(2)).
            ThreadNameSpaceType::empty()
        } else {
            ThreadNameSpaceType::USER
        };
        Ok(Self { init: Arc::new(init), kinds: KINDS | user })
    }

    /// Has `command` start in the host: its network, files, processes and name. A process of this side stands for it:
    /// it passes signals on, ends as the command ends, and the command ends when it is killed.
    pub fn enter<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let Self { init, kinds } = self.clone();
        let enter = move || {
            let mut directory = [0; libc::PATH_MAX as usize];
            // SAFETY: the buffer is writable for its length.
            let known = !unsafe { libc::getcwd(directory.as_mut_ptr(), directory.len()) }.is_null();
            move_into_thread_name_spaces(init.as_fd(), kinds)?;
            if known {
                // SAFETY: `getcwd` has terminated the string. Where there is no such directory inside, it stays at the
                // root, where entering has put it.
                unsafe { libc::chdir(directory.as_ptr()) };
            }
            step_inside()
        };
        // SAFETY: between `fork` and `exec` only what is safe in a signal handler may run: the closure makes system
        // calls on memory of its own stack and neither allocates nor locks.
        unsafe { command.pre_exec(enter) }
    }

    /// Moves the calling thread into the network of the host, and nothing else of it.
    ///
    /// # Errors
    /// `ESRCH` where the host is gone, `EPERM` without `CAP_SYS_ADMIN` over it.
    pub fn enter_network(&self) -> io::Result<()> {
        Ok(move_into_thread_name_spaces(self.init.as_fd(), ThreadNameSpaceType::NETWORK)?)
    }
}

/// Only children are in the new namespace of processes, so the command goes on in a child. Returns there.
fn step_inside() -> io::Result<()> {
    // The write end is open as long as the process that stands for the command exists.
    let [alive, stands] = pipe()?;
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are written before they are read. Raw `clone` with no flags but the signal is `fork` without
    // the C library's locks, which other threads of the original process may have held.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        let pid = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0);
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        if pid > 0 {
            stand_for(libc::pid_t::try_from(pid).unwrap_or(-1), stands.as_raw_fd());
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        drop(stands);
        let mut parent = libc::pollfd { fd: alive.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        if libc::poll(&raw mut parent, 1, 0) != 0 {
            // It was gone before its end could be a signal.
            libc::_exit(1);
        }
        libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
    }
    Ok(())
}

/// Passes signals on to the command, and ends as it ends.
fn stand_for(command: libc::pid_t, keep: RawFd) -> ! {
    // SAFETY: system calls on this stack, in a process of one thread that owns all of its descriptors and uses none
    // of them any more but `keep`, which it keeps by not closing it.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"lab-exec".as_ptr());
        let keep = keep.unsigned_abs();
        if keep > 0 {
            libc::syscall(libc::SYS_close_range, 0, keep - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, keep + 1, libc::c_uint::MAX, 0);
        // The terminal's keys to stop and go on work on this process as on the command.
        let mut passed: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut passed);
        for signal in PASSED_ON.into_iter().chain([libc::SIGCHLD]) {
            libc::sigaddset(&raw mut passed, signal);
        }
        // A command that is only stopped is no event.
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        action.sa_flags = libc::SA_NOCLDSTOP;
        libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut());
        libc::sigprocmask(libc::SIG_SETMASK, &raw const passed, ptr::null_mut());
        loop {
            let mut status = 0;
            if libc::waitpid(command, &raw mut status, libc::WNOHANG) == command {
                end_like(status);
            }
            let mut info: libc::siginfo_t = mem::zeroed();
            let signal = libc::sigwaitinfo(&raw const passed, &raw mut info);
            // What the terminal sends (SI_KERNEL) reaches the command by itself: it is in the same group.
            if signal > 0 && signal != libc::SIGCHLD && info.si_code <= 0 {
                libc::kill(command, signal);
            }
        }
    }
}

fn end_like(status: libc::c_int) -> ! {
    // SAFETY: takes numbers only, and never returns.
    unsafe {
        if libc::WIFSIGNALED(status) {
            let signal = libc::WTERMSIG(status);
            // The command has left a core already where it should.
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
            libc::signal(signal, libc::SIG_DFL);
            let mut none: libc::sigset_t = mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
            libc::kill(libc::getpid(), signal);
            libc::_exit(128 + signal);
        }
        libc::_exit(libc::WEXITSTATUS(status))
    }
}

/// What a user sends to a program.
const PASSED_ON: [libc::c_int; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM];

const KINDS: ThreadNameSpaceType = ThreadNameSpaceType::NETWORK
    .union(ThreadNameSpaceType::MOUNT)
    .union(ThreadNameSpaceType::HOST_NAME_AND_NIS_DOMAIN_NAME)
    .union(ThreadNameSpaceType::INTER_PROCESS_COMMUNICATION)
    .union(ThreadNameSpaceType::PROCESS_ID);
