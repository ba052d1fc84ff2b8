//! How much CPU time a host, a thread and a control group wanted and did not get.

use std::time::Duration;

use crate::kernel_text;

/// CPU time of all CPUs since boot (`/proc/stat`, proc_stat(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTotals {
    /// CPUs that are online.
    pub cpus: u32,
    /// Used by tasks, interrupts and soft interrupts; guests' time is part of it.
    pub busy: Duration,
    /// Wanted here and given to others by the hypervisor.
    pub steal: Duration,
}

/// What the scheduler gave one thread so far (`/proc/thread-self/schedstat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scheduled {
    /// Time on a CPU.
    pub on_cpu: Duration,
    /// Time in which it could have run and waited for a CPU.
    pub run_delay: Duration,
}

/// CPU time of the whole host; [`None`] where `/proc/stat` cannot be read.
#[must_use]
pub fn cpu_totals() -> Option<CpuTotals> {
    parse_stat(&kernel_text::read("/proc/stat").ok()?)
}

/// What the scheduler gave the calling thread; [`None`] where the kernel does not count it (`CONFIG_SCHED_INFO`).
#[must_use]
pub fn thread_scheduled() -> Option<Scheduled> {
    parse_schedstat(&kernel_text::read("/proc/thread-self/schedstat").ok()?)
}

/// Time since boot in which any task of the host waited for a CPU; [`None`] without pressure stall information.
#[must_use]
pub fn cpu_pressure() -> Option<Duration> {
    parse_pressure(&kernel_text::read("/proc/pressure/cpu").ok()?)
}

/// Time for which the CPU quota of this process's control group has stopped it so far; [`None`] where it has none.
#[must_use]
pub fn throttled() -> Option<Duration> {
    let groups = kernel_text::read("/proc/self/cgroup").ok()?;
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let root = match controllers {
            "" => "/sys/fs/cgroup".to_owned(),
            of if of.split(',').any(|controller| controller == "cpu") => format!("/sys/fs/cgroup/{of}"),
            _ => return None,
        };
        parse_throttled(&kernel_text::read(format!("{root}{path}/cpu.stat")).ok()?)
    })
}

fn parse_stat(text: &str) -> Option<CpuTotals> {
    let numbers = |line: &str| -> Vec<u64> { line.split_whitespace().skip(1).map_while(|n| n.parse().ok()).collect() };
    let all = numbers(text.lines().find(|line| line.starts_with("cpu "))?);
    let cpus = text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    // user, nice, system, idle, iowait, irq, softirq, steal; the time of guests is in user and nice.
    let (used, steal) = (all.get(..7)?, all.get(7).copied().unwrap_or(0));
    let busy = used.iter().enumerate().filter(|(at, _)| !matches!(at, 3 | 4)).map(|(_, ticks)| ticks).sum();
    Some(CpuTotals { cpus: u32::try_from(cpus).ok()?, busy: of_ticks(busy), steal: of_ticks(steal) })
}

fn of_ticks(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(MILLIS_PER_TICK))
}

fn parse_schedstat(text: &str) -> Option<Scheduled> {
    let mut numbers = text.split_whitespace().map_while(|number| number.parse().ok()).map(Duration::from_nanos);
    Some(Scheduled { on_cpu: numbers.next()?, run_delay: numbers.next()? })
}

fn parse_pressure(text: &str) -> Option<Duration> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let total = some.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
}

fn parse_throttled(text: &str) -> Option<Duration> {
    text.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", micros) => micros.trim().parse().ok().map(Duration::from_micros),
        ("throttled_time", nanos) => nanos.trim().parse().ok().map(Duration::from_nanos),
        _ => None,
    })
}

/// `USER_HZ` is 100 on every architecture that linerate is built for.
const MILLIS_PER_TICK: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 20 30 4000 50 6 7 80 9 0\ncpu0 50 10 15 2000 25 3 4 40 4 0\ncpu1 50 10 15 2000 25 3 3 40 5 0\nintr 5\n";

    #[test]
    fn host_totals_count_what_ran_and_what_was_stolen_apart() {
        let totals = parse_stat(STAT).unwrap();
        assert_eq!((totals.cpus, totals.busy.as_millis(), totals.steal.as_millis()), (2, 1_630, 800));
        let old = "cpu  100 20 30 4000 50 6 7\ncpu0 100 20 30 4000 50 6 7\n";
        assert_eq!(parse_stat(old).unwrap().steal, Duration::ZERO, "kernels before 2.6.11 count none");
        assert_eq!(parse_stat("nothing of the kind"), None);
    }

    #[test]
    fn forms_of_both_control_group_versions_are_read() {
        let micros = |text| parse_throttled(text).map(|time| time.as_micros());
        assert_eq!(micros("usage_usec 9\nnr_throttled 3\nthrottled_usec 250000\n"), Some(250_000));
        assert_eq!(micros("nr_periods 7\nnr_throttled 3\nthrottled_time 250000000\n"), Some(250_000));
        assert_eq!(micros("usage_usec 9\n"), None, "a group without a quota");
        assert_eq!(
            parse_pressure("some avg10=0.34 avg60=5.99 avg300=8.19 total=50509239\nfull total=0\n")
                .unwrap()
                .as_micros(),
            50_509_239
        );
    }

    #[test]
    fn thread_that_works_is_given_time_on_a_cpu() {
        let before = thread_scheduled().unwrap();
        let busy = crate::clock::thread_cpu_time() + Duration::from_millis(20);
        while crate::clock::thread_cpu_time() < busy {
            std::hint::black_box(0);
        }
        let after = thread_scheduled().unwrap();
        assert!(after.on_cpu > before.on_cpu && after.run_delay >= before.run_delay);
        assert!(cpu_totals().unwrap().cpus > 0);
    }
}
