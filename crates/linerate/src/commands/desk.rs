//! A directory for what a command needs only while it works.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Context;
use measure::stop::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::attempt::new_id;
use crate::exit::{Complaint, Exit};

/// A directory that nobody else can enter, and that is gone when this is.
pub struct Desk(PathBuf);

impl Desk {
    /// A desk for `whom`, one word that says so in the name of the directory.
    pub fn new(whom: &str) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("linerate-{whom}-{}", new_id(linux::clock::wall_now())?));
        lab::network::place::private(&path).with_context(|| {
            Complaint::new(Exit::Local, format!("there is no place for the runs of the {whom}"))
                .hint("TMPDIR names a directory in which files can be made")
        })?;
        Ok(Self(path))
    }

    /// The first Ctrl-C ends the work in good order, the second one at once; the desk goes in both cases.
    pub fn stop_on_signals(&self) -> anyhow::Result<Stop> {
        let stop = Stop::default();
        let (mut comes, tells) = UnixStream::pair().context("cannot wait for signals")?;
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, stop.flag())?;
            signal_hook::low_level::pipe::register(signal, tells.try_clone()?)?;
        }
        let path = self.0.clone();
        thread::spawn(move || {
            if comes.read_exact(&mut [0; 2]).is_ok() {
                clear(&path);
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        });
        Ok(stop)
    }

    /// A file or directory on it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        clear(&self.0);
    }
}

/// Removes the directory. A program that still runs may make a file in it meanwhile, once or twice; what cannot be removed
/// at all is in a place that is cleared at the next start of the machine.
fn clear(path: &Path) {
    for _ in 0..MOST_ATTEMPTS {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            break;
        }
    }
}

const MOST_ATTEMPTS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_all_that_is_in_it() {
        let desk = Desk::new("test").unwrap();
        fs::write(desk.file("plan.toml"), "").unwrap();
        let path = desk.0.clone();
        assert!(path.join("plan.toml").exists());
        drop(desk);
        assert!(!path.exists());
    }
}
