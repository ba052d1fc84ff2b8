//! Connections to the database: a few that are kept, and made anew after it was away.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Row, SimpleQueryMessage, Statement};

use super::address::Address;
use super::error::PostgresError;
use crate::store::StoreError;

/// Connections to one database.
#[derive(Debug)]
pub(super) struct Pool {
    address: Address,
    connections: Mutex<Connections>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct Connections {
    idle: Vec<Connection>,
    /// How many are in use.
    used: usize,
}

/// A connection with the statements that it has prepared.
pub(super) struct Connection {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
    used: Instant,
    condition: Condition,
}

/// Whether a connection can be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    Good,
    /// The server has ended it, or nobody answers.
    Dead,
}

/// A connection in use, which goes back when this is dropped.
pub(super) struct Lent<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
}

/// Values of a statement, in the order of `$1`, `$2`.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Pool {
    /// A pool without connections.
    pub(super) fn new(address: Address) -> Self {
        Self { address, connections: Mutex::default(), free: Condvar::new() }
    }

    /// Reads, from what is committed. Where the connection has died it is done once more on a new one.
    pub(super) fn read<T>(
        &self,
        mut work: impl FnMut(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut lent = self.lend()?;
        let outcome = work(&mut lent);
        if outcome.is_ok() || !lent.is_dead() {
            return outcome;
        }
        drop(lent);
        work(&mut *self.lend()?)
    }

    /// Writes in one transaction, which is on disk when this returns.
    pub(super) fn write<T>(
        &self,
        mut work: impl FnMut(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut lent = self.begun()?;
        match work(&mut lent) {
            Ok(value) => {
                lent.batch("COMMIT")?;
                Ok(value)
            }
            Err(error) => {
                lent.roll_back();
                Err(error)
            }
        }
    }

    fn begun(&self) -> Result<Lent<'_>, StoreError> {
        let mut lent = self.lend()?;
        if let Err(error) = lent.batch("BEGIN") {
            if !lent.is_dead() {
                return Err(error);
            }
            drop(lent);
            lent = self.lend()?;
            lent.batch("BEGIN")?;
        }
        Ok(lent)
    }

    /// A connection that was alive a moment ago.
    pub(super) fn lend(&self) -> Result<Lent<'_>, StoreError> {
        let until = Instant::now() + PATIENCE;
        let mut connections = self.connections();
        while connections.used >= MOST {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(PostgresError::Busy(MOST).into());
            }
            connections = self.free.wait_timeout(connections, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        connections.used += 1;
        let idle = connections.idle.pop();
        drop(connections);
        // From here on it is counted as used until it is dropped.
        let mut lent = Lent { pool: self, connection: idle };
        if lent.connection.as_mut().is_some_and(|connection| !connection.is_alive()) {
            lent.connection = None;
            // The others are of the same age.
            self.connections().idle.clear();
        }
        if lent.connection.is_none() {
            let client = self.address.connect()?;
            lent.connection =
                Some(Connection { client, prepared: HashMap::new(), used: Instant::now(), condition: Condition::Good });
        }
        Ok(lent)
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// All rows of a query.
    pub(super) fn query(&mut self, sql: &'static str, values: Values<'_>) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        let outcome = self.client.query(&statement, values);
        self.heeded(outcome)
    }

    /// The row of a query that has one at most.
    pub(super) fn row(&mut self, sql: &'static str, values: Values<'_>) -> Result<Option<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        let outcome = self.client.query_opt(&statement, values);
        self.heeded(outcome)
    }

    /// How many rows a statement has changed.
    pub(super) fn execute(&mut self, sql: &'static str, values: Values<'_>) -> Result<u64, StoreError> {
        let statement = self.prepared(sql)?;
        let outcome = self.client.execute(&statement, values);
        self.heeded(outcome)
    }

    /// Statements without values.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let outcome = self.client.batch_execute(sql);
        self.heeded(outcome)
    }

    /// The first value of statements without values, sent together.
    pub(super) fn value(&mut self, sql: &str) -> Result<Option<String>, StoreError> {
        let outcome = self.client.simple_query(sql);
        let messages = self.heeded(outcome)?;
        Ok(messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    }

    pub(super) fn is_dead(&self) -> bool {
        self.condition == Condition::Dead || self.client.is_closed()
    }

    /// Ends a transaction that changes nothing.
    pub(super) fn roll_back(&mut self) {
        // A connection that cannot do so is dead, and the transaction with it.
        let _ = self.batch("ROLLBACK");
    }

    fn prepared(&mut self, sql: &'static str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let outcome = self.client.prepare(sql);
        let statement = self.heeded(outcome)?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Sees from an error whether the connection is of use any more: what the server says of a statement has a code.
    fn heeded<T>(&mut self, outcome: Result<T, postgres::Error>) -> Result<T, StoreError> {
        Ok(outcome.inspect_err(|error| {
            let ends = |code: &SqlState| ENDING.iter().any(|class| code.code().starts_with(class));
            if error.code().is_none_or(ends) {
                self.condition = Condition::Dead;
            }
        })?)
    }

    fn is_alive(&mut self) -> bool {
        !self.is_dead() && (self.used.elapsed() < FRESH || self.client.is_valid(TO_ANSWER).is_ok())
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Deref for Lent<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        let Some(connection) = &self.connection else { unreachable!("a lent connection is there until it is dropped") };
        connection
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        let Some(connection) = &mut self.connection else {
            unreachable!("a lent connection is there until it is dropped")
        };
        connection
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let back = self.connection.take().filter(|connection| !connection.is_dead());
        let mut connections = self.pool.connections();
        connections.used -= 1;
        if let Some(mut connection) = back {
            connection.used = Instant::now();
            connections.idle.push(connection);
        }
        drop(connections);
        self.pool.free.notify_one();
    }
}

/// A database lets in a hundred unless it is set otherwise: ten hubs fit.
const MOST: usize = 8;
/// How long a request waits for a connection.
const PATIENCE: Duration = Duration::from_secs(30);
/// A connection that was used so lately is taken to be alive.
const FRESH: Duration = Duration::from_secs(2);
/// How long one that was idle has to show that it is alive.
const TO_ANSWER: Duration = Duration::from_secs(5);
/// Classes of codes by which a server says that it ends a connection: it has failed, is shut down, or a transaction was idle.
const ENDING: [&str; 3] = ["08", "57P", "25P03"];
