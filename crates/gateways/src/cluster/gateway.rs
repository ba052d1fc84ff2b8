//! One gateway.

use super::bounds::{bytes_per_second, small};
use super::nic::{self, Wanted};
use super::sensors::{Sensors, Work};
use super::settings::GatewayClass;

/// A transfer that is in flight at a gateway.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Whose it is, how large and how fast at best.
    pub file: File,
    /// Bytes that are left.
    pub left: f64,
    /// When it was sent here, seconds.
    pub since_s: f64,
}

/// A file that a link wants to have transferred.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct File {
    /// Whose it is.
    pub link: u32,
    /// How often it was tried.
    pub tried: u32,
    /// Its size, bytes.
    pub bytes: f64,
    /// What its remote site takes or sends, bytes per second.
    pub cap: f64,
}

/// A transfer that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// Which one.
    pub transfer: Transfer,
    /// When, seconds.
    pub at_s: f64,
}

/// A gateway: transfers share its NIC, and fill its memory until it is restarted.
#[derive(Debug, Clone)]
pub struct Gateway {
    class: GatewayClass,
    /// By their caps, the smallest first: so water filling is one pass.
    transfers: Vec<Transfer>,
    caps: f64,
    /// When each small job ends.
    jobs: Vec<f64>,
    memory_gb: f64,
    rate: f64,
    sensors: Sensors,
}

/// A part of a run: from when on, and for how long, seconds.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// From when.
    pub at_s: f64,
    /// For how long.
    pub for_s: f64,
}

impl Gateway {
    /// An idle gateway.
    #[must_use]
    pub fn new(class: &GatewayClass) -> Self {
        let sensors = Sensors { capacity: bytes_per_second(class.nic_gbit_s), ..Sensors::default() };
        Self {
            class: class.clone(),
            transfers: Vec::new(),
            caps: 0.0,
            jobs: Vec::new(),
            memory_gb: class.memory_idle_gb,
            rate: 0.0,
            sensors,
        }
    }

    /// What its sensors show.
    #[must_use]
    pub fn sensors(&self) -> Sensors {
        Sensors {
            memory: 100.0 * self.memory_gb / self.class.memory_limit_gb,
            in_flight: self.transfers.len() + self.jobs.len(),
            ..self.sensors
        }
    }

    /// Transfers in flight.
    #[must_use]
    pub fn transfers(&self) -> usize {
        self.transfers.len()
    }

    /// What it moves just now, bytes per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Runnable jobs per CPU at this moment; 1 is all of them busy.
    #[must_use]
    pub fn run_queue(&self) -> f64 {
        small(self.transfers.len() + self.jobs.len()) / self.class.transfers_per_full_load
    }

    /// Takes a transfer; says whether it could.
    #[must_use]
    pub fn take(&mut self, transfer: Transfer) -> bool {
        if self.transfers.len() >= self.class.most_transfers {
            return false;
        }
        let at = self.transfers.partition_point(|other| other.file.cap <= transfer.file.cap);
        self.transfers.insert(at, transfer);
        self.caps += transfer.file.cap;
        true
    }

    /// Takes a small job that ends at a moment.
    pub fn take_job(&mut self, ends_s: f64) {
        self.jobs.push(ends_s);
    }

    /// Whether its memory has reached the limit at which it is restarted.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.memory_gb >= self.class.memory_limit_gb
    }

    /// Memory of its service, bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> f64 {
        self.memory_gb * 1e9
    }

    /// The limit of it, bytes.
    #[must_use]
    pub fn memory_limit_bytes(&self) -> f64 {
        self.class.memory_limit_gb * 1e9
    }

    /// How long a restart takes, seconds.
    #[must_use]
    pub fn restart_s(&self) -> f64 {
        self.class.restart_s
    }

    /// It stops: everything in flight fails, memory is free again.
    pub fn stop(&mut self) -> Vec<Transfer> {
        self.jobs.clear();
        self.memory_gb = self.class.memory_idle_gb;
        self.caps = 0.0;
        self.rate = 0.0;
        self.sensors = Sensors { capacity: self.sensors.capacity, ..Sensors::default() };
        std::mem::take(&mut self.transfers)
    }

    /// Moves bytes for a step; `nic_part` is 1 where the NIC is well. What has ended goes to `ended`. Says how many bytes.
    pub fn advance(&mut self, step: Step, nic_part: f64, ended: &mut Vec<Ended>) -> f64 {
        let count = self.transfers.len();
        let crowding =
            ((small(count) - self.class.efficient_transfers) / self.class.crowding_transfers).clamp(0.0, 1.0);
        let capacity = self.sensors.capacity * nic_part * (1.0 - (1.0 - self.class.crowded_rate) * crowding);
        let caps = self.transfers.iter().map(|transfer| transfer.file.cap);
        let level = nic::level(caps, Wanted { sum: self.caps, capacity });
        let mut moved = 0.0;
        let mut is_one_done = false;
        for transfer in &mut self.transfers {
            let bytes = transfer.file.cap.min(level) * step.for_s;
            moved += bytes.min(transfer.left);
            transfer.left -= bytes;
            is_one_done |= transfer.left <= 0.0;
        }
        if is_one_done {
            self.end_transfers(step, level, ended);
        }
        self.jobs.retain(|ends| *ends > step.at_s + step.for_s);
        self.rate = moved / step.for_s;
        self.sense(step.for_s);
        moved
    }

    fn end_transfers(&mut self, step: Step, level: f64, ended: &mut Vec<Ended>) {
        self.transfers.retain(|transfer| {
            if transfer.left > 0.0 {
                return true;
            }
            // `left` is negative by what it would have moved after its end.
            let late_s = -transfer.left / transfer.file.cap.min(level);
            ended.push(Ended { transfer: *transfer, at_s: step.at_s + step.for_s - late_s });
            false
        });
        // Summed anew, so that rounding does not add up over days.
        self.caps = self.transfers.iter().map(|transfer| transfer.file.cap).sum();
    }

    fn sense(&mut self, for_s: f64) {
        let class = &self.class;
        let count = small(self.transfers.len());
        let work = Work { transfers: self.transfers.len(), jobs: self.jobs.len(), rate: self.rate };
        self.sensors.follow(class, work, for_s);
        // Buffers are taken at once; the allocator gives them back slowly.
        let needed = class.memory_idle_gb + class.memory_per_transfer_gb * count;
        if needed >= self.memory_gb {
            self.memory_gb = needed;
        } else {
            self.memory_gb += (needed - self.memory_gb) * (for_s / class.memory_return_s).min(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gateway() -> Gateway {
        Gateway::new(&GatewayClass { nic_gbit_s: 8.0, ..GatewayClass::default() })
    }

    fn transfer(bytes: f64, cap: f64) -> Transfer {
        Transfer { file: File { link: 0, tried: 0, bytes, cap }, left: bytes, since_s: 0.0 }
    }

    fn run(gateway: &mut Gateway, steps: u32) -> (Vec<Ended>, f64) {
        let (mut ended, mut moved) = (Vec::new(), 0.0);
        for at in 0..steps {
            moved += gateway.advance(Step { at_s: f64::from(at), for_s: 1.0 }, 1.0, &mut ended);
        }
        (ended, moved)
    }

    #[test]
    fn a_transfer_ends_within_a_step_and_all_bytes_are_counted_once() {
        let mut gateway = gateway();
        assert!(gateway.take(transfer(2.5e8, 1e8)));
        let (ended, moved) = run(&mut gateway, 4);
        assert_eq!(ended.len(), 1);
        assert!((ended[0].at_s - 2.5).abs() < 1e-9, "{ended:?}");
        assert!((moved - 2.5e8).abs() < 1.0);
    }

    #[test]
    fn a_shared_nic_slows_fast_ones_and_not_slow_ones() {
        let mut gateway = gateway();
        assert!(gateway.take(transfer(1e12, 5e9)) && gateway.take(transfer(1e9, 1e8)));
        let (ended, _) = run(&mut gateway, 10);
        assert!((ended[0].at_s - 10.0).abs() < 1e-6);
        assert!((gateway.rate() - 1e9).abs() < 1.0, "8 Gbit/s are 1 GB/s");
    }

    #[test]
    fn memory_comes_at_once_and_goes_slowly_until_the_limit() {
        let mut gateway = gateway();
        for _ in 0..100 {
            assert!(gateway.take(transfer(1e9, 1e9)));
        }
        run(&mut gateway, 1);
        let full = gateway.sensors().memory;
        assert!((full - 100.0 * 34.0 / 60.0).abs() < 1e-9, "4 GB and 100 times 0.3 GB of 60 GB");
        let (ended, _) = run(&mut gateway, 200);
        assert_eq!(ended.len(), 100);
        assert!(gateway.sensors().memory > full * 0.9);
        for _ in 0..190 {
            assert!(gateway.take(transfer(1e12, 1e6)));
        }
        run(&mut gateway, 1);
        assert!(gateway.is_out_of_memory());
        assert_eq!(gateway.stop().len(), 190);
        assert!(!gateway.is_out_of_memory());
    }

    #[test]
    fn crowding_costs_rate() {
        let mut gateway = gateway();
        for _ in 0..150 {
            assert!(gateway.take(transfer(1e12, 1e9)));
        }
        run(&mut gateway, 1);
        assert!((gateway.rate() - 0.55e9).abs() < 1e3, "{}", gateway.rate());
    }

    #[test]
    fn the_load_average_lags_by_a_minute_and_the_network_does_not() {
        let mut gateway = gateway();
        for _ in 0..60 {
            assert!(gateway.take(transfer(1e12, 1e9)));
        }
        run(&mut gateway, 5);
        let sensors = gateway.sensors();
        assert!(sensors.load_average < 10.0 && sensors.network > 99.0, "{sensors:?}");
        run(&mut gateway, 300);
        assert!((gateway.sensors().load_average - 50.0).abs() < 1.0);
    }
}
