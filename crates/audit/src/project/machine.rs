//! Facts of the host as a whole.

use model::host::cpu::Cpu;
use model::host::fact::Missing as Why;
use model::host::snapshot::Snapshot;
use model::host::storage::BlockDevice;

use super::value::{absent, int, known, map, missing, named, setting, text, texts};
use super::{files, stack};
use crate::fact::{Fact, FactMap};

pub(super) fn facts(snapshot: &Snapshot) -> FactMap {
    let machine = &snapshot.machine;
    let own = snapshot.own();
    let tracked = |key: &str| {
        let sysctl = own.and_then(|own| own.sysctls.get(key));
        sysctl.map_or_else(|| absent(""), |sysctl| known(sysctl, |value| setting(value)))
    };
    named([
        ("host", map([("name", known(&machine.name, text_of))])),
        (
            "kernel",
            map([
                ("release", known(&machine.kernel_release, text_of)),
                ("version", known(&machine.kernel_release, |release| version(release))),
                (
                    "parameters",
                    known(&machine.kernel_command_line, |line| Fact::List(line.split_whitespace().map(text).collect())),
                ),
                ("iommu_groups", known(&machine.iommu_groups, |&groups| int(groups))),
            ]),
        ),
        ("cpu", cpu(snapshot)),
        (
            "memory",
            map([
                ("total_bytes", known(&machine.memory, |&bytes| int(bytes))),
                ("page_bytes", known(&machine.page, |&bytes| int(bytes))),
            ]),
        ),
        ("storage", known(&snapshot.storage, |disks| Fact::List(disks.iter().map(disk).collect()))),
        (
            "clock",
            known(&snapshot.clock, |clock| {
                map([("synchronised", Fact::Bool(clock.synchronised)), ("max_error_us", int(clock.max_error_us))])
            }),
        ),
        ("virt", map([("guest", known(&machine.under_hypervisor, |&guest| Fact::Bool(guest)))])),
        ("softnet", softnet(&snapshot.processors.each)),
        (
            "conntrack",
            map([
                ("count", tracked("net.netfilter.nf_conntrack_count")),
                ("max", not_loaded_is_zero(tracked("net.netfilter.nf_conntrack_max"))),
                ("failed", own.map_or_else(|| absent(""), |own| untracked(&own.counters))),
            ]),
        ),
        ("services", services(snapshot)),
        ("overlay", map([("kinds", texts(stack::tunnels(snapshot)))])),
        ("uplinks", own.map_or_else(|| absent(""), |own| known(&own.routes, |routes| int(stack::uplinks(routes))))),
        ("files", known(&snapshot.provenance, |provenance| files::facts(provenance, snapshot))),
    ])
}

fn disk(disk: &BlockDevice) -> Fact {
    let unsaid = || absent("the kernel does not say");
    map([
        ("name", text(disk.name.as_str())),
        ("read_ahead_bytes", disk.read_ahead_bytes.map_or_else(unsaid, int)),
        ("scheduler", disk.scheduler.as_deref().map_or_else(unsaid, text)),
        ("rotational", disk.rotational.map_or_else(unsaid, Fact::Bool)),
    ])
}

#[expect(clippy::ptr_arg, reason = "handed over as a function of `&String`")]
fn text_of(value: &String) -> Fact {
    text(value.as_str())
}

/// `6.18.0-rc1` as 6018.
pub(super) fn version(release: &str) -> Fact {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<i64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Fact::Int(major * 1000 + minor),
        _ => absent("the release is not a version"),
    }
}

fn cpu(snapshot: &Snapshot) -> Fact {
    let processors = &snapshot.processors.each;
    let frequencies = processors.iter().filter_map(|processor| processor.max_frequency.value());
    let max_mhz = frequencies.max().map_or_else(|| absent("the CPUs do not say"), |khz| int(khz / 1000));
    let states = processors.iter().filter_map(|processor| processor.idle_states.value()).flatten();
    let longest = states.filter(|state| !state.disabled).map(|state| state.exit).max();
    map([
        ("sockets", known(&snapshot.machine.sockets, |&sockets| int(sockets))),
        ("physical_cores", known(&snapshot.machine.cores, |&cores| int(cores))),
        ("max_mhz", max_mhz),
        ("governors", governors(processors)),
        ("softirq_us", times(processors, |processor| processor.softirq_us)),
        ("steal_us", times(processors, |processor| processor.steal_us)),
        ("energy_preferences", energy_preferences(processors)),
        ("smt", known(&snapshot.processors.smt_control, text_of)),
        ("idle_exit_us", longest.map_or_else(|| absent("no idle states are known"), int)),
    ])
}

/// Governors, each once. Where no processor has one the kernel does not set the clock, which is known and no gap.
fn governors(processors: &[Cpu]) -> Fact {
    let failed = processors.iter().find_map(|processor| match &processor.governor.reading {
        Err(why) if *why != Why::Absent => Some(missing(why)),
        _ => None,
    });
    if let Some(missing) = failed {
        return Fact::Missing(missing);
    }
    texts(processors.iter().filter_map(|processor| processor.governor.value()).map(String::as_str))
}

/// A time of each processor.
fn times(processors: &[Cpu], of: fn(&Cpu) -> Option<u64>) -> Fact {
    let times: Option<Vec<Fact>> = processors.iter().map(|processor| of(processor).map(int)).collect();
    times.filter(|times| !times.is_empty()).map_or_else(|| absent("the CPUs' times were not read"), Fact::List)
}

/// Preferences between speed and power, each once; none where the CPUs have no such thing.
fn energy_preferences(processors: &[Cpu]) -> Fact {
    let failed = processors.iter().find_map(|processor| match &processor.energy_preference.reading {
        Err(why) if *why != Why::Absent => Some(missing(why)),
        _ => None,
    });
    if let Some(missing) = failed {
        return Fact::Missing(missing);
    }
    texts(processors.iter().filter_map(|processor| processor.energy_preference.value()).map(String::as_str))
}

fn softnet(processors: &[Cpu]) -> Fact {
    let of = |pick: fn(&model::host::cpu::Softnet) -> u32| {
        let mut sum = 0;
        for processor in processors {
            match &processor.softnet.reading {
                Ok(softnet) => sum += i64::from(pick(softnet)),
                Err(why) => return Fact::Missing(missing(why)),
            }
        }
        if processors.is_empty() { absent("no CPU is known") } else { Fact::Int(sum) }
    };
    map([("dropped", of(|softnet| softnet.dropped)), ("squeezed", of(|softnet| softnet.time_squeeze))])
}

/// Connections that were not tracked, or dropped, because the table was full; none without the module.
fn untracked(counters: &model::host::fact::Fact<std::collections::BTreeMap<String, u64>>) -> Fact {
    known(counters, |counters| {
        let of = |name: &str| counters.get(name).copied().unwrap_or_default();
        int(of("Conntrack.insert_failed").saturating_add(of("Conntrack.drop")))
    })
}

/// Without its module the kernel tracks no connections, which is an answer.
fn not_loaded_is_zero(max: Fact) -> Fact {
    match max {
        Fact::Missing(missing) if missing.reason == crate::fact::Reason::Absent => Fact::Int(0),
        other => other,
    }
}

fn services(snapshot: &Snapshot) -> Fact {
    let services = &snapshot.services;
    let running = services.each.iter().filter(|(_, service)| service.value().is_some_and(|service| service.running));
    let irqbalance = services.each.get("irqbalance");
    let profile = match &services.tuned_profile.reading {
        Err(Why::Absent) => text(""),
        _ => known(&services.tuned_profile, text_of),
    };
    map([
        ("running", texts(running.map(|(name, _)| name.as_str()))),
        (
            "irqbalance",
            irqbalance.map_or_else(|| absent(""), |service| known(service, |service| Fact::Bool(service.running))),
        ),
        ("tuned_profile", profile),
    ])
}
