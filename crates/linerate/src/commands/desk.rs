//! A directory for what a command needs only while it works.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

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

    /// A file or directory on it.
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
        let desk = Desk::new("test").unwrap();
        fs::write(desk.file("plan.toml"), "").unwrap();
        let path = desk.0.clone();
        assert!(path.join("plan.toml").exists());
        drop(desk);
        assert!(!path.exists());
    }
}
