//! What the calling thread sees at which place of the file system, in a mount namespace of its own (mount(2)).

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, fsconfig_create, fsmount, fsopen,
    mount, mount_bind, mount_bind_recursive, mount_change,
};

/// Lets nothing that is mounted from here on be seen outside of the namespace.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN` over the namespace.
pub fn keep_to_ourselves() -> io::Result<()> {
    // Downstream, not private: what the machine mounts later is still seen here.
    let flags = MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM;
    Ok(mount_change("/", flags)?)
}

/// Shows the devices of the calling thread's network namespace under /sys, with the control groups where they were.
///
/// # Errors
/// `EPERM` without the right, or where a part of the outer /sys is covered, as containers do (mount_namespaces(7)).
pub fn mount_sysfs() -> io::Result<()> {
    let groups = Path::new("/sys/fs/cgroup");
    let kept = open(groups, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    mount(c"sysfs", "/sys", c"sysfs", harmless(), None)?;
    if let Ok(kept) = kept {
        let place = format!("/proc/thread-self/fd/{}", kept.as_raw_fd());
        // A machine without control groups has nothing to show there.
        let _ = mount_bind_recursive(&place, groups);
    }
    Ok(())
}

/// The devices of the calling thread's network namespace as a file system that is mounted nowhere (since Linux 5.2): it
/// is read below `/proc/self/fd/N` and ends with the file. The sysfs at /sys shows those of whoever mounted it.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN` over the namespace.
pub fn detached_sysfs() -> io::Result<OwnedFd> {
    detached(c"sysfs", MountAttrFlags::MOUNT_ATTR_RDONLY)
}

/// The same to write to.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN` over the namespace.
pub fn detached_sysfs_to_write() -> io::Result<OwnedFd> {
    detached(c"sysfs", MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

/// The events of the kernel as a file system that is mounted nowhere; see [`detached_sysfs`].
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN` outside of any user namespace, `ENODEV` where the kernel has no such file system.
pub fn detached_tracefs() -> io::Result<OwnedFd> {
    detached(c"tracefs", MountAttrFlags::MOUNT_ATTR_RDONLY)
}

fn detached(kind: &CStr, access: MountAttrFlags) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, access | MountAttrFlags::MOUNT_ATTR_NOSUID)?)
}

/// Covers `directory` with an empty file system in memory, which ends with the namespace.
///
/// # Errors
/// What the kernel says.
pub fn cover_with_tmpfs(directory: &Path) -> io::Result<()> {
    mount(c"tmpfs", directory, c"tmpfs", harmless(), Some(c"mode=0700"))?;
    Ok(())
}

/// Shows `file` in the place of `shown`, which is a file too.
///
/// # Errors
/// What the kernel says; `ENOENT` where one of them does not exist.
pub fn show_file(file: &Path, shown: &Path) -> io::Result<()> {
    // A link is followed once, here: some systems have /etc/resolv.conf link to a file that is not there yet.
    File::open(shown)?;
    Ok(mount_bind(file, shown)?)
}

fn harmless() -> MountFlags {
    MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC
}
