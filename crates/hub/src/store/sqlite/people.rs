//! Accounts, sessions, what people did and wrote.

use mesh::incident::IncidentId;
use rusqlite::{Connection, OptionalExtension, Row};
use units::WallTime;

use super::Sqlite;
use crate::store::StoreError;
use crate::store::integers::{stored, time};
use crate::store::people::{AccountRow, ActionRow, People, ReportRow, SessionRow};
use crate::trust::digest::Fingerprint;
use crate::trust::password::PasswordHash;

impl People for Sqlite {
    fn accounts(&self) -> Result<Vec<AccountRow>, StoreError> {
        self.read(|connection| {
            let mut query =
                connection.prepare("SELECT name, role, password, changed_unix_ns FROM accounts ORDER BY name")?;
            let rows = query.query_map([], account)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn set_account(&self, account: AccountRow) -> Result<(), StoreError> {
        self.writer.write(move |connection| {
            let AccountRow { name, role, password, changed } = &account;
            end_sessions(connection, name)?;
            connection.execute(
                "INSERT OR REPLACE INTO accounts (name, role, password, changed_unix_ns) VALUES (?1, ?2, ?3, ?4)",
                (name, role.name(), password.text(), stored(*changed)),
            )?;
            Ok(())
        })
    }

    fn remove_account(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.writer.write(move |connection| {
            end_sessions(connection, &name)?;
            Ok(connection.execute("DELETE FROM accounts WHERE name = ?1", [&name])? == 1)
        })
    }

    fn add_session(&self, session: SessionRow, now: WallTime) -> Result<(), StoreError> {
        self.writer.write(move |connection| {
            connection.execute("DELETE FROM sessions WHERE expires_unix_ns <= ?1", [stored(now)])?;
            connection.execute(
                "INSERT INTO sessions (hash, account, expires_unix_ns) VALUES (?1, ?2, ?3)",
                (session.hash.to_string(), &session.account, stored(session.expires)),
            )?;
            Ok(())
        })
    }

    fn session(&self, hash: Fingerprint, now: WallTime) -> Result<Option<AccountRow>, StoreError> {
        self.read(|connection| {
            let query = "SELECT name, role, password, changed_unix_ns FROM sessions JOIN accounts ON account = name
                         WHERE hash = ?1 AND expires_unix_ns > ?2";
            Ok(connection.query_row(query, (hash.to_string(), stored(now)), account).optional()?)
        })
    }

    fn end_session(&self, hash: Fingerprint) -> Result<(), StoreError> {
        self.writer.write(move |connection| {
            connection.execute("DELETE FROM sessions WHERE hash = ?1", [hash.to_string()])?;
            Ok(())
        })
    }

    fn log_action(&self, action: ActionRow) -> Result<(), StoreError> {
        self.writer.write(move |connection| {
            let ActionRow { at, who, origin, what } = &action;
            connection.execute(
                "INSERT INTO actions (at_unix_ns, who, origin, what) VALUES (?1, ?2, ?3, ?4)",
                (stored(*at), who, origin, what),
            )?;
            let oldest = connection.last_insert_rowid().saturating_sub(MOST_ACTIONS);
            connection.execute("DELETE FROM actions WHERE key <= ?1", [oldest])?;
            Ok(())
        })
    }

    fn actions(&self, most: usize) -> Result<Vec<ActionRow>, StoreError> {
        self.read(|connection| {
            let mut query =
                connection.prepare("SELECT at_unix_ns, who, origin, what FROM actions ORDER BY key DESC LIMIT ?1")?;
            let action = |row: &Row<'_>| {
                Ok(ActionRow { at: time(row.get(0)?), who: row.get(1)?, origin: row.get(2)?, what: row.get(3)? })
            };
            let rows = query.query_map([i64::try_from(most).unwrap_or(i64::MAX)], action)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn set_report(&self, report: ReportRow) -> Result<(), StoreError> {
        self.writer.write(move |connection| {
            connection.execute(
                "INSERT OR REPLACE INTO reports (incident, text) VALUES (?1, ?2)",
                (&report.incident.0, &report.text),
            )?;
            Ok(())
        })
    }

    fn report(&self, incident: &IncidentId) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let query = "SELECT text FROM reports WHERE incident = ?1";
            Ok(connection.query_row(query, [&incident.0], |row| row.get(0)).optional()?)
        })
    }
}

fn end_sessions(connection: &Connection, account: &str) -> Result<(), StoreError> {
    connection.execute("DELETE FROM sessions WHERE account = ?1", [account])?;
    Ok(())
}

fn account(row: &Row<'_>) -> rusqlite::Result<AccountRow> {
    let role: String = row.get(1)?;
    let role = role
        .parse()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error)))?;
    Ok(AccountRow { name: row.get(0)?, role, password: PasswordHash::kept(row.get(2)?), changed: time(row.get(3)?) })
}

/// Years of a hub.
const MOST_ACTIONS: i64 = 100_000;
