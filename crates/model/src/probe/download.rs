//! One file over HTTP.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use super::Subject;
use crate::run::Outcome;
use crate::series::field::Field;
use crate::spec::Family;

/// What to fetch, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DownloadSpec {
    /// The address of the file, `http` only.
    pub url: String,
    /// Congestion control of this end, by its kernel name; it decides on requests and acknowledgements only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Address family; what the name resolves to first where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Local address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<IpAddr>,
    /// How long to wait for the connection, and for each further piece of the answer.
    #[serde(rename = "patience_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub patience: Duration,
    /// How long all of it may take.
    #[serde(rename = "time_limit_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub time_limit: Duration,
    /// Most bytes of the file that are taken.
    #[serde(rename = "max_bytes")]
    pub limit: ByteCount,
}

impl DownloadSpec {
    /// All of the file at `url`, up to 1 TB and one hour.
    #[must_use]
    pub fn of(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            congestion_control: None,
            family: None,
            bind: None,
            patience: Duration::from_secs(10),
            time_limit: Duration::from_secs(3600),
            limit: ByteCount::new(1_000_000_000_000),
        }
    }
}

/// A file that was fetched, or as much of it as came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Download {
    /// Whom.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was asked for.
    pub spec: DownloadSpec,
    /// Whether all of the file came. An answer that is no file is a refusal.
    pub outcome: Outcome,
    /// This end of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_address: Option<SocketAddr>,
    /// The other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_address: Option<SocketAddr>,
    /// What the server answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// What took how long.
    pub times: DownloadTimes,
    /// Bytes of the file that came.
    #[serde(rename = "body_bytes")]
    pub body: ByteCount,
    /// Those over the time from the first byte of the answer to the last of the file; absent where that is no time.
    #[serde(rename = "goodput_bps", default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<DataRate>,
    /// Those over all of the time, as a waiting person sees it.
    #[serde(rename = "overall_bps", default, skip_serializing_if = "Option::is_none")]
    pub overall: Option<DataRate>,
    /// What this kernel knew of the connection at its end, field by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<FieldValue>,
    /// Congestion control that this end used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
}

/// The head of a server's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// How long the file is, where the server says so.
    #[serde(rename = "content_length_bytes", default, skip_serializing_if = "Option::is_none")]
    pub content_length: Option<ByteCount>,
    /// Who holds the file, by `X-Served-By`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_by: Option<String>,
    /// Through whom it came, by `Via` (RFC 9110 §7.6.3), the nearest to the server first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

/// What took how long, each from the start; absent where it did not come to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DownloadTimes {
    /// Until the name was an address.
    #[serde(
        rename = "resolved_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub resolved: Option<Duration>,
    /// Until the connection stood.
    #[serde(
        rename = "connected_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub connected: Option<Duration>,
    /// Until the first byte of the answer.
    #[serde(
        rename = "first_byte_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub first_byte: Option<Duration>,
    /// Until the end, whichever it was.
    #[serde(rename = "total_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub total: Duration,
}

/// What the kernel knew of a connection: one field of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldValue {
    /// Which.
    pub field: Field,
    /// Value as the kernel gave it, in the unit of the field.
    pub value: u64,
}
