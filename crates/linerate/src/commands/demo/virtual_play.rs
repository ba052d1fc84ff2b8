//! A chapter in virtual time, for a machine that has no CPU time for a live one: the simulator plays the same scenario,
//! over the same path elements, and the diagnosis reads what comes of it.

use std::collections::BTreeSet;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{FaultLocation, Ranked, conclude, weigh};
use diagnose::proof::{AppliedFix, Chapter, Proof};
use lab::scenario::{Fault, FaultKind, Scenario};
use model::round::Round;
use path::Seed;

use super::chapter::Demo;
use super::retest::CONFIDENCE;
use super::stories;
use crate::commands::attempt::new_id;
use crate::show;
use crate::show::demo::{PlayClock, PlayedChapter};

impl Demo<'_> {
    /// Tells a chapter in virtual time.
    pub fn play_chapter_in_virtual_time(&self, mut scenario: Scenario) -> anyhow::Result<PlayedChapter> {
        stories::mesh(&mut scenario);
        self.say(&show::demo::introduction_to_virtual_time(&scenario))?;
        self.say(&show::demo::heading("The round, in virtual time"))?;
        let round = self.play_in_virtual_time(&scenario)?;
        self.say(&show::demo::grid(&round))?;
        let weighing = weigh(&round, Catalogue::built_in(), &Rules::built_in());
        let diagnosis = conclude(&round, weighing.clone());
        self.say(&show::demo::heading("The diagnosis"))?;
        self.say(&show::why::text(&round, &diagnosis, Catalogue::built_in()))?;
        let first = weighing.standings.first().and_then(|standing| standing.problem.ranking.first());
        let place = first.and_then(|ranked| Some(ranked.places.first()?.place.clone()));
        let ended = place.as_ref().map_or_else(BTreeSet::new, |place| faults_at(&scenario, place));
        let (mut fixes, mut proof) = (Vec::new(), None);
        if let (Some(ranked), Some(place), false) = (first, place, ended.is_empty()) {
            let mut fixed = scenario.clone();
            fixed.faults.retain(|fault| !ended.contains(&fault.id));
            self.say(&show::demo::heading("The fix"))?;
            self.say(&show::demo::fix_in_virtual_time(&place.to_string(), ranked, &ended))?;
            let after = self.play_in_virtual_time(&fixed)?;
            let proven = Proof::of(&round, &after, CONFIDENCE);
            self.say(&show::demo::heading("Before and after"))?;
            self.say(&show::proof::text(&proven))?;
            fixes.push(as_fixed(&place, ranked, ended));
            proof = Some(proven);
        } else if !diagnosis.is_healthy() {
            self.say(show::demo::NO_FIX)?;
        }
        let chapter = Chapter {
            format: Chapter::FORMAT,
            scenario: scenario.name.clone(),
            title: scenario.title.clone(),
            diagnosis,
            fixes,
            proof,
            limited_by_emulation: Vec::new(),
        };
        Ok(PlayedChapter { chapter, clock: PlayClock::Virtual })
    }

    fn play_in_virtual_time(&self, scenario: &Scenario) -> anyhow::Result<Round> {
        let started = linux::clock::wall_now();
        let setting = twin::play::Setting { seed: Seed(self.seed), id: new_id(started)?, started };
        Ok(twin::play::play_as(scenario, &setting).round)
    }
}

/// The fix as a document has it: what would be done on the host of a live network, or by the operators of a segment.
fn as_fixed(place: &FaultLocation, ranked: &Ranked, ended: BTreeSet<String>) -> AppliedFix {
    let faults: Vec<String> = ended.into_iter().collect();
    match (place, ranked.fix.first()) {
        (FaultLocation::Host { name }, Some(rule)) => AppliedFix::Host {
            host: name.clone(),
            command: format!("linerate host fix {rule}"),
            said: format!("in virtual time: the fault {} of the scenario has ended\n", faults.join(", ")),
        },
        _ => AppliedFix::Network { place: place.to_string(), remedy: ranked.remedy.clone(), faults },
    }
}

/// The faults of the scenario that lie where the diagnosis says: nothing else of the scenario is used.
fn faults_at(scenario: &Scenario, place: &FaultLocation) -> BTreeSet<String> {
    let is_host = |number: usize, name: &str| scenario.hosts.get(number).is_some_and(|host| host.name == name);
    let is_there = |fault: &&Fault| match (place, &fault.what) {
        (FaultLocation::Host { name }, FaultKind::Host { host, .. }) => is_host(*host, name),
        (FaultLocation::Host { name }, _) => fault.condition.as_ref().is_some_and(|on| is_host(on.host, name)),
        (FaultLocation::Segment { name, .. }, FaultKind::Added { link, .. } | FaultKind::Set { link, .. }) => {
            scenario.links.get(*link).is_some_and(|link| link.name == *name)
        }
        _ => false,
    };
    scenario.faults.iter().filter(is_there).map(|fault| fault.id.clone()).collect()
}
