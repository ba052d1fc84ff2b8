//! The tables, and how older ones are brought up to date.

use units::WallTime;

use super::pool::Connection;
use crate::store::StoreError;
use crate::store::integers::stored;

/// Brings the tables to the version of this program; of hubs that start together one does it.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    connection.value("SELECT pg_advisory_xact_lock(7808333)")?;
    let exists = connection.value("SELECT to_regclass('linerate.version') IS NOT NULL")?;
    if exists.as_deref() != Some("t") {
        connection.batch(
            "CREATE SCHEMA IF NOT EXISTS linerate;
             CREATE TABLE version (version INTEGER NOT NULL);
             INSERT INTO version VALUES (0)",
        )?;
    }
    let found: i32 = connection.value("SELECT version FROM version")?.and_then(|text| text.parse().ok()).unwrap_or(0);
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        connection.batch(migration)?;
    }
    if found < known {
        connection.execute("UPDATE version SET version = $1", &[&known])?;
    }
    Ok(())
}

/// Writes to the database, to see whether it can be written to.
pub(super) fn touch(connection: &mut Connection, now: WallTime) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO alive (key, at_unix_ns) VALUES (1, $1) ON CONFLICT (key) DO UPDATE SET at_unix_ns = excluded.at_unix_ns",
        &[&stored(now)],
    )?;
    Ok(())
}

/// Each takes the tables one version further; none is ever changed.
const MIGRATIONS: [&str; 3] = [
    "
    CREATE TABLE alive (key INTEGER PRIMARY KEY, at_unix_ns BIGINT NOT NULL);
    -- What hubs do one after the other: change runs, judge records.
    CREATE TABLE turns (
        name TEXT PRIMARY KEY,
        revision BIGINT NOT NULL,
        holder TEXT,
        beat TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
    ) WITH (fillfactor = 20);
    INSERT INTO turns (name, revision) VALUES ('schedule', 1), ('watching', 1);
    CREATE TABLE tokens (
        hash TEXT PRIMARY KEY,
        purpose TEXT NOT NULL,
        expires_unix_ns BIGINT NOT NULL,
        used_by TEXT
    );
    CREATE TABLE agents (
        name TEXT PRIMARY KEY,
        key TEXT NOT NULL,
        certificate TEXT NOT NULL UNIQUE,
        address TEXT,
        joined_unix_ns BIGINT NOT NULL,
        heard_unix_ns BIGINT,
        heard_at TIMESTAMPTZ,
        version TEXT,
        health TEXT NOT NULL
    ) WITH (fillfactor = 50);
    -- What agents deliver. A result is named by its run as well, which it has once.
    CREATE TABLE records (
        key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        agent TEXT NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        run TEXT UNIQUE,
        received_unix_ns BIGINT NOT NULL,
        digest TEXT NOT NULL,
        content BYTEA NOT NULL,
        samples BYTEA,
        UNIQUE (agent, name)
    );
    -- Both are compressed already.
    ALTER TABLE records ALTER COLUMN content SET STORAGE EXTERNAL;
    ALTER TABLE records ALTER COLUMN samples SET STORAGE EXTERNAL;
    CREATE INDEX records_by_kind ON records (kind, agent, key);
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL, revision BIGINT NOT NULL);
    -- Runs of the plan; what is over stays for late results.
    CREATE TABLE runs (name TEXT PRIMARY KEY, is_open BOOLEAN NOT NULL, row TEXT NOT NULL, revision BIGINT NOT NULL);
    CREATE INDEX runs_open ON runs (name) WHERE is_open;
    CREATE INDEX runs_by_revision ON runs (revision);
    CREATE TABLE requests (agent TEXT PRIMARY KEY, boots BIGINT NOT NULL, number BIGINT NOT NULL, revision BIGINT NOT NULL);
    CREATE INDEX requests_by_revision ON requests (revision);
    CREATE TABLE budgets (
        resource TEXT NOT NULL,
        day BIGINT NOT NULL,
        bytes BIGINT NOT NULL,
        revision BIGINT NOT NULL,
        PRIMARY KEY (resource, day)
    );
    CREATE INDEX budgets_by_revision ON budgets (revision);
    CREATE TABLE series (key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, series TEXT NOT NULL UNIQUE);
    CREATE TABLE points (
        series BIGINT NOT NULL REFERENCES series (key),
        at_unix_ns BIGINT NOT NULL,
        record BIGINT NOT NULL,
        value DOUBLE PRECISION NOT NULL,
        is_good BOOLEAN NOT NULL,
        PRIMARY KEY (series, at_unix_ns, record)
    );
    CREATE TABLE diagnoses (incident TEXT PRIMARY KEY, content TEXT NOT NULL);
    CREATE TABLE incidents (id TEXT PRIMARY KEY, opened_unix_ns BIGINT NOT NULL, content TEXT NOT NULL);
    CREATE TABLE accounts (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        password TEXT NOT NULL,
        changed_unix_ns BIGINT NOT NULL
    );
    CREATE TABLE sessions (hash TEXT PRIMARY KEY, account TEXT NOT NULL, expires_unix_ns BIGINT NOT NULL);
    CREATE INDEX sessions_of ON sessions (account);
    CREATE TABLE actions (
        key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at_unix_ns BIGINT NOT NULL,
        who TEXT NOT NULL,
        origin TEXT NOT NULL,
        what TEXT NOT NULL
    );
    CREATE TABLE reports (incident TEXT PRIMARY KEY, text TEXT NOT NULL);
",
    "
    -- Its revision is the last record that was sorted; whoever closes a segment locks it.
    INSERT INTO turns (name, revision) VALUES ('segments', 0);
    CREATE TABLE segments (
        key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        -- 0: closed, 1: written, 2: the only place of its samples.
        state INTEGER NOT NULL,
        newest_unix_ns BIGINT NOT NULL
    );
    CREATE INDEX segments_by_state ON segments (state, newest_unix_ns) WHERE state < 2;
    CREATE TABLE segment_runs (
        record BIGINT PRIMARY KEY,
        day BIGINT NOT NULL,
        pair INTEGER NOT NULL,
        bytes BIGINT NOT NULL,
        received_unix_ns BIGINT NOT NULL,
        segment BIGINT REFERENCES segments (key)
    );
    CREATE INDEX segment_runs_waiting ON segment_runs (day, pair, record) WHERE segment IS NULL;
    CREATE INDEX segment_runs_of ON segment_runs (segment, record) WHERE segment IS NOT NULL;
",
    "
    -- What was measured since a page was made.
    CREATE INDEX points_by_record ON points (record);
",
];
