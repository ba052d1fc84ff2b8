//! `linerate runs compare`, and sets of runs that repeated one test.

use archive::{Archive, Filter};
use model::run::Run;

use super::runs::resolve;

/// The run that `text` names, with all others of its batch, the oldest first.
pub fn batch(archive: &Archive, text: &str) -> anyhow::Result<Vec<Run>> {
    let named = archive.run(&resolve(archive, text)?)?;
    let Some(first) = named.batch else { return Ok(vec![named]) };
    let since = archive.run(&first).map_or(named.started, |first| first.started);
    let filter = Filter { since: Some(since), peer: Some(named.peer.target.clone()), ..Filter::default() };
    let mut runs = Vec::new();
    for summary in archive.list(&filter)? {
        let run = archive.run(&summary.id)?;
        if run.batch == Some(first) {
            runs.push(run);
        }
    }
    runs.sort_by_key(|run| run.id);
    Ok(runs)
}
