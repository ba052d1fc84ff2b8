//! A directory for the runs of a demonstration, which goes with it.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use crate::commands::attempt::new_id;
use crate::exit::{Complaint, Exit};

/// A directory that nobody else can enter.
pub struct Desk(PathBuf);

impl Desk {
    pub fn new() -> anyhow::Result<Self> {
        let name = format!("linerate-demo-{}", new_id(linux::clock::wall_now())?);
        let path = std::env::temp_dir().join(name);
        lab::network::place::private(&path).with_context(|| {
            Complaint::new(Exit::Local, "the demonstration has no place for its runs")
                .hint("TMPDIR names a directory in which files can be made")
        })?;
        Ok(Self(path))
    }

    /// The archive of its runs.
    pub fn archive(&self) -> PathBuf {
        self.0.join("archive.db")
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // What cannot be removed now is in a directory that is cleared at the next start.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_all_that_is_in_it() {
        let desk = Desk::new().unwrap();
        fs::write(desk.file("plan.toml"), "").unwrap();
        let path = desk.0.clone();
        assert!(path.join("plan.toml").exists());
        drop(desk);
        assert!(!path.exists());
    }
}
