//! Playing one scenario for its round.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use archive::Archive;
use diagnose::next::Proposal;
use lab::network::Network;
use lab::play::{Audience, Fit, Setting, Voice, play};
use lab::scenario::Test;
use measure::stop::Stop;
use model::played::Tested;
use model::round::Round;
use path::Seed;

use super::cases::Case;
use super::round_directory::{About, Kept};
use crate::commands::attempt::new_id;
use crate::commands::examine::Examiner;
use crate::commands::lab::daemon::check;
use crate::commands::lab::play::add_samples;
use crate::commands::scratch::ScratchDirectory;

/// A place for the archives of plays, which are gone when it is.
pub struct PlayDirectory {
    scratch: ScratchDirectory,
    program: PathBuf,
    budget: Option<Duration>,
}

impl PlayDirectory {
    pub fn open(budget: Option<Duration>) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program does not know where it is")?;
        Ok(Self { scratch: ScratchDirectory::new("score")?, program, budget })
    }

    /// Plays a case, once more where the emulation was the limit; says why it gives no round.
    pub fn play(&self, case: &Case, seed: u64, stop: &Stop) -> Result<Kept, String> {
        let told = |error: anyhow::Error| format!("{error:#}");
        check(&case.scenario).map_err(told)?;
        let first = self.once(case, seed, stop).map_err(told)?;
        if first.about.limited_by_emulation.is_empty() || stop.is_stopped() {
            return whole(first, stop);
        }
        whole(self.once(case, seed, stop).map_err(told)?, stop)
    }

    fn once(&self, case: &Case, seed: u64, stop: &Stop) -> anyhow::Result<Kept> {
        let folder = self.scratch.file(&format!("{}-{seed}", case.name));
        fs::create_dir_all(&folder)?;
        let kept = self.kept_at(case, seed, &folder.join("runs.db"), stop);
        fs::remove_dir_all(&folder)?;
        kept
    }

    fn kept_at(&self, case: &Case, seed: u64, place: &Path, stop: &Stop) -> anyhow::Result<Kept> {
        let archive = Archive::open(place)?;
        let setting = Setting {
            scenario: &case.scenario,
            seed: Seed(seed),
            program: &self.program,
            archive: Some(place),
            fit: Fit::default(),
            voice: Voice::Silent,
            id: new_id(linux::clock::wall_now())?,
            facts: true,
            stop,
        };
        let mut witness = Witness { archive: &archive, examiner: self.budget.map(Examiner::new) };
        let show = play(&setting, &mut witness)?;
        let mut round = show.round;
        add_samples(&mut round, Some(&archive));
        let limited_by_emulation = show.played.limited_by_emulation;
        let about = About { scenario_text: case.text.clone(), budget: self.budget, limited_by_emulation };
        Ok(Kept { round, about })
    }
}

/// A play that was stopped says nothing.
fn whole(kept: Kept, stop: &Stop) -> Result<Kept, String> {
    if stop.is_stopped() { Err("it was stopped".to_owned()) } else { Ok(kept) }
}

/// Who only wants the result, and may ask for more tests.
struct Witness<'a> {
    archive: &'a Archive,
    examiner: Option<Examiner>,
}

impl Audience for Witness<'_> {
    fn raised(&mut self, _network: &Network, _took: Duration) {}
    fn begins(&mut self, _test: &Test, _at: Duration) {}
    fn ended(&mut self, _test: &Test, _tested: &Tested) {}

    fn wants(&mut self, round: &mut Round) -> Option<Box<Proposal>> {
        let examiner = self.examiner.as_mut()?;
        add_samples(round, Some(self.archive));
        examiner.next(round)
    }
}
