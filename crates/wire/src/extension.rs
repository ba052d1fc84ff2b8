//! What two linerates say to each other besides: an offer in the parameters, then messages behind
//! [`Signal::Extension`](super::signal::Signal::Extension), then a report in the results.
//!
//! A peer that does not know the key ignores it, and nothing else is ever sent to it.

use std::time::Duration;

use model::counters::CounterReadings;
use model::host::HostIdentity;
use model::measurement::{Cadence, CpuUse, DatagramCounts};
use model::quality::CpuContention;
use model::spec::{Limit, Offload, ReceiveMethod, SendMethod, TestSpec};
use serde::{Deserialize, Serialize};

/// The newest version of the extension that this program speaks.
pub const VERSION: u32 = 1;
/// The oldest version it still speaks.
pub const OLDEST_VERSION: u32 = 1;

/// The client's extra key among its parameters: versions it speaks, and what iperf3's parameters cannot say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// Oldest version the client speaks.
    pub oldest: u32,
    /// Newest version the client speaks.
    pub newest: u32,
    /// How long the client would wait in the queue; zero for not at all.
    #[serde(default)]
    pub wait_ms: u64,
    /// Exact time, where the test is limited by time.
    #[serde(default)]
    pub time_ms: Option<u64>,
    /// Spacing of samples.
    #[serde(default)]
    pub sample_every_us: u64,
    /// Spacing of intervals.
    #[serde(default)]
    pub interval_ms: u64,
    /// Spacing of latency probes.
    #[serde(default)]
    pub probe_every_us: u64,
    /// How senders hand data over.
    #[serde(default)]
    pub send: SendMethod,
    /// How receivers take it.
    #[serde(default)]
    pub receive: ReceiveMethod,
    /// Segmentation of datagrams by the kernel.
    #[serde(default)]
    pub udp_gso: Offload,
    /// Merging of datagrams by the kernel.
    #[serde(default)]
    pub udp_gro: Offload,
    /// Whether the length was chosen by the user, so that writes keep to it.
    #[serde(default)]
    pub length_fixed: bool,
    /// A hub's permission for this test, signed, for a server that takes no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

impl Offer {
    /// The offer for `spec`.
    #[must_use]
    pub fn new(spec: &TestSpec) -> Self {
        let whole = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
        Self {
            oldest: OLDEST_VERSION,
            newest: VERSION,
            wait_ms: 0,
            time_ms: match spec.limit {
                Limit::Time(time) => Some(whole(time.as_millis())),
                Limit::Bytes(_) | Limit::Blocks(_) => None,
            },
            sample_every_us: whole(spec.sample_every.as_micros()),
            interval_ms: whole(spec.interval.as_millis()),
            probe_every_us: whole(spec.probe_every.as_micros()),
            send: spec.send,
            receive: spec.receive,
            udp_gso: spec.udp_gso,
            udp_gro: spec.udp_gro,
            length_fixed: spec.length.is_some(),
            ticket: None,
        }
    }

    /// The version both sides speak; `None` where there is none.
    #[must_use]
    pub fn version(&self) -> Option<u32> {
        let newest = self.newest.min(VERSION);
        (newest >= self.oldest.max(OLDEST_VERSION)).then_some(newest)
    }

    /// Puts the offer's finer values into a specification read from iperf3's keys.
    pub(crate) fn refine(&self, spec: TestSpec) -> TestSpec {
        TestSpec {
            limit: match self.time_ms {
                Some(time) => Limit::Time(Duration::from_millis(time)),
                None => spec.limit,
            },
            length: spec.length.filter(|_| self.length_fixed),
            send: self.send,
            receive: self.receive,
            udp_gso: self.udp_gso,
            udp_gro: self.udp_gro,
            interval: Duration::from_millis(self.interval_ms),
            sample_every: Duration::from_micros(self.sample_every_us),
            probe_every: Duration::from_micros(self.probe_every_us),
            ..spec
        }
    }
}

/// A message behind [`Signal::Extension`](super::signal::Signal::Extension). Unknown ones are skipped by both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// Server: the extension is on.
    Hello(Box<Hello>),
    /// Server: another test runs; this one waits.
    Queued {
        /// Tests that come before this one, the running one included.
        ahead: u32,
        /// When it should start, as far as the tests before it say.
        wait_ms: u64,
    },
    /// Server: this test will not be run.
    Refused(Refusal),
    /// Client: what is your clock?
    ClockRequest {
        /// Number of the exchange.
        seq: u32,
    },
    /// Server: this is it.
    ClockReply {
        /// Number of the exchange.
        seq: u32,
        /// When the request was read, on the server's monotonic clock.
        received_ns: u64,
        /// When this was written, on the same clock.
        sent_ns: u64,
    },
    /// Client: its senders have stopped; datagrams each of them sent, stream by stream.
    Sent {
        /// Datagrams by stream.
        datagrams: Vec<u64>,
    },
    /// A message of a newer version.
    #[serde(other)]
    Unknown,
}

/// The server's answer to an offer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version spoken from here on.
    pub version: u32,
    /// Who the server is.
    pub host: HostIdentity,
    /// UDP port that answers latency probes; absent where none does.
    #[serde(default)]
    pub probe_port: Option<u16>,
    /// The probe reflector's calendar time less its monotonic clock, so that its stamps fit samples.
    #[serde(default)]
    pub stamp_minus_mono_ns: i64,
}

/// Why a server will not run a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The kind, which tells a queue that is full from a test that is not allowed.
    pub kind: RefusalKind,
    /// One line for a person.
    pub detail: String,
}

/// Kinds of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// Another test runs, and there is no more room or patience to wait.
    Busy,
    /// The test asks for more than the server allows.
    Limit,
    /// No version of the extension is spoken by both.
    Version,
    /// The server cannot do it.
    Unable,
}

/// One side's extra key among its results.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// When the test started, on this side's monotonic clock. Sample times count from here.
    pub start_ns: u64,
    /// Each stream in each direction, in order of creation.
    pub flows: Vec<FlowReport>,
    /// This side's samples in their packed form, as base64; headings are seen from this side.
    pub samples: String,
    /// How well sampling kept its pace.
    pub cadence: Option<Cadence>,
    /// This host's counters.
    pub counters: CounterReadings,
    /// This process's CPU time.
    pub cpu: CpuUse,
    /// What this host's CPUs did beside the test; absent in reports of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contention: Option<CpuContention>,
    /// What was odd.
    pub anomalies: Vec<String>,
}

/// One side's view of one stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowReport {
    /// Payload sent or received.
    pub bytes: u64,
    /// From this side's start to its last byte: of a receiver, to the end of the stream.
    pub elapsed_us: u64,
    /// Whether a receiver read to the end of the stream.
    pub drained: bool,
    /// Segments sent again, of a sender.
    pub retransmits: Option<u64>,
    /// Segment size.
    pub mss: Option<u32>,
    /// Congestion control, of a sender.
    pub congestion_control: Option<String>,
    /// How data was handed over, of a sender.
    pub sent_by: Option<SendMethod>,
    /// Whether the kernel copied in spite of that.
    pub copy_fallback: Option<bool>,
    /// How data was taken, of a receiver.
    pub received_by: Option<ReceiveMethod>,
    /// Datagrams: of a sender only `sent` counts.
    pub datagrams: Option<DatagramCounts>,
}
