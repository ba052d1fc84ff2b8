//! What a gateway's kernel says of it: open connections, bytes, load average, CPU, memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use gateways::cluster::bounds::{bytes_per_second, small};
use gateways::cluster::faults::FaultType;
use gateways::cluster::sensors::{Sensors, Work};
use lab::gateways::PerfModel;
use linux::counters::parse_devices;
use linux::sock_diag::{Selection, SockDiag, StateSet, TcpState};
use linux::sockets::{Family, Transport};

use crate::cli::gateways::perf::PerfArgs;
use crate::exit::{Complaint, Exit};

/// Where a gateway's numbers are from.
pub struct Source {
    port: u16,
    device: Option<String>,
    cgroup: Option<PathBuf>,
    sockets: SockDiag,
    shown: Sensors,
    before: Option<Counters>,
    modelled: Option<PerfModel>,
}

/// What counters said at a moment.
struct Counters {
    at: Instant,
    bytes: u64,
    /// CPU time in use and in all, ticks.
    busy: u64,
    all: u64,
}

impl Source {
    pub fn open(args: &PerfArgs) -> anyhow::Result<Self> {
        let modelled = args.modelled.as_deref().map(read_model).transpose()?;
        #[expect(clippy::cast_precision_loss, reason = "a rate, for a ratio")]
        let rate = args.rate.map(|rate| rate.bytes_per_second() as f64);
        let capacity = modelled.as_ref().map(|model| bytes_per_second(model.class.nic_gbit_s)).or(rate);
        let capacity = capacity.filter(|capacity| *capacity > 0.0).ok_or_else(|| {
            Complaint::new(Exit::Usage, "in flight per rate needs the rate of the NIC").hint("--rate 9.6Gbit/s")
        })?;
        let sockets =
            SockDiag::open().with_context(|| Complaint::new(Exit::Local, "the kernel does not list sockets"))?;
        Ok(Self {
            port: args.port,
            device: args.device.clone(),
            cgroup: args.cgroup.clone(),
            sockets,
            shown: Sensors { capacity, ..Sensors::default() },
            before: None,
            modelled,
        })
    }

    /// What is wrong with a gateway of a lab, by its file.
    pub fn fault(&self) -> Option<FaultType> {
        self.modelled.as_ref().and_then(PerfModel::fault)
    }

    pub fn read(&mut self) -> anyhow::Result<Sensors> {
        let in_flight = self.connections()?;
        let now = self.counters()?;
        let before = self.before.replace(now);
        let now = self.before.as_ref().context("it was just put there")?;
        // Of the first moment there is no rate yet.
        let (moved, passed) = before.as_ref().map_or((0.0, Duration::ZERO), |before| {
            (counted(now.bytes.saturating_sub(before.bytes)), now.at.duration_since(before.at))
        });
        let rate = if passed.is_zero() { 0.0 } else { moved / passed.as_secs_f64() };
        self.shown.in_flight = in_flight;
        if let Some(model) = &self.modelled {
            let work = Work { transfers: in_flight, jobs: 0, rate: rate * model.scale };
            self.shown.follow(&model.class, work, passed.as_secs_f64());
            let memory = model.class.memory_idle_gb + model.class.memory_per_transfer_gb * small(in_flight);
            self.shown.memory = 100.0 * memory / model.class.memory_limit_gb;
            return Ok(self.shown);
        }
        self.shown.network = (100.0 * rate / self.shown.capacity).min(100.0);
        self.shown.cpu = before.map_or(0.0, |before| {
            let all = now.all.saturating_sub(before.all);
            if all == 0 { self.shown.cpu } else { 100.0 * counted(now.busy.saturating_sub(before.busy)) / counted(all) }
        });
        self.shown.load_average = load_average()?;
        self.shown.memory = memory(self.cgroup.as_deref())?;
        Ok(self.shown)
    }

    fn connections(&mut self) -> anyhow::Result<usize> {
        let mut count = 0;
        for family in [Family::V4, Family::V6] {
            let states = StateSet::of(TcpState::Established);
            let listed = self.sockets.discover(Selection { family, transport: Transport::Tcp, states });
            let listed = listed.with_context(|| Complaint::new(Exit::Local, "the kernel does not list sockets"))?;
            count += listed.iter().filter(|socket| socket.local.port() == self.port).count();
        }
        Ok(count)
    }

    fn counters(&self) -> anyhow::Result<Counters> {
        let (devices, _) = parse_devices(&read(Path::new("/proc/net/dev"))?);
        let is_meant = |name: &str| self.device.as_deref().map_or(name != "lo", |device| device == name);
        let meant: Vec<_> = devices.iter().filter(|device| is_meant(&device.device)).collect();
        if let (Some(name), true) = (&self.device, meant.is_empty()) {
            return Err(Complaint::new(Exit::NotFound, format!("there is no network device {name}")).into());
        }
        let of = |name: &str| meant.iter().filter_map(|device| device.values.get(name)).sum::<u64>();
        let (busy, all) = cpu_ticks(&read(Path::new("/proc/stat"))?);
        // A transfer through a gateway comes in and goes out: the larger direction is what limits it.
        Ok(Counters { at: Instant::now(), bytes: of("rx_bytes").max(of("tx_bytes")), busy, all })
    }
}

fn read_model(path: &Path) -> anyhow::Result<PerfModel> {
    serde_json::from_str(&read(path)?)
        .with_context(|| Complaint::new(Exit::Usage, format!("{} is no gateway of a lab", path.display())))
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| Complaint::new(Exit::Local, format!("{} cannot be read", path.display())))
}

/// Ticks of all CPUs that were not idle, and all of them (proc_stat(5): idle and iowait are the fourth and the fifth).
fn cpu_ticks(stat: &str) -> (u64, u64) {
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line.split_ascii_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    (all - ticks.iter().skip(3).take(2).sum::<u64>(), all)
}

/// The load average of one minute per CPU, percent.
fn load_average() -> anyhow::Result<f64> {
    let text = read(Path::new("/proc/loadavg"))?;
    let first = text.split_ascii_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    first
        .map(|load| 100.0 * load / small(cpus))
        .with_context(|| Complaint::new(Exit::Local, "/proc/loadavg has no load average"))
}

/// Memory in use of its limit, percent: of a control group that has one, else of the host.
fn memory(cgroup: Option<&Path>) -> anyhow::Result<f64> {
    if let Some(folder) = cgroup {
        let number = |name: &str| -> anyhow::Result<Option<u64>> { Ok(read(&folder.join(name))?.trim().parse().ok()) };
        let (used, limit) = (number("memory.current")?, number("memory.max")?);
        let complaint = || Complaint::new(Exit::Local, format!("{} has no memory limit", folder.display()));
        let (used, limit) = used.zip(limit).filter(|(_, limit)| *limit > 0).ok_or_else(complaint)?;
        return Ok(100.0 * counted(used) / counted(limit));
    }
    let text = read(Path::new("/proc/meminfo"))?;
    let of = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let (total, free) = (of("MemTotal:"), of("MemAvailable:"));
    let (total, free) = total.zip(free).context(Complaint::new(Exit::Local, "/proc/meminfo has no memory"))?;
    Ok(100.0 * counted(total.saturating_sub(free)) / counted(total.max(1)))
}

#[expect(clippy::cast_precision_loss, reason = "counters of some seconds, for a ratio")]
fn counted(number: u64) -> f64 {
    number as f64
}
