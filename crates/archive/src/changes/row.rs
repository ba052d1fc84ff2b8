//! Rows of the change log.

use model::host::change::{ChangeEntry, ChangeNote};
use rusqlite::{Connection, Row, Transaction, named_params};
use units::WallTime;

use crate::digest;

/// An entry as it is stored.
pub(super) struct Stored {
    pub(super) number: i64,
    pub(super) json: String,
}

/// An entry without its notes, which have a table of their own.
pub(super) fn json(entry: &ChangeEntry) -> serde_json::Result<String> {
    serde_json::to_string(&ChangeEntry { notes: Vec::new(), ..entry.clone() })
}

pub(super) fn insert(transaction: &Transaction<'_>, entry: &ChangeEntry, json: &str) -> rusqlite::Result<u64> {
    transaction.prepare(INSERT)?.execute(named_params! {
        ":time": indexed_time(entry.time),
        ":host": entry.host,
        ":namespace": entry.namespace,
        ":subject": entry.subject,
        ":fact": entry.fact,
        ":source": entry.source.word(),
        ":entry": json,
    })?;
    let number = transaction.last_insert_rowid();
    digest::CHANGES.seal(transaction, number)?;
    for each in &entry.notes {
        note(transaction, number, each)?;
    }
    Ok(number.cast_unsigned())
}

const INSERT: &str = "
    INSERT INTO changes (time_unix_ns, host, namespace, subject, fact, source, entry)
    VALUES (:time, :host, :namespace, :subject, :fact, :source, :entry)";

pub(super) fn note(connection: &Connection, number: i64, note: &ChangeNote) -> rusqlite::Result<()> {
    let insert = "INSERT INTO change_notes (change, time_unix_ns, user, text, ticket) VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = (number, indexed_time(note.time), &note.user, &note.text, &note.ticket);
    connection.prepare(insert)?.execute(values)?;
    digest::NOTES.seal(connection, connection.last_insert_rowid())
}

pub(super) fn notes(connection: &Connection, number: i64) -> rusqlite::Result<Vec<ChangeNote>> {
    let select = "SELECT time_unix_ns, user, text, ticket FROM change_notes WHERE change = ?1 ORDER BY key";
    let mut query = connection.prepare(select)?;
    let note = |row: &Row<'_>| {
        Ok(ChangeNote { time: time(row, 0)?, user: row.get(1)?, text: row.get(2)?, ticket: row.get(3)? })
    };
    query.query_map([number], note)?.collect()
}

pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored { number: row.get(0)?, json: row.get(1)? })
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<WallTime> {
    row.get(column).map(|nanos: i64| WallTime::from_unix_nanos(nanos.cast_unsigned()))
}

pub(super) fn indexed_time(time: WallTime) -> i64 {
    indexed(time.unix_nanos())
}

/// SQLite's integers end at 2^63 - 1; the exact value is in the entry itself.
pub(super) fn indexed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
