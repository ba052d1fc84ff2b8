//! What a run found.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate, PacketCount};

use crate::counters::CounterReadings;
use crate::expectation::Expectation;
pub use crate::heading::Heading;
use crate::quality::CpuContention;
use crate::spec::{ReceiveMethod, SendMethod};

/// What a run found. Times count from the start of the test on the clock of the host that stores it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measurement {
    /// Sums for each direction that was tested.
    pub totals: Vec<DirectionTotal>,
    /// Each stream in each direction.
    pub flows: Vec<Flow>,
    /// The run in equal steps.
    pub intervals: Vec<Interval>,
    /// Round-trip times before and beside the flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// How the peer's clock was mapped onto this host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockRelation>,
    /// How well the sampling kept its pace at each end.
    pub telemetry: Vec<Cadence>,
    /// This host's counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_counters: Option<CounterReadings>,
    /// The peer's counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_counters: Option<CounterReadings>,
    /// Processor time this process used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_cpu: Option<CpuUse>,
    /// Processor time the peer's process used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_cpu: Option<CpuUse>,
    /// What this host's CPUs did beside the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_contention: Option<CpuContention>,
    /// What the peer's CPUs did beside the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_contention: Option<CpuContention>,
    /// What the peer printed, where it is an iperf3 that was asked to send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_output: Option<String>,
    /// What each direction should have reached, where that was reckoned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
    /// What was odd, one line each: fallbacks, unknown keys, disagreeing totals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<String>,
}

/// One of a flow's two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Where payload enters the path.
    Sender,
    /// Where payload leaves the path.
    Receiver,
}

/// Sums over all streams of one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectionTotal {
    /// Which way.
    pub heading: Heading,
    /// Payload the sender handed to its kernel.
    #[serde(rename = "sent_bytes", default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<ByteCount>,
    /// Payload the receiver took from its kernel.
    #[serde(rename = "received_bytes", default, skip_serializing_if = "Option::is_none")]
    pub received: Option<ByteCount>,
    /// From the start of the test to the receiver's last byte: in a test over bytes, the flow completion time.
    #[serde(rename = "elapsed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub elapsed: Duration,
    /// Payload received over the time it took; where the receiver told nothing, payload sent.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// TCP segments sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<PacketCount>,
    /// UDP datagrams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramCounts>,
    /// Ramp-up and steady part apart.
    pub steady: SteadyState,
}

/// Whether and when the rate settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SteadyState {
    /// From `ramp_up` on, the rate had no further trend.
    Reached {
        /// Time until the rate settled.
        #[serde(rename = "ramp_up_us", with = "units::duration::as_us")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        ramp_up: Duration,
        /// Mean goodput from then on.
        #[serde(rename = "goodput_bps")]
        goodput: DataRate,
    },
    /// The rate was still moving when the test ended, or the test was too short to tell.
    NotReached,
    /// Only what was sent is known over time, and a part of it did not arrive.
    NotCounted,
}

/// One stream in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flow {
    /// Number of the stream, from 1.
    pub stream: u32,
    /// Which way its payload goes.
    pub heading: Heading,
    /// This host's address and port.
    pub local_address: String,
    /// The peer's address and port.
    pub peer_address: String,
    /// Segment size the connection used.
    #[serde(rename = "mss_bytes", default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// Congestion control the sender used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// How the sender handed data over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_by: Option<SendMethod>,
    /// Whether the kernel copied in spite of a zero-copy method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_fallback: Option<bool>,
    /// How the receiver took data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_by: Option<ReceiveMethod>,
    /// Payload sent.
    #[serde(rename = "sent_bytes", default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<ByteCount>,
    /// Payload received.
    #[serde(rename = "received_bytes", default, skip_serializing_if = "Option::is_none")]
    pub received: Option<ByteCount>,
    /// TCP segments sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<PacketCount>,
    /// UDP datagrams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramCounts>,
}

/// What became of datagrams. `lost` counts those never seen, the tail included where the sender's count is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatagramCounts {
    /// Handed to the sender's socket; the highest sequence seen where the sender told nothing.
    pub sent: PacketCount,
    /// Taken from the receiver's socket, each counted once.
    pub received: PacketCount,
    /// Sent and never received.
    pub lost: PacketCount,
    /// Of those lost, how many came after the last one received.
    pub lost_at_tail: PacketCount,
    /// Received after one with a higher sequence (RFC 4737).
    pub reordered: PacketCount,
    /// Received again.
    pub duplicated: PacketCount,
    /// Dropped at the receiver's socket for want of buffer, as the socket counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_at_socket: Option<PacketCount>,
    /// Smoothed interarrival jitter at the end (RFC 3550 §6.4.1).
    #[serde(rename = "jitter_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub jitter: Duration,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Since the start of the measurement.
    #[serde(rename = "start_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub start: Duration,
    /// Since the start of the measurement.
    #[serde(rename = "end_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub end: Duration,
    /// Which way.
    pub heading: Heading,
    /// Payload within it, at the end of the path that this host is.
    pub bytes: ByteCount,
    /// The rate of that.
    #[serde(rename = "rate_bps")]
    pub rate: DataRate,
    /// TCP segments sent again within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<PacketCount>,
    /// Smoothed round-trip time at its end, the mean over the streams.
    #[serde(
        rename = "rtt_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub rtt: Option<Duration>,
    /// Congestion window at its end, the sum over the streams.
    #[serde(rename = "cwnd_bytes", default, skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<ByteCount>,
    /// UDP datagrams lost within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<PacketCount>,
    /// UDP datagrams within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<PacketCount>,
}

/// Round-trip times by STAMP probes (RFC 8762).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Before the first byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<RttSummary>,
    /// Beside the flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<RttSummary>,
    /// What larger packets needed more than small ones, before the first byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_times: Option<PacketTimes>,
}

/// How much longer packets were under way that are larger, in each direction of an idle path: what its links needed to send so many
/// bytes more, the slowest most of all. Each is the difference of the least times of a size, from which the offset of the clocks drops
/// out (V. Jacobson, pathchar, 1997).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketTimes {
    /// By how many bytes they are larger.
    pub more_bytes: u32,
    /// Towards the peer, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub there_ns: Option<u64>,
    /// From the peer, in nanoseconds; absent where it answers with small packets only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_ns: Option<u64>,
}

impl PacketTimes {
    /// In the direction of the payload.
    #[must_use]
    pub fn towards(&self, heading: Heading) -> Option<Duration> {
        let nanos = match heading {
            Heading::Outbound => self.there_ns,
            Heading::Inbound => self.back_ns,
        };
        nanos.map(Duration::from_nanos)
    }
}

/// A set of round-trip times. The quantiles are absent where every probe was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RttSummary {
    /// Probes sent.
    pub sent: PacketCount,
    /// Probes without an answer.
    pub lost: PacketCount,
    /// Least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_us: Option<u64>,
    /// Half are at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_us: Option<u64>,
    /// 95 of 100 are at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_us: Option<u64>,
    /// 99 of 100 are at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<u64>,
    /// Greatest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_us: Option<u64>,
}

/// The peer's monotonic clock on this host's: `local = peer + offset`, by the exchange with the least round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockRelation {
    /// What to add to the peer's clock at the start of the test.
    pub offset_ns: i64,
    /// The offset is within this of the truth: half the least round trip of an exchange.
    pub uncertainty_ns: u64,
    /// How much faster the peer's clock runs, where a second exchange after the test could tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppb: Option<i64>,
    /// Exchanges that were answered.
    pub exchanges: u32,
}

/// How well sampling kept its pace at one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cadence {
    /// Whose samples.
    pub whose: Whose,
    /// Time between samples that was asked for.
    pub wanted_us: u64,
    /// Median time between samples that came.
    pub achieved_us: u64,
    /// Samples taken of each stream.
    pub samples: u64,
    /// Times that two samples were farther apart than [`Self::at_most_us`]; of programs that promise nothing, than twice the
    /// wanted time.
    pub gaps: u64,
    /// Longest time between two samples.
    pub longest_gap_us: u64,
    /// How far apart two samples are at most while the sampling program runs: more says that it did not. Absent of programs
    /// that promise nothing, which sample at the wanted time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most_us: Option<u64>,
    /// Samples given up to stay within the memory limit.
    pub thinned: u64,
}

/// Which of the two hosts of a run something belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// The host that stores the run.
    Local,
    /// The other host.
    Peer,
}

/// Processor time over the run, as parts of one processor (1.0 is one processor busy all the time).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuUse {
    /// In the process.
    pub user: f64,
    /// In the kernel for the process.
    pub system: f64,
}
