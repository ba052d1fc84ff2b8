//! One network: measured, diagnosed, mended, measured again.

use std::path::PathBuf;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, diagnose};
use diagnose::proof::{Chapter, Mended, Proof, fewest, slow_tests};
use lab::play::{Order, Rounds, Setting, Voice, rounds};
use lab::relay::Limited;
use lab::scenario::{Scenario, Test};
use measure::stop::Stop;
use model::round::Round;
use path::Seed;

use super::mend::Mender;
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
        let limits = report.limited.as_ref().map(Limited::worst).unwrap_or_default();
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
        self.say(&show::demo::heading("The round"))?;
        let mut before = self.round(rounds, &scenario.tests, order)?;
        if self.stop.is_stopped() {
            return Ok(None);
        }
        if order == Order::SideBySide {
            self.say(&show::demo::grid(&before))?;
        }
        let catalogue = Catalogue::built_in();
        let diagnosis = diagnose(&before, catalogue, &Rules::built_in());
        self.say(&show::demo::heading("The diagnosis"))?;
        self.say(&show::why::text(&before, &diagnosis, catalogue))?;
        let again = Again::of(&before, &scenario.tests, order);
        if diagnosis.is_healthy() || again.tests.is_empty() {
            return Ok(Some(Lived { diagnosis, mended: Vec::new(), proof: None }));
        }
        if !again.more.is_empty() {
            self.say(&show::demo::heading("The same tests again, before anything is changed"))?;
            let more = self.round(rounds, &again.more, Order::InTurn)?;
            before.tests.extend(more.tests);
        }
        self.say(&show::demo::heading("What mends it"))?;
        let mender = Mender { teller: self, setting, round: &before, diagnosis: &diagnosis };
        let mended = mender.mend(rounds.live())?;
        if self.stop.is_stopped() || mended.is_empty() {
            return Ok((!self.stop.is_stopped()).then_some(Lived { diagnosis, mended, proof: None }));
        }
        self.say(&show::demo::heading("The same tests, after it"))?;
        // Whatever crawled and left room for others is fast now: one at a time, so that the machine is no limit.
        let after = self.round(rounds, &again.tests, Order::InTurn)?;
        if self.stop.is_stopped() {
            return Ok(None);
        }
        if order == Order::SideBySide {
            self.say(&show::demo::grid(&after))?;
        }
        let proof = Proof::of(&before, &after, CONFIDENCE);
        self.say(&show::demo::heading("Before and after"))?;
        self.say(&show::proof::text(&proof))?;
        Ok(Some(Lived { diagnosis, mended, proof: Some(proof) }))
    }

    fn round(&self, rounds: &mut Rounds<'_>, tests: &[Test], order: Order) -> anyhow::Result<Round> {
        let ran = rounds.run(new_id(linux::clock::wall_now())?, tests, order).map_err(complain)?;
        let mut round = ran.round;
        add_samples(&mut round, Some(&kept::open(&self.own_common())?));
        Ok(round)
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

/// What is tested again once something was changed.
struct Again {
    /// So often after it.
    tests: Vec<Test>,
    /// As often before it, besides the round.
    more: Vec<Test>,
}

impl Again {
    /// A grid is filled again whole. Of single tests those that are slow are repeated until a rank test can tell.
    fn of(before: &Round, tests: &[Test], order: Order) -> Self {
        if order == Order::SideBySide {
            return Self { tests: tests.to_vec(), more: Vec::new() };
        }
        let slow: Vec<Test> = slow_tests(before)
            .into_iter()
            .filter_map(|number| tests.get(number))
            .map(|test| Test { start: None, ..test.clone() })
            .collect();
        let times = fewest(CONFIDENCE).map_or(0, |fewest| fewest as usize).div_ceil(slow.len().max(1));
        let repeated = |times: usize| std::iter::repeat_n(&slow, times).flatten().cloned().collect();
        Self { tests: repeated(times), more: repeated(times.saturating_sub(1)) }
    }
}

/// How sure it has to be that something is mended.
const CONFIDENCE: f64 = 0.95;
