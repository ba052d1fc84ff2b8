//! What each processor is set to, and what it has received.

use std::collections::BTreeMap;
use std::fs;

use linux::affinity;
use linux::counters::{SoftnetCpu, parse_softnet};
use model::host::cpu::{Cpu, Cpus, IdleState, Softnet};
use model::host::fact::{Fact, Missing, Source};

use super::{file, machine};

pub(super) fn read() -> Cpus {
    let online = file::text(format!("{CPUS}/online"));
    let numbers = online.value().and_then(|list| affinity::parse_cpu_list(list)).unwrap_or_default();
    let softnet = Softnets::read();
    let nodes = machine::numa_nodes();
    let times = times(&file::optional("/proc/stat").unwrap_or_default());
    let each = numbers.into_iter().map(|number| one(number, &nodes, &softnet, times.get(&number))).collect();
    Cpus { online, smt_control: file::text(format!("{CPUS}/smt/control")), each }
}

/// Time in soft interrupts and time stolen of each processor, in microseconds (proc_stat(5): the seventh and eighth number,
/// in hundredths of a second on every architecture that Linux shows them on).
fn times(stat: &str) -> BTreeMap<usize, (u64, u64)> {
    let of = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        let micros = |at: usize| Some(ticks.get(at)?.saturating_mul(10_000));
        Some((number, (micros(6)?, micros(7)?)))
    };
    stat.lines().filter(|line| !line.starts_with("cpu ")).filter_map(of).collect()
}

fn one(number: usize, nodes: &Fact<BTreeMap<u32, String>>, softnet: &Softnets, times: Option<&(u64, u64)>) -> Cpu {
    let place = format!("{CPUS}/cpu{number}");
    Cpu {
        number: u32::try_from(number).unwrap_or(u32::MAX),
        socket: file::parsed(format!("{place}/topology/physical_package_id")),
        numa_node: node(number, nodes),
        governor: file::text(format!("{place}/cpufreq/scaling_governor")),
        energy_preference: file::text(format!("{place}/cpufreq/energy_performance_preference")),
        max_frequency: file::parsed(format!("{place}/cpufreq/scaling_max_freq")),
        idle_states: idle_states(&format!("{place}/cpuidle")),
        softnet: softnet.of(number),
        softirq_us: times.map(|(softirq, _)| *softirq),
        steal_us: times.map(|(_, steal)| *steal),
    }
}

fn node(number: usize, nodes: &Fact<BTreeMap<u32, String>>) -> Fact<u32> {
    let holds = |list: &str| affinity::parse_cpu_list(list).is_some_and(|cpus| cpus.contains(&number));
    let reading = match &nodes.reading {
        Ok(nodes) => nodes.iter().find(|(_, list)| holds(list)).map(|(node, _)| *node).ok_or(Missing::Absent),
        Err(missing) => Err(missing.clone()),
    };
    Fact { reading, source: nodes.source.clone() }
}

fn idle_states(directory: &str) -> Fact<Vec<IdleState>> {
    let source = Source::file(directory);
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return Fact::missing(file::missing(&error), source),
    };
    let numbers =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix("state")?.parse::<u32>().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    let state = |number: u32| {
        let of = |name: &str| file::optional(format!("{directory}/state{number}/{name}"));
        Some(IdleState { name: of("name")?, exit: of("latency")?.parse().ok()?, disabled: of("disable")? != "0" })
    };
    Fact::known(numbers.into_iter().filter_map(state).collect(), source)
}

/// The table of all processors, of the whole host whatever namespace it is read in.
struct Softnets(Fact<Vec<SoftnetCpu>>);

impl Softnets {
    fn read() -> Self {
        let text = file::text("/proc/net/softnet_stat");
        Self(text.map(|text| parse_softnet(&text).0))
    }

    fn of(&self, number: usize) -> Fact<Softnet> {
        let found = |cpus: &Vec<SoftnetCpu>| {
            let cpu = cpus.iter().find(|cpu| cpu.cpu == number).ok_or(Missing::Absent)?;
            Ok(Softnet {
                processed: cpu.processed,
                dropped: cpu.dropped,
                time_squeeze: cpu.time_squeeze,
                received_rps: cpu.received_rps,
                flow_limit: cpu.flow_limit,
            })
        };
        let reading = self.0.reading.as_ref().map_err(Clone::clone).and_then(found);
        Fact { reading, source: self.0.source.clone() }
    }
}

const CPUS: &str = "/sys/devices/system/cpu";
