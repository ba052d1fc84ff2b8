//! The two clocks of a host, sleeping until an instant, and the CPU time a thread or the process has used.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use units::{MonoTime, WallTime};

/// The current instant of `CLOCK_MONOTONIC`: time since boot without suspension, never stepped, slewed by NTP.
#[must_use]
pub fn now() -> MonoTime {
    MonoTime::from_nanos(nanos_of(clock_gettime(ClockId::Monotonic)))
}

/// The current instant of `CLOCK_REALTIME`.
#[must_use]
pub fn wall_now() -> WallTime {
    WallTime::from_unix_nanos(nanos_of(clock_gettime(ClockId::Realtime)))
}

/// How long the host has been up, with the time it was suspended (`CLOCK_BOOTTIME`).
#[must_use]
pub fn since_boot() -> Duration {
    Duration::from_nanos(nanos_of(clock_gettime(ClockId::Boottime)))
}

/// Sleeps until `CLOCK_MONOTONIC` has reached `instant`; returns at once where that is past.
///
/// Uses `clock_nanosleep` with `TIMER_ABSTIME`, so a loop over instants does not drift, and goes on after a signal.
///
/// # Errors
/// What the kernel says if it refuses the instant, which it does not for instants a `MonoTime` can hold.
pub fn sleep_until(instant: MonoTime) -> io::Result<()> {
    let request = timespec_of(instant);
    loop {
        match clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &request) {
            Err(Errno::INTR) => {}
            outcome => return outcome.map_err(io::Error::from),
        }
    }
}

/// Sleeps until `instant`, in parts short enough to notice soon where `stopped` comes true. Returns whether the instant
/// has come.
///
/// # Errors
/// See [`sleep_until`].
pub fn sleep_unless(instant: MonoTime, stopped: impl Fn() -> bool) -> io::Result<bool> {
    const GLANCE: Duration = Duration::from_millis(20);
    loop {
        let now = now();
        if now >= instant {
            return Ok(true);
        }
        if stopped() {
            return Ok(false);
        }
        sleep_until(instant.min(now + GLANCE))?;
    }
}

/// CPU time the calling thread has used, user and kernel together (`CLOCK_THREAD_CPUTIME_ID`, exact to the nanosecond).
#[must_use]
pub fn thread_cpu_time() -> Duration {
    Duration::from_nanos(nanos_of(clock_gettime(ClockId::ThreadCPUTime)))
}

/// CPU time, split by where it was spent.
///
/// Model: the kernel measures the sum exactly and splits it by where the timer tick found the thread, so that the
/// split of a short span is coarse (kernel/sched/cputime.c `cputime_adjust`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// Time in user mode.
    pub user: Duration,
    /// Time in the kernel on behalf of the program. Interrupts and softirqs are not in it unless they ran in a thread.
    pub system: Duration,
}

impl CpuTimes {
    /// User and system time together.
    #[must_use]
    pub fn total(self) -> Duration {
        self.user + self.system
    }
}

/// CPU time all threads of this process have used, ended ones included (`getrusage(RUSAGE_SELF)`).
///
/// # Errors
/// What the kernel says if it refuses the call.
pub fn process_cpu_times() -> io::Result<CpuTimes> {
    resource_usage(libc::RUSAGE_SELF)
}

/// CPU time of the calling thread (`getrusage(RUSAGE_THREAD)`).
///
/// # Errors
/// What the kernel says if it refuses the call.
pub fn thread_cpu_times() -> io::Result<CpuTimes> {
    resource_usage(libc::RUSAGE_THREAD)
}

/// CPU time of all children of this process that have ended and been waited for (`getrusage(RUSAGE_CHILDREN)`).
///
/// # Errors
/// What the kernel says if it refuses the call.
pub fn ended_children_cpu_times() -> io::Result<CpuTimes> {
    resource_usage(libc::RUSAGE_CHILDREN)
}

fn resource_usage(who: libc::c_int) -> io::Result<CpuTimes> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is writable memory of the size the kernel fills.
    let outcome = unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it has filled all of `usage`.
    let usage = unsafe { usage.assume_init() };
    Ok(CpuTimes { user: duration_of(usage.ru_utime), system: duration_of(usage.ru_stime) })
}

fn duration_of(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

fn nanos_of(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(nanos)
}

fn timespec_of(instant: MonoTime) -> Timespec {
    let nanos = instant.as_nanos();
    Timespec {
        tv_sec: i64::try_from(nanos / NANOS_PER_SECOND).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos % NANOS_PER_SECOND).unwrap_or(0),
    }
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// How the clock of the host is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discipline {
    /// Whether something keeps it to a reference (`STA_UNSYNC` is not set).
    pub synchronised: bool,
    /// How wrong it may be, as its keeper says (`maxerror`).
    pub max_error: Duration,
}

/// How the clock of the host is kept (`adjtimex`). Nothing is adjusted.
///
/// # Errors
/// What the kernel says.
pub fn discipline() -> io::Result<Discipline> {
    // SAFETY: all zeros are a valid `timex`, whose `modes` of 0 asks and changes nothing.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: `timex` is writable and lives through the call.
    let state = unsafe { libc::adjtimex(&raw mut timex) };
    if state < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Discipline {
        synchronised: timex.status & libc::STA_UNSYNC == 0,
        max_error: Duration::from_micros(u64::try_from(timex.maxerror).unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_clock_never_goes_back() {
        let instants: Vec<_> = (0..1000).map(|_| now()).collect();
        assert!(instants.is_sorted());
    }

    #[test]
    fn sleeping_ends_at_or_after_the_instant_asked_for() {
        let until = now() + Duration::from_micros(200);
        sleep_until(until).unwrap();
        assert!(now() >= until);
    }

    #[test]
    fn sleeping_until_a_past_instant_returns() {
        sleep_until(MonoTime::from_nanos(0)).unwrap();
        sleep_until(MonoTime::from_nanos(1)).unwrap();
    }

    #[test]
    fn busy_thread_uses_cpu_time_and_the_process_at_least_as_much() {
        let before = thread_cpu_time();
        let mut spin = 0u64;
        while thread_cpu_time() - before < Duration::from_millis(2) {
            spin = std::hint::black_box(spin + 1);
        }
        assert!(process_cpu_times().unwrap().total() >= Duration::from_millis(1));
        thread_cpu_times().unwrap();
    }

    #[test]
    fn wall_clock_is_after_this_was_written() {
        assert!(wall_now().unix_seconds() > 1_750_000_000);
    }
}
