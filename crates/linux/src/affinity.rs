//! Which CPUs the calling thread may run on, how many there are, and whether it comes before others.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::kernel_text;

/// Restricts the calling thread to `cpus`. Threads it starts later inherit the restriction.
///
/// # Errors
/// [`PinError::Impossible`] for a number no set can hold, [`PinError::Refused`] where none of the CPUs is online and
/// allowed by the thread's cpuset.
pub fn pin_current_thread(cpus: &[usize]) -> Result<(), PinError> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(PinError::Impossible { cpu });
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|errno| PinError::Refused { cpus: cpus.to_vec(), source: errno.into() })
}

/// Has the calling thread come before ordinary ones where processors are scarce: it gets more time (`setpriority`), and as
/// soon as it has something to do.
///
/// # Errors
/// `PermissionDenied` without `CAP_SYS_NICE` or a fitting `RLIMIT_NICE`. Then it gets no more time than others, but still
/// as soon.
pub fn prefer_current_thread() -> io::Result<()> {
    // SAFETY: the call takes and gives plain numbers. On Linux a process number of 0 means the calling thread.
    let outcome = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, PREFERRED) };
    let preferred = if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    ask_for_little_at_once()?;
    preferred
}

/// A thread that asks for little time at once need not wait until another's slice ends (`PREEMPT_SHORT`,
/// kernel/sched/fair.c of Linux 6.12). Older kernels make no difference.
fn ask_for_little_at_once() -> io::Result<()> {
    // SAFETY: all zeros are a value of each of its numbers.
    let mut wanted: libc::sched_attr = unsafe { std::mem::zeroed() };
    wanted.size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or_default();
    wanted.sched_flags = KEEP_POLICY;
    // SAFETY: the call takes and gives plain numbers. What niceness it has it is to keep.
    wanted.sched_nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    wanted.sched_runtime = SLICE_NS;
    // SAFETY: `wanted` is as long as it says, and lives until the call returns. The thread 0 is the calling one.
    let outcome = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Of -20 to 19: more processor time than anything that was not raised itself, and less than what keeps the system alive.
const PREFERRED: libc::c_int = -15;
/// The shortest slice that the kernel gives (`sched_setattr(2)`).
const SLICE_NS: u64 = 100_000;
/// `SCHED_FLAG_KEEP_POLICY` (include/uapi/linux/sched.h).
const KEEP_POLICY: u64 = 0x08;

/// Why a thread could not be pinned.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The number is beyond what a CPU set holds.
    #[error("CPU {cpu} does not exist: a CPU set holds 0 to {}", CpuSet::MAX_CPU - 1)]
    Impossible {
        /// The number asked for.
        cpu: usize,
    },
    /// The kernel refused the set, usually because none of its CPUs is online and allowed here.
    #[error("the kernel refused to pin the thread to CPUs {cpus:?}")]
    Refused {
        /// The CPUs asked for.
        cpus: Vec<usize>,
        /// What the kernel said.
        source: io::Error,
    },
}

/// The CPUs the calling thread may run on, ascending.
///
/// # Errors
/// What the kernel says if it refuses; it does on machines with more than 1024 CPUs (`EINVAL`).
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// The CPU the calling thread runs on at this moment.
#[must_use]
pub fn current_cpu() -> usize {
    sched_getcpu()
}

/// The CPUs that are online, ascending, whether the calling thread may use them or not
/// (`/sys/devices/system/cpu/online`).
///
/// # Errors
/// What reading the file gives, or `InvalidData` where it is not a CPU list.
pub fn online_cpus() -> io::Result<Vec<usize>> {
    let text = kernel_text::read(ONLINE_LIST)?;
    parse_cpu_list(&text)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{ONLINE_LIST}: not a CPU list: {text:?}")))
}

/// Reads a kernel CPU list such as `0-3,8`; `None` where it is none. An empty list is one.
#[must_use]
pub fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MAX_LISTED_CPU {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

const ONLINE_LIST: &str = "/sys/devices/system/cpu/online";

/// Bound on a CPU number in a list: the largest `CONFIG_NR_CPUS` of the kernel (8192, arch/x86/Kconfig of 6.18).
const MAX_LISTED_CPU: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_thread_may_use_only_that_cpu_and_others_are_left_alone() {
        let before = allowed_cpus().unwrap();
        let last = *before.last().unwrap();
        let inside = std::thread::spawn(move || {
            pin_current_thread(&[last]).unwrap();
            (allowed_cpus().unwrap(), current_cpu())
        });
        assert_eq!(inside.join().unwrap(), (vec![last], last));
        assert_eq!(allowed_cpus().unwrap(), before);
    }

    #[test]
    fn preferred_thread_is_nicer_to_itself_where_it_may_be_and_others_stay_as_they_are() {
        // SAFETY: the call takes and gives plain numbers.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let inside = std::thread::spawn(move || (prefer_current_thread(), nice())).join().unwrap();
        match inside {
            (Ok(()), inside) => assert_eq!(inside, PREFERRED),
            (Err(error), inside) => {
                assert_eq!((error.kind(), inside), (io::ErrorKind::PermissionDenied, before));
            }
        }
        assert_eq!(nice(), before);
    }

    #[test]
    fn pinning_to_no_cpu_or_to_an_absent_one_is_refused() {
        assert!(matches!(pin_current_thread(&[]), Err(PinError::Refused { .. })));
        assert!(matches!(pin_current_thread(&[1_000_000]), Err(PinError::Impossible { cpu: 1_000_000 })));
    }

    #[test]
    fn online_cpus_contain_the_allowed_ones() {
        let online = online_cpus().unwrap();
        assert!(allowed_cpus().unwrap().iter().all(|cpu| online.contains(cpu)));
    }

    #[test]
    fn cpu_lists_are_read_as_the_kernel_prints_them() {
        assert_eq!(parse_cpu_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_cpu_list("\n"), Some(vec![]));
        assert_eq!(parse_cpu_list("3-1"), None);
        assert_eq!(parse_cpu_list("0-99999999999"), None);
        assert_eq!(parse_cpu_list("0,,1"), None);
    }
}
