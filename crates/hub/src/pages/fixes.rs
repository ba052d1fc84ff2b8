//! Commands that fix the cause of an incident, each on the host that has it.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use audit::profile::Role;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Rules, audit};
use diagnose::diagnosis::{Diagnosis, FaultLocation};
use mesh::incident::{Incident, Metric};
use model::host::snapshot::Snapshot;
use plan::Plan;
use plan::plan::{Host, Reach};
use units::WallTime;
use web::source::{FixCommand, SourceError};

use super::latest::Known;
use super::{HubSource, broken};
use crate::schedule::planned::Planned;
use crate::watching::newest_facts;

impl HubSource {
    /// The fixes of the cause that explains an incident; none where it is at no host, or no rule of the audit fixes it.
    pub(super) fn fixes(
        &self,
        incident: &Incident,
        diagnosis: &serde_json::Value,
        planned: &Planned,
    ) -> Result<Vec<FixCommand>, SourceError> {
        let Some(explanation) = &incident.explanation else { return Ok(Vec::new()) };
        // A hub of another version may have said more of causes than this program understands.
        let Ok(diagnosis) = model::value::read::<Diagnosis>(diagnosis) else { return Ok(Vec::new()) };
        let mut ranked = diagnosis.problems.iter().flat_map(|problem| &problem.ranking);
        let Some(ranked) = ranked.find(|ranked| ranked.cause == explanation.cause) else { return Ok(Vec::new()) };
        let is_it =
            |place: &&FaultLocation| matches!(place, FaultLocation::Host { name } if *name == explanation.place);
        let place = ranked.places.iter().map(|likely| &likely.place).find(is_it);
        let Some(FaultLocation::Host { name }) = place else { return Ok(Vec::new()) };
        let plan = planned.plan();
        let Some(number) = plan.host(name) else { return Ok(Vec::new()) };
        let known = self.known(planned, linux::clock::wall_now())?;
        let profile = profile(plan, number, &known);
        drop(known);
        let host = &plan.hosts[number];
        let command = |rule: &String| FixCommand {
            host: name.clone(),
            rule: rule.clone(),
            command: reached(host, &format!("{} host fix {rule}{}", program(host), options(&profile))),
        };
        let facts = newest_facts(self.store.as_ref(), name).map_err(|error| broken(&error))?;
        let firing = facts.map(|facts| firing(&facts, &profile)).unwrap_or_default();
        // A rule that does not fire has nothing to fix there; where none does, the facts are from before.
        let fires: Vec<&String> = ranked.fix.iter().filter(|rule| firing.contains(*rule)).collect();
        let rules = if fires.is_empty() { ranked.fix.iter().collect() } else { fires };
        Ok(rules.into_iter().map(command).collect())
    }
}

/// The rules that find something to fix on a host.
fn firing(facts: &Snapshot, profile: &Profile) -> BTreeSet<String> {
    static RULES: LazyLock<Rules> = LazyLock::new(Rules::built_in);
    let (host, inputs) = (HostFacts::of(facts), Inputs::default());
    let report = audit(&RULES, &Case { host: &host, profile, inputs: &inputs, keep: Keep::Findings });
    report.findings.into_iter().map(|finding| finding.rule).collect()
}

fn program(host: &Host) -> &str {
    host.program.as_deref().unwrap_or("linerate")
}

/// The command as it is typed: by what the plan says of how the host is reached, else on the host itself.
fn reached(host: &Host, command: &str) -> String {
    match &host.reach {
        Some(Reach::Ssh(target)) => format!("ssh -t {target} {command}"),
        Some(Reach::Lab(name)) => format!("{} lab exec {name} -- {command}", program(host)),
        Some(Reach::Netns(_) | Reach::Here) | None => command.to_owned(),
    }
}

/// What the rules of the audit have to know of a host: what it does, how far its peers are, how fast it is to be.
fn profile(plan: &Plan, host: usize, known: &Known) -> Profile {
    let name = &plan.hosts[host].name;
    let role = |word: &String| Role::ALL.iter().find(|(_, known)| known == word).map(|(role, _)| *role);
    let roles: Vec<Role> = plan.hosts[host].roles.iter().filter_map(role).collect();
    let of_host = known.since(WallTime::default()).filter(|(key, _)| {
        key.metric == Metric::RttMin && (known.hosts.name(key.from) == name || known.hosts.name(key.to) == name)
    });
    let rtt_us = of_host.map(|(_, recent)| recent.value()).filter(|us| us.is_finite()).reduce(f64::max);
    let peers = (0..plan.hosts.len()).filter(|peer| *peer != host);
    let rate = plan.hosts[host].rate.or_else(|| peers.filter_map(|peer| plan.line_rate(host, peer, None)).max());
    Profile {
        roles: if roles.is_empty() { vec![Role::Sender, Role::Receiver] } else { roles },
        rtt: rtt_us.map(whole),
        target_rate: rate,
        ..Profile::default()
    }
}

/// The options of `linerate host fix` that say the same.
fn options(profile: &Profile) -> String {
    let roles: Vec<&str> = profile.roles.iter().map(|role| role.word()).collect();
    let mut text = format!(" --role {}", roles.join(","));
    if let Some(rtt) = profile.rtt {
        let us = units::duration::micros(rtt);
        let shown = if us.is_multiple_of(1_000) { format!("{}ms", us / 1_000) } else { format!("{us}us") };
        text = format!("{text} --rtt {shown}");
    }
    if let Some(rate) = profile.target_rate {
        text = format!("{text} --target-rate {}", rate.to_string().replace(' ', ""));
    }
    text
}

/// An RTT in whole milliseconds, rounded up, and in microseconds below one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an RTT that was measured")]
fn whole(us: f64) -> Duration {
    let us = us.max(1.0).ceil() as u64;
    Duration::from_micros(if us < 1_000 { us } else { us.div_ceil(1_000) * 1_000 })
}
