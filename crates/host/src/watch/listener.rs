//! A thread that listens all the time, so that a writer is looked at before it ends, whatever else is being done.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use linux::monitor::{FileMonitor, Heard as Queue, NetworkMonitor, SeenProcess, netlink_process, seen_process};
use linux::readiness::{Bell, Patience, Readiness};

use super::events::{By, Heard, of_path};

/// What is listened to in one namespace.
#[derive(Debug)]
pub(super) struct Ears {
    /// The number of the namespace.
    pub(super) inode: u64,
    pub(super) network: Option<NetworkMonitor>,
    pub(super) files: Option<FileMonitor>,
}

/// The thread, and what it has heard.
#[derive(Debug)]
pub(super) struct Listener {
    shared: Arc<Shared>,
    wake: Bell,
    thread: Option<JoinHandle<()>>,
    next: u32,
}

#[derive(Debug)]
struct Shared {
    readiness: Readiness,
    ears: Mutex<BTreeMap<u32, Arc<Ears>>>,
    heard: Mutex<BTreeMap<u32, Heard>>,
    told: Bell,
    stopped: AtomicBool,
}

impl Listener {
    /// Starts listening to nothing yet; `told` rings when something was heard.
    pub(super) fn start(told: Bell) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            readiness: Readiness::new()?,
            ears: Mutex::default(),
            heard: Mutex::default(),
            told,
            stopped: AtomicBool::new(false),
        });
        let wake = shared.readiness.bell();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("listener".to_owned()).spawn(move || for_thread.listen())?;
        Ok(Self { shared, wake, thread: Some(thread), next: 0 })
    }

    /// Listens to one namespace more, and gives it a number.
    pub(super) fn add(&mut self, ears: Ears) -> io::Result<(u32, Arc<Ears>)> {
        let (number, ears) = (self.next, Arc::new(ears));
        self.next += 1;
        lock(&self.shared.ears).insert(number, Arc::clone(&ears));
        for file in ears.network.iter().flat_map(NetworkMonitor::files) {
            self.shared.readiness.add(file, number)?;
        }
        if let Some(files) = &ears.files {
            self.shared.readiness.add(files, number)?;
        }
        Ok((number, ears))
    }

    /// Listens to a namespace no more. Closing its files is what takes them out of the wait.
    pub(super) fn remove(&mut self, number: u32) {
        lock(&self.shared.ears).remove(&number);
        lock(&self.shared.heard).remove(&number);
    }

    /// Whether something was heard.
    pub(super) fn has_heard(&self) -> bool {
        !lock(&self.shared.heard).is_empty()
    }

    /// All that was heard since the last time.
    pub(super) fn take(&self) -> BTreeMap<u32, Heard> {
        std::mem::take(&mut *lock(&self.shared.heard))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        self.wake.ring();
        if let Some(thread) = self.thread.take() {
            // It panics only where the house is on fire anyway.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn listen(&self) {
        // It does little, and what it looks at ends within a fraction of a millisecond. Without the right it is as others.
        let _ = linux::affinity::prefer_current_thread();
        let mut ports = Ports::default();
        while !self.stopped.load(Ordering::Acquire) {
            let mut ready = Vec::new();
            if self.readiness.wait(Patience::Endless, |number| ready.push(number)).is_err() {
                return;
            }
            for number in ready {
                let ears = lock(&self.ears).get(&number).map(Arc::clone);
                if let Some(ears) = ears {
                    self.hear(number, &ears, &mut ports);
                }
            }
        }
    }

    fn hear(&self, number: u32, ears: &Ears, ports: &mut Ports) {
        let mut heard = Heard::default();
        let now = linux::clock::wall_now;
        // Writers first: they end soon.
        let files = ears.files.as_ref().map(|files| {
            files.read(|write| {
                let by = write.pid.map_or(By::Untold, |pid| seen_process(pid).map_or(By::Ended(pid), By::Seen));
                if let Some(on) = of_path(&write.path) {
                    heard.write(on, by, now());
                }
            })
        });
        let network = ears.network.as_ref().map(|network| {
            network.read(|change| {
                let by = change.port.and_then(|port| ports.whose(port, ears.inode)).map_or(By::Untold, By::Seen);
                heard.network(change, by, now());
            })
        });
        let complete = [files, network].into_iter().flatten().all(|read| matches!(read, Ok(Queue::Everything)));
        if !complete {
            heard.lost(now());
        }
        if heard != Heard::default() {
            self.keep(number, heard);
            self.told.ring();
        }
    }

    fn keep(&self, number: u32, new: Heard) {
        let mut all = lock(&self.heard);
        match all.get_mut(&number) {
            Some(old) => old.merge(new),
            None => drop(all.insert(number, new)),
        }
    }
}

/// Whose a netlink port was a moment ago: a program that sets a thousand routes is looked at once.
#[derive(Default)]
struct Ports {
    last: Option<(u32, u64, Instant, Option<SeenProcess>)>,
}

impl Ports {
    fn whose(&mut self, port: u32, netns: u64) -> Option<SeenProcess> {
        if let Some((known, place, at, process)) = &self.last
            && (*known, *place) == (port, netns)
            && at.elapsed() < FRESH
        {
            return process.clone();
        }
        let process = netlink_process(port, netns);
        self.last = Some((port, netns, Instant::now(), process.clone()));
        process
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a port is taken to be the same process's.
const FRESH: Duration = Duration::from_secs(1);
