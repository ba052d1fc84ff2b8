//! What a gateway's monitors show, later than it is so.

use super::bounds::small;
use super::faults::FaultType;
use super::settings::GatewayClass;

/// What a gateway's sensors show, in percent unless another unit is named.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sensors {
    /// Load average per CPU over a minute.
    pub load_average: f64,
    /// CPU utilisation over seconds.
    pub cpu: f64,
    /// NIC utilisation over a second.
    pub network: f64,
    /// Memory, of the limit.
    pub memory: f64,
    /// Transfers and other jobs in flight: a count.
    pub in_flight: usize,
    /// What the NIC moves at most, bytes per second.
    pub capacity: f64,
}

/// What a gateway does at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Transfers in flight.
    pub transfers: usize,
    /// Small jobs in flight.
    pub jobs: usize,
    /// What it moves, bytes per second.
    pub rate: f64,
}

impl Sensors {
    /// What a gateway's program reports of itself while it has this fault.
    #[must_use]
    pub fn with_fault(self, fault: FaultType) -> Self {
        match fault {
            FaultType::Lies => Self { capacity: self.capacity, ..Self::default() },
            FaultType::Busy => Self { load_average: 100.0, cpu: 100.0, ..self },
            FaultType::Down | FaultType::Drained | FaultType::Silent | FaultType::Flaps | FaultType::Slow => self,
        }
    }

    /// Load average, CPU and network after some more seconds of this work. A lab whose gateways share the CPUs of one machine
    /// follows the same rule with measured work, so that model and cluster differ by the cluster alone.
    pub fn follow(&mut self, class: &GatewayClass, work: Work, for_s: f64) {
        let busy = work.rate / self.capacity;
        let towards =
            |shown: &mut f64, now: f64, constant_s: f64| *shown += (now - *shown) * (for_s / constant_s).min(1.0);
        let run_queue = small(work.transfers + work.jobs) / class.transfers_per_full_load;
        towards(&mut self.load_average, (100.0 * run_queue).min(LARGEST_LOAD), LOAD_AVERAGE_S);
        let cpu = (class.cpu_at_nic_rate * busy + class.cpu_per_transfer * small(work.transfers)).min(100.0);
        towards(&mut self.cpu, cpu, CPU_S);
        towards(&mut self.network, (100.0 * busy).min(100.0), NETWORK_S);
    }
}

/// Model: time constants of what a sensor shows, seconds. The load average is the kernel's of one minute; CPU and network are
/// samples of a monitor that reads counters every few seconds.
const LOAD_AVERAGE_S: f64 = 60.0;
const CPU_S: f64 = 3.0;
const NETWORK_S: f64 = 1.0;
/// Processes that a load average can show: beyond 1.5 per CPU clients are refused by other limits first.
const LARGEST_LOAD: f64 = 150.0;
