//! What a test should have reached, with everything that this was reckoned from and where that is known from.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{ByteCount, DataRate, Percent};

use crate::heading::Heading;

/// What one direction of a test should have reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expectation {
    /// Which way.
    pub heading: Heading,
    /// What it should have reached, or why nobody can say.
    #[serde(flatten)]
    pub expected: Expected,
}

/// What should have been reached, or why nobody can say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Expected {
    /// It was reckoned.
    Predicted(Box<Prediction>),
    /// It cannot be.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// What a simulated transfer of the same length reaches on the same path, between hosts with the same settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// Payload a second over the whole test, all streams together.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// The same once the start is over.
    #[serde(rename = "steady_bps")]
    pub steady: DataRate,
    /// What holds it there.
    pub limit: Bound,
    /// The same in words, with its size: `receive window, 6 MiB buffer at RTT 190 ms`.
    pub because: String,
    /// What part of the predicted goodput was measured, 0 to 1 and above; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attained: Option<f64>,
    /// Payload a second if the path loses as much as datagrams showed; absent where none were sent, or none was lost.
    #[serde(rename = "with_loss_bps", default, skip_serializing_if = "Option::is_none")]
    pub with_loss: Option<DataRate>,
    /// How much of the time was simulated; the rest is taken to go on as the end of that.
    #[serde(rename = "simulated_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub simulated: Duration,
    /// What it was reckoned from.
    pub inputs: Inputs,
}

/// What holds a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The path carries no more.
    Path,
    /// The send buffer.
    SendBuffer,
    /// The receive buffer, by the window that it lets the receiver offer.
    ReceiveWindow,
    /// The test asked for no more, or is paced.
    Asked,
    /// The start took most of the time.
    Start,
    /// The congestion window, after losses that the transfer itself brought about.
    CongestionWindow,
    /// Losses of the path.
    Loss,
}

impl Bound {
    /// Whether it is a setting of one of the hosts.
    #[must_use]
    pub const fn is_a_setting(self) -> bool {
        matches!(self, Self::SendBuffer | Self::ReceiveWindow)
    }
}

/// What a prediction is reckoned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inputs {
    /// The rate of the narrowest link.
    #[serde(rename = "path_rate_bps")]
    pub path_rate: KnownValue<DataRate>,
    /// The rate of the sender's adapter.
    #[serde(rename = "adapter_rate_bps")]
    pub adapter_rate: KnownValue<DataRate>,
    /// The round trip of an empty path.
    pub rtt_us: KnownValue<u64>,
    /// What waits before the narrowest link at most.
    #[serde(rename = "queue_bytes")]
    pub queue: KnownValue<ByteCount>,
    /// The part of packets that the path loses, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<KnownValue<f64>>,
    /// The payload of a full segment.
    pub segment_bytes: KnownValue<u32>,
    /// The congestion control, by its kernel name.
    pub congestion_control: KnownValue<String>,
    /// Parallel streams.
    pub streams: KnownValue<u16>,
    /// Segments in flight at first.
    pub initial_window_segments: KnownValue<u32>,
    /// The most that a send buffer grows to.
    #[serde(rename = "send_buffer_bytes")]
    pub send_buffer: KnownValue<ByteCount>,
    /// What a receive buffer begins with.
    #[serde(rename = "first_receive_buffer_bytes")]
    pub first_receive_buffer: KnownValue<ByteCount>,
    /// The most that a receive buffer grows to.
    #[serde(rename = "receive_buffer_bytes")]
    pub receive_buffer: KnownValue<ByteCount>,
    /// How much of a receive buffer is offered as window.
    pub window_percent: KnownValue<Percent>,
    /// How the sender writes.
    pub writer: KnownValue<Writer>,
    /// How it spreads what it sends.
    pub pacing: KnownValue<Pacing>,
    /// The most that each stream is paced at.
    #[serde(rename = "pace_bps", default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<KnownValue<DataRate>>,
    /// How fast the application has data for each stream.
    #[serde(rename = "application_rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub application_rate: Option<KnownValue<DataRate>>,
    /// How long the test took.
    #[serde(rename = "time_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub time: Duration,
    /// How much was to be sent, over all streams; absent where the test was to end after a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<ByteCount>,
}

/// A value, and where it is known from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "KnownOf{T}"))]
pub struct KnownValue<T> {
    /// Value that the prediction is reckoned from.
    pub value: T,
    /// How it is known.
    pub how: How,
    /// In words: `least of the idle round trips`.
    pub from: String,
}

/// How a value is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Somebody said so: the user, the test or the plan.
    Given,
    /// The test measured it.
    Measured,
    /// It is a setting or a device of a host.
    Host,
    /// Nobody knows; this is what is usual.
    Assumed,
}

/// How a sender writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    /// It waits until the socket is writable, and uses two thirds of its buffer.
    Polls,
    /// It blocks, and fills the buffer.
    Blocks,
}

/// How a sender spreads what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// As its congestion control has it.
    Algorithm,
    /// As the discipline `fq` does.
    Fq,
}

impl<T> KnownValue<T> {
    /// A value that is known.
    pub fn new(value: T, how: How, from: impl Into<String>) -> Self {
        Self { value, how, from: from.into() }
    }
}

impl How {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Measured => "measured",
            Self::Host => "host",
            Self::Assumed => "assumed",
        }
    }
}

impl Expected {
    /// The prediction, where there is one.
    #[must_use]
    pub fn prediction(&self) -> Option<&Prediction> {
        match self {
            Self::Predicted(prediction) => Some(prediction),
            Self::Unknown { .. } => None,
        }
    }
}
