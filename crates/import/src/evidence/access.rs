//! What access lines carry, and how long packets wait while they are full.

use std::time::Duration;

use units::DataRate;

use crate::quantity::megabits;

/// What several connections carried between a host and a server near it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRates {
    /// The server, as it is printed.
    pub server: String,
    /// Over how many connections.
    pub streams: AccessStreams,
    /// Towards the host.
    pub download: Option<DataRate>,
    /// From the host.
    pub upload: Option<DataRate>,
    /// RTT to the server.
    pub rtt: Option<Duration>,
    /// The same while data came, and while data left.
    pub loaded: [Option<LoadedLatency>; 2],
    /// Packets that were lost, in hundredths of a percent.
    pub lost: Option<u32>,
    /// Payload of the download that was retransmitted, in hundredths of a percent.
    pub retransmitted: Option<u32>,
}

impl AccessRates {
    /// Those of a server of which nothing was read yet.
    pub(super) fn unknown(server: &str, streams: AccessStreams) -> Self {
        Self {
            server: server.chars().take(LONGEST_NAME).collect(),
            streams,
            download: None,
            upload: None,
            rtt: None,
            loaded: [None; 2],
            lost: None,
            retransmitted: None,
        }
    }
}

/// `93.91 Mbit/s`, `46.31 Mbps`, `18.321 Mbps (Accuracy: High)`, `718.73 Mbps (data used: 513.4 MB)`, `11.73 Mbyte/s`.
pub(super) fn rate(value: &str) -> Option<DataRate> {
    let mut words = value.split_whitespace();
    let number = words.next()?;
    let times = |factor: u64| megabits(number).map(|rate| DataRate::from_bps(rate.bps().saturating_mul(factor)));
    match words.next()? {
        "Mbit/s" | "Mbps" => times(1),
        "Mbyte/s" => times(8),
        "Gbit/s" | "Gbps" => times(1_000),
        "Kbit/s" | "Kbps" => times(1).map(|rate| DataRate::from_bps(rate.bps() / 1_000)),
        _ => None,
    }
}

/// The server of a test that does not name it.
pub(super) const NEAR_SERVER: &str = "a server near it";
/// Of a server's name, in letters.
pub(super) const LONGEST_NAME: usize = 80;

/// Over how many connections an access line was filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessStreams {
    /// One in each direction.
    One,
    /// Several at a time.
    Several,
}

/// RTT to a server near an access line, while the line is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedLatency {
    /// The mean over the time of one direction.
    pub rtt: Duration,
    /// The longest of that time, where it is printed.
    pub most: Option<Duration>,
}
