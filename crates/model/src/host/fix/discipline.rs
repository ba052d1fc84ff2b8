//! Queueing disciplines and classes with typed options. Rates are types: what `tc` calls `mbps` is megabytes.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use super::names::{ClassId, NameError};

/// What a discipline or class hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub enum Hook {
    /// The whole device.
    Root,
    /// A class, or the discipline that holds it.
    Class(ClassId),
}

impl TryFrom<String> for Hook {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        if text == "root" { Ok(Self::Root) } else { ClassId::try_from(text).map(Self::Class) }
    }
}

impl From<Hook> for String {
    fn from(hook: Hook) -> Self {
        hook.to_string()
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Class(class) => class.fmt(f),
        }
    }
}

/// A discipline with the options that rules write. What is absent is the kernel's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Discipline {
    /// One discipline for each transmit queue (tc-mq(8)).
    Mq {},
    /// First in, first out, in three bands.
    PfifoFast {},
    /// First in, first out.
    Pfifo {
        /// Packets that may wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_packets: Option<u32>,
    },
    /// Fair queueing with pacing (tc-fq(8)).
    Fq {
        /// Packets that may wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_packets: Option<u32>,
        /// Packets of one flow that may wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow_limit_packets: Option<u32>,
        /// The most that one flow is sent at.
        #[serde(rename = "maxrate_bps", default, skip_serializing_if = "Option::is_none")]
        maxrate: Option<DataRate>,
    },
    /// Fair queueing with controlled delay (RFC 8290).
    FqCodel {
        /// Packets that may wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_packets: Option<u32>,
        /// Delay that is let pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_us: Option<u32>,
        /// How long it is let pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interval_us: Option<u32>,
    },
    /// A token bucket (tc-tbf(8)).
    Tbf {
        /// How fast it sends.
        #[serde(rename = "rate_bps")]
        rate: DataRate,
        /// How much it may send at once.
        #[serde(rename = "burst_bytes")]
        burst: ByteCount,
        /// How much may wait.
        #[serde(rename = "limit_bytes")]
        limit: ByteCount,
    },
    /// Classes with rates of their own (tc-htb(8)). Its own number is 1, so that classes can be named.
    Htb {
        /// The class of what no filter sends elsewhere.
        #[serde(default)]
        default_class: u16,
    },
}

impl Discipline {
    /// The kernel's name of it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Mq {} => "mq",
            Self::PfifoFast {} => "pfifo_fast",
            Self::Pfifo { .. } => "pfifo",
            Self::Fq { .. } => "fq",
            Self::FqCodel { .. } => "fq_codel",
            Self::Tbf { .. } => "tbf",
            Self::Htb { .. } => "htb",
        }
    }
}

/// A class of `htb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HtbClass {
    /// The rate that it has for sure.
    #[serde(rename = "rate_bps")]
    pub rate: DataRate,
    /// The rate up to which it borrows; `rate` where it is absent.
    #[serde(rename = "ceil_bps", default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<DataRate>,
    /// How much it may send at once; what it sends in a millisecond where it is absent.
    #[serde(rename = "burst_bytes", default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<ByteCount>,
}
