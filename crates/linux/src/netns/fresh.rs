//! Fresh network namespaces, with and without privilege.

use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::{NetnsError, on_scratch_thread};

/// Runs `work` on a thread of its own in a fresh network namespace, whose loopback device is up, and returns what it
/// returns. The namespace ends with its last socket.
///
/// # Errors
/// [`NetnsError::Fresh`] without `CAP_SYS_ADMIN`; `work` has not run then.
pub fn in_fresh_netns<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, NetnsError> {
    let enter = || {
        unshare(UnshareFlags::NEWNET).map_err(|errno| NetnsError::Fresh {
            step: "unshare(CLONE_NEWNET)",
            needs: "CAP_SYS_ADMIN",
            source: errno.into(),
        })?;
        bring_up_loopback().map_err(|source| NetnsError::Fresh {
            step: "bringing up lo",
            needs: "CAP_NET_ADMIN",
            source,
        })
    };
    on_scratch_thread(enter, work)
}

/// Has `command` start in fresh user and network namespaces of its own, as their root, with loopback up. Works without
/// privilege wherever the kernel allows user namespaces; where it does not, starting the command fails.
pub fn isolate(command: &mut Command) -> &mut Command {
    let prepare = || {
        unshare_user_net()?;
        bring_up_loopback()
    };
    // SAFETY: between `fork` and `exec` only what is safe in a signal handler may run. The two functions make system
    // calls on memory of their own stack; they neither allocate nor lock.
    unsafe { command.pre_exec(prepare) }
}

/// Moves the calling process into fresh user and network namespaces, in which its user and group are root.
///
/// # Errors
/// `EINVAL` where the process has more than one thread, `EPERM` or `ENOSPC` where user namespaces are not allowed
/// (`user.max_user_namespaces`, `kernel.unprivileged_userns_clone`, a security module).
pub fn unshare_user_net() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)?;
    become_root_inside(user, group)
}

/// Makes the user and the group that this process had outside the root of the user namespace in which it is now.
pub(crate) fn become_root_inside(user: u32, group: u32) -> io::Result<()> {
    // Without privilege a group may be mapped only after giving up setgroups(2) (user_namespaces(7)).
    write_file(c"/proc/self/setgroups", b"deny")?;
    map_root(c"/proc/self/uid_map", user)?;
    map_root(c"/proc/self/gid_map", group)
}

/// Brings up the loopback device `lo` of the current network namespace, which gives it 127.0.0.1 and ::1.
///
/// # Errors
/// `EPERM` without `CAP_NET_ADMIN` over the namespace.
pub fn bring_up_loopback() -> io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: `ifreq` is a name and a union of integers and pointers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    for (stored, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *stored = byte.cast_signed();
    }
    // SAFETY: `request` names the device with a terminated string, and the kernel writes only the flags in it.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so the union holds the flags.
    unsafe { request.ifr_ifru.ifru_flags |= UP };
    // SAFETY: as above; the kernel only reads the request.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

pub(crate) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: callers pass kinds of namespaces. None of those separates file descriptors or memory of threads, which is what could break their promises.
    unsafe { unshare_unsafe(flags) }
}

/// Maps root inside to `id` outside.
fn map_root(file: &std::ffi::CStr, id: u32) -> io::Result<()> {
    let mut line = [0; 32];
    let mut rest = &mut line[..];
    write!(rest, "0 {id} 1")?;
    let unused = rest.len();
    write_file(file, &line[..line.len() - unused])
}

fn write_file(path: &std::ffi::CStr, content: &[u8]) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, content)?;
    Ok(())
}

const UP: libc::c_short = 1; // IFF_UP, include/uapi/linux/if.h
