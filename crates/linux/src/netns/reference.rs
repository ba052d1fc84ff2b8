//! How a network namespace is named.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Which network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NetnsRef {
    /// A name of `ip netns` or of Docker.
    Name(String),
    /// A file that keeps a namespace, such as `/proc/1/ns/net`.
    Path(PathBuf),
    /// That of a process.
    Pid(u32),
}

impl NetnsRef {
    /// Reads `pid:N`, a path (anything with a slash), or else a name.
    ///
    /// # Errors
    /// For an empty text, a `pid:` without a number, and the names `.` and `..`.
    pub fn parse(text: &str) -> Result<Self, NetnsRefError> {
        if let Some(pid) = text.strip_prefix("pid:") {
            return pid.parse().map(Self::Pid).map_err(|_| NetnsRefError { text: text.to_owned() });
        }
        match text {
            "" | "." | ".." => Err(NetnsRefError { text: text.to_owned() }),
            path if path.contains('/') => Ok(Self::Path(path.into())),
            name => Ok(Self::Name(name.to_owned())),
        }
    }

    /// The files that may be it, the likeliest first.
    pub(super) fn candidates(&self) -> Vec<PathBuf> {
        match self {
            Self::Name(name) => DIRECTORIES.iter().map(|directory| Path::new(directory).join(name)).collect(),
            Self::Path(path) => vec![path.clone()],
            Self::Pid(pid) => vec![format!("/proc/{pid}/ns/net").into()],
        }
    }
}

impl FromStr for NetnsRef {
    type Err = NetnsRefError;

    fn from_str(text: &str) -> Result<Self, NetnsRefError> {
        Self::parse(text)
    }
}

/// As [`NetnsRef::parse`] reads it.
impl fmt::Display for NetnsRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Path(path) => path.display().fmt(f),
            Self::Pid(pid) => write!(f, "pid:{pid}"),
        }
    }
}

/// A text that names no namespace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no network namespace: a name, a path or pid:N is expected")]
pub struct NetnsRefError {
    /// Text as it was given.
    pub text: String,
}

/// Where namespaces with names are kept.
pub(super) const DIRECTORIES: [&str; 3] = ["/run/netns", "/run/docker/netns", "/var/run/docker/netns"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_apart_and_shown_as_they_are_read() {
        let cases = [
            ("blue", NetnsRef::Name("blue".to_owned())),
            ("1234", NetnsRef::Name("1234".to_owned())),
            ("/proc/1/ns/net", NetnsRef::Path("/proc/1/ns/net".into())),
            ("pid:17", NetnsRef::Pid(17)),
        ];
        for (text, reference) in cases {
            assert_eq!(text.parse(), Ok(reference.clone()));
            assert_eq!(reference.to_string(), text);
        }
        for text in ["", ".", "..", "pid:", "pid:one", "pid:-1"] {
            assert!(NetnsRef::parse(text).is_err(), "{text:?}");
        }
    }
}
