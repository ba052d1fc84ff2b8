//! Which versions understand each other: the same major version, and minor versions that differ by one at most.

use std::fmt;
use std::str::FromStr;

/// A version of linerate, as far as it matters to peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
}

/// Why two versions do not work together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// A text that is no version.
    #[error("`{0}` is no version of linerate")]
    Foreign(String),
    /// They are too far apart.
    #[error("version {theirs} of the agent and {ours} of the hub are more than one minor version apart")]
    Apart {
        /// Version of this hub.
        ours: Version,
        /// Version that the agent says.
        theirs: Version,
    },
}

impl Version {
    /// This program's.
    ///
    /// # Errors
    /// Never: the version of the package is one.
    pub fn ours() -> Result<Self, VersionError> {
        TEXT.parse()
    }

    /// Whether a peer of this version is understood.
    ///
    /// # Errors
    /// [`VersionError::Apart`] where it is not.
    pub fn check(self, theirs: Self) -> Result<(), VersionError> {
        if self.major == theirs.major && self.minor.abs_diff(theirs.minor) <= 1 {
            Ok(())
        } else {
            Err(VersionError::Apart { ours: self, theirs })
        }
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let foreign = || VersionError::Foreign(text.chars().take(40).collect());
        let mut numbers = text.split('.').map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return Err(foreign()) };
        Ok(Self { major, minor })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// This program's version.
pub const TEXT: &str = env!("CARGO_PKG_VERSION");

/// The header in which peers say theirs.
pub const HEADER: &str = "linerate-version";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_minor_version_apart_is_understood_and_two_are_not() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        let ours = version("1.4.2");
        for near in ["1.4.0", "1.3.9", "1.5.0"] {
            assert_eq!(ours.check(version(near)), Ok(()));
        }
        for far in ["1.2.0", "1.6.0", "0.4.0", "2.4.0"] {
            assert!(ours.check(version(far)).is_err(), "{far}");
        }
        assert!("new".parse::<Version>().is_err() && "1".parse::<Version>().is_err());
        assert_eq!(Version::ours().unwrap().check(Version::ours().unwrap()), Ok(()));
    }
}
