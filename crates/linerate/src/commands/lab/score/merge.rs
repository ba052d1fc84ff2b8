//! `linerate lab merge`: scores of several machines as one.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context;
use diagnose::score::{Score, score};

use crate::cli::Common;
use crate::cli::score::MergeArgs;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

/// Judges the plays of all parts together; one that stands in two parts counts once.
pub fn run(common: &Common, args: &MergeArgs) -> anyhow::Result<Exit> {
    let (mut plays, mut missing, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in &args.parts {
        let part = read(path)?;
        plays.extend(part.plays.into_iter().filter(|play| known.insert((play.scenario.clone(), play.seed))));
        missing.extend(part.missing);
    }
    plays.sort_by(|one, other| (one.seed, &one.scenario).cmp(&(other.seed, &other.scenario)));
    let whole = score(plays, missing);
    if common.json {
        return print(&show::json::document(&whole)?);
    }
    print(show::score::text(&whole).as_bytes())
}

fn read(path: &Path) -> anyhow::Result<Score> {
    let unreadable = || {
        Complaint::new(Exit::NotFound, format!("{} is no score", path.display()))
            .hint("`linerate lab score --virtual --seeds A..B --json` writes one")
    };
    let file = File::open(path).with_context(unreadable)?;
    if file.metadata().with_context(unreadable)?.len() > LARGEST {
        return Err(Complaint::new(Exit::NotFound, format!("{} is larger than any score", path.display())).into());
    }
    let part: Score = serde_json::from_reader(BufReader::new(file)).with_context(unreadable)?;
    if part.format > Score::FORMAT {
        return Err(Complaint::new(Exit::NotFound, format!("{} is of a newer linerate", path.display())).into());
    }
    Ok(part)
}

/// A million incidents take about 1 kB each.
const LARGEST: u64 = 4 << 30;
