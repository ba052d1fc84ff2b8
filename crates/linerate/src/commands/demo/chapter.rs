//! One network: measured, diagnosed, fixed, measured again.

use std::collections::BTreeSet;
use std::path::PathBuf;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, Weighing, conclude, weigh};
use diagnose::proof::{AppliedFix, Chapter, Proof};
use diagnose::signs::flow::Complaint;
use lab::play::{Fit, Order, Rounds, Setting, Voice, rounds};
use lab::scenario::{Scenario, Test};
use measure::stop::Stop;
use model::quality::disturbance::POOR;
use model::quality::{Disturbance, Quality};
use model::round::Round;
use path::Seed;

use super::fix::{Fixer, Remedy};
use super::retest::{CONFIDENCE, Retest};
use super::stories;
use crate::cli::Common;
use crate::commands::attempt::new_id;
use crate::commands::lab::play::{Screen, add_samples, complain};
use crate::commands::scratch::ScratchDirectory;
use crate::commands::{archive as kept, print_as_it_is};
use crate::show;
use crate::show::demo::{PlayClock, PlayedChapter};
use crate::show::live::overlay::Live;
use crate::show::progress::Talk;

/// A demonstration: what it was asked for, and where it keeps its runs.
pub struct Demo<'a> {
    pub common: &'a Common,
    pub seed: u64,
    pub program: PathBuf,
    /// How it is played on this machine.
    pub clock: PlayClock,
    /// Where its runs are kept while it runs.
    pub scratch: &'a ScratchDirectory,
    pub stop: Stop,
}

/// How a live play ended.
enum LiveEnd {
    /// Somebody wanted to stop.
    Stopped,
    /// This machine disturbed so many tests that they say nothing of the network: in words.
    Disturbed(Vec<String>),
    /// It was measured and judged.
    Judged(Box<ChapterOutcome>),
}

/// What came of the network of a chapter.
struct ChapterOutcome {
    diagnosis: Diagnosis,
    fixes: Vec<AppliedFix>,
    proof: Option<Proof>,
    /// Which tests this machine disturbed.
    disturbed: Disturbed,
}

impl Demo<'_> {
    /// Plays a chapter; [`None`] where it was stopped. Where a live play gives no evidence, it is played in virtual time.
    pub fn play_chapter(&self, scenario: Scenario) -> anyhow::Result<Option<PlayedChapter>> {
        let PlayClock::Live(fit) = self.clock else { return self.play_chapter_in_virtual_time(scenario).map(Some) };
        self.say(&show::demo::introduction(&scenario))?;
        let outcome = match self.play_chapter_live(scenario.clone(), fit)? {
            LiveEnd::Stopped => return Ok(None),
            LiveEnd::Disturbed(limits) => {
                self.say(&show::demo::limits(&limits))?;
                return self.play_chapter_in_virtual_time(scenario).map(Some);
            }
            LiveEnd::Judged(outcome) => outcome,
        };
        let ChapterOutcome { diagnosis, fixes, proof, disturbed } = *outcome;
        self.say(&show::demo::disturbed(&disturbed.tests))?;
        let chapter = Chapter {
            format: Chapter::FORMAT,
            scenario: scenario.name.clone(),
            title: scenario.title.clone(),
            diagnosis,
            fixes,
            proof,
            limited_by_emulation: Vec::new(),
        };
        // A busy machine can show a fault that is plain, and cannot show that there is none.
        let is_plain = chapter.is_fixed() && !chapter.diagnosis.is_healthy();
        if is_plain || fit == Fit::default() {
            return Ok(Some(PlayedChapter { chapter, clock: PlayClock::Live(fit.of(&scenario)) }));
        }
        self.say(&show::demo::not_proven_live())?;
        self.play_chapter_in_virtual_time(scenario).map(Some)
    }

    fn play_chapter_live(&self, mut scenario: Scenario, fit: Fit) -> anyhow::Result<LiveEnd> {
        let order = stories::mesh(&mut scenario);
        let archive = self.archive();
        let setting = Setting {
            scenario: &scenario,
            seed: Seed(self.seed),
            program: &self.program,
            archive: Some(&archive),
            id: new_id(linux::clock::wall_now())?,
            facts: true,
            voice: Voice::Silent,
            fit: fit.of(&scenario),
            stop: &self.stop,
        };
        let common = self.own_common();
        let runs = kept::open(&common)?;
        let mut screen = Screen { common: self.common, archive: Some(&runs), examiner: None };
        let mut live = Live::new(&scenario, if self.common.quiet { Talk::Nothing } else { Talk::Progress });
        let outcome = if order == Order::SideBySide {
            rounds(&setting, &mut live, |rounds| self.live(&setting, order, rounds))
        } else {
            rounds(&setting, &mut screen, |rounds| self.live(&setting, order, rounds))
        };
        let (outcome, _, _) = outcome.map_err(complain)?;
        outcome
    }

    fn live(&self, setting: &Setting<'_>, order: Order, rounds: &mut Rounds<'_>) -> anyhow::Result<LiveEnd> {
        let scenario = setting.scenario;
        let Some(round) = self.round(rounds, "The round", &scenario.tests, order)? else {
            return Ok(LiveEnd::Stopped);
        };
        let mut disturbed = Disturbed::default();
        disturbed.add(&round);
        let limits = disturbed.limits();
        if !limits.is_empty() {
            return Ok(LiveEnd::Disturbed(limits));
        }
        let weighing = weigh(&round, Catalogue::built_in(), &Rules::built_in());
        let diagnosis = conclude(&round, weighing.clone());
        self.say(&show::demo::heading("The diagnosis"))?;
        self.say(&show::why::text(&round, &diagnosis, Catalogue::built_in()))?;
        let fixer = Fixer { demo: self, setting, round: &round, flows: &weighing.flows, live: rounds.live() };
        let remedies = fixer.remedies(&weighing.standings)?;
        if remedies.is_empty() {
            self.say(if diagnosis.is_healthy() { "" } else { show::demo::NO_FIX })?;
            let outcome = ChapterOutcome { diagnosis, fixes: Vec::new(), proof: None, disturbed };
            return Ok(LiveEnd::Judged(Box::new(outcome)));
        }
        let again = Retest::of(scenario, &suffering(&weighing, &remedies), order, setting.fit);
        let title = "Baseline: the same tests before any change";
        let before = match &again.in_round {
            Some(numbers) => Some(only(&round, numbers)),
            None => self.round(rounds, title, &again.tests, Order::InTurn)?,
        };
        let Some(before) = before else { return Ok(LiveEnd::Stopped) };
        self.say(&show::demo::heading("The fix"))?;
        let fixed = fixer.fix(remedies)?;
        // Flows that crawled left room for others, and are fast now: one at a time, so that the CPU is no limit.
        let tests = again.from(rounds.live().age());
        let Some(after) = self.round(rounds, "The same tests after the fix", &tests, Order::InTurn)? else {
            return Ok(LiveEnd::Stopped);
        };
        disturbed.add(&after);
        let limits = disturbed.limits();
        if !limits.is_empty() {
            return Ok(LiveEnd::Disturbed(limits));
        }
        let proof = Proof::of(&before, &after, CONFIDENCE);
        self.say(&show::demo::heading("Before and after"))?;
        self.say(&show::proof::text(&proof))?;
        let outcome = ChapterOutcome { diagnosis, fixes: fixed, proof: Some(proof), disturbed };
        Ok(LiveEnd::Judged(Box::new(outcome)))
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
        self.scratch.file("archive.db")
    }

    /// The options with an archive that goes with the demonstration.
    fn own_common(&self) -> Common {
        Common { archive: Some(self.archive()), json: self.common.json, quiet: self.common.quiet }
    }

    pub fn say(&self, text: &str) -> anyhow::Result<()> {
        if !self.common.json {
            print_as_it_is(text.as_bytes())?;
        }
        Ok(())
    }
}

/// Which of the tests that count this machine disturbed.
#[derive(Default)]
struct Disturbed {
    counted: usize,
    tests: Vec<(String, Disturbance)>,
}

impl Disturbed {
    fn add(&mut self, round: &Round) {
        self.counted += round.tests.len();
        for tested in &round.tests {
            let mut worst = Quality::of(tested).disturbances.into_iter();
            // A host that waits for its CPU is slow before a change as after it. An emulator that comes late is no network.
            let worst = worst.find(|worst| worst.is_the_emulators() && worst.severity >= POOR);
            self.tests.extend(worst.map(|worst| (tested.label.clone(), worst)));
        }
    }

    /// Where so many were that nothing of this is evidence: in words.
    fn limits(&self) -> Vec<String> {
        if self.tests.len() * MOST_DISTURBED <= self.counted {
            return Vec::new();
        }
        let said = self.tests.iter().take(SAID).map(|(label, worst)| format!("{label}: {worst}"));
        let counted = format!("this machine disturbed {} of {} tests", self.tests.len(), self.counted);
        std::iter::once(counted).chain(said).collect()
    }
}

/// One test of so many may be disturbed: a diagnosis weighs those less, and a rank test does not mind them.
const MOST_DISTURBED: usize = 3;
const SAID: usize = 3;

/// The tests, by their places in the round, whose slowness the problems explain that can be fixed. What is lost without a
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
