//! NDT7: one TCP connection that carries WebSocket messages at full speed, in one direction, for ten seconds.
//!
//! It is the test of M-Lab's servers and of the clients in browsers that people run
//! (m-lab/ndt-server, spec/ndt7-protocol.md v0.11.0), over `ws` or `wss`.
//!
//! * [`report`]: the measurements that both sides send each other, as JSON
//! * [`size`]: how large the messages are that carry load
//! * [`url`]: whom to test with, as people type it
//! * [`tls`]: what lies beneath `wss`
//! * [`frames`]: what a peer sends, read from memory
//! * [`client`]: the side that asks
//!
//! Inside: `socket` is the connection, `handshake` its start, `exchange` the test as both sides conduct it, `recording` what the
//! kernel reported meanwhile, `outcome` the measurement that comes of it. The other side is [`crate::serve::ndt7`].

pub mod client;
pub(crate) mod exchange;
pub mod frames;
pub(crate) mod handshake;
pub(crate) mod outcome;
mod recording;
pub mod report;
pub mod size;
pub(crate) mod socket;
pub mod tls;
pub mod url;

use std::time::Duration;

use model::spec::{Direction, Limit, TestSpec};

/// The sub-protocol that both sides name in the handshake.
pub(crate) const SUBPROTOCOL: &str = "net.measurementlab.ndt.v7";
/// Where the server sends.
pub(crate) const DOWNLOAD: &str = "/ndt/v7/download";
/// Where the client sends.
pub(crate) const UPLOAD: &str = "/ndt/v7/upload";
/// How long a test takes, from the end of the handshake.
pub const LENGTH: Duration = Duration::from_secs(10);
/// When either side may close at the latest.
pub(crate) const LONGEST: Duration = Duration::from_secs(13);

/// A test of NDT7 in the terms of any other test; `Forward` is an upload, `Reverse` a download.
#[must_use]
pub fn spec(direction: Direction, length: Duration) -> TestSpec {
    TestSpec { direction, limit: Limit::Time(length), probe_every: Duration::ZERO, ..TestSpec::default() }
}
