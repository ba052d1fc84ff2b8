//! What this machine did for others while a test ran.

use std::fs;
use std::time::{Duration, Instant};

/// A moment, and the processor time that was spent until then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    at: Instant,
    /// Of all programs, and what the machine under a virtual one did not give it.
    all: Duration,
    /// Of this program and of those that it has started and that have ended.
    own: Duration,
}

impl Moment {
    /// This moment.
    pub(crate) fn now() -> Self {
        let machine = fs::read_to_string("/proc/stat").unwrap();
        let ours = fs::read_to_string("/proc/self/stat").unwrap();
        Self { at: Instant::now(), all: spent(&machine), own: spent_by_us(&ours) }
    }

    /// How many processors others have used since, in the mean.
    pub(crate) fn others_since(self) -> f64 {
        let now = Self::now();
        let others = (now.all - self.all).saturating_sub(now.own - self.own);
        others.as_secs_f64() / (now.at - self.at).as_secs_f64()
    }
}

/// The first line of /proc/stat (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal.
fn spent(stat: &str) -> Duration {
    let ticks: Vec<u64> = stat.lines().next().unwrap().split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect();
    time(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7])
}

/// Fields 14 to 17 of /proc/PID/stat (proc_pid_stat(5)): utime, stime, cutime, cstime. The second is a name in brackets.
fn spent_by_us(stat: &str) -> Duration {
    let fields = stat.rsplit_once(") ").unwrap().1.split(' ').skip(11).take(4);
    time(fields.map(|field| field.parse::<u64>().unwrap()).sum())
}

/// Clock ticks are a hundredth of a second for programs on all machines (USER_HZ, include/asm-generic/param.h).
fn time(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 10)
}
