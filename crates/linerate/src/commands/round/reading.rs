//! Plans and rounds, from files and the archive.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use archive::rounds::RoundError;
use model::round::Round;
use plan::psconfig::Remark;
use plan::{Plan, PlanError};

use crate::cli::Common;
use crate::commands::archive as kept;
use crate::exit::{Complaint, Exit};

/// A plan, and what the file says that no plan can.
pub struct Planned {
    pub plan: Plan,
    pub remarks: Vec<Remark>,
    pub form: Form,
}

/// How a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Toml,
    PsConfig,
}

/// Reads a plan to use, and tells what of its file no plan can say.
pub fn plan(common: &Common, path: &Path) -> anyhow::Result<Plan> {
    let Planned { plan, remarks, .. } = planned(path)?;
    tell(common, &remarks);
    Ok(plan)
}

/// Reads a plan of either form: a psConfig template is JSON, and begins as such.
pub fn planned(path: &Path) -> anyhow::Result<Planned> {
    let shown = path.display().to_string();
    let text = text(path, LARGEST_PLAN)?;
    if text.trim_start().starts_with('{') {
        let read = Plan::from_psconfig(&shown, text.as_bytes());
        let complaint = || Complaint::new(Exit::Usage, "this psConfig template cannot be used");
        let imported = read.with_context(complaint)?;
        return Ok(Planned { plan: imported.plan, remarks: imported.remarks, form: Form::PsConfig });
    }
    let plan = Plan::parse(&shown, &text).map_err(refused)?;
    Ok(Planned { plan, remarks: Vec::new(), form: Form::Toml })
}

fn refused(error: PlanError) -> anyhow::Error {
    let complaint = Complaint::new(Exit::Usage, "this plan cannot be used");
    let complaint = error.hints().into_iter().fold(complaint, Complaint::hint);
    anyhow::Error::new(error).context(complaint)
}

/// Tells what became of what a plan or a template cannot say.
pub fn tell(common: &Common, remarks: &[Remark]) {
    for remark in remarks.iter().filter(|_| !common.quiet) {
        eprintln!("warning: {remark}");
    }
}

/// What somebody named.
pub enum Named {
    Round(Box<Round>),
    /// What is no round; a plan, more likely than not.
    Other,
}

/// Reads a round: from a file, or from the archive by its name.
pub fn round(common: &Common, name: &Path) -> anyhow::Result<Round> {
    if name.is_file() { of_file(name) } else { of_archive(common, name) }
}

/// Finds out what somebody named: plans are files, and so are some rounds.
pub fn named(common: &Common, name: &Path) -> anyhow::Result<Named> {
    if !name.is_file() {
        let looks_like_a_file = name.components().count() > 1 || name.extension().is_some();
        return if looks_like_a_file {
            Ok(Named::Other)
        } else {
            Ok(Named::Round(Box::new(of_archive(common, name)?)))
        };
    }
    // A round says so in its first words; a template of psConfig has other ones.
    let mut start = [0; 64];
    let count = File::open(name).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    if start[..count].starts_with(b"{\"format\":") {
        Ok(Named::Round(Box::new(of_file(name)?)))
    } else {
        Ok(Named::Other)
    }
}

fn of_archive(common: &Common, name: &Path) -> anyhow::Result<Round> {
    let archive = kept::open_for_name(common, || nowhere(name))?;
    let id = archive.resolve_round(&name.to_string_lossy()).map_err(complain(name))?;
    archive.round(&id).map_err(complain(name))
}

fn nowhere(name: &Path) -> Complaint {
    Complaint::new(Exit::NotFound, format!("there is no file and no round `{}`", name.display()))
        .hint("`linerate round list` shows the rounds that are kept")
}

fn complain(name: &Path) -> impl Fn(RoundError) -> anyhow::Error + '_ {
    move |error| {
        let complaint = match &error {
            RoundError::Empty { .. } => {
                Complaint::new(Exit::NotFound, "no round").hint("`linerate round PLAN` makes one")
            }
            RoundError::Unknown { .. } | RoundError::Ambiguous { .. } => nowhere(name),
            _ => Complaint::new(Exit::Local, "the round cannot be read from the archive"),
        };
        anyhow::Error::from(error).context(complaint)
    }
}

fn of_file(path: &Path) -> anyhow::Result<Round> {
    let shown = path.display();
    let text = text(path, LARGEST_ROUND)?;
    let round = Round::from_json(text.as_bytes())
        .with_context(|| Complaint::new(Exit::NotFound, format!("{shown} is no round")).hint(ROUND_HINT))?;
    if round.format > Round::FORMAT {
        return Err(Complaint::new(Exit::NotFound, format!("{shown} was written by a newer linerate")).into());
    }
    Ok(round)
}

pub fn text(path: &Path, limit: u64) -> anyhow::Result<String> {
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", path.display()));
    let mut text = String::new();
    let file = File::open(path).with_context(unreadable)?;
    file.take(limit + 1).read_to_string(&mut text).with_context(unreadable)?;
    if text.len() as u64 > limit {
        let what = format!("{} has more than {limit} bytes", path.display());
        return Err(Complaint::new(Exit::NotFound, what).into());
    }
    Ok(text)
}

const ROUND_HINT: &str = "a round is one JSON document: docs/formats/round.schema.json";
/// The readers of plans and templates have limits of their own, which are lower.
const LARGEST_PLAN: u64 = 32 << 20;
/// A hundred hosts, each testing each, with snapshots, are below this.
const LARGEST_ROUND: u64 = 1 << 30;
