//! Facts of a NIC: what its driver lets be set, its slot, its interrupts and queues.

use model::host::interface::Interface;
use model::host::interface::driver::Bus;
use model::host::interface::optics::Optics;
use model::host::interface::queues::Interrupt;
use model::host::snapshot::Snapshot;

use super::driver_counters;
use crate::fact::{Fact, FactMap};
use crate::project::value::{absent, cpu_list, int, known, map, offered, text, unsupported};

pub(super) fn add(interface: &Interface, snapshot: &Snapshot, facts: &mut FactMap) {
    facts.insert("nic".to_owned(), nic(interface));
    facts.insert("pci".to_owned(), known(&interface.bus, |bus| pci(bus, snapshot)));
    facts.insert("irq".to_owned(), irq(interface));
    let steered = known(&interface.queues, |queues| {
        let masks = queues.rx.iter().filter_map(|queue| queue.rps_cpus.as_deref());
        int(masks.filter(|mask| mask.contains(|c: char| c != '0' && c != ',')).count())
    });
    facts.insert("queues".to_owned(), map([("steered", steered)]));
}

fn nic(interface: &Interface) -> Fact {
    let driver = |pick: fn(&model::host::interface::driver::Driver) -> &str| {
        known(&interface.driver, |driver| text(pick(driver)))
    };
    let features = known(&interface.features, |features| {
        let feature = |feature: &model::host::interface::tuning::Feature| {
            map([("on", Fact::Bool(feature.active)), ("fixed", Fact::Bool(feature.is_fixed()))])
        };
        Fact::Map(features.iter().map(|(name, each)| (name.clone(), feature(each))).collect())
    });
    map([
        ("driver", driver(|driver| &driver.name)),
        ("firmware", driver(|driver| &driver.firmware)),
        ("features", features),
        ("rings", rings(interface)),
        ("channels", channels(interface)),
        ("coalesce", coalesce(interface)),
        ("pause", pause(interface)),
        ("autoneg", known(&interface.mode, |mode| mode.autonegotiation.map_or_else(|| unsupported(""), Fact::Bool))),
        ("eee_active", known(&interface.eee, |eee| Fact::Bool(eee.active))),
        ("optics_outside", known(&interface.optics, optics)),
        ("stats", known(&interface.driver_counters, driver_counters::facts)),
    ])
}

/// What a module measures outside of its maker's limits, in words.
fn optics(optics: &Optics) -> Fact {
    let limits = &optics.limits;
    let given = [limits.temperature, limits.received, limits.sent, limits.bias];
    if !given.iter().flatten().any(|limits| limits.low < limits.high) {
        return unsupported("the module has no lasers, or gives no limits");
    }
    let lanes = (1..).zip(&optics.lanes).filter(|(_, lane)| lane.is_used());
    let of_lanes = lanes.flat_map(|(number, lane)| {
        [
            (format!("lane {number} receives"), Measure::Light, lane.received, limits.received),
            (format!("lane {number} sends"), Measure::Light, lane.sent, limits.sent),
            (format!("laser {number} takes"), Measure::Current, lane.bias, limits.bias),
        ]
    });
    let temperature = ("temperature".to_owned(), Measure::Temperature, optics.temperature, limits.temperature);
    let outside = of_lanes.chain([temperature]).filter_map(|(what, measure, value, limits)| {
        let (value, limits) = value.zip(limits).filter(|(value, limits)| limits.exclude(*value))?;
        let [value, low, high] = [value, limits.low, limits.high].map(|value| measure.shown(value));
        Some(text(format!("{what} {value}, of {low} to {high}")))
    });
    Fact::List(outside.collect())
}

/// What a number of a module is.
#[derive(Debug, Clone, Copy)]
enum Measure {
    Light,
    Current,
    Temperature,
}

impl Measure {
    fn shown(self, value: i64) -> String {
        #[expect(clippy::cast_precision_loss, reason = "what a module measures has 16 bits")]
        let thousandths = value as f64 / 1_000.0;
        match self {
            Self::Light if value <= 0 => "no light".to_owned(),
            // Of 1 mW.
            Self::Light => format!("{:.1} dBm", 10.0 * (thousandths / 1_000.0).log10()),
            Self::Current => format!("{thousandths:.1} mA"),
            Self::Temperature => format!("{thousandths:.0} °C"),
        }
    }
}

fn rings(interface: &Interface) -> Fact {
    known(&interface.rings, |rings| {
        map([
            ("rx", offered(rings.rx)),
            ("rx_max", offered(rings.rx_max)),
            ("tx", offered(rings.tx)),
            ("tx_max", offered(rings.tx_max)),
        ])
    })
}

fn channels(interface: &Interface) -> Fact {
    known(&interface.channels, |channels| {
        map([("combined", offered(channels.combined)), ("combined_max", offered(channels.combined_max))])
    })
}

fn coalesce(interface: &Interface) -> Fact {
    known(&interface.coalesce, |coalesce| {
        let adaptive = |on: Option<bool>| on.map_or_else(|| unsupported("the driver does not say"), Fact::Bool);
        map([
            ("adaptive_rx", adaptive(coalesce.adaptive_rx)),
            ("adaptive_tx", adaptive(coalesce.adaptive_tx)),
            ("rx_usecs", offered(coalesce.values.get("rx-usecs").copied())),
        ])
    })
}

fn pause(interface: &Interface) -> Fact {
    known(&interface.pause, |pause| {
        map([
            ("rx", Fact::Bool(pause.rx)),
            ("tx", Fact::Bool(pause.tx)),
            ("rx_frames", offered(pause.rx_frames)),
            ("tx_frames", offered(pause.tx_frames)),
        ])
    })
}

fn pci(bus: &Bus, snapshot: &Snapshot) -> Fact {
    let cpus = bus.local_cpus.as_deref().and_then(cpu_list);
    let threads = snapshot
        .machine
        .cores
        .value()
        .and_then(|&cores| snapshot.processors.each.len().checked_div(usize::try_from(cores).ok()?));
    let local_cores = cpus.zip(threads).and_then(|(cpus, threads)| cpus.len().checked_div(threads));
    map([
        ("numa_node", bus.numa_node.map_or(Fact::Int(-1), int)),
        ("local_cpus", bus.local_cpus.as_deref().map_or_else(|| absent(""), text)),
        ("local_cores", local_cores.map_or_else(|| absent("the cores near the slot are not known"), int)),
        ("rate_bps", slot_rate(bus).map_or_else(|| absent("no PCIe slot"), Fact::Int)),
        ("width", bus.pcie_width.map_or_else(|| absent("no PCIe slot"), int)),
        ("max_read_bytes", bus.pcie_max_read_bytes.map_or_else(|| absent("no PCIe device, or not read as root"), int)),
        ("width_max", bus.pcie_max_width.map_or_else(|| absent("no PCIe slot"), int)),
    ])
}

/// What a slot carries: lanes times transfers, less the line code: 8b/10b up to 5 GT/s, 128b/130b from 8, 242 of 256 bytes of
/// a flit from 64 (PCI Express Base Specification 6.0, sections 4.2.1 and 4.2.3).
#[expect(clippy::cast_possible_truncation, reason = "a slot carries less than 2^41 bit/s")]
fn slot_rate(bus: &Bus) -> Option<i64> {
    let transfers: f64 = bus.pcie_speed.as_deref()?.split_whitespace().next()?.parse().ok()?;
    let code = match transfers {
        slow if slow < 8.0 => 0.8,
        flits if flits >= 64.0 => 242.0 / 256.0,
        _ => 128.0 / 130.0,
    };
    Some((transfers * 1e9 * code * f64::from(bus.pcie_width?)) as i64)
}

fn irq(interface: &Interface) -> Fact {
    let off_node = known(&interface.bus, |bus| {
        let Some(local) = bus.local_cpus.as_deref().and_then(cpu_list) else { return absent("no CPUs are near it") };
        known(&interface.interrupts, |interrupts| {
            let away = |interrupt: &&Interrupt| {
                let effective = interrupt.effective_cpus.as_deref().and_then(cpu_list).unwrap_or_default();
                effective.iter().any(|cpu| !local.contains(cpu))
            };
            int(interrupts.iter().filter(away).count())
        })
    });
    let pinned = known(&interface.interrupts, |interrupts| {
        let single = |interrupt: &&Interrupt| {
            interrupt.allowed_cpus.as_deref().and_then(cpu_list).is_some_and(|cpus| cpus.len() == 1)
        };
        int(interrupts.iter().filter(single).count())
    });
    map([("off_node", off_node), ("pinned", pinned)])
}
