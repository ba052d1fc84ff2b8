//! How far a measurement can be trusted: what disturbed it that is no part of the path.
//!
//! * [`CpuContention`]: what a host's CPUs did while a test ran there
//! * [`EmulatorConditions`]: how well the lab's emulator kept its times
//! * [`disturbance`]: what follows from these, from counters and from the sampling, for one test
//!
//! Everything here stands in the evidence itself, so that whoever reads it later, on another machine, knows it. What was
//! not observed is absent: unknown, never "undisturbed".

pub mod disturbance;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::PacketCount;

pub use disturbance::{Disturbance, DisturbanceKind, Grade, Quality};

/// What the CPUs of a host did from the first byte of a test to the last, beside the test and for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CpuContention {
    /// How long was observed.
    #[serde(rename = "elapsed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub elapsed: Duration,
    /// CPUs of the host, whether or not the test may use them all; 0 where that is not known.
    pub cpus: u32,
    /// CPU time for which the hypervisor ran something else, summed over the CPUs (`steal` of proc_stat(5), in ticks of 10 ms).
    #[serde(rename = "steal_us", with = "units::duration::as_us::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub steal: Option<Duration>,
    /// CPU time that anything used, the test and the kernel included, summed over the CPUs.
    #[serde(rename = "busy_us", with = "units::duration::as_us::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub busy: Option<Duration>,
    /// Time that the test's streams ran on a CPU, summed over their threads (first number of `schedstat`).
    #[serde(rename = "on_cpu_us", with = "units::duration::as_us::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub on_cpu: Option<Duration>,
    /// Time that the test's streams could have run and waited for a CPU, summed over their threads (second number of
    /// `schedstat`).
    #[serde(rename = "run_delay_us", with = "units::duration::as_us::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub run_delay: Option<Duration>,
    /// Time for which the CPU quota of the test's own control group stopped it (`cpu.stat`).
    #[serde(rename = "throttled_us", with = "units::duration::as_us::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub throttled: Option<Duration>,
    /// Time in which any task of the host waited for a CPU (`some` of `/proc/pressure/cpu`).
    #[serde(rename = "pressure_us", with = "units::duration::as_us::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub pressure: Option<Duration>,
}

impl CpuContention {
    /// Of the CPU time that the host's tasks wanted, the share that the hypervisor gave to others, 0 to 1.
    #[must_use]
    pub fn steal_share(&self) -> Option<f64> {
        let (steal, busy) = (self.steal?.as_secs_f64(), self.busy?.as_secs_f64());
        (steal + busy > 0.0).then(|| steal / (steal + busy))
    }

    /// CPU time that the hypervisor gave to others in each second, in seconds: at most the number of CPUs.
    #[must_use]
    pub fn steal_rate(&self) -> Option<f64> {
        self.of_elapsed(self.steal?)
    }

    /// The share of the host's CPU time that was used by anything, 0 to 1.
    #[must_use]
    pub fn busy_share(&self) -> Option<f64> {
        self.of_all_cpus(self.busy?)
    }

    /// Of the time in which a stream could have run, the share for which it waited for a CPU, 0 to 1; absent where the
    /// streams hardly ran at all.
    #[must_use]
    pub fn run_delay_share(&self) -> Option<f64> {
        let (delay, on_cpu) = (self.run_delay?, self.on_cpu?);
        let wanted = delay + on_cpu;
        (wanted >= FEWEST_TO_JUDGE).then(|| delay.as_secs_f64() / wanted.as_secs_f64())
    }

    /// The time that a stream waited for a CPU in each second of the test, in seconds: of one stream 0 to 1.
    #[must_use]
    pub fn run_delay_rate(&self) -> Option<f64> {
        self.of_elapsed(self.run_delay?)
    }

    /// CPU time of the streams in each second of the test, in seconds: of one stream 0 to 1.
    #[must_use]
    pub fn on_cpu_rate(&self) -> Option<f64> {
        self.of_elapsed(self.on_cpu?)
    }

    /// The share of the test for which its control group's quota stopped it, 0 to 1 with one CPU.
    #[must_use]
    pub fn throttled_share(&self) -> Option<f64> {
        self.of_elapsed(self.throttled?)
    }

    fn of_all_cpus(&self, time: Duration) -> Option<f64> {
        let all = self.elapsed.as_secs_f64() * f64::from(self.cpus);
        (all > 0.0).then(|| (time.as_secs_f64() / all).min(1.0))
    }

    fn of_elapsed(&self, time: Duration) -> Option<f64> {
        let elapsed = self.elapsed.as_secs_f64();
        (elapsed > 0.0).then(|| time.as_secs_f64() / elapsed)
    }
}

/// How well the lab's emulator kept its times while a test ran over it.
///
/// Where the emulator is not scheduled, its clock stands still: the path gets slower, with lower rates and longer delays,
/// instead of losing packets that no network would lose. The rate that a test should reach is given for that slower path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmulatorConditions {
    /// How long was observed, in real time.
    #[serde(rename = "elapsed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub elapsed: Duration,
    /// How far the emulated clock went meanwhile; at most as far as real time.
    #[serde(rename = "emulated_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub emulated: Duration,
    /// The longest time for which the emulated clock stood still. TCP takes 200 ms of silence for a loss.
    #[serde(rename = "longest_stop_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub longest_stop: Duration,
    /// By how much later than due, on the emulated clock, one packet burst in a hundred was delivered, in the worst
    /// direction of a link.
    #[serde(rename = "late_p99_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub late_p99: Duration,
    /// What is allowed before the test is no evidence.
    #[serde(rename = "late_limit_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub late_limit: Duration,
    /// Packets that the emulator itself lost.
    pub lost_packets: PacketCount,
}

impl EmulatorConditions {
    /// How fast the emulated clock went beside real time, 0 to 1; 1 on a machine with time to spare.
    #[must_use]
    pub fn speed(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        if elapsed > 0.0 { (self.emulated.as_secs_f64() / elapsed).min(1.0) } else { 1.0 }
    }
}

/// Streams that used less CPU time than this say nothing about how long they wait for it.
const FEWEST_TO_JUDGE: Duration = Duration::from_millis(2);
