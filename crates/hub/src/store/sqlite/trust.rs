//! Tokens and agents.

use rusqlite::{Connection, OptionalExtension, Row};
use units::WallTime;

use crate::store::StoreError;
use crate::store::integers::{stored, time};
use crate::store::rows::{AgentContact, AgentRow, Redeemed, TokenRow};
use crate::trust::digest::Fingerprint;
use crate::trust::token::Purpose;

/// A token that a key uses up.
pub(super) struct Spent {
    pub(super) hash: Fingerprint,
    pub(super) key: Fingerprint,
}

pub(super) fn add_token(connection: &Connection, token: &TokenRow) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO tokens (hash, purpose, expires_unix_ns) VALUES (?1, ?2, ?3)",
        (token.hash.to_string(), token.purpose.name(), stored(token.expires)),
    )?;
    Ok(())
}

pub(super) fn bearer(connection: &Connection, hash: Fingerprint, now: WallTime) -> Result<Option<Purpose>, StoreError> {
    let query = "SELECT purpose FROM tokens WHERE hash = ?1 AND expires_unix_ns > ?2";
    let found: Option<String> =
        connection.query_row(query, (hash.to_string(), stored(now)), |row| row.get(0)).optional()?;
    Ok(found.and_then(|name| name.parse().ok()))
}

pub(super) fn redeem(connection: &Connection, spent: &Spent, now: WallTime) -> Result<Redeemed, StoreError> {
    let hash = spent.hash.to_string();
    let query = "SELECT expires_unix_ns, used_by FROM tokens WHERE hash = ?1 AND purpose = ?2";
    let found: Option<(i64, Option<String>)> =
        connection.query_row(query, (&hash, Purpose::Join.name()), |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let key = spent.key.to_string();
    Ok(match found {
        None => Redeemed::Unknown,
        Some((_, Some(user))) if user != key => Redeemed::Used,
        Some((expires, _)) if expires <= stored(now) => Redeemed::Expired,
        Some(_) => {
            connection.execute("UPDATE tokens SET used_by = ?2 WHERE hash = ?1", (&hash, &key))?;
            Redeemed::Accepted
        }
    })
}

pub(super) fn add_agent(connection: &Connection, agent: &AgentRow) -> Result<bool, StoreError> {
    let changed = connection.execute(
        "INSERT INTO agents (name, key, certificate, address, joined_unix_ns, health) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (name) DO UPDATE SET certificate = excluded.certificate, address = excluded.address
         WHERE key = excluded.key",
        (
            &agent.name,
            agent.key.to_string(),
            agent.certificate.to_string(),
            &agent.address,
            stored(agent.joined),
            serde_json::to_string(&agent.health)?,
        ),
    )?;
    Ok(changed == 1)
}

pub(super) fn agent_of(connection: &Connection, certificate: Fingerprint) -> Result<Option<String>, StoreError> {
    let query = "SELECT name FROM agents WHERE certificate = ?1";
    Ok(connection.query_row(query, [certificate.to_string()], |row| row.get(0)).optional()?)
}

pub(super) fn agents(connection: &Connection) -> Result<Vec<AgentRow>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT name, key, certificate, address, joined_unix_ns, heard_unix_ns, version, health FROM agents
         ORDER BY name",
    )?;
    let rows = query.query_map([], agent)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn agent(row: &Row<'_>) -> rusqlite::Result<AgentRow> {
    let fingerprint = |index| {
        let text: String = row.get(index)?;
        text.parse().map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, Box::new(error))
        })
    };
    let health: String = row.get(7)?;
    Ok(AgentRow {
        name: row.get(0)?,
        key: fingerprint(1)?,
        certificate: fingerprint(2)?,
        address: row.get(3)?,
        joined: time(row.get(4)?),
        heard: row.get::<_, Option<i64>>(5)?.map(time),
        version: row.get(6)?,
        health: serde_json::from_str(&health).unwrap_or_default(),
    })
}

pub(super) fn remove_agent(connection: &Connection, name: &str) -> Result<bool, StoreError> {
    Ok(connection.execute("DELETE FROM agents WHERE name = ?1", [name])? == 1)
}

pub(super) fn heard(connection: &Connection, contact: &AgentContact) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE agents SET heard_unix_ns = ?2, version = ?3, health = ?4 WHERE name = ?1",
        (&contact.agent, stored(contact.at), &contact.version, serde_json::to_string(&contact.health)?),
    )?;
    Ok(())
}
