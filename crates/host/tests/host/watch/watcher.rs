//! A watcher on a thread of the test.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use archive::Archive;
use host::watch::{Options, WatchEvent, watch};
use model::host::change::{ChangeEntry, LoggedChange};

/// A watcher, until it is dropped.
pub struct Watcher {
    told: Receiver<Said>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What it said.
#[derive(Debug)]
pub enum Said {
    Began,
    Entered(Box<LoggedChange>),
    Warning(String),
}

impl Watcher {
    /// Watches the namespace of the calling thread, for the archive in `folder`, and waits until it does.
    pub fn start(folder: &Path, options: Options) -> Self {
        let mut archive = Archive::open(folder.join("archive.db")).unwrap();
        let (tell, told) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut told = |said: WatchEvent<'_>| {
                // A test that has seen enough no longer listens.
                let _ = tell.send(match said {
                    WatchEvent::Began { .. } => Said::Began,
                    WatchEvent::Entered(change) => Said::Entered(Box::new(change.clone())),
                    WatchEvent::Warning(words) => Said::Warning(words),
                });
            };
            watch(&mut archive, &options, &until, &mut told).unwrap();
        });
        let watcher = Self { told, stop, thread: Some(thread) };
        watcher.wait_for("the beginning", |said| matches!(said, Said::Began).then_some(()));
        watcher
    }

    /// Waits for the entry of a fact.
    pub fn entry(&self, fact: &str) -> ChangeEntry {
        self.wait_for(fact, |said| match said {
            Said::Entered(change) if change.entry.fact == fact => Some(change.entry),
            _ => None,
        })
    }

    /// Waits for something that `wanted` makes something of.
    pub fn wait_for<T>(&self, what: &str, mut wanted: impl FnMut(Said) -> Option<T>) -> T {
        let mut seen = Vec::new();
        loop {
            let Ok(said) = self.told.recv_timeout(PATIENCE) else { panic!("no {what}: {seen:#?}") };
            seen.push(format!("{said:?}"));
            if let Some(found) = wanted(said) {
                return found;
            }
        }
    }

    /// What has been said by now, without waiting.
    pub fn said_by_now(&self) -> Vec<Said> {
        self.told.try_iter().collect()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // It has said why.
            let _ = thread.join();
        }
    }
}

/// After this a test that waits fails instead of waiting for ever. No claim rests on it.
const PATIENCE: Duration = Duration::from_secs(120);
