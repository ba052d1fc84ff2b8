//! Tests of which a program prints sums only.

use std::time::Duration;

use model::measurement::Heading;
use model::spec::Protocol;
use units::{ByteCount, DataRate};

/// A test of one direction over a time, of which sums are printed and no intervals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummedTest {
    /// Name of the command, such as `netperf`.
    pub tool: &'static str,
    /// The other host.
    pub target: String,
    /// What carried it.
    pub protocol: Protocol,
    /// Socket buffer that the command asked for, the smaller of both ends'.
    pub window: Option<ByteCount>,
    /// Seen from the host that printed it.
    pub heading: Heading,
    /// Payload a second that arrived.
    pub rate: DataRate,
    /// How long it took.
    pub elapsed: Duration,
    /// Datagrams sent, and of them those that arrived.
    pub datagrams: Option<[u64; 2]>,
}
