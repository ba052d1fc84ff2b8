//! A capture that somebody else still writes, or a pipe: its bytes as they come, and what becomes of the file.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use capture::file::decompressed;
use linux::readiness::{Patience, Readiness};
use measure::stop::Stop;

use super::super::source::READ_BYTES;

/// What comes of a file that grows.
pub enum Piece {
    /// More of it, decompressed.
    Bytes(Vec<u8>),
    /// What follows is the start of a file.
    Anew(Change),
    /// It cannot be read on.
    Failed(io::Error),
}

/// What was done to the file that is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is shorter than what was read of it.
    Truncated,
    /// Another file has its name, as after a rotation.
    Replaced,
}

/// How often a file that was read to its end is asked whether it has grown: file systems of other hosts tell nobody.
const ROUND: Duration = Duration::from_millis(100);
/// Pieces that wait for whoever explains them.
const MAX_WAITING: usize = 8;

/// Follows a file in a thread of its own, until `stop` is set and all that was written by then has been read. `-` is standard input,
/// which ends by itself.
///
/// # Errors
/// Where the file cannot be opened.
pub fn follow(path: &Path, stop: &Stop) -> io::Result<Receiver<Piece>> {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    if path == Path::new("-") {
        thread::spawn(move || {
            if let Err(error) = pump(io::stdin(), &sender) {
                // Whoever explains has gone, and nobody asks any more.
                let _ = sender.send(Piece::Failed(error));
            }
        });
        return Ok(receiver);
    }
    let (file, path, stop) = (File::open(path)?, path.to_owned(), stop.clone());
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    thread::spawn(move || {
        if let Err(error) = pump_all(file, &path, &stop, &sender) {
            let _ = sender.send(Piece::Failed(error));
        }
    });
    Ok(receiver)
}

/// One file after the other that has the name.
fn pump_all(mut file: File, path: &Path, stop: &Stop, sender: &SyncSender<Piece>) -> io::Result<()> {
    loop {
        let change = Rc::new(Cell::new(None));
        let growing = Growing {
            file,
            path: path.to_owned(),
            stop: stop.clone(),
            rounds: Readiness::new()?,
            bytes: 0,
            change: Rc::clone(&change),
        };
        let pumped = pump(growing, sender);
        let Some((found, next)) = change.take() else {
            // A compressed file has no end while its writer goes on.
            return if stop.is_stopped() { Ok(()) } else { pumped };
        };
        if sender.send(Piece::Anew(found)).is_err() {
            return Ok(());
        }
        file = next;
    }
}

fn pump(input: impl Read + 'static, sender: &SyncSender<Piece>) -> io::Result<()> {
    let mut input = decompressed(BufReader::with_capacity(READ_BYTES, input))?;
    loop {
        let mut bytes = vec![0; READ_BYTES];
        let read = match input.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.truncate(read);
        if sender.send(Piece::Bytes(bytes)).is_err() {
            return Ok(());
        }
    }
}

/// A file whose end is not the end: reading waits there for more, until something else happens.
struct Growing {
    file: File,
    path: PathBuf,
    stop: Stop,
    rounds: Readiness,
    /// Read so far.
    bytes: u64,
    /// Why it has ended, and the file to go on with.
    change: Rc<Cell<Option<(Change, File)>>>,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // Asked before: what was written until then is read before the answer counts.
            let (is_stopped, change) = (self.stop.is_stopped(), self.changed()?);
            let read = self.file.read(buffer)?;
            self.bytes += read as u64;
            if read > 0 || is_stopped {
                return Ok(read);
            }
            if change.is_some() {
                self.change.set(change);
                return Ok(0);
            }
            self.rounds.wait(Patience::For(ROUND), |_| ())?;
        }
    }
}

impl Growing {
    fn changed(&self) -> io::Result<Option<(Change, File)>> {
        let own = self.file.metadata()?;
        if own.is_file() && own.len() < self.bytes {
            return Ok(Some((Change::Truncated, File::open(&self.path)?)));
        }
        // While nothing has the name, the old file may still be written.
        let Ok(named) = fs::metadata(&self.path) else { return Ok(None) };
        if (named.dev(), named.ino()) == (own.dev(), own.ino()) {
            return Ok(None);
        }
        Ok(Some((Change::Replaced, File::open(&self.path)?)))
    }
}
