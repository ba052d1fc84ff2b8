//! A hub's agents, for people.

use std::fmt::Write as _;
use std::time::Duration;

use hub::api::people::AgentList;
use units::{WallTime, duration};

/// A line for each agent.
pub fn agents(list: &AgentList, now: WallTime) -> String {
    if list.agents.is_empty() {
        return "no agent has joined; `linerate hub token DIR` makes a token for one\n".to_owned();
    }
    let widest = list.agents.iter().map(|agent| agent.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for agent in &list.agents {
        let heard = match agent.heard {
            Some(heard) => {
                let ago = Duration::from_nanos(now.unix_nanos().saturating_sub(heard.unix_nanos()));
                format!("last request {} ago", duration::show(Duration::from_secs(ago.as_secs())))
            }
            None => "no request yet".to_owned(),
        };
        let version = agent.version.as_deref().unwrap_or("?");
        let spooled = agent.health.spooled;
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{:widest$}  {heard}, version {version}, {spooled} records to deliver", agent.name);
    }
    text
}
