//! One thread that writes. What several requests write meanwhile goes into one transaction, so that one flush of the disk
//! serves all of them; each hears of its own outcome after the commit.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::store::StoreError;

/// The thread that writes, and the way to it.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Something to write, by the connection that has a transaction open, if it could be opened.
type Job = Box<dyn FnOnce(Option<&Connection>) -> Written + Send>;

/// What a job did.
struct Written {
    /// Tells the one who asked, once it is known whether all was committed.
    tell: Box<dyn FnOnce(&Committed)>,
    /// Why the job failed, where it did.
    failure: Option<String>,
}

/// Whether the transaction is on disk, or why it is not: a full disk, in the words of SQLite.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Committed {
    Yes,
    No(String),
}

impl Writer {
    /// Starts it.
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (jobs, queue) = sync_channel(QUEUE);
        let work = move || run(&connection, &queue);
        let thread = thread::Builder::new().name("database".to_owned()).spawn(work)?;
        Ok(Self { jobs: Some(jobs), thread: Mutex::new(Some(thread)) })
    }

    /// Has something written, and waits until it is on disk.
    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, outcome) = sync_channel(1);
        let job: Job = Box::new(move |connection| {
            let outcome = connection.map(|connection| apart(connection, work));
            let failure = outcome.as_ref().and_then(|outcome| outcome.as_ref().err()).map(words);
            let tell = Box::new(move |committed: &Committed| {
                let outcome = match (committed, outcome) {
                    (Committed::Yes, Some(outcome)) | (Committed::No(_), Some(outcome @ Err(_))) => outcome,
                    (Committed::No(why), _) => Err(StoreError::Turn(why.clone())),
                    (Committed::Yes, None) => Err(StoreError::Closed),
                };
                // Who asked may have given up.
                let _ = tell.send(outcome);
            });
            Written { tell, failure }
        });
        self.jobs.as_ref().ok_or(StoreError::Closed)?.send(job).map_err(|_| StoreError::Closed)?;
        outcome.recv().map_err(|_| StoreError::Closed)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.lock().ok().and_then(|mut thread| thread.take()) {
            let _ = thread.join();
        }
    }
}

/// Runs a job so that its failure undoes what it wrote, and nothing of the others.
fn apart<T>(connection: &Connection, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
    connection.execute_batch("SAVEPOINT job")?;
    let outcome = work(connection);
    let end = if outcome.is_ok() { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" };
    let ended = connection.execute_batch(end);
    // SQLite undoes the whole transaction by itself where the disk is full: then there is no savepoint to go back to, and
    // why the job failed is what has to be told.
    let outcome = outcome?;
    ended?;
    Ok(outcome)
}

fn run(connection: &Connection, queue: &Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        let begun = connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from);
        let open = begun.is_ok().then_some(connection);
        let mut written = vec![first(open)];
        // Without a transaction each further job would be committed by itself.
        while open.is_some_and(|connection| !connection.is_autocommit())
            && written.len() < MOST_TOGETHER
            && let Ok(job) = queue.try_recv()
        {
            written.push(job(open));
        }
        let committed = match begun.and_then(|()| Ok(connection.execute_batch("COMMIT")?)) {
            Ok(()) => Committed::Yes,
            Err(error) => {
                let is_undone = open.is_some_and(Connection::is_autocommit);
                let broke = written.last().and_then(|last| last.failure.clone()).filter(|_| is_undone);
                let _ = connection.execute_batch("ROLLBACK");
                Committed::No(broke.unwrap_or_else(|| words(&error)))
            }
        };
        written.into_iter().for_each(|written| (written.tell)(&committed));
    }
}

/// An error with its causes.
fn words(error: &StoreError) -> String {
    error.of_turn().to_string()
}

/// Requests that wait for the thread; further ones wait where they are.
const QUEUE: usize = 1024;
/// Most of them in one transaction: the first of them waits for all.
const MOST_TOGETHER: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    /// A database that may not grow is what a full disk is to SQLite (`SQLITE_FULL`).
    #[test]
    fn whoever_meets_a_full_disk_is_told_so_and_is_served_once_there_is_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = Connection::open(folder.path().join("hub.db")).expect("a database");
        connection.execute_batch("CREATE TABLE kept (text TEXT); PRAGMA max_page_count = 4").expect("a table");
        let writer = Writer::start(connection).expect("a thread");
        let big = "x".repeat(100_000);
        let add = |text: String| {
            writer.write(move |connection| Ok(connection.execute("INSERT INTO kept VALUES (?1)", [text])?))
        };
        let error = add(big.clone()).expect_err("no room for it");
        assert!(words(&error).contains("full"), "{error}");
        add("small".to_owned()).expect("what fits is written");
        let grow = writer.write(|connection| Ok(connection.query_row("PRAGMA max_page_count = 1000", [], |_| Ok(()))?));
        grow.expect("the limit is taken away");
        add(big).expect("there is room now");
    }

    #[test]
    fn a_transaction_that_cannot_begin_says_why_and_writes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hub.db");
        let connection = Connection::open(&path).expect("a database");
        connection.execute_batch("CREATE TABLE kept (text TEXT)").expect("a table");
        connection.busy_timeout(std::time::Duration::ZERO).expect("no patience");
        let other = Connection::open(&path).expect("the same database");
        let writer = Writer::start(connection).expect("a thread");
        other.execute_batch("BEGIN IMMEDIATE").expect("a lock of somebody else");
        let add = || writer.write(|connection| Ok(connection.execute("INSERT INTO kept VALUES ('a')", [])?));
        let error = add().expect_err("it is locked");
        assert!(words(&error).contains("locked"), "{error}");
        other.execute_batch("COMMIT").expect("the lock is gone");
        add().expect("it is written");
        let rows: i64 = other.query_row("SELECT count(*) FROM kept", [], |row| row.get(0)).expect("a count");
        assert_eq!(rows, 1, "what was refused is not written as well");
    }
}
