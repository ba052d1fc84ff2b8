//! A directory for what a command needs only while it works.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use linux::namespaces::process::{Process, start_of};
use linux::namespaces::rights::user;
use measure::stop::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::attempt::new_id;
use crate::exit::{Complaint, Exit};

/// A directory that nobody else can enter, and that is gone when this is. Of a process that was killed it goes with the next
/// directory of the same kind.
pub struct ScratchDirectory {
    path: PathBuf,
    /// Held for as long as the process lives, however it ends.
    _lock: File,
}

impl ScratchDirectory {
    /// A directory for `whom`, one word that says so in the name of the directory.
    pub fn new(whom: &str) -> anyhow::Result<Self> {
        let refused = || {
            Complaint::new(Exit::Local, format!("there is no place for the runs of the {whom}"))
                .hint("TMPDIR names a directory in which files can be made")
        };
        let prefix = format!("linerate-{whom}-");
        clear_abandoned(&std::env::temp_dir(), &prefix);
        let path = std::env::temp_dir().join(format!("{prefix}{}", new_id(linux::clock::wall_now())?));
        lab::network::place::private(&path).with_context(refused)?;
        let lock = File::create(path.join(LOCK)).and_then(|lock| lock.lock().map(|()| lock)).with_context(refused)?;
        Ok(Self { path, _lock: lock })
    }

    /// The first Ctrl-C ends the work in good order, the second one at once; the directory goes in both cases.
    pub fn stop_on_signals(&self) -> anyhow::Result<Stop> {
        let stop = Stop::default();
        let (mut comes, tells) = UnixStream::pair().context("cannot wait for signals")?;
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, stop.flag())?;
            signal_hook::low_level::pipe::register(signal, tells.try_clone()?)?;
        }
        let path = self.path.clone();
        thread::spawn(move || {
            if comes.read_exact(&mut [0; 2]).is_ok() {
                end_children();
                clear(&path);
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        });
        Ok(stop)
    }

    /// A file or directory in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        clear(&self.path);
    }
}

/// Removes the directory. Programs that still run may make files in it meanwhile, by its name: so it loses that first. What
/// cannot be removed at all is in a place that is cleared at the next start of the machine.
fn clear(path: &Path) {
    let gone = path.with_extension(GONE);
    let _ = fs::rename(path, &gone);
    // Whoever works and whoever ends the process at a second signal may both clear it: the second one finds it renamed, and
    // must not end the process while the first is in the middle of it.
    for path in [gone.as_path(), path] {
        // A program may hold the directory itself, and be in the middle of making a file.
        for _ in 0..MOST_ATTEMPTS {
            if fs::remove_dir_all(path).is_ok() || !path.exists() {
                break;
            }
        }
    }
}

/// Ends the programs that this process has started: one that is about to make its directory would make ours anew with it.
fn end_children() {
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return };
    let children: Vec<String> = threads.flatten().map(of_thread).collect();
    let numbers = children.iter().flat_map(|list| list.split_whitespace()).filter_map(|number| number.parse().ok());
    let running: Vec<Process> = numbers.filter_map(|number| Process::find(number, start_of(number)?)).collect();
    for process in &running {
        // It fails only where it is somebody else's, and then it makes nothing of ours.
        let _ = process.kill();
    }
    for process in &running {
        let _ = process.wait(ENDS_WITHIN);
    }
}

/// Removes what processes left that were killed: directories of this user whose lock nobody holds.
fn clear_abandoned(place: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_one = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix));
        // A link, or a directory of somebody else, is none of ours.
        let is_ours = || fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == user());
        if is_one && is_ours() && is_abandoned(&path) {
            clear(&path);
        }
    }
}

/// Whether nobody holds its lock. One without a lock is being made, or is older than that takes.
fn is_abandoned(path: &Path) -> bool {
    match File::open(path.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(_) => {
            let age = fs::symlink_metadata(path).and_then(|found| found.modified()).map(|time| time.elapsed());
            age.is_ok_and(|age| age.is_ok_and(|age| age > BEING_MADE))
        }
    }
}

const LOCK: &str = "lock";
const GONE: &str = "gone";
const MOST_ATTEMPTS: usize = 100;
const BEING_MADE: Duration = Duration::from_secs(60);
/// The kernel ends what is killed as soon as it is out of a system call.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_all_that_is_in_it() {
        let scratch = ScratchDirectory::new("test").unwrap();
        fs::write(scratch.file("plan.toml"), "").unwrap();
        let path = scratch.path.clone();
        assert!(path.join("plan.toml").exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn directory_of_a_killed_process_goes_with_the_next_one_and_that_of_a_live_one_stays() {
        let live = ScratchDirectory::new("test-killed").unwrap();
        let killed = ScratchDirectory::new("test-killed").unwrap();
        let path = killed.path.clone();
        fs::write(killed.file("archive.db"), "").unwrap();
        // The kernel lets go of the lock of a killed process, and nothing else happens.
        killed._lock.unlock().unwrap();
        std::mem::forget(killed);
        let next = ScratchDirectory::new("test-killed").unwrap();
        assert!(!path.exists() && live.path.exists() && next.path.exists());
    }

    #[test]
    fn whoever_clears_it_beside_another_returns_when_it_is_gone() {
        let scratch = ScratchDirectory::new("test-twice").unwrap();
        let path = scratch.path.clone();
        for number in 0..4_000 {
            fs::write(scratch.file(&number.to_string()), "").unwrap();
        }
        let other = thread::spawn(move || drop(scratch));
        while path.exists() {
            thread::yield_now();
        }
        // As the second signal does.
        clear(&path);
        assert!(!path.with_extension(GONE).exists());
        other.join().unwrap();
    }

    #[test]
    fn directory_goes_while_programs_make_files_in_it() {
        let scratch = ScratchDirectory::new("test-busy").unwrap();
        let path = scratch.path.clone();
        let makes = path.clone();
        let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stop = std::sync::Arc::clone(&over);
        let program = thread::spawn(move || {
            let mut number = 0_u64;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::write(makes.join(number.to_string()), "");
                number += 1;
            }
        });
        drop(scratch);
        assert!(!path.exists() && !path.with_extension(GONE).exists());
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        program.join().unwrap();
    }
}
