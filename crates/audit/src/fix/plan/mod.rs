//! From findings, or from a file that somebody wrote, to an ordered list of steps.
//!
//! * [`FixPlan::of`]: steps in the order in which they are made, none twice, none against another
//! * `combine`: two steps for one setting
//! * `amounts`: no buffer, ring or queue becomes smaller unless a rule is there for that
//! * `read`: a plan, or the report of an audit, as a file

mod amounts;
mod combine;
mod read;
mod step;

use model::host::snapshot::HostIdentity;
use serde::{Deserialize, Serialize};

use super::{Disruption, Operation};
use crate::report::Finding;
use crate::scope::HostFacts;

pub use combine::Contradiction;
pub use read::{PlanError, ReadPlan};
pub use step::{ByHand, LeftOut, PlannedStep};

/// What is to be changed on a host. It is read from TOML and from JSON, and what `linerate host fix --dry-run --json` prints
/// holds one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FixPlan {
    /// The host and network namespace that it was worked out for; absent where somebody wrote it for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_for: Option<HostIdentity>,
    /// What is changed, in order.
    pub steps: Vec<PlannedStep>,
    /// What no program can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_hand: Vec<ByHand>,
    /// What was proposed and is not done, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl FixPlan {
    /// Puts steps in order, each setting once.
    ///
    /// # Errors
    /// Two steps that want different values of one setting, where the larger is not simply the better one.
    pub fn of(proposed: Vec<PlannedStep>, host: &HostFacts) -> Result<Self, Box<Contradiction>> {
        let identity = Some(host.identity.clone()).filter(|identity| !identity.name.is_empty());
        let mut plan = Self { made_for: identity, ..Self::default() };
        let mut kept: Vec<PlannedStep> = Vec::new();
        for mut step in proposed {
            if let Some(text) = by_hand(&step.operation) {
                plan.remember(step.rules, text);
                continue;
            }
            if let Some(what) = unfilled(&step.operation) {
                let reason = format!("it needs a value that no fact gives: {what}; write it into a plan");
                plan.left_out.push(LeftOut { step, reason });
                continue;
            }
            amounts::place(&mut step, host);
            step.disruption = step.disruption.or(Some(step.operation.disruption()));
            combine::add(&mut kept, step)?;
        }
        for step in kept {
            match amounts::guarded(step, host) {
                Ok(step) => plan.steps.push(step),
                Err(left_out) => plan.left_out.push(*left_out),
            }
        }
        // Stable: what a rule does in order stays in order.
        plan.steps.sort_by_key(|step| turn(&step.operation));
        Ok(plan)
    }

    /// The steps that findings propose, in the order of the findings.
    #[must_use]
    pub fn proposed_by<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<PlannedStep> {
        let mut proposed = Vec::new();
        for finding in findings {
            for step in &finding.fix {
                proposed.push(PlannedStep {
                    rules: vec![finding.rule.clone()],
                    namespace: finding.subject.namespace.clone(),
                    link: finding.subject.link.clone(),
                    operation: step.operation.clone(),
                    disruption: Some(finding.disruption),
                    lowers: finding.lowers,
                });
            }
        }
        proposed
    }

    /// The worst that the steps cost while they are done.
    #[must_use]
    pub fn disruption(&self) -> Disruption {
        self.steps.iter().filter_map(|step| step.disruption).max().unwrap_or(Disruption::None)
    }

    /// Every rule that a step serves, once.
    #[must_use]
    pub fn rules(&self) -> Vec<&str> {
        let mut rules: Vec<&str> = Vec::new();
        for rule in self.steps.iter().flat_map(|step| &step.rules) {
            if !rules.contains(&rule.as_str()) {
                rules.push(rule);
            }
        }
        rules
    }

    fn remember(&mut self, rules: Vec<String>, text: String) {
        match self.by_hand.iter_mut().find(|known| known.text == text) {
            Some(known) => known.rules.extend(rules),
            None => self.by_hand.push(ByHand { rules, text }),
        }
    }
}

/// The words of what no program can do, or what takes a boot or a service.
fn by_hand(operation: &Operation<String>) -> Option<String> {
    match operation {
        Operation::Advice { text, .. } => Some(text.clone()),
        Operation::BootParameter { .. } | Operation::StopService { .. } => {
            Some(operation.command(&super::Target::default()))
        }
        _ => None,
    }
}

/// What a person has to fill in: rules write it in parentheses.
fn unfilled(operation: &Operation<String>) -> Option<String> {
    let mut found = None;
    let _ = operation.try_map(&mut |text: &String| {
        if let Some((_, rest)) = text.split_once('(') {
            found = Some(rest.trim_end_matches(')').to_owned());
        }
        Ok::<_, std::convert::Infallible>(())
    });
    found
}

/// Modules before what needs them, the host's settings before devices, devices before the disciplines that take their
/// lengths from them, a discipline before its classes, a class before what hangs on it.
fn turn(operation: &Operation<String>) -> u8 {
    match operation {
        Operation::Module { .. } => 0,
        Operation::Sysctl { .. } => 1,
        Operation::Channels { .. } => 2,
        Operation::Mtu { .. } | Operation::TxQueueLength { .. } => 4,
        Operation::NoQdisc {} => 5,
        Operation::Qdisc { parent, .. } if parent == "root" => 6,
        Operation::Class { .. } => 7,
        Operation::Qdisc { .. } => 8,
        Operation::Route { .. } => 9,
        Operation::Interrupts { .. } | Operation::Steering { .. } => 10,
        Operation::Governor { .. } | Operation::Smt { .. } | Operation::IdleStates { .. } => 11,
        _ => 3,
    }
}

#[cfg(test)]
mod tests;
