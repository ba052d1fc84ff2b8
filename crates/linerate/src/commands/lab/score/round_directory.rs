//! Rounds that are kept: so that a score of an hour can be taken up where it stopped, and a better diagnosis be scored
//! without playing again.
//!
//! A play is two files: the round as `linerate why` reads it, and a small one with what is known of the play besides.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use model::round::Round;
use serde::{Deserialize, Serialize};

use super::cases::Case;
use crate::commands::file;
use crate::exit::{Complaint, Exit};
use crate::show::json;

/// A directory with rounds.
pub struct RoundDirectory {
    folder: PathBuf,
    is_for_new: bool,
    budget: Option<Duration>,
}

/// A round, and what is known of its play.
pub struct Kept {
    pub round: Round,
    pub about: About,
}

/// What a round itself does not say.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct About {
    /// The text of the scenario's file when it was played.
    pub scenario_text: String,
    /// For how long was tested on after the tests of the scenario.
    #[serde(rename = "budget_us", default, with = "units::duration::as_us::option")]
    pub budget: Option<Duration>,
    /// In which ways the emulation was the limit.
    pub limited_by_emulation: Vec<String>,
}

impl RoundDirectory {
    /// A directory that rounds are put into, and taken from.
    pub fn open(folder: &Path, budget: Option<Duration>) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| Complaint::new(Exit::Local, format!("cannot make {}", folder.display())))?;
        Ok(Self { folder: folder.to_owned(), is_for_new: true, budget })
    }

    /// A directory that rounds are only taken from.
    pub fn read_only(folder: &Path) -> anyhow::Result<Self> {
        let found = fs::read_dir(folder);
        found.with_context(|| Complaint::new(Exit::NotFound, format!("cannot read {}", folder.display())))?;
        Ok(Self { folder: folder.to_owned(), is_for_new: false, budget: None })
    }

    /// The round of a play, where there is one. One of another text is played anew where it can be.
    pub fn take(&self, case: &Case, seed: u64) -> anyhow::Result<Option<Kept>> {
        let Some(round) = read::<Round>(&self.file(case, seed, ROUND))? else { return Ok(None) };
        let about: Option<About> = read(&self.file(case, seed, ABOUT))?;
        let is_this = |about: &About| about.scenario_text == case.text && about.budget == self.budget;
        let is_old = !about.as_ref().is_some_and(is_this);
        if is_old && self.is_for_new {
            return Ok(None);
        }
        Ok(Some(Kept { round, about: about.unwrap_or_default() }))
    }

    /// Keeps a play. The small file comes last: without it the other one does not count.
    pub fn put(&self, case: &Case, seed: u64, kept: &Kept) -> anyhow::Result<()> {
        file::write(&self.file(case, seed, ROUND), &json::document(&kept.round)?)?;
        file::write(&self.file(case, seed, ABOUT), &json::document(&kept.about)?)
    }

    fn file(&self, case: &Case, seed: u64, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.seed{seed}.{ending}", case.name))
    }
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> anyhow::Result<Option<T>> {
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", path.display()));
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.with_context(unreadable)?,
    };
    if file.metadata().with_context(unreadable)?.len() > LARGEST_FILE {
        return Err(Complaint::new(Exit::NotFound, format!("{} is larger than any round", path.display())).into());
    }
    let mut json = Vec::new();
    file.take(LARGEST_FILE).read_to_end(&mut json).with_context(unreadable)?;
    serde_json::from_slice(&json).map(Some).with_context(|| {
        Complaint::new(Exit::NotFound, format!("{} is no round", path.display())).hint("remove it to have it played")
    })
}

const ROUND: &str = "evidence.json";
const ABOUT: &str = "play.json";
/// A round of a hundred hosts with all their facts and samples is below this.
const LARGEST_FILE: u64 = 1 << 30;
