//! Two steps for one setting: the same, the larger of two amounts, or a contradiction.

use std::collections::BTreeMap;
use std::fmt;

use super::amounts;
use super::step::PlannedStep;
use crate::fix::{Operation, route};

/// Two steps that want different values of one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What the two steps want differently.
    pub setting: String,
    /// Who wants what.
    pub one: (Vec<String>, String),
    /// Who wants another thing.
    pub other: (Vec<String>, String),
}

impl std::error::Error for Contradiction {}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wants = |f: &mut fmt::Formatter<'_>, (rules, value): &(Vec<String>, String)| {
            let whose = if rules.is_empty() { "a step of the plan".to_owned() } else { rules.join(" and ") };
            write!(f, "{whose} wants {value}")
        };
        write!(f, "two values are wanted of {}: ", self.setting)?;
        wants(f, &self.one)?;
        f.write_str(", ")?;
        wants(f, &self.other)
    }
}

/// Adds a step to those there are.
pub(super) fn add(kept: &mut Vec<PlannedStep>, step: PlannedStep) -> Result<(), Box<Contradiction>> {
    let found = kept.iter_mut().find(|known| setting(known).is_some() && setting(known) == setting(&step));
    let Some(known) = found else {
        kept.push(step);
        return Ok(());
    };
    known.operation = united(known, &step).ok_or_else(|| {
        Box::new(Contradiction {
            setting: setting(known).unwrap_or_default(),
            one: (known.rules.clone(), value(&known.operation)),
            other: (step.rules.clone(), value(&step.operation)),
        })
    })?;
    for rule in step.rules {
        if !known.rules.contains(&rule) {
            known.rules.push(rule);
        }
    }
    known.disruption = known.disruption.max(step.disruption);
    Ok(())
}

/// One operation that does what both do; none where they are against each other.
fn united(known: &PlannedStep, step: &PlannedStep) -> Option<Operation<String>> {
    if known.operation == step.operation {
        return Some(known.operation.clone());
    }
    // To raise and to lower cannot both be right.
    if known.lowers != step.lowers {
        return None;
    }
    let larger = !known.lowers;
    match (&known.operation, &step.operation) {
        (Operation::Sysctl { key, value: one }, Operation::Sysctl { value: other, .. })
            if larger && amounts::is_amount(key) =>
        {
            Some(Operation::Sysctl { key: key.clone(), value: amounts::larger(one, other)? })
        }
        (Operation::TxQueueLength { packets: one }, Operation::TxQueueLength { packets: other }) if larger => {
            Some(Operation::TxQueueLength { packets: amounts::larger(one, other)? })
        }
        (Operation::Rings { rx, tx }, Operation::Rings { rx: other_rx, tx: other_tx }) if larger => {
            let either = |one: &Option<String>, other: &Option<String>| match (one, other) {
                (Some(one), Some(other)) => amounts::larger(one, other).map(Some),
                (one, other) => Some(one.clone().or_else(|| other.clone())),
            };
            Some(Operation::Rings { rx: either(rx, other_rx)?, tx: either(tx, other_tx)? })
        }
        (Operation::Route { to, metrics: one }, Operation::Route { metrics: other, .. }) => {
            Some(Operation::Route { to: to.clone(), metrics: both_metrics(one, other)? })
        }
        _ => None,
    }
}

/// The metrics of both, where none has two values.
fn both_metrics(one: &str, other: &str) -> Option<String> {
    let mut all: BTreeMap<String, String> = route::metrics(one)?;
    for (name, value) in route::metrics(other)? {
        if all.get(&name).is_some_and(|known| *known != value) {
            return None;
        }
        all.insert(name, value);
    }
    Some(route::written(&all))
}

/// What a step sets, so that two of the same are found.
fn setting(step: &PlannedStep) -> Option<String> {
    let what = match &step.operation {
        Operation::Sysctl { key, .. } => key.clone(),
        Operation::Feature { name, .. } => format!("feature {name}"),
        Operation::Qdisc { parent, .. } => format!("qdisc at {parent}"),
        Operation::NoQdisc {} => "qdisc at root".to_owned(),
        Operation::Class { class, .. } => format!("class {class}"),
        Operation::Route { to, .. } => format!("route to {to}"),
        Operation::Module { name } => format!("module {name}"),
        other => word(other)?.to_owned(),
    };
    let place = [step.link.as_deref().map(|link| format!(" of {link}")), namespace(step)];
    Some(what + &place.into_iter().flatten().collect::<String>())
}

fn namespace(step: &PlannedStep) -> Option<String> {
    step.namespace.as_ref().map(|namespace| format!(" in {namespace}"))
}

fn word(operation: &Operation<String>) -> Option<&'static str> {
    Some(match operation {
        Operation::Rings { .. } => "rings",
        Operation::Channels { .. } => "channels",
        Operation::Coalesce { .. } => "interrupt coalescing",
        Operation::Pause { .. } => "pause frames",
        Operation::Eee { .. } => "saving of energy",
        Operation::Autonegotiation { .. } => "autonegotiation",
        Operation::Spread { .. } => "spread over queues",
        Operation::Mtu { .. } => "MTU",
        Operation::TxQueueLength { .. } => "transmit queue length",
        Operation::LargestAggregate { .. } => "largest aggregate",
        Operation::BondHash { .. } => "hash policy",
        Operation::Interrupts { .. } => "interrupts",
        Operation::Steering { .. } => "steering",
        Operation::Governor { .. } => "frequency governor",
        Operation::Smt { .. } => "SMT",
        Operation::IdleStates { .. } => "idle states",
        _ => return None,
    })
}

/// What an operation sets it to, for people: what it would be in JSON without the names of the setting.
fn value(operation: &Operation<String>) -> String {
    match operation {
        Operation::Sysctl { value, .. } => value.clone(),
        Operation::Mtu { bytes } | Operation::LargestAggregate { bytes } => bytes.clone(),
        Operation::Feature { on, .. } | Operation::Eee { on } | Operation::Autonegotiation { on } => {
            if *on { "on" } else { "off" }.to_owned()
        }
        Operation::Qdisc { kind, options, .. } => format!("{kind} {}", options.as_deref().unwrap_or_default()),
        Operation::NoQdisc {} => "none".to_owned(),
        Operation::Route { metrics, .. } => metrics.clone(),
        other => other.command(&crate::fix::Target::default()),
    }
}
