//! Tokens and agents.

use postgres::Row;
use units::WallTime;

use super::pool::Connection;
use crate::store::StoreError;
use crate::store::integers::{stored, time};
use crate::store::rows::{AgentContact, AgentRow, Redeemed, TokenRow};
use crate::trust::digest::{Fingerprint, FingerprintError};
use crate::trust::token::Purpose;

/// A token that a key uses up.
pub(super) struct Spent {
    pub(super) hash: Fingerprint,
    pub(super) key: Fingerprint,
}

/// The authority of the hubs that share the tables, which is that of the first.
pub(super) fn authority(
    connection: &mut Connection,
    own: Option<Fingerprint>,
) -> Result<Option<Fingerprint>, StoreError> {
    if let Some(own) = own {
        connection.execute(
            "INSERT INTO settings (name, value, revision) VALUES ('authority', $1, 0) ON CONFLICT (name) DO NOTHING",
            &[&own.to_string()],
        )?;
    }
    let Some(row) = connection.row("SELECT value FROM settings WHERE name = 'authority'", &[])? else {
        return Ok(None);
    };
    Ok(row.try_get::<_, &str>(0)?.parse().ok())
}

pub(super) fn add_token(connection: &mut Connection, token: &TokenRow) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO tokens (hash, purpose, expires_unix_ns) VALUES ($1, $2, $3)",
        &[&token.hash.to_string(), &token.purpose.name(), &stored(token.expires)],
    )?;
    Ok(())
}

pub(super) fn bearer(
    connection: &mut Connection,
    hash: Fingerprint,
    now: WallTime,
) -> Result<Option<Purpose>, StoreError> {
    let query = "SELECT purpose FROM tokens WHERE hash = $1 AND expires_unix_ns > $2";
    let Some(row) = connection.row(query, &[&hash.to_string(), &stored(now)])? else { return Ok(None) };
    Ok(row.try_get::<_, &str>(0)?.parse().ok())
}

pub(super) fn redeem(connection: &mut Connection, spent: &Spent, now: WallTime) -> Result<Redeemed, StoreError> {
    let hash = spent.hash.to_string();
    let query = "SELECT expires_unix_ns, used_by FROM tokens WHERE hash = $1 AND purpose = $2 FOR UPDATE";
    let Some(row) = connection.row(query, &[&hash, &Purpose::Join.name()])? else { return Ok(Redeemed::Unknown) };
    let (expires, user): (i64, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    let key = spent.key.to_string();
    Ok(match user {
        Some(user) if user != key => Redeemed::Used,
        _ if expires <= stored(now) => Redeemed::Expired,
        _ => {
            connection.execute("UPDATE tokens SET used_by = $2 WHERE hash = $1", &[&hash, &key])?;
            Redeemed::Accepted
        }
    })
}

pub(super) fn add_agent(connection: &mut Connection, agent: &AgentRow) -> Result<bool, StoreError> {
    let changed = connection.execute(
        "INSERT INTO agents (name, key, certificate, address, joined_unix_ns, health) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (name) DO UPDATE SET certificate = excluded.certificate, address = excluded.address
         WHERE agents.key = excluded.key",
        &[
            &agent.name,
            &agent.key.to_string(),
            &agent.certificate.to_string(),
            &agent.address,
            &stored(agent.joined),
            &serde_json::to_string(&agent.health)?,
        ],
    )?;
    Ok(changed == 1)
}

pub(super) fn agent_of(connection: &mut Connection, certificate: Fingerprint) -> Result<Option<String>, StoreError> {
    let row = connection.row("SELECT name FROM agents WHERE certificate = $1", &[&certificate.to_string()])?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

pub(super) fn agents(connection: &mut Connection) -> Result<Vec<AgentRow>, StoreError> {
    let rows = connection.query(
        "SELECT name, key, certificate, address, joined_unix_ns, heard_unix_ns, version, health FROM agents
         ORDER BY name COLLATE \"C\"",
        &[],
    )?;
    rows.iter().map(agent).collect()
}

fn agent(row: &Row) -> Result<AgentRow, StoreError> {
    let fingerprint = |index: usize| -> Result<Fingerprint, StoreError> {
        let broken = |error: FingerprintError| StoreError::Open(std::io::Error::other(error));
        row.try_get::<_, &str>(index)?.parse().map_err(broken)
    };
    Ok(AgentRow {
        name: row.try_get(0)?,
        key: fingerprint(1)?,
        certificate: fingerprint(2)?,
        address: row.try_get(3)?,
        joined: time(row.try_get(4)?),
        heard: row.try_get::<_, Option<i64>>(5)?.map(time),
        version: row.try_get(6)?,
        health: serde_json::from_str(row.try_get(7)?).unwrap_or_default(),
    })
}

pub(super) fn remove_agent(connection: &mut Connection, name: &str) -> Result<bool, StoreError> {
    Ok(connection.execute("DELETE FROM agents WHERE name = $1", &[&name])? == 1)
}

/// Agents were heard, each once.
pub(super) fn heard(connection: &mut Connection, contacts: &[AgentContact]) -> Result<(), StoreError> {
    if contacts.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = contacts.iter().map(|contact| contact.agent.as_str()).collect();
    let times: Vec<i64> = contacts.iter().map(|contact| stored(contact.at)).collect();
    let versions: Vec<&str> = contacts.iter().map(|contact| contact.version.as_str()).collect();
    let health = contacts.iter().map(|contact| serde_json::to_string(&contact.health));
    let health: Vec<String> = health.collect::<Result<_, _>>()?;
    connection.execute(
        "UPDATE agents SET heard_unix_ns = c.at, heard_at = clock_timestamp(), version = c.version, health = c.health
         FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) AS c (name, at, version, health)
         WHERE agents.name = c.name",
        &[&names, &times, &versions, &health],
    )?;
    Ok(())
}
