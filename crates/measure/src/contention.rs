//! What this host's CPUs did beside a test: read at its start and at its end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use linux::contention::{self, CpuTotals, Scheduled};
use model::quality::CpuContention;

/// The readings at the start of a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContentionBefore {
    cpu: Option<CpuTotals>,
    throttled: Option<Duration>,
    pressure: Option<Duration>,
}

/// What the scheduler gave the threads of a test's streams, added up as they end.
#[derive(Debug, Default)]
pub struct StreamsScheduled {
    on_cpu_ns: AtomicU64,
    run_delay_ns: AtomicU64,
    is_unknown: AtomicBool,
}

impl ContentionBefore {
    /// Reads them now.
    #[must_use]
    pub fn read() -> Self {
        Self { cpu: contention::cpu_totals(), throttled: contention::throttled(), pressure: contention::cpu_pressure() }
    }

    /// What has changed since, over a test that took `elapsed`.
    #[must_use]
    pub fn until_now(&self, elapsed: Duration, streams: Option<Scheduled>) -> CpuContention {
        let now = Self::read();
        let cpu = self.cpu.zip(now.cpu);
        // A counter that went backwards is of another host: the process was moved, or the group was made anew.
        let change = |before: Option<Duration>, after: Option<Duration>| after?.checked_sub(before?);
        CpuContention {
            elapsed,
            cpus: now.cpu.map_or(0, |cpu| cpu.cpus),
            steal: cpu.and_then(|(before, after)| after.steal.checked_sub(before.steal)),
            busy: cpu.and_then(|(before, after)| after.busy.checked_sub(before.busy)),
            on_cpu: streams.map(|streams| streams.on_cpu),
            run_delay: streams.map(|streams| streams.run_delay),
            throttled: change(self.throttled, now.throttled),
            pressure: change(self.pressure, now.pressure),
        }
    }
}

impl StreamsScheduled {
    /// Adds what the calling thread, which ends now, was given.
    pub fn add_this_thread(&self) {
        match contention::thread_scheduled() {
            Some(scheduled) => {
                self.on_cpu_ns.fetch_add(units::duration::nanos(scheduled.on_cpu), Ordering::Relaxed);
                self.run_delay_ns.fetch_add(units::duration::nanos(scheduled.run_delay), Ordering::Relaxed);
            }
            None => self.is_unknown.store(true, Ordering::Relaxed),
        }
    }

    /// The sum over the threads that have ended; [`None`] where the kernel does not count it.
    #[must_use]
    pub fn sum(&self) -> Option<Scheduled> {
        let of = |counter: &AtomicU64| Duration::from_nanos(counter.load(Ordering::Relaxed));
        let is_known = !self.is_unknown.load(Ordering::Relaxed);
        is_known.then(|| Scheduled { on_cpu: of(&self.on_cpu_ns), run_delay: of(&self.run_delay_ns) })
    }
}
