//! How a host is watched.

use std::time::Duration;

/// How to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How often everything is compared.
    pub interval: Duration,
    /// Which namespaces.
    pub reach: Namespaces,
    /// Bytes of each queue in the kernel that holds what was not heard yet.
    pub queue_bytes: usize,
}

/// Which network namespaces are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    /// That of this process.
    Own,
    /// All that this process may enter, with those that come.
    All,
}

impl Default for Options {
    fn default() -> Self {
        Self { interval: Duration::from_secs(600), reach: Namespaces::Own, queue_bytes: 1 << 20 }
    }
}
