//! The commands that do exactly what a step does, and exactly take it back, from a snapshot of the host.
//!
//! The report of an audit shows the same commands as far as its facts go; here the whole snapshot is at hand, so routes
//! and queueing disciplines are written out.
//!
//! * [`exact`]: the commands of one step
//! * [`undo_order`]: in which order the commands of several steps are taken back
//! * `before`: what a setting was
//! * `queueing`: a tree of disciplines as `tc` makes it

mod before;
mod queueing;

use model::host::interface::Interface;
use model::host::namespace::Namespace;
use model::host::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use super::plan::PlannedStep;
use super::{Operation, Target, route};

/// The commands of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commands {
    /// What does it.
    pub apply: Vec<String>,
    /// What takes it back; absent where no command can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Vec<String>>,
}

/// The commands of a step, on the host of the snapshot.
#[must_use]
pub fn exact(step: &PlannedStep, host: &Snapshot) -> Commands {
    let own = step.namespace.is_none();
    let namespace = host.namespaces.iter().enumerate().find(|(index, namespace)| match &step.namespace {
        None => *index == 0,
        Some(name) => namespace.name.as_ref() == Some(name),
    });
    let target = Target {
        namespace: if own { "" } else { step.namespace.as_deref().unwrap_or_default() },
        link: step.link.as_deref().unwrap_or_default(),
    };
    let plain = vec![step.operation.command(&target)];
    let Some((_, namespace)) = namespace else { return Commands { apply: plain, undo: None } };
    let place = Place { target, host, namespace, interface: namespace.interface(target.link) };
    Commands { apply: place.apply(&step.operation).unwrap_or(plain), undo: place.undo(&step.operation) }
}

/// Where a step takes place, as it was before.
struct Place<'a> {
    target: Target<'a>,
    host: &'a Snapshot,
    namespace: &'a Namespace,
    interface: Option<&'a Interface>,
}

impl Place<'_> {
    /// What only the snapshot can say; all else has its command anyhow.
    fn apply(&self, operation: &Operation<String>) -> Option<Vec<String>> {
        match operation {
            Operation::Route { to, metrics } => {
                let found = route::only(self.namespace, to)?;
                let mut all = found.metrics.clone();
                all.extend(route::metrics(metrics)?);
                Some(vec![self.target.inside(&route::command(found, &all)?)])
            }
            Operation::Interrupts { cpus } => {
                let interrupts = self.interface?.interrupts.value()?;
                let numbers: Vec<String> = interrupts.iter().map(|interrupt| interrupt.number.to_string()).collect();
                let line = "echo {cpus} > /proc/irq/$irq/smp_affinity_list";
                let line = line.replace("{cpus}", &foreign::shell::word(cpus));
                (!numbers.is_empty()).then(|| vec![format!("for irq in {}; do {line}; done", numbers.join(" "))])
            }
            _ => None,
        }
    }
}

/// In which order steps are taken back: the last first, but sysctls before all others, because the kernel makes its own
/// disciplines by what `net.core.default_qdisc` says at that moment.
#[must_use]
pub fn undo_order(steps: &[PlannedStep]) -> Vec<usize> {
    let is_sysctl = |index: &usize| matches!(steps[*index].operation, Operation::Sysctl { .. });
    let (first, then): (Vec<usize>, Vec<usize>) = (0..steps.len()).rev().partition(is_sysctl);
    [first, then].concat()
}

#[cfg(test)]
mod tests;
