//! One network: measured, diagnosed, mended, measured again.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, Weighing, told, weigh};
use diagnose::proof::{Chapter, Mended, Proof};
use diagnose::signs::flow::Complaint;
use lab::play::{Order, Rounds, Setting, Voice, rounds};
use lab::relay::{Limit, Limited};
use lab::scenario::{Scenario, Test};
use measure::stop::Stop;
use model::round::Round;
use path::Seed;

use super::again::{Again, CONFIDENCE};
use super::mend::{Mender, Remedy};
use super::stories;
use crate::cli::Common;
use crate::commands::attempt::new_id;
use crate::commands::desk::Desk;
use crate::commands::lab::play::{Screen, add_samples, complain};
use crate::commands::{archive as kept, print};
use crate::show;
use crate::show::live::overlay::Live;
use crate::show::progress::Talk;

/// Who tells a story.
pub struct Teller<'a> {
    pub common: &'a Common,
    pub seed: u64,
    pub program: PathBuf,
    /// Where its runs are kept while it is told.
    pub desk: &'a Desk,
    pub stop: Stop,
}

/// What came of the network of a chapter.
struct Lived {
    diagnosis: Diagnosis,
    mended: Vec<Mended>,
    proof: Option<Proof>,
}

impl Teller<'_> {
    /// Tells a chapter; [`None`] where it was stopped.
    pub fn tell(&self, mut scenario: Scenario) -> anyhow::Result<Option<Chapter>> {
        let order = stories::mesh(&mut scenario);
        self.say(&show::demo::introduction(&scenario))?;
        let archive = self.archive();
        let setting = Setting {
            scenario: &scenario,
            seed: Seed(self.seed),
            program: &self.program,
            archive: Some(&archive),
            id: new_id(linux::clock::wall_now())?,
            facts: true,
            voice: Voice::Silent,
            stop: &self.stop,
        };
        let common = self.own_common();
        let runs = kept::open(&common)?;
        let mut screen = Screen { common: self.common, archive: Some(&runs), examiner: None };
        let mut live = Live::new(&scenario, if self.common.quiet { Talk::Nothing } else { Talk::Progress });
        let lived = if order == Order::SideBySide {
            rounds(&setting, &mut live, |rounds| self.live(&setting, order, rounds))
        } else {
            rounds(&setting, &mut screen, |rounds| self.live(&setting, order, rounds))
        };
        let (lived, report, _) = lived.map_err(complain)?;
        let Some(Lived { diagnosis, mended, proof }) = lived? else { return Ok(None) };
        let (slight, limits) = limits(report.limited);
        self.say(&show::demo::late(&slight))?;
        self.say(&show::demo::limits(&limits))?;
        Ok(Some(Chapter {
            format: Chapter::FORMAT,
            scenario: scenario.name.clone(),
            title: scenario.title.clone(),
            diagnosis,
            mended,
            proof,
            limited_by_emulation: limits,
        }))
    }

    fn live(&self, setting: &Setting<'_>, order: Order, rounds: &mut Rounds<'_>) -> anyhow::Result<Option<Lived>> {
        let scenario = setting.scenario;
        let Some(round) = self.round(rounds, "The round", &scenario.tests, order)? else { return Ok(None) };
        let weighing = weigh(&round, Catalogue::built_in(), &Rules::built_in());
        let diagnosis = told(&round, weighing.clone());
        self.say(&show::demo::heading("The diagnosis"))?;
        self.say(&show::why::text(&round, &diagnosis, Catalogue::built_in()))?;
        let mender = Mender { teller: self, setting, round: &round, flows: &weighing.flows, live: rounds.live() };
        let remedies = mender.remedies(&weighing.standings)?;
        if remedies.is_empty() {
            self.say(if diagnosis.is_healthy() { "" } else { show::demo::NOTHING_TO_MEND })?;
            return Ok(Some(Lived { diagnosis, mended: Vec::new(), proof: None }));
        }
        let again = Again::of(scenario, &suffering(&weighing, &remedies), order);
        let title = "The same tests again, before anything is changed";
        let before = match &again.in_round {
            Some(numbers) => Some(only(&round, numbers)),
            None => self.round(rounds, title, &again.tests, Order::InTurn)?,
        };
        let Some(before) = before else { return Ok(None) };
        self.say(&show::demo::heading("What mends it"))?;
        let mended = mender.mend(remedies)?;
        // Whatever crawled and left room for others is fast now: one at a time, so that the machine is no limit.
        let tests = again.from(linux::clock::now().since(rounds.live().start));
        let Some(after) = self.round(rounds, "The same tests, after it", &tests, Order::InTurn)? else {
            return Ok(None);
        };
        let proof = Proof::of(&before, &after, CONFIDENCE);
        self.say(&show::demo::heading("Before and after"))?;
        self.say(&show::proof::text(&proof))?;
        Ok(Some(Lived { diagnosis, mended, proof: Some(proof) }))
    }

    /// Runs tests under a heading; [`None`] where it was stopped.
    fn round(
        &self,
        rounds: &mut Rounds<'_>,
        title: &str,
        tests: &[Test],
        order: Order,
    ) -> anyhow::Result<Option<Round>> {
        self.say(&show::demo::heading(title))?;
        let ran = rounds.run(new_id(linux::clock::wall_now())?, tests, order).map_err(complain)?;
        if self.stop.is_stopped() {
            return Ok(None);
        }
        let mut round = ran.round;
        add_samples(&mut round, Some(&kept::open(&self.own_common())?));
        self.say(&show::demo::grid(&round))?;
        Ok(Some(round))
    }

    /// The archive of its runs.
    pub fn archive(&self) -> PathBuf {
        self.desk.file("archive.db")
    }

    /// The options with an archive that goes with the demonstration.
    fn own_common(&self) -> Common {
        Common { archive: Some(self.archive()), json: self.common.json, quiet: self.common.quiet }
    }

    pub fn say(&self, text: &str) -> anyhow::Result<()> {
        if !self.common.json {
            print(text.as_bytes())?;
        }
        Ok(())
    }
}

/// What the emulation was the limit of, in words: by so little that a comparison of before and after stands, and by more.
fn limits(limited: Option<Limited>) -> (Vec<String>, Vec<String>) {
    let because = limited.map(|limited| limited.because).unwrap_or_default();
    let is_slight = |limit: &Limit| match limit {
        Limit::Late { p99, .. } => *p99 <= SLIGHTLY_LATE,
        // What a busy second costs are late packets and lost ones, and both are counted.
        Limit::Busy { .. } => true,
        _ => false,
    };
    let (slight, grave) = because.into_iter().partition(is_slight);
    (Limited { because: slight }.worst(), Limited { because: grave }.worst())
}

/// A packet in a hundred that is late by less than this takes a few per cent from a rate at most, before a change as after it. What
/// is compared differs by far more.
const SLIGHTLY_LATE: Duration = Duration::from_millis(5);

/// The tests, by their places in the round, whose slowness the problems explain that can be mended. What is lost without a
/// rate has no before and after.
fn suffering(weighing: &Weighing<'_>, remedies: &[Remedy]) -> BTreeSet<usize> {
    let standings = remedies.iter().filter_map(|remedy| weighing.standings.get(remedy.problem));
    let flows = standings.flat_map(|standing| &standing.suffering).filter_map(|flow| weighing.flows.get(*flow));
    flows.filter(|flow| flow.complaint == Some(Complaint::Slow)).map(|flow| flow.test).collect()
}

/// A round as if nothing but these tests had been run.
fn only(round: &Round, numbers: &BTreeSet<usize>) -> Round {
    let tests = round.tests.iter().enumerate().filter(|(number, _)| numbers.contains(number));
    Round { tests: tests.map(|(_, test)| test.clone()).collect(), ..round.clone() }
}
