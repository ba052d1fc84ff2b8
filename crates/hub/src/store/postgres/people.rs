//! Accounts, sessions, what people did and wrote.

use mesh::incident::IncidentId;
use postgres::Row;
use units::WallTime;

use super::Postgres;
use super::pool::Connection;
use crate::store::StoreError;
use crate::store::integers::{integer, stored, time};
use crate::store::people::{AccountRow, ActionRow, People, ReportRow, SessionRow};
use crate::trust::digest::Fingerprint;
use crate::trust::password::PasswordHash;
use crate::trust::role::RoleError;

impl People for Postgres {
    fn accounts(&self) -> Result<Vec<AccountRow>, StoreError> {
        self.pool.read(|connection| {
            let query = "SELECT name, role, password, changed_unix_ns FROM accounts ORDER BY name COLLATE \"C\"";
            connection.query(query, &[])?.iter().map(account).collect()
        })
    }

    fn set_account(&self, account: AccountRow) -> Result<(), StoreError> {
        self.pool.write(|connection| {
            let AccountRow { name, role, password, changed } = &account;
            end_sessions(connection, name)?;
            connection.execute(
                "INSERT INTO accounts (name, role, password, changed_unix_ns) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (name) DO UPDATE SET role = excluded.role, password = excluded.password,
                     changed_unix_ns = excluded.changed_unix_ns",
                &[name, &role.name(), &password.text(), &stored(*changed)],
            )?;
            Ok(())
        })
    }

    fn remove_account(&self, name: &str) -> Result<bool, StoreError> {
        self.pool.write(|connection| {
            end_sessions(connection, name)?;
            Ok(connection.execute("DELETE FROM accounts WHERE name = $1", &[&name])? == 1)
        })
    }

    fn add_session(&self, session: SessionRow, now: WallTime) -> Result<(), StoreError> {
        self.pool.write(|connection| {
            connection.execute("DELETE FROM sessions WHERE expires_unix_ns <= $1", &[&stored(now)])?;
            connection.execute(
                "INSERT INTO sessions (hash, account, expires_unix_ns) VALUES ($1, $2, $3)",
                &[&session.hash.to_string(), &session.account, &stored(session.expires)],
            )?;
            Ok(())
        })
    }

    fn session(&self, hash: Fingerprint, now: WallTime) -> Result<Option<AccountRow>, StoreError> {
        self.pool.read(|connection| {
            let query = "SELECT name, role, password, changed_unix_ns FROM sessions JOIN accounts ON account = name
                         WHERE hash = $1 AND expires_unix_ns > $2";
            connection.row(query, &[&hash.to_string(), &stored(now)])?.as_ref().map(account).transpose()
        })
    }

    fn end_session(&self, hash: Fingerprint) -> Result<(), StoreError> {
        self.pool.write(|connection| {
            connection.execute("DELETE FROM sessions WHERE hash = $1", &[&hash.to_string()])?;
            Ok(())
        })
    }

    fn log_action(&self, action: ActionRow) -> Result<(), StoreError> {
        self.pool.write(|connection| {
            let ActionRow { at, who, origin, what } = &action;
            // A text of PostgreSQL has every character but this.
            let [who, origin, what] = [who, origin, what].map(|text| text.replace('\0', "\u{fffd}"));
            let row = connection.row(
                "INSERT INTO actions (at_unix_ns, who, origin, what) VALUES ($1, $2, $3, $4) RETURNING key",
                &[&stored(*at), &who, &origin, &what],
            )?;
            let key: i64 = row.map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
            connection.execute("DELETE FROM actions WHERE key <= $1", &[&key.saturating_sub(MOST_ACTIONS)])?;
            Ok(())
        })
    }

    fn actions(&self, most: usize) -> Result<Vec<ActionRow>, StoreError> {
        self.pool.read(|connection| {
            let query = "SELECT at_unix_ns, who, origin, what FROM actions ORDER BY key DESC LIMIT $1";
            let action = |row: &Row| {
                Ok(ActionRow {
                    at: time(row.try_get(0)?),
                    who: row.try_get(1)?,
                    origin: row.try_get(2)?,
                    what: row.try_get(3)?,
                })
            };
            connection.query(query, &[&integer(most as u64)])?.iter().map(action).collect()
        })
    }

    fn set_report(&self, report: ReportRow) -> Result<(), StoreError> {
        self.pool.write(|connection| {
            let text = report.text.replace('\0', "\u{fffd}");
            connection.execute(
                "INSERT INTO reports (incident, text) VALUES ($1, $2) ON CONFLICT (incident) DO UPDATE SET text = excluded.text",
                &[&report.incident.0, &text],
            )?;
            Ok(())
        })
    }

    fn report(&self, incident: &IncidentId) -> Result<Option<String>, StoreError> {
        self.pool.read(|connection| {
            let row = connection.row("SELECT text FROM reports WHERE incident = $1", &[&incident.0])?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        })
    }
}

fn end_sessions(connection: &mut Connection, account: &str) -> Result<(), StoreError> {
    connection.execute("DELETE FROM sessions WHERE account = $1", &[&account])?;
    Ok(())
}

fn account(row: &Row) -> Result<AccountRow, StoreError> {
    let broken = |error: RoleError| StoreError::Open(std::io::Error::other(error));
    Ok(AccountRow {
        name: row.try_get(0)?,
        role: row.try_get::<_, &str>(1)?.parse().map_err(broken)?,
        password: PasswordHash::kept(row.try_get(2)?),
        changed: time(row.try_get(3)?),
    })
}

/// Years of a hub.
const MOST_ACTIONS: i64 = 100_000;
