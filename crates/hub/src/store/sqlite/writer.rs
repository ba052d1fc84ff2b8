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

/// Something to write; what comes back tells the one who asked, once it is known whether all was committed.
type Job = Box<dyn FnOnce(&Connection) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Committed)>;

/// Whether the transaction is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Committed {
    Yes,
    No,
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
            let outcome = apart(connection, work);
            Box::new(move |committed| {
                let outcome = if committed == Committed::Yes { outcome } else { Err(StoreError::Closed) };
                // Who asked may have given up.
                let _ = tell.send(outcome);
            })
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
    connection.execute_batch(end)?;
    outcome
}

fn run(connection: &Connection, queue: &Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        if connection.execute_batch("BEGIN IMMEDIATE").is_err() {
            // Whoever asked hears that the database is closed, and asks again.
            continue;
        }
        let mut answers = vec![first(connection)];
        while answers.len() < MOST_TOGETHER
            && let Ok(job) = queue.try_recv()
        {
            answers.push(job(connection));
        }
        let committed = match connection.execute_batch("COMMIT") {
            Ok(()) => Committed::Yes,
            Err(_) => {
                let _ = connection.execute_batch("ROLLBACK");
                Committed::No
            }
        };
        answers.into_iter().for_each(|answer| answer(committed));
    }
}

/// Requests that wait for the thread; further ones wait where they are.
const QUEUE: usize = 1024;
/// Most of them in one transaction: the first of them waits for all.
const MOST_TOGETHER: usize = 256;
