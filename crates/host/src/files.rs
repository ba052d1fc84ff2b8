//! Files of a system, by their absolute path: on disk, or held in memory as an archive had them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files of a system.
pub trait Files {
    /// The content of a file.
    ///
    /// # Errors
    /// Why it cannot be read; [`io::ErrorKind::FileTooLarge`] above [`MAX_FILE`].
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// The names in a directory, in order; none where it does not exist or may not be read.
    fn list(&self, directory: &str) -> Vec<String>;

    /// Where a link goes, as it is written; [`None`] for what is no link.
    fn link(&self, path: &str) -> Option<String>;

    /// The content of a file as text; what is not UTF-8 is replaced.
    ///
    /// # Errors
    /// As [`Files::read`].
    fn text(&self, path: &str) -> io::Result<String> {
        self.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The files below a directory of this machine.
#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
}

impl Disk {
    /// The files below `root`; those of the running system below `/`.
    #[must_use]
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Files for Disk {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        read_bounded(&self.place(path))
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.place(directory)).into_iter().flatten();
        let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }

    fn link(&self, path: &str) -> Option<String> {
        fs::read_link(self.place(path)).ok()?.into_os_string().into_string().ok()
    }
}

/// Reads a file that is one, up to [`MAX_FILE`]. A pipe or a device is not waited for.
pub(crate) fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    let mut content = Vec::new();
    let limit = u64::try_from(MAX_FILE).unwrap_or(u64::MAX);
    File::open(path)?.take(limit + 1).read_to_end(&mut content)?;
    if content.len() > MAX_FILE { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(content) }
}

/// Files held in memory.
#[derive(Debug, Clone, Default)]
pub struct FilesInMemory {
    /// Contents by absolute path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Links by absolute path.
    pub links: BTreeMap<String, String>,
}

impl Files for FilesInMemory {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            match (self.files.get(&path), self.links.get(&path)) {
                (Some(content), _) => return Ok(content.clone()),
                (None, Some(target)) => path = resolved(&path, target),
                (None, None) => return Err(io::ErrorKind::NotFound.into()),
            }
        }
        Err(io::Error::other("links that lead in a circle"))
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let start = format!("{}/", directory.trim_end_matches('/'));
        let files = self.files.range(start.clone()..).map(|(path, _)| path);
        let links = self.links.range(start.clone()..).map(|(path, _)| path);
        let within = |path: &String| Some(path.strip_prefix(&start)?.split('/').next()?.to_owned());
        let mut names: Vec<String> = files.map_while(within).chain(links.map_while(within)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn link(&self, path: &str) -> Option<String> {
        self.links.get(path).cloned()
    }
}

/// Where a link at `path` goes that says `target`.
fn resolved(path: &str, target: &str) -> String {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let whole = if target.starts_with('/') { target.to_owned() } else { format!("{directory}/{target}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Most links from one to the next (as in the kernel, include/linux/namei.h, MAXSYMLINKS).
const MAX_LINKS: usize = 40;

/// The longest file that is read. The longest of those that matter, a table of interrupts, has some hundred KiB.
pub const MAX_FILE: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_directory_are_those_directly_in_it() {
        let files = ["/etc/a.d/2", "/etc/a.d/1", "/etc/a.d/deep/3", "/etc/a.db"];
        let held =
            FilesInMemory { files: files.map(|path| (path.to_owned(), Vec::new())).into(), links: BTreeMap::new() };
        assert_eq!(held.list("/etc/a.d"), ["1", "2", "deep"]);
        assert!(held.list("/etc/b").is_empty());
    }

    #[test]
    fn links_are_followed_and_circles_end() {
        let files = [("/etc/sysctl.conf".to_owned(), b"x".to_vec())].into();
        let links = [("/etc/sysctl.d/99.conf", "../sysctl.conf"), ("/a", "b"), ("/b", "/a")];
        let held =
            FilesInMemory { files, links: links.map(|(path, target)| (path.to_owned(), target.to_owned())).into() };
        assert_eq!(held.read("/etc/sysctl.d/99.conf").unwrap(), b"x");
        assert_eq!(held.list("/etc/sysctl.d"), ["99.conf"]);
        assert!(held.read("/a").is_err());
    }

    #[test]
    fn device_and_directory_are_not_read_as_files() {
        let disk = Disk::below("/");
        for path in ["/dev/zero", "/dev", "/nonesuch"] {
            assert!(disk.read(path).is_err(), "{path}");
        }
    }
}
