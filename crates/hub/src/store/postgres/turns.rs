//! Runs, changed by one hub after the other.
//!
//! A turn locks one row, which has the revision of all that hubs know of runs. Rows carry the revision that has changed them last,
//! so a hub reads only what is new to it. A hub that dies in its turn loses its connection, and with that the lock.

use std::collections::BTreeMap;
use std::time::Duration;

use mesh::board::{AgentRow, Rows, UsageRow};

use super::pool::{Connection, Lent, Pool};
use super::{mesh_rows, records, trust};
use crate::store::StoreError;
use crate::store::integers::{integer, natural};
use crate::store::rows::{AgentContact, Judging, JudgingClaim, Revision};
use crate::store::turn::{Changes, Committed, HeardAgent, News, Turn, TurnRequest};

/// A turn of this hub.
struct PostgresTurn<'a> {
    connection: Lent<'a>,
    revision: Revision,
    /// Whether the transaction has still to be ended.
    is_open: bool,
}

/// Waits for the hubs before, and reads what they have changed.
pub(super) fn begin<'a>(pool: &'a Pool, request: TurnRequest<'_>) -> Result<(News, Box<dyn Turn + 'a>), StoreError> {
    const LOCK: &str = "BEGIN; SELECT revision FROM turns WHERE name = 'schedule' FOR UPDATE";
    let mut connection = pool.lend()?;
    let mut found = connection.value(LOCK);
    if found.is_err() && connection.is_dead() {
        drop(connection);
        connection = pool.lend()?;
        found = connection.value(LOCK);
    }
    let mut turn = PostgresTurn { connection, revision: Revision::default(), is_open: true };
    turn.revision = Revision(found?.and_then(|text| text.parse().ok()).ok_or(StoreError::Closed)?);
    let news = news(&mut turn.connection, &request, turn.revision)?;
    Ok((news, Box::new(turn)))
}

impl Turn for PostgresTurn<'_> {
    fn commit(mut self: Box<Self>, changes: Changes) -> Result<Committed, StoreError> {
        let Changes { rows, plan, planned, contacts, delivered } = changes;
        let is_new = rows != Rows::default() || plan.is_some() || planned.is_some();
        let revision = if is_new { Revision(self.revision.0 + 1) } else { self.revision };
        let connection = &mut *self.connection;
        if let Some(text) = plan {
            mesh_rows::set(connection, &mesh_rows::Setting { name: mesh_rows::PLAN, value: &text, revision })?;
        }
        if let Some(until) = planned {
            let value = until.unix_nanos().to_string();
            mesh_rows::set(connection, &mesh_rows::Setting { name: mesh_rows::PLANNED, value: &value, revision })?;
        }
        mesh_rows::save(connection, &rows, revision)?;
        trust::heard(connection, &newest(contacts))?;
        let verdicts = records::deliver(connection, &delivered)?;
        if is_new {
            connection.execute("UPDATE turns SET revision = $1 WHERE name = 'schedule'", &[&integer(revision.0)])?;
        }
        connection.batch("COMMIT")?;
        self.is_open = false;
        Ok(Committed { revision, verdicts })
    }
}

impl Drop for PostgresTurn<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.connection.roll_back();
        }
    }
}

/// The last contact of each agent.
fn newest(contacts: Vec<AgentContact>) -> Vec<AgentContact> {
    let by_name: BTreeMap<String, AgentContact> =
        contacts.into_iter().map(|contact| (contact.agent.clone(), contact)).collect();
    by_name.into_values().collect()
}

fn news(connection: &mut Connection, request: &TurnRequest<'_>, revision: Revision) -> Result<News, StoreError> {
    let mut news = News { revision, ..News::default() };
    if request.known != revision {
        let known = integer(request.known.0);
        let runs = connection.query("SELECT row FROM runs WHERE revision > $1 AND (is_open OR $1 > 0)", &[&known])?;
        for row in runs {
            news.rows.runs.push(serde_json::from_str(row.try_get(0)?)?);
        }
        for row in connection.query("SELECT agent, boots, number FROM requests WHERE revision > $1", &[&known])? {
            let last = mesh::run::RequestNumber { boots: natural(row.try_get(1)?), number: natural(row.try_get(2)?) };
            news.rows.agents.push(AgentRow { name: row.try_get(0)?, last });
        }
        let budgets = connection.query(
            "SELECT resource, day, bytes FROM budgets WHERE revision > $1 ORDER BY day DESC LIMIT 100000",
            &[&known],
        )?;
        for row in budgets {
            let day = u32::try_from(row.try_get::<_, i64>(1)?).unwrap_or_default();
            let resource = serde_json::from_str(row.try_get(0)?)?;
            news.rows.usage.push(UsageRow { resource, day, bytes: natural(row.try_get(2)?) });
        }
        news.plan = mesh_rows::setting(connection, mesh_rows::PLAN, request.known)?;
        news.planned = mesh_rows::planned(connection, request.known)?;
    }
    if !request.runs.is_empty() {
        news.named = mesh_rows::runs(connection, request.runs)?;
    }
    if let Some(within) = request.heard_within {
        let heard = connection.query(
            "SELECT name, extract(epoch FROM clock_timestamp() - heard_at)::float8 FROM agents
             WHERE heard_at > clock_timestamp() - make_interval(secs => $1)",
            &[&within.as_secs_f64()],
        )?;
        for row in heard {
            let ago = Duration::try_from_secs_f64(row.try_get(1)?).unwrap_or_default();
            news.heard.push(HeardAgent { agent: row.try_get(0)?, ago });
        }
    }
    Ok(news)
}

/// Whether this hub judges.
pub(super) fn judging(connection: &mut Connection, hub: &str, claim: JudgingClaim) -> Result<Judging, StoreError> {
    let is_forced = claim == JudgingClaim::TakeOver;
    let taken = connection.row(
        "UPDATE turns SET holder = $1, beat = clock_timestamp()
         WHERE name = 'watching' AND ($2 OR holder IS NULL OR beat < clock_timestamp() - make_interval(secs => $3)
             OR (holder = $1 AND beat < clock_timestamp() - make_interval(secs => $4)))
         RETURNING revision",
        &[&hub, &is_forced, &SILENT_AFTER.as_secs_f64(), &BEAT_EVERY.as_secs_f64()],
    )?;
    if let Some(row) = taken {
        return Ok(Judging::Own(Revision(natural(row.try_get(0)?))));
    }
    let row = connection
        .row("SELECT revision, holder = $1 FROM turns WHERE name = 'watching'", &[&hub])?
        .ok_or(StoreError::Closed)?;
    let revision = Revision(natural(row.try_get(0)?));
    Ok(if row.try_get(1)? { Judging::Own(revision) } else { Judging::Others(revision) })
}

/// This hub judges no more.
pub(super) fn leave(connection: &mut Connection, hub: &str) -> Result<(), StoreError> {
    connection.execute("UPDATE turns SET holder = NULL WHERE name = 'watching' AND holder = $1", &[&hub])?;
    Ok(())
}

/// Locks what is judged for the rest of the transaction, where this hub judges: the revision at which it stands then.
pub(super) fn judges(connection: &mut Connection, hub: &str) -> Result<Revision, StoreError> {
    let row = connection.row(
        "UPDATE turns SET revision = revision + 1, beat = clock_timestamp()
         WHERE name = 'watching' AND holder = $1 RETURNING revision",
        &[&hub],
    )?;
    row.map(|row| Ok(Revision(natural(row.try_get(0)?)))).ok_or(StoreError::NotJudging)?
}

/// A hub that judges and has been silent for so long is gone.
const SILENT_AFTER: Duration = Duration::from_secs(30);
/// How often it says that it is there.
const BEAT_EVERY: Duration = Duration::from_secs(2);
