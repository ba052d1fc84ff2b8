//! What is assumed of gateways and of load.

use serde::{Deserialize, Serialize};

use super::bounds::{Bounds, SettingsError, bytes_per_second, small, within};
use super::faults::Fault;

/// A cluster, its load and how long it is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Kinds of gateways; the balancer's table has them in this order.
    pub gateways: Vec<GatewayClass>,
    /// What is transferred.
    pub transfers: Transfers,
    /// What is deleted, and how a gateway is tested.
    pub small_jobs: SmallJobs,
    /// When the balancer hears of load.
    pub reports: Reports,
    /// How long is simulated, hours.
    pub hours: f64,
    /// The hour of the day at which it starts.
    pub starts_at_hour: f64,
    /// How long nothing is counted at the beginning, hours.
    pub warm_up_hours: f64,
    /// What fails, lies, is silent or flaps.
    pub faults: Vec<Fault>,
}

/// Gateways of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct GatewayClass {
    /// How many.
    pub count: usize,
    /// What one moves at most, Gbit/s.
    pub nic_gbit_s: f64,
    /// Transfers in flight up to which it moves that much.
    pub efficient_transfers: f64,
    /// Further transfers over which its rate falls to [`GatewayClass::crowded_rate`].
    pub crowding_transfers: f64,
    /// The part of the NIC's rate that is left when it is crowded.
    pub crowded_rate: f64,
    /// Transfers in flight that make a load average of one per CPU.
    pub transfers_per_full_load: f64,
    /// CPU utilisation at the NIC's rate, percent.
    pub cpu_at_nic_rate: f64,
    /// CPU utilisation of a transfer in flight beyond its bytes, percent.
    pub cpu_per_transfer: f64,
    /// Memory at rest, GB.
    pub memory_idle_gb: f64,
    /// Memory of a transfer in flight, GB.
    pub memory_per_transfer_gb: f64,
    /// Memory at which systemd restarts the service, GB.
    pub memory_limit_gb: f64,
    /// Time in which freed memory falls by a factor of e, seconds.
    pub memory_return_s: f64,
    /// How long a restart takes, seconds.
    pub restart_s: f64,
    /// Transfers that are refused beyond.
    pub most_transfers: usize,
}

/// Transfers of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Transfers {
    /// What all links together want, Gbit/s; mean over a day.
    pub offered_gbit_s: f64,
    /// Mean size, GB.
    pub mean_size_gb: f64,
    /// Standard deviation of the logarithm of sizes: 0 for equal ones.
    pub size_sigma: f64,
    /// No file is larger, GB.
    pub largest_gb: f64,
    /// Median of what a remote site takes or sends of one file, Mbit/s.
    pub median_cap_mbit_s: f64,
    /// Standard deviation of the logarithm of that.
    pub cap_sigma: f64,
    /// FTS links: remote sites, each with a limit of its own.
    pub links: usize,
    /// Files that FTS keeps active on a link at most.
    pub active_per_link: usize,
    /// Seconds until a failed transfer is tried again.
    pub retry_s: f64,
    /// How often a transfer is tried before it has failed for good.
    pub tries: u32,
    /// How much more than the mean is offered at 15:00, and less at 3:00, as a part of the mean.
    pub day_swing: f64,
    /// Factor on sizes at the depth of night.
    pub night_size: f64,
    /// Factor on what remote sites take at the depth of night.
    pub night_cap: f64,
}

/// Jobs that wait for a gateway's CPU rather than for its NIC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SmallJobs {
    /// Deletions per second.
    pub deletions_per_s: f64,
    /// How long one takes at an idle gateway, seconds (median).
    pub deletion_s: f64,
    /// Standard deviation of the logarithm of that.
    pub deletion_sigma: f64,
    /// When a deletion is given up, seconds.
    pub deletion_timeout_s: f64,
    /// Seconds between functional tests of a gateway.
    pub test_every_s: f64,
    /// How long one takes at an idle gateway, seconds.
    pub test_s: f64,
    /// When a test has failed, seconds.
    pub test_timeout_s: f64,
    /// By which factor a job is slower at a load average of one per CPU.
    pub slowdown: f64,
    /// With which power of the load average that grows.
    pub slowdown_power: i32,
}

/// When the balancer hears of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reports {
    /// How often a gateway's program samples it (`cms.perf int`), seconds.
    pub perf_s: f64,
    /// How often the manager asks all of them (`cms.ping` times `usage`), seconds; cmsd takes no less than 3.
    pub usage_s: f64,
    /// The `fuzz` of `cms.sched`.
    pub fuzz: i32,
    /// `maxload` of `cms.sched`.
    pub max_load: i32,
    /// How long a client waits that is sent to none, seconds (`cms.delay`).
    pub wait_s: f64,
    /// How often reference counts are reset (`refreset`), seconds.
    pub reset_s: f64,
    /// Whether a gateway that was left out comes back with the count of the others, or takes all until it has caught up,
    /// as cmsd has it.
    pub catch_up: CatchUp,
}

/// What reference counts do while a gateway is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CatchUp {
    /// They stand still, as in cmsd: who comes back takes all until it has caught up.
    AsCmsd,
    /// They go along with the largest of the others, as where something resets all counts just then.
    None,
}

impl Default for Settings {
    /// RAL's gateways of 2024 as far as they are known: 17 newer and 4 older ones. Rates, memory and load are assumptions.
    fn default() -> Self {
        Self {
            gateways: vec![
                GatewayClass { count: 4, nic_gbit_s: 6.4, ..GatewayClass::default() },
                GatewayClass { count: 17, ..GatewayClass::default() },
            ],
            transfers: Transfers::default(),
            small_jobs: SmallJobs::default(),
            reports: Reports::default(),
            hours: 6.0,
            starts_at_hour: 12.0,
            warm_up_hours: 0.5,
            faults: Vec::new(),
        }
    }
}

impl Default for GatewayClass {
    fn default() -> Self {
        Self {
            count: 1,
            nic_gbit_s: 9.6,
            efficient_transfers: 70.0,
            crowding_transfers: 80.0,
            crowded_rate: 0.55,
            transfers_per_full_load: 120.0,
            cpu_at_nic_rate: 70.0,
            cpu_per_transfer: 0.2,
            memory_idle_gb: 4.0,
            memory_per_transfer_gb: 0.3,
            memory_limit_gb: 60.0,
            memory_return_s: 1800.0,
            restart_s: 60.0,
            most_transfers: 1000,
        }
    }
}

impl Default for Transfers {
    fn default() -> Self {
        Self {
            offered_gbit_s: 176.0,
            mean_size_gb: 3.0,
            size_sigma: 1.0,
            largest_gb: 60.0,
            median_cap_mbit_s: 480.0,
            cap_sigma: 1.0,
            links: 40,
            active_per_link: 75,
            retry_s: 60.0,
            tries: 4,
            day_swing: 0.0,
            night_size: 1.0,
            night_cap: 1.0,
        }
    }
}

impl Default for SmallJobs {
    fn default() -> Self {
        Self {
            deletions_per_s: 10.0,
            deletion_s: 1.0,
            deletion_sigma: 0.25,
            deletion_timeout_s: 30.0,
            test_every_s: 60.0,
            test_s: 2.0,
            test_timeout_s: 15.0,
            slowdown: 4.0,
            slowdown_power: 4,
        }
    }
}

impl Default for Reports {
    fn default() -> Self {
        Self {
            perf_s: 3.0,
            usage_s: 3.0,
            fuzz: 10,
            max_load: 100,
            wait_s: 5.0,
            reset_s: 3600.0,
            catch_up: CatchUp::AsCmsd,
        }
    }
}

/// The most gateways: cmsd's table has no more places (`STMax`).
pub const MOST_GATEWAYS: usize = 64;

impl Settings {
    /// What all gateways move together at most, bytes per second.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        self.gateways.iter().map(|class| bytes_per_second(class.nic_gbit_s) * small(class.count)).sum()
    }

    /// Offered load as a part of the capacity.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        bytes_per_second(self.transfers.offered_gbit_s) / self.capacity()
    }

    /// Whether they can be simulated in bounded time and memory.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn check(&self) -> Result<(), SettingsError> {
        let count: usize = self.gateways.iter().map(|class| class.count.min(MOST_GATEWAYS + 1)).sum();
        within("gateways", small(count), Bounds(1.0, small(MOST_GATEWAYS), "1 to 64 in all"))?;
        self.gateways.iter().try_for_each(GatewayClass::check)?;
        self.transfers.check()?;
        self.small_jobs.check()?;
        self.reports.check()?;
        within("hours", self.hours, Bounds(0.01, 24.0 * 31.0, "36 s to 31 days"))?;
        within("warm-up-hours", self.warm_up_hours, Bounds(0.0, self.hours * 0.9, "at most nine tenths of `hours`"))?;
        within("starts-at-hour", self.starts_at_hour, Bounds(0.0, 24.0, "an hour of the day"))?;
        within("faults", small(self.faults.len()), Bounds(0.0, 1000.0, "at most 1000"))?;
        self.faults.iter().try_for_each(|fault| fault.check(count))
    }
}

impl GatewayClass {
    fn check(&self) -> Result<(), SettingsError> {
        let positive = Bounds(0.001, 1e5, "0.001 to 100000");
        within("nic-gbit-s", self.nic_gbit_s, positive)?;
        within("efficient-transfers", self.efficient_transfers, Bounds(1.0, 1e5, "1 to 100000"))?;
        within("crowding-transfers", self.crowding_transfers, Bounds(1.0, 1e5, "1 to 100000"))?;
        within("crowded-rate", self.crowded_rate, Bounds(0.01, 1.0, "0.01 to 1"))?;
        within("transfers-per-full-load", self.transfers_per_full_load, Bounds(1.0, 1e5, "1 to 100000"))?;
        within("cpu-at-nic-rate", self.cpu_at_nic_rate, Bounds(0.0, 100.0, "0 to 100"))?;
        within("cpu-per-transfer", self.cpu_per_transfer, Bounds(0.0, 100.0, "0 to 100"))?;
        within("memory-idle-gb", self.memory_idle_gb, Bounds(0.0, 1e5, "0 to 100000"))?;
        within("memory-per-transfer-gb", self.memory_per_transfer_gb, Bounds(0.0, 1e4, "0 to 10000"))?;
        within(
            "memory-limit-gb",
            self.memory_limit_gb,
            Bounds(self.memory_idle_gb + 0.001, 1e6, "above memory-idle-gb"),
        )?;
        within("memory-return-s", self.memory_return_s, Bounds(1.0, 1e6, "1 to 1000000"))?;
        within("restart-s", self.restart_s, Bounds(0.0, 86400.0, "at most a day"))?;
        within("most-transfers", small(self.most_transfers), Bounds(1.0, 5000.0, "1 to 5000"))
    }
}

impl Transfers {
    fn check(&self) -> Result<(), SettingsError> {
        within("offered-gbit-s", self.offered_gbit_s, Bounds(0.0, 1e5, "0 to 100000"))?;
        within("mean-size-gb", self.mean_size_gb, Bounds(0.001, 1e4, "0.001 to 10000"))?;
        let files_per_s = bytes_per_second(self.offered_gbit_s) / (self.mean_size_gb * 1e9);
        within("offered-gbit-s", files_per_s, Bounds(0.0, 1000.0, "at most 1000 files per second of mean-size-gb"))?;
        within("size-sigma", self.size_sigma, Bounds(0.0, 4.0, "0 to 4"))?;
        within("largest-gb", self.largest_gb, Bounds(self.mean_size_gb, 1e5, "at least mean-size-gb"))?;
        within("median-cap-mbit-s", self.median_cap_mbit_s, Bounds(0.1, 1e6, "0.1 to 1000000"))?;
        within("cap-sigma", self.cap_sigma, Bounds(0.0, 4.0, "0 to 4"))?;
        within("links", small(self.links), Bounds(1.0, 1000.0, "1 to 1000"))?;
        within("active-per-link", small(self.active_per_link), Bounds(1.0, 1000.0, "1 to 1000"))?;
        within("retry-s", self.retry_s, Bounds(1.0, 86400.0, "a second to a day"))?;
        within("tries", f64::from(self.tries), Bounds(1.0, 100.0, "1 to 100"))?;
        within("day-swing", self.day_swing, Bounds(0.0, 1.0, "0 to 1"))?;
        within("night-size", self.night_size, Bounds(0.1, 10.0, "0.1 to 10"))?;
        within("night-cap", self.night_cap, Bounds(0.1, 10.0, "0.1 to 10"))
    }
}

impl SmallJobs {
    fn check(&self) -> Result<(), SettingsError> {
        within("deletions-per-s", self.deletions_per_s, Bounds(0.0, 1000.0, "0 to 1000"))?;
        within("deletion-s", self.deletion_s, Bounds(0.001, 3600.0, "0.001 to 3600"))?;
        within("deletion-sigma", self.deletion_sigma, Bounds(0.0, 4.0, "0 to 4"))?;
        within("deletion-timeout-s", self.deletion_timeout_s, Bounds(0.001, 86400.0, "at most a day"))?;
        within("test-every-s", self.test_every_s, Bounds(1.0, 86400.0, "a second to a day"))?;
        within("test-s", self.test_s, Bounds(0.001, 3600.0, "0.001 to 3600"))?;
        within("test-timeout-s", self.test_timeout_s, Bounds(0.001, 86400.0, "at most a day"))?;
        within("slowdown", self.slowdown, Bounds(0.0, 1000.0, "0 to 1000"))?;
        within("slowdown-power", f64::from(self.slowdown_power), Bounds(1.0, 10.0, "1 to 10"))
    }
}

impl Reports {
    fn check(&self) -> Result<(), SettingsError> {
        within("perf-s", self.perf_s, Bounds(0.5, 3600.0, "0.5 to 3600"))?;
        within("usage-s", self.usage_s, Bounds(3.0, 86400.0, "at least 3, as cmsd has it"))?;
        within("fuzz", f64::from(self.fuzz), Bounds(0.0, 100.0, "0 to 100"))?;
        within("max-load", f64::from(self.max_load), Bounds(1.0, 100.0, "1 to 100"))?;
        within("wait-s", self.wait_s, Bounds(0.5, 3600.0, "0.5 to 3600"))?;
        within("reset-s", self.reset_s, Bounds(60.0, 1e9, "at least 60"))
    }
}
