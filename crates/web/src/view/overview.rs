//! Lists of rounds, runs and hosts.

use model::archived::{ListedHosts, ListedRun};
use model::round::RoundSummary;
use model::run::{Outcome, RunId};
use model::spec::{Direction, Protocol};
use serde::{Deserialize, Serialize};
use units::{DataRate, PacketCount, WallTime};

use crate::query::Query;
use crate::source::activity::Activity;
use crate::source::{Source, SourceError};
use crate::view::incident::IncidentLine;
use crate::view::progress::RunningLine;

/// What there is to see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Where it comes from: an archive, a file, a folder.
    pub source: String,
    /// What was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Whether results are being read for the first time, so that rounds are not known yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reading: bool,
    /// Incidents, open ones first, then the newest; absent where nobody watches for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incidents: Option<Vec<IncidentLine>>,
    /// What a hub measures at this moment; absent where nobody carries out a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
    /// Rounds that are measured at this moment, or wait for somebody to go on with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<RunningLine>,
    /// Rounds, the newest first.
    pub rounds: Vec<RoundSummary>,
    /// Runs, the newest first.
    pub runs: Vec<RunLine>,
    /// Hosts, by name.
    pub hosts: Vec<String>,
    /// Rounds, runs and hosts that match beyond those that are listed.
    pub more: More,
}

/// What is left out of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct More {
    /// Rounds that match and are not listed.
    pub rounds: usize,
    /// Runs that match and are not listed, as far as they were looked at.
    pub runs: usize,
    /// Hosts that match and are not listed.
    pub hosts: usize,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    /// Its name in the archive.
    pub id: RunId,
    /// When it started.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// The other side.
    pub peer: String,
    /// Of a hub: who tested whom, by the names of its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<ListedHosts>,
    /// TCP or UDP.
    pub protocol: Protocol,
    /// Who sent, seen from the host that started the test.
    pub direction: Direction,
    /// Whether it worked.
    pub outcome: Outcome,
    /// Goodput of all directions together.
    #[serde(rename = "goodput_bps", default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<DataRate>,
    /// TCP segments retransmitted, in all directions together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<PacketCount>,
}

impl Overview {
    pub(crate) fn of(source: &dyn Source, query: &Query) -> Result<Self, SourceError> {
        let search = query.text("search").map(str::to_owned);
        let wanted = search.as_deref().unwrap_or_default().to_lowercase();
        let matches = |text: &str| wanted.is_empty() || text.to_lowercase().contains(&wanted);
        let limit = query.number("limit").unwrap_or(LISTED).min(MOST_LISTED);
        let mut more = More::default();
        // Pages answer while a hub with many series reads them.
        let rounds = source.rounds(MOST_SEARCHED);
        let is_reading = matches!(rounds, Err(SourceError::Reading));
        let mut rounds = if is_reading { Vec::new() } else { rounds? };
        rounds.retain(|round| matches(&round.title) || matches(&round.id.to_string()));
        // Each run that a hub lists it has to read: where nothing is searched for, no more than what is shown and as many again.
        let listed = u32::try_from(limit.saturating_mul(2)).unwrap_or(MOST_SEARCHED);
        let mut runs = source.runs(if wanted.is_empty() { listed } else { MOST_SEARCHED })?;
        let names = |run: &ListedRun| {
            let hosts = run.hosts.iter().flat_map(|hosts| [&hosts.from, &hosts.to]);
            hosts.chain([&run.peer]).any(|name| matches(name))
        };
        runs.retain(|run| names(run) || matches(&run.id.to_string()));
        let mut incidents = source.incidents()?;
        if let Some(incidents) = &mut incidents {
            // Its symptoms are those of another one, whose page has them.
            incidents.retain(|incident| !incident.is_part_of_another());
            incidents.reverse();
            incidents.sort_by_key(|incident| !incident.status.is_active());
            incidents.truncate(limit);
        }
        let incidents = incidents.map(|found| found.iter().map(IncidentLine::of).collect());
        let mut hosts = source.hosts()?;
        hosts.retain(|host| matches(host));
        more.rounds = cut(&mut rounds, limit);
        more.runs = cut(&mut runs, limit);
        more.hosts = cut(&mut hosts, limit);
        let runs = runs.into_iter().map(|run| RunLine {
            id: run.id,
            started: run.started,
            peer: run.peer,
            hosts: run.hosts,
            protocol: run.protocol,
            direction: run.direction,
            outcome: run.outcome,
            goodput: run.goodput,
            retransmits: run.retransmits,
        });
        let activity = if is_reading { None } else { source.activity()? };
        let running = source.running()?;
        let running = running.iter().filter(|running| matches(&running.round.title)).map(|one| RunningLine::of(one));
        let (running, runs) = (running.collect(), runs.collect());
        let source = source.name();
        Ok(Self { source, search, is_reading, incidents, activity, running, rounds, runs, hosts, more })
    }
}

/// Cuts a list and says what was cut.
fn cut<T>(list: &mut Vec<T>, limit: usize) -> usize {
    let left = list.len().saturating_sub(limit);
    list.truncate(limit);
    left
}

const LISTED: usize = 100;
const MOST_LISTED: usize = 1_000;
const MOST_SEARCHED: u32 = 20_000;
