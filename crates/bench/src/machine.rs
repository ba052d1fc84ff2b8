//! Where everything was measured.

use std::fmt;
use std::fs;
use std::time::Instant;

use anyhow::Context;
use linux::{affinity, clock, host};
use serde::Serialize;

use crate::actors::Actors;

/// What the numbers depend on.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    cpu: String,
    cpu_count: usize,
    kernel: String,
    linerate: String,
    iperf3: String,
}

pub(crate) fn describe(actors: &Actors) -> Machine {
    let found = host::cpus().ok();
    Machine {
        cpu_count: affinity::allowed_cpus().map_or(0, |cpus| cpus.len()),
        cpu: found.and_then(|cpus| cpus.model).unwrap_or_else(|| "unknown CPU".to_owned()),
        kernel: host::kernel_release(),
        linerate: actors.linerate_version.clone(),
        iperf3: actors.iperf3_version.clone(),
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cpu_count, kernel, linerate, iperf3 } = self;
        write!(f, "{linerate} and {iperf3} on Linux {kernel}, {cpu_count} x {cpu}")
    }
}

/// Watches what others do with the cpus meanwhile.
#[derive(Debug)]
pub(crate) struct Watch {
    since: Instant,
    busy: f64,
    ours: f64,
}

impl Watch {
    pub(crate) fn start() -> anyhow::Result<Self> {
        Ok(Self { since: Instant::now(), busy: busy_seconds()?, ours: our_seconds()? })
    }

    /// The share of all cpu time that was spent on neither the bench nor what it ran.
    pub(crate) fn others_used(&self) -> anyhow::Result<f64> {
        let others = (busy_seconds()? - self.busy) - (our_seconds()? - self.ours);
        let cpus = affinity::online_cpus()?.len().max(1);
        Ok((others / (self.since.elapsed().as_secs_f64() * f64::from(u32::try_from(cpus)?))).max(0.0))
    }
}

fn our_seconds() -> anyhow::Result<f64> {
    Ok((clock::ended_children_cpu_times()?.total() + clock::process_cpu_times()?.total()).as_secs_f64())
}

/// Seconds that all cpus together were not idle (proc_stat(5)).
fn busy_seconds() -> anyhow::Result<f64> {
    const TICKS_PER_SECOND: f64 = 100.0; // USER_HZ on every architecture we build for
    let text = fs::read_to_string("/proc/stat").context("/proc/stat cannot be read")?;
    let ticks: Vec<f64> = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_ascii_whitespace()
        .skip(1)
        .filter_map(|t| t.parse().ok())
        .collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; what guests use is in user as well.
    let busy: f64 = ticks.iter().take(8).enumerate().filter(|(at, _)| *at != 3 && *at != 4).map(|(_, t)| t).sum();
    Ok(busy / TICKS_PER_SECOND)
}
