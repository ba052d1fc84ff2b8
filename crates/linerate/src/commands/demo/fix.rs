//! The fix of a network: settings of hosts, by `linerate host fix` inside of them; else its operators, for whom the lab does it.
//!
//! Nothing of the truth is used: what is fixed is what the diagnosis names, where it names it.

use std::collections::BTreeSet;
use std::process::Stdio;

use anyhow::Context;
use diagnose::diagnosis::{FaultLocation, Ranked, Standing};
use diagnose::proof::AppliedFix;
use diagnose::signs::Flow;
use lab::live::Live;
use lab::play::Setting;
use lab::scenario::{Fault, FaultKind};
use model::round::Round;
use units::DataRate;
use units::duration::show as shown;

use super::chapter::Demo;
use super::stories::{self, ByHand};
use crate::exit::{Complaint, Exit};
use crate::show;

/// Fixes what a diagnosis names.
pub struct Fixer<'a> {
    pub demo: &'a Demo<'a>,
    pub setting: &'a Setting<'a>,
    pub round: &'a Round,
    pub flows: &'a [Flow],
    pub live: Live<'a>,
}

/// The fix of a problem.
pub struct Remedy {
    /// The problem, by its place in the diagnosis.
    pub problem: usize,
    /// Its likeliest cause.
    ranked: Ranked,
    place: FaultLocation,
    how: How,
}

/// Who does it.
enum How {
    /// A host, told by `linerate host fix` with these options.
    Host { name: String, what: What, profile: Vec<String> },
    /// The people who run the network; the lab ends these faults for them.
    People { faults: Vec<String> },
}

/// What a host is told to fix.
enum What {
    Rules(Vec<String>),
    ByHand(&'static ByHand),
}

impl Fixer<'_> {
    /// The fixes of those problems of which something can be done here. Nothing is changed.
    pub fn remedies(&self, standings: &[Standing<'_>]) -> anyhow::Result<Vec<Remedy>> {
        let mut remedies = Vec::new();
        for (problem, standing) in standings.iter().enumerate() {
            let Some(ranked) = standing.problem.ranking.first() else { continue };
            let Some(place) = ranked.places.first().map(|likely| &likely.place) else { continue };
            if let Some(how) = self.how(ranked, place, standing)? {
                remedies.push(Remedy { problem, ranked: ranked.clone(), place: place.clone(), how });
            }
        }
        Ok(remedies)
    }

    /// Where a segment cannot be fixed, those who send over it may do their part.
    fn how(&self, ranked: &Ranked, place: &FaultLocation, standing: &Standing<'_>) -> anyhow::Result<Option<How>> {
        let hosts: BTreeSet<&String> = match place {
            FaultLocation::Host { name } => [name].into(),
            FaultLocation::Segment { name, towards } => {
                let faults = self.faults(name, towards.as_deref());
                if !faults.is_empty() {
                    return Ok(Some(How::People { faults }));
                }
                let flows = standing.suffering.iter().filter_map(|flow| self.flows.get(*flow));
                flows.map(|flow| &flow.sender.host).collect()
            }
            FaultLocation::Path { .. } | FaultLocation::Balancer => return Ok(None),
        };
        for host in hosts {
            let profile = self.profile(host);
            let rules = self.rules_that_propose(host, &profile, ranked)?;
            let by_hand = || stories::by_hand(self.setting.scenario).filter(|step| step.host == host);
            let what = if rules.is_empty() { by_hand().map(What::ByHand) } else { Some(What::Rules(rules)) };
            if let Some(what) = what {
                return Ok(Some(How::Host { name: host.clone(), what, profile }));
            }
        }
        Ok(None)
    }

    /// Does it, and says how.
    pub fn fix(&self, remedies: Vec<Remedy>) -> anyhow::Result<Vec<AppliedFix>> {
        let mut fixes = Vec::new();
        for Remedy { ranked, place, how, .. } in remedies {
            fixes.push(match how {
                How::Host { name, what, profile } => {
                    if !matches!(&place, FaultLocation::Host { .. }) {
                        self.demo.say(&show::demo::does_its_part(&name, &place.to_string(), &ranked))?;
                    }
                    self.at_host(&name, what, &profile)?
                }
                How::People { faults } => self.by_people(&place.to_string(), faults, ranked)?,
            });
        }
        // What was set as hardware is obeyed before anything is tested again.
        self.live.obey().context("the lab does not obey the hardware of its hosts")?;
        Ok(fixes)
    }

    fn at_host(&self, host: &str, what: What, profile: &[String]) -> anyhow::Result<AppliedFix> {
        let what = match what {
            What::Rules(rules) => rules,
            What::ByHand(step) => {
                self.demo.say(&show::demo::because(step.because))?;
                vec![self.plan(step)?]
            }
        };
        let asked = [words(&["host", "fix"]), what, profile.to_vec()].concat();
        let shown = show::demo::command(host, &asked, PLAN);
        self.demo.say(&show::demo::prompt(&format!("{shown} --dry-run")))?;
        let planned = self.inside(host, &[asked.clone(), words(&["--dry-run"])].concat())?;
        self.demo.say(&show::demo::quoted(&planned))?;
        self.demo.say(&show::demo::prompt(&format!("{shown} --yes")))?;
        let done = self.inside(host, &[asked, words(&["--yes"])].concat())?;
        self.demo.say(&show::demo::quoted(&done))?;
        Ok(AppliedFix::Host { host: host.to_owned(), command: format!("{shown} --yes"), said: done })
    }

    /// Those of the cause's rules for which the audit of the host has a fix.
    fn rules_that_propose(&self, host: &str, profile: &[String], ranked: &Ranked) -> anyhow::Result<Vec<String>> {
        let mut proposing = Vec::new();
        for rule in &ranked.fix {
            let asked = [&words(&["host", "fix", rule]), profile, &words(&["--dry-run", "--json"])].concat();
            let mut command = self.command(host, &asked)?;
            let output = command.output().with_context(|| cannot(host))?;
            // A rule that cannot be answered on this host proposes nothing.
            let report: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
            let steps = report.as_ref().and_then(|report| report["plan"]["steps"].as_array());
            if steps.is_some_and(|steps| !steps.is_empty()) {
                proposing.push(rule.clone());
            }
        }
        Ok(proposing)
    }

    /// What the host is and what its path needs, as the round has shown it.
    fn profile(&self, host: &str) -> Vec<String> {
        let suffers = |flow: &&Flow| flow.complaint.is_some();
        let ends = |flow: &Flow| [flow.sender.clone(), flow.receiver.clone()];
        let own: Vec<&Flow> =
            self.flows.iter().filter(suffers).filter(|flow| ends(flow).iter().any(|end| end.host == host)).collect();
        let mut roles = Vec::new();
        roles.extend(own.iter().any(|flow| flow.sender.host == host).then_some("sender"));
        roles.extend(own.iter().any(|flow| flow.receiver.host == host).then_some("receiver"));
        let guests = self.round.members.iter().filter(|member| member.lives_in(host));
        let guests: BTreeSet<&str> = guests.map(|guest| guest.name.as_str()).collect();
        roles.extend((!guests.is_empty()).then_some("vm-host"));
        let is_tunnelled =
            |flow: &Flow| ends(flow).iter().any(|end| end.network.is_some() && guests.contains(end.host.as_str()));
        roles.extend(self.flows.iter().filter(suffers).any(is_tunnelled).then_some("overlay-node"));
        let mut profile = Vec::new();
        let mut say = |name: &str, value: Option<String>| {
            profile.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        say("--role", (!roles.is_empty()).then(|| roles.join(",")));
        let rtt = own.iter().filter_map(|flow| flow.rtt).max();
        say("--rtt", rtt.filter(|rtt| !rtt.is_zero()).map(shown_rtt));
        let wanted: Option<DataRate> = own.iter().filter_map(|flow| flow.wanted()).max();
        say("--target-rate", wanted.map(|rate| rate.to_string().replace(' ', "")));
        profile
    }

    /// A plan for the fix of a host.
    fn plan(&self, step: &ByHand) -> anyhow::Result<String> {
        let blueprint = self.setting.scenario.blueprint(self.setting.seed);
        let cable = blueprint.cables.iter().position(|cable| cable.name == step.link);
        let host = blueprint.hosts.iter().find(|host| host.name == step.host);
        let device = host.and_then(|host| host.devices.iter().find(|device| Some(device.cable) == cable));
        let device = device.context("the step by hand is of another scenario")?;
        let path = self.demo.scratch.file(PLAN);
        let text = format!("[[steps]]\nlink = \"{}\"\noperation = {}\n", device.name, step.operation);
        std::fs::write(&path, &text).context(Complaint::new(Exit::Local, "the plan of the fix cannot be written"))?;
        self.demo.say(&show::demo::plan(PLAN, &text))?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// The faults of a segment, in one direction if that is known, which its people can end.
    fn faults(&self, segment: &str, towards: Option<&str>) -> Vec<String> {
        let scenario = self.setting.scenario;
        let Some(link) = scenario.links.iter().position(|link| link.name == segment) else { return Vec::new() };
        let ends = scenario.links[link].ends;
        let direction = towards.and_then(|towards| (0..2).find(|way| scenario.hosts[ends[1 - *way]].name == towards));
        let is_there = |fault: &&Fault| match &fault.what {
            FaultKind::Added { link: of, directions, .. } => {
                *of == link && direction.is_none_or(|direction| directions.contains(&direction))
            }
            FaultKind::Set { link: of, places, .. } => {
                *of == link && direction.is_none_or(|direction| places.iter().any(|(way, _)| *way == direction))
            }
            FaultKind::Host { .. } => false,
        };
        let faults = scenario.faults.iter().filter(|fault| fault.condition.is_none()).filter(is_there);
        faults.map(|fault| fault.id.clone()).collect()
    }

    /// The people who run the network have to act; the lab does it for them.
    fn by_people(&self, place: &str, faults: Vec<String>, ranked: Ranked) -> anyhow::Result<AppliedFix> {
        let faults: Vec<String> = faults.into_iter().filter(|fault| self.live.end_fault(fault)).collect();
        self.demo.say(&show::demo::for_people(place, &ranked, &faults))?;
        Ok(AppliedFix::Network { place: place.to_owned(), remedy: ranked.remedy, faults })
    }

    /// What linerate says inside a host.
    fn inside(&self, host: &str, arguments: &[String]) -> anyhow::Result<String> {
        let mut command = self.command(host, arguments)?;
        let output = command.output().with_context(|| cannot(host))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let complaint = Complaint::new(Exit::Local, format!("`linerate {}` fails on {host}", arguments.join(" ")));
            return Err(anyhow::anyhow!(said).context(complaint));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, host: &str, arguments: &[String]) -> anyhow::Result<std::process::Command> {
        let host = self.live.network.host(host).with_context(|| format!("the lab has no host {host}"))?;
        let mut command = host.command(self.setting.program);
        command.args(arguments).arg("--quiet").arg("--archive").arg(self.demo.archive());
        command.stdin(Stdio::null());
        Ok(command)
    }
}

/// A round trip as a person would type it: whole milliseconds where there are some.
fn shown_rtt(rtt: std::time::Duration) -> String {
    let whole = std::time::Duration::from_millis(units::duration::millis(rtt));
    shown(if whole.is_zero() { rtt } else { whole }).replace(' ', "")
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn cannot(host: &str) -> Complaint {
    Complaint::new(Exit::Local, format!("this program cannot be run on {host}"))
}

const PLAN: &str = "plan.toml";
