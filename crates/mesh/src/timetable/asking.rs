//! Which of the two agents of a test asks.

use std::collections::BTreeSet;

use plan::task::Task;

/// The host whose agent asks: the one that the test is from, else the other where that may.
pub(super) fn asking(task: &Task, [from, to]: [&str; 2], agents: &BTreeSet<String>) -> Option<String> {
    let has_agent = |host: &&str| agents.contains(*host);
    let other = Some(to).filter(|_| task.either_end_may_ask());
    Some(from).filter(has_agent).or(other.filter(has_agent)).map(str::to_owned)
}
