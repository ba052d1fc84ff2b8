//! What is to be done: from what was typed to a plan with its commands.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use audit::Keep;
use audit::expression::View;
use audit::fix::exact::{self, Commands};
use audit::fix::plan::{ByHand, FixPlan, LeftOut, PlannedStep};
use audit::fix::{Disruption, Target};
use audit::report::{Finding, Report};
use audit::rule::Rule;
use audit::scope::HostFacts;
use host::fix::{Planned, StepError};
use host::learnt;
use model::host::fix::Step;
use model::host::snapshot::Snapshot;

use crate::cli::Common;
use crate::cli::host::fix::FixArgs;
use crate::commands::host::audit::{Host, ask, rules, sampled};
use crate::commands::host::reading::{text_of, this_host};
use crate::exit::{Complaint, Exit};

/// A plan, ready to be applied to this host.
pub struct Ready {
    /// The host as it is.
    pub snapshot: Snapshot,
    /// What is to be done.
    pub plan: FixPlan,
    /// The same as the helper takes it.
    pub steps: Vec<Step>,
    /// The same as a person would type it.
    pub commands: Vec<Commands>,
}

/// Works out what is to be done on this host.
pub fn ready(common: &Common, args: &FixArgs) -> anyhow::Result<Ready> {
    let snapshot = this_host()?;
    let facts = HostFacts::of(&snapshot);
    let (steps, elsewhere) = here_only(args, proposed(common, args, &facts)?);
    let mut plan = FixPlan::of(steps, &facts).map_err(|contradiction| {
        let rules = [&contradiction.one.0, &contradiction.other.0].map(|rules| rules.join(" "));
        let hint = format!("ask for one of them: `linerate host fix {}` or `linerate host fix {}`", rules[0], rules[1]);
        anyhow::Error::from(*contradiction)
            .context(Complaint::new(Exit::Usage, "the plan contradicts itself").hint(hint))
    })?;
    plan.left_out.extend(elsewhere);
    let steps = typed(&mut plan)?;
    let commands = plan.steps.iter().map(|step| exact::exact(step, &snapshot)).collect();
    Ok(Ready { snapshot, plan, steps, commands })
}

/// The steps that rules or a file propose.
fn proposed(common: &Common, args: &FixArgs, facts: &HostFacts) -> anyhow::Result<Vec<PlannedStep>> {
    if let Some(text) = &args.inline {
        return read(text, "the plan that was sent", args, facts);
    }
    if let [path] = args.what.as_slice()
        && !is_rule(path)
    {
        let text = if path == "-" { standard_input()? } else { text_of(Path::new(path))? };
        return read(&text, path, args, facts);
    }
    if let Some(path) = args.what.iter().find(|what| !is_rule(what)) {
        let complaint = Complaint::new(Exit::Usage, format!("`{path}` is no rule, and a plan stands alone"));
        return Err(complaint.hint("rules are named as in docs/rules.md: TCP-ECN-ACTIVE").into());
    }
    let rules = rules(&args.case)?;
    for id in &args.what {
        rules.get(id).ok_or_else(|| {
            Complaint::new(Exit::NotFound, format!("there is no rule `{id}`")).hint("docs/rules.md lists all rules")
        })?;
    }
    // Only what judges counters is worth the wait.
    let counts = |rule: &Rule| rule.slots.iter().any(|&slot| rules.language().slot(slot).view != View::Value);
    let asks_of_counters = args.all_findings || args.what.iter().filter_map(|id| rules.get(id)).any(counts);
    let (before, now) = if asks_of_counters { sampled(&args.case)? } else { (None, facts.clone()) };
    let host = Host { facts: &now, learnt: learnt::now(), before: before.as_ref() };
    let report = ask(common, &args.case, &rules, &host, Keep::Findings)?;
    say_what_is_unknown(args, &report)?;
    let asked = |finding: &&Finding| {
        let by_rule =
            if args.all_findings { finding.disruption == Disruption::None } else { args.what.contains(&finding.rule) };
        by_rule && args.device.as_ref().is_none_or(|device| finding.subject.link.as_ref() == Some(device))
    };
    Ok(FixPlan::proposed_by(report.findings.iter().filter(asked)))
}

/// A rule that could not be answered is neither right nor wrong: nothing must look as if it had passed.
fn say_what_is_unknown(args: &FixArgs, report: &Report) -> anyhow::Result<()> {
    for id in &args.what {
        if report.findings.iter().any(|finding| finding.rule == *id) {
            continue;
        }
        let Some(unknown) = report.unknown.iter().find(|unknown| unknown.rule == *id) else {
            eprintln!("{id}: does not fire on this host");
            continue;
        };
        let mut complaint = Complaint::new(Exit::Usage, format!("whether {id} fires here is not known"));
        for missing in &unknown.missing {
            complaint = complaint.hint(format!("{}: {}", missing.name, missing.missing));
        }
        return Err(complaint.into());
    }
    Ok(())
}

fn read(text: &str, name: &str, args: &FixArgs, facts: &HostFacts) -> anyhow::Result<Vec<PlannedStep>> {
    let plan = FixPlan::read(text).with_context(|| {
        Complaint::new(Exit::Usage, format!("{name} is no plan of a fix"))
            .hint("docs/fixing-a-host.md shows one; `linerate host fix RULE --dry-run --json` prints one")
    })?;
    // Devices have the same names on many hosts, and values that are right on one are wrong on another.
    let misfit = plan.made_for.filter(|_| !args.any_host).and_then(|made_for| made_for.misfit(&facts.identity));
    match misfit {
        Some(why) => Err(Complaint::new(Exit::Usage, format!("{name} is not for this host: {why}"))
            .hint("audit this host and make a plan of that; --any-host applies this one all the same")
            .into()),
        None => Ok(plan.steps),
    }
}

/// Of what rules propose, the steps in the namespaces that were asked for; the others are told. What somebody wrote with its
/// namespace is asked for by that.
fn here_only(args: &FixArgs, steps: Vec<PlannedStep>) -> (Vec<PlannedStep>, Vec<LeftOut>) {
    let (here, elsewhere): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| {
        let is_asked_for = |namespace: &String| args.all_netns || args.netns.contains(namespace);
        step.rules.is_empty() || step.namespace.as_ref().is_none_or(is_asked_for)
    });
    let left_out = |step: PlannedStep| {
        let name = step.namespace.clone().unwrap_or_default();
        LeftOut { step, reason: format!("it is in another network namespace: --netns {name} changes that one too") }
    };
    (here, elsewhere.into_iter().map(left_out).collect())
}

fn standard_input() -> anyhow::Result<String> {
    let mut text = String::new();
    let read = std::io::stdin().take(LARGEST_PLAN).read_to_string(&mut text);
    read.with_context(|| Complaint::new(Exit::NotFound, "cannot read the plan from standard input"))?;
    Ok(text)
}

fn is_rule(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    text != "-" && text.chars().all(allowed)
}

/// The steps as the helper takes them. What it cannot do leaves the plan and is told.
fn typed(plan: &mut FixPlan) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut kept = Vec::new();
    for step in std::mem::take(&mut plan.steps) {
        let target = Target {
            namespace: step.namespace.as_deref().unwrap_or_default(),
            link: step.link.as_deref().unwrap_or_default(),
        };
        match host::fix::plan(&step.operation, &target) {
            Ok(Planned::Step(typed)) => {
                steps.push(typed);
                kept.push(step);
            }
            Ok(Planned::Advice { text, .. }) => plan.by_hand.push(ByHand { rules: step.rules, text }),
            // What a rule works out may not fit this host; what somebody wrote is a slip.
            Err(error) if step.rules.is_empty() => return Err(refused(&step, error)),
            Err(error) => {
                let reason = with_causes(&error);
                plan.left_out.push(LeftOut { step, reason });
            }
        }
    }
    plan.steps = kept;
    Ok(steps)
}

fn refused(step: &PlannedStep, error: StepError) -> anyhow::Error {
    let what = step.operation.command(&Target { namespace: "", link: step.link.as_deref().unwrap_or_default() });
    anyhow::Error::from(error)
        .context(Complaint::new(Exit::Usage, format!("a step of the plan cannot be done: {what}")))
}

fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// A plan for a host with a thousand devices is below this.
const LARGEST_PLAN: u64 = 16 << 20;
