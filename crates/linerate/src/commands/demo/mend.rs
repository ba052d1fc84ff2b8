//! What mends a network: settings of hosts, by `linerate host fix` inside of them; else the people who run it, for whom the
//! lab does it.
//!
//! Nothing of the truth is used: what is mended is what the diagnosis names, where it names it.

use std::process::Stdio;

use anyhow::Context;
use diagnose::diagnosis::{Diagnosis, Place, Ranked};
use diagnose::proof::Mended;
use diagnose::signs::{Flow, flows};
use lab::live::Live;
use lab::play::Setting;
use lab::scenario::{Fault, FaultKind};
use model::round::Round;
use units::DataRate;
use units::duration::show as shown;

use super::chapter::Teller;
use super::stories::{self, ByHand};
use crate::exit::{Complaint, Exit};
use crate::show;

/// Who mends what a diagnosis names.
pub struct Mender<'a> {
    pub teller: &'a Teller<'a>,
    pub setting: &'a Setting<'a>,
    pub round: &'a Round,
    pub diagnosis: &'a Diagnosis,
}

impl Mender<'_> {
    /// Mends what it can, and says how. Nothing where the diagnosis names nothing that can be mended here.
    pub fn mend(&self, live: Live<'_>) -> anyhow::Result<Vec<Mended>> {
        let mut mended = Vec::new();
        for first in self.diagnosis.problems.iter().filter_map(|problem| problem.ranking.first()) {
            let place = first.places.first().map(|likely| &likely.place);
            mended.extend(match place {
                Some(Place::Host { name }) => self.at_host(live, name, first)?,
                Some(place @ Place::Segment { name, towards }) => {
                    let faults = self.faults(name, towards.as_deref());
                    self.by_people(live, place, &faults, first)?
                }
                Some(Place::Path { .. }) | None => None,
            });
        }
        if mended.is_empty() {
            self.teller.say(show::demo::NOTHING_TO_MEND)?;
        }
        // What was set as hardware is obeyed before anything is tested again.
        live.obey().context("the lab does not obey the hardware of its hosts")?;
        Ok(mended)
    }

    fn at_host(&self, live: Live<'_>, host: &str, ranked: &Ranked) -> anyhow::Result<Option<Mended>> {
        let profile = self.profile(host);
        let mut what = self.rules_that_propose(live, host, &profile, ranked)?;
        if what.is_empty() {
            let Some(step) = stories::by_hand(self.setting.scenario).filter(|step| step.host == host) else {
                return Ok(None);
            };
            self.teller.say(&show::demo::because(step.because))?;
            what = vec![self.plan(step)?];
        }
        let asked = [vec!["host".to_owned(), "fix".to_owned()], what, profile].concat();
        let shown = show::demo::command(host, &asked, PLAN);
        self.teller.say(&show::demo::prompt(&format!("{shown} --dry-run")))?;
        let planned = self.inside(live, host, &[asked.clone(), words(&["--dry-run"])].concat())?;
        self.teller.say(&show::demo::quoted(&planned))?;
        self.teller.say(&show::demo::prompt(&format!("{shown} --yes")))?;
        let done = self.inside(live, host, &[asked, words(&["--yes"])].concat())?;
        self.teller.say(&show::demo::quoted(&done))?;
        Ok(Some(Mended::Host { host: host.to_owned(), command: format!("{shown} --yes"), said: done }))
    }

    /// Those of the cause's rules for which the audit of the host has a fix.
    fn rules_that_propose(
        &self,
        live: Live<'_>,
        host: &str,
        profile: &[String],
        ranked: &Ranked,
    ) -> anyhow::Result<Vec<String>> {
        let mut proposing = Vec::new();
        for rule in &ranked.fix {
            let asked = [&words(&["host", "fix", rule]), profile, &words(&["--dry-run", "--json"])].concat();
            let mut command = self.command(live, host, &asked)?;
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

    /// What the host's path needs, as the tests have shown it.
    fn profile(&self, host: &str) -> Vec<String> {
        let all = flows(self.round);
        let own = |flow: &&Flow| {
            flow.complaint.is_some() && [&flow.sender, &flow.receiver].iter().any(|end| end.host == host)
        };
        let own: Vec<&Flow> = all.iter().filter(own).collect();
        let mut roles = Vec::new();
        roles.extend(own.iter().any(|flow| flow.sender.host == host).then_some("sender"));
        roles.extend(own.iter().any(|flow| flow.receiver.host == host).then_some("receiver"));
        let mut profile = Vec::new();
        let mut say = |name: &str, value: Option<String>| {
            profile.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        say("--role", (!roles.is_empty()).then(|| roles.join(",")));
        let rtt = own.iter().filter_map(|flow| flow.rtt).max();
        say("--rtt", rtt.filter(|rtt| !roles.is_empty() && !rtt.is_zero()).map(shown_rtt));
        let wanted: Option<DataRate> = own.iter().filter_map(|flow| flow.wanted).max();
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
        let path = self.teller.desk.file(PLAN);
        let text = format!("[[steps]]\nlink = \"{}\"\noperation = {}\n", device.name, step.operation);
        std::fs::write(&path, &text).context(Complaint::new(Exit::Local, "the plan of the fix cannot be written"))?;
        self.teller.say(&show::demo::plan(PLAN, &text))?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// The faults of a segment, in one direction if that is known.
    fn faults(&self, segment: &str, towards: Option<&str>) -> Vec<&str> {
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
        scenario.faults.iter().filter(is_there).map(|fault| fault.id.as_str()).collect()
    }

    /// The people who run the network have to act; the lab does it for them.
    fn by_people(
        &self,
        live: Live<'_>,
        place: &Place,
        faults: &[&str],
        ranked: &Ranked,
    ) -> anyhow::Result<Option<Mended>> {
        let ended = faults.iter().filter(|fault| live.mend(fault));
        let ended: Vec<String> = ended.map(|fault| (*fault).to_owned()).collect();
        if ended.is_empty() {
            return Ok(None);
        }
        let place = place.to_string();
        self.teller.say(&show::demo::for_people(&place, ranked))?;
        Ok(Some(Mended::Network { place, remedy: ranked.remedy.clone(), faults: ended }))
    }

    /// What linerate says inside a host.
    fn inside(&self, live: Live<'_>, host: &str, arguments: &[String]) -> anyhow::Result<String> {
        let mut command = self.command(live, host, arguments)?;
        let output = command.output().with_context(|| cannot(host))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let complaint = Complaint::new(Exit::Local, format!("`linerate {}` fails on {host}", arguments.join(" ")));
            return Err(anyhow::anyhow!(said).context(complaint));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, live: Live<'_>, host: &str, arguments: &[String]) -> anyhow::Result<std::process::Command> {
        let host = live.network.host(host).with_context(|| format!("the lab has no host {host}"))?;
        let mut command = host.command(self.setting.program);
        command.args(arguments).arg("--quiet").arg("--archive").arg(self.teller.archive());
        command.stdin(Stdio::null());
        Ok(command)
    }
}

/// A round trip as a person would type it: whole milliseconds where there are some.
fn shown_rtt(rtt: std::time::Duration) -> String {
    let whole = std::time::Duration::from_millis(u64::try_from(rtt.as_millis()).unwrap_or(u64::MAX));
    shown(if whole.is_zero() { rtt } else { whole }).replace(' ', "")
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn cannot(host: &str) -> Complaint {
    Complaint::new(Exit::Local, format!("this program cannot be run on {host}"))
}

const PLAN: &str = "plan.toml";
