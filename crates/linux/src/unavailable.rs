//! Why a fact cannot be read. Missing is never the same as zero.

use std::io;

/// A fact that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct Unavailable {
    /// The file, request or device.
    pub what: String,
    /// Why not.
    pub reason: Reason,
}

/// Why a fact cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The kernel or the driver does not offer it.
    #[error("not supported here")]
    Unsupported,
    /// It takes a privilege that this process lacks.
    #[error("permission denied")]
    Denied,
    /// The thing it belongs to does not exist.
    #[error("does not exist")]
    Absent,
    /// Anything else.
    #[error("{message}")]
    Failed {
        /// What went wrong.
        message: String,
    },
}

impl Unavailable {
    pub(crate) fn because(what: impl Into<String>, error: &io::Error) -> Self {
        Self { what: what.into(), reason: Reason::of(error) }
    }

    pub(crate) fn failed(what: impl Into<String>, message: impl Into<String>) -> Self {
        Self { what: what.into(), reason: Reason::Failed { message: message.into() } }
    }
}

impl Reason {
    fn of(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Self::Denied,
            Some(libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::ESRCH) => Self::Absent,
            Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::ENOPROTOOPT | libc::EPROTONOSUPPORT | libc::EAFNOSUPPORT) => {
                Self::Unsupported
            }
            _ => Self::Failed { message: error.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_the_kernel_becomes_a_reason() {
        let reason = |errno| Reason::of(&io::Error::from_raw_os_error(errno));
        assert_eq!(reason(libc::EPERM), Reason::Denied);
        assert_eq!(reason(libc::ENODEV), Reason::Absent);
        assert_eq!(reason(libc::EOPNOTSUPP), Reason::Unsupported);
        assert!(matches!(reason(libc::EIO), Reason::Failed { .. }));
    }
}
