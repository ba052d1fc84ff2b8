//! A process that runs a program at a host: what it prints, and its end.

use std::fmt;
use std::io::{self, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use linux::namespaces::process::{Process as Found, start_of};

/// A process that runs a program at a host: one of this machine, or one of a simulation.
pub trait Process: fmt::Debug {
    /// The next that it prints, waiting no longer than this.
    fn next(&mut self, at_most: Duration) -> Next;

    /// Whether it has ended, whatever it has left behind.
    fn has_ended(&mut self) -> bool;

    /// Asks it to end.
    ///
    /// # Errors
    /// What sending a signal gives.
    fn ask_to_end(&mut self) -> io::Result<()>;

    /// Waits for its end, no longer than this. Returns whether it has ended.
    ///
    /// # Errors
    /// What waiting for a process gives.
    fn wait(&mut self, at_most: Duration) -> io::Result<bool>;

    /// Ends it by force.
    ///
    /// # Errors
    /// What sending a signal gives.
    fn kill(&mut self) -> io::Result<()>;

    /// How it ended, waiting for that.
    ///
    /// # Errors
    /// What waiting for a process gives.
    fn status(&mut self) -> io::Result<ExitStatus>;
}

/// What came of waiting for a program's words.
#[derive(Debug)]
pub enum Next {
    /// Some bytes of one of its outputs.
    Piece(Piece),
    /// Nothing, for as long as was waited.
    Nothing,
    /// It says no more.
    All,
}

/// Some bytes of one of a program's outputs.
#[derive(Debug)]
pub enum Piece {
    /// Its standard output.
    Output(Vec<u8>),
    /// Its standard error.
    Talk(Vec<u8>),
}

/// A process of this machine. It ends with this value.
#[derive(Debug)]
pub(crate) struct OfThisMachine {
    child: Child,
    found: Option<Found>,
    pieces: Receiver<Piece>,
}

impl OfThisMachine {
    /// Listens to a process that was started with pipes.
    ///
    /// # Errors
    /// Where there is no thread for it.
    pub(crate) fn new(mut child: Child) -> io::Result<Self> {
        let found = start_of(child.id()).and_then(|started| Found::find(child.id(), started));
        // A host that floods waits until what it said is read.
        let (sender, pieces) = sync_channel(PIECES);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let process = Self { child, found, pieces };
        // Threads of their own: whatever a program leaves behind may hold its outputs open, and nobody waits for that.
        if let Some(stdout) = stdout {
            read("output", stdout, sender.clone(), Piece::Output)?;
        }
        if let Some(stderr) = stderr {
            read("talk", stderr, sender, Piece::Talk)?;
        }
        Ok(process)
    }
}

impl Process for OfThisMachine {
    fn next(&mut self, at_most: Duration) -> Next {
        match self.pieces.recv_timeout(at_most) {
            Ok(piece) => Next::Piece(piece),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::All,
        }
    }

    fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    fn ask_to_end(&mut self) -> io::Result<()> {
        match (self.child.stdin.take(), &self.found) {
            (Some(input), _) => drop(input),
            (None, Some(process)) => process.ask_to_end()?,
            (None, None) => {}
        }
        Ok(())
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<bool> {
        self.found.as_ref().map_or(Ok(true), |process| process.wait(at_most))
    }

    fn kill(&mut self) -> io::Result<()> {
        self.child.kill()
    }

    fn status(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl Drop for OfThisMachine {
    fn drop(&mut self) {
        // It fails only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(
    name: &str,
    mut from: impl Read + Send + 'static,
    to: SyncSender<Piece>,
    piece: impl Fn(Vec<u8>) -> Piece + Send + 'static,
) -> io::Result<()> {
    let work = move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.send(piece(buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// Pieces of 64 KiB between reading and keeping.
const PIECES: usize = 16;
