//! The forms in which tests are written.

use std::fmt;

/// How a test was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What `iperf3 -J` prints.
    Iperf3Json,
    /// What `iperf3 --json-stream` prints.
    Iperf3JsonStream,
    /// What `iperf3` prints for people.
    Iperf3Text,
    /// What `iperf` 2 prints for people or with `-y C`.
    Iperf2Text,
    /// What `pscheduler` prints of a throughput task.
    Pscheduler,
    /// What `nuttcp` prints for people.
    NuttcpText,
    /// What `nuttcp -fparse` prints.
    NuttcpPairs,
}

impl Format {
    /// Whether people were to read it, so that a line may have been cut or broken on its way.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Iperf3Text | Self::Iperf2Text | Self::Pscheduler | Self::NuttcpText | Self::NuttcpPairs)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Iperf3Json => "iperf3 JSON",
            Self::Iperf3JsonStream => "iperf3 JSON, one event a line",
            Self::Iperf3Text => "iperf3 text",
            Self::Iperf2Text => "iperf 2 text",
            Self::Pscheduler => "pscheduler text",
            Self::NuttcpText => "nuttcp text",
            Self::NuttcpPairs => "nuttcp key=value",
        })
    }
}
