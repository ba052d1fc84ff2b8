//! Demonstrations that a hub shows in place of its own pages: this program once more, in a directory of its own.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use hub::api::demonstration::DemonstrationKind;
use hub::demonstration::{Demonstrator, Performance};
use hub::server::directory::Directory;
use linux::namespaces::process::{Process, start_of};
use web::source::Source;

use super::pages;
use crate::commands::scratch::ScratchDirectory;

/// Starts this program for each demonstration.
#[derive(Debug)]
pub struct Programs {
    program: PathBuf,
}

impl Programs {
    pub fn of_this_one() -> io::Result<Self> {
        Ok(Self { program: std::env::current_exe()? })
    }
}

impl Demonstrator for Programs {
    fn begin(&self, kind: DemonstrationKind) -> io::Result<Box<dyn Performance>> {
        let scratch = ScratchDirectory::new("demonstration").map_err(|error| io::Error::other(format!("{error:#}")))?;
        let directory = scratch.file("hub");
        let mut command = Command::new(&self.program);
        match kind {
            DemonstrationKind::Live => {
                command.args(["hub", "demo", "--by-hand", "--hub-directory"]).arg(&directory);
            }
            DemonstrationKind::Virtual => {
                command.args(["hub", "replay"]).arg(&directory).args([SCENARIO, "--after", "0"]);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let said = Arc::new(Mutex::new(Said::default()));
        let (started, is_started) = std::sync::mpsc::channel();
        let heard = Arc::clone(&said);
        // The kernel ends it when the thread that started it ends: this one listens until it has ended.
        thread::Builder::new().name("demonstration".to_owned()).spawn(move || match command.spawn() {
            Err(error) => drop(started.send(Err(error))),
            Ok(child) => {
                let process = Process::find(child.id(), start_of(child.id()).unwrap_or_default());
                if started.send(Ok(process)).is_ok() {
                    listen(child, &heard);
                }
            }
        })?;
        let process = is_started.recv().map_err(io::Error::other)??;
        Ok(Box::new(Programme { kind, directory, said, process, _scratch: scratch }))
    }
}

/// What a program has said so far.
#[derive(Debug, Default)]
struct Said {
    lines: VecDeque<String>,
    /// Its pages are there.
    has_pages: bool,
    ended: Option<Ended>,
}

#[derive(Debug)]
struct Ended {
    /// Whether it has done what it was to do.
    is_done: bool,
    complaint: String,
}

/// A demonstration that a program carries out.
struct Programme {
    kind: DemonstrationKind,
    directory: PathBuf,
    said: Arc<Mutex<Said>>,
    process: Option<Process>,
    _scratch: ScratchDirectory,
}

impl std::fmt::Debug for Programme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programme")
            .field("kind", &self.kind)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

impl Programme {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Performance for Programme {
    fn source(&mut self) -> Option<Box<dyn Source>> {
        let said = self.said();
        let is_ready = match self.kind {
            DemonstrationKind::Live => said.has_pages,
            DemonstrationKind::Virtual => said.ended.as_ref().is_some_and(|ended| ended.is_done),
        };
        drop(said);
        let opened = is_ready.then(|| source(&self.directory)).flatten();
        if is_ready && opened.is_none() {
            self.said().ended = Some(Ended { is_done: false, complaint: "its results cannot be read".to_owned() });
        }
        opened
    }

    fn lines(&self) -> Vec<String> {
        self.said().lines.iter().cloned().collect()
    }

    fn failure(&self) -> Option<String> {
        self.said().ended.as_ref().filter(|ended| !ended.is_done).map(|ended| ended.complaint.clone())
    }
}

impl Drop for Programme {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        // It fails only where the program has ended.
        let _ = process.ask_to_end();
        if process.wait(ENDS_WITHIN).is_ok_and(|ended| !ended) {
            let _ = process.kill();
        }
    }
}

fn source(directory: &Path) -> Option<Box<dyn Source>> {
    pages::named(&Directory::at(directory), "demonstration".to_owned()).ok()
}

/// Keeps what a program says until it has ended.
fn listen(mut child: Child, said: &Mutex<Said>) {
    let said = || said.lock().unwrap_or_else(PoisonError::into_inner);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let complaint = thread::spawn(move || {
        let mut text = Vec::new();
        // What is cut is not shown either.
        let _ = stderr.map(|stderr| stderr.take(MOST_COMPLAINT).read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok) {
        let mut said = said();
        said.has_pages |= line.contains(": http://");
        if !line.trim().is_empty() {
            said.lines.push_back(line.trim().to_owned());
        }
        let excess = said.lines.len().saturating_sub(MOST_LINES);
        said.lines.drain(..excess);
    }
    let status = child.wait();
    let complaint = complaint.join().unwrap_or_default();
    let first = complaint.lines().find_map(|line| line.strip_prefix("error: ")).or(complaint.lines().next());
    let mut said = said();
    said.ended = Some(Ended {
        // A history in which no incident names the cause is one to look at all the same.
        is_done: status.is_ok_and(|status| matches!(status.code(), Some(0 | FOUND))),
        complaint: first.unwrap_or("it has ended without a word").to_owned(),
    });
}

/// Played where the machine makes no networks.
const SCENARIO: &str = "dc24-small-rings";
const FOUND: i32 = 10;
const MOST_LINES: usize = 8;
const MOST_COMPLAINT: u64 = 64 << 10;
/// It takes its network away.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
