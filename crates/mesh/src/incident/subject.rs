//! Metrics, series, elements, and what an incident is about.

use std::fmt;
use std::sync::Arc;

use baseline::monitor;
use model::spec::Family;
use serde::{Deserialize, Serialize};

/// What a series has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Payload at the receiver, in bit/s.
    Goodput,
    /// Packets lost of sent, 0 to 1.
    Loss,
    /// The least RTT, in microseconds.
    RttMin,
    /// RTT while a test fills the path, in microseconds.
    RttLoaded,
    /// Segments retransmitted of sent, 0 to 1.
    RetransmitShare,
    /// The largest packet that gets through, in bytes.
    Mtu,
    /// Of downloads, in bit/s.
    DownloadRate,
    /// Of transfers of applications, which nobody started to measure anything, in bit/s.
    TransferRate,
}

/// A series: results of one metric of one test between two hosts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// The label of the test.
    pub test: String,
    /// The address family, where it is fixed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub family: Option<FamilyKey>,
    /// What is in it.
    pub metric: Metric,
}

/// An address family, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FamilyKey {
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
}

/// What results depend on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Element {
    /// All that a host sends and receives.
    Host(String),
    /// What it sends.
    From(String),
    /// What it receives.
    To(String),
    /// Hosts of a site.
    Site(String),
    /// A link between hosts.
    Segment(String),
}

/// What an incident is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// All series that cross it.
    Element(Element),
    /// One series, whose change no element explains.
    Series(Series),
    /// All series of the mesh.
    Mesh,
}

impl Subject {
    pub(super) fn monitored(&self) -> Option<monitor::Subject<Arc<Series>, Arc<Element>>> {
        match self {
            Self::Element(element) => Some(monitor::Subject::Element(Arc::new(element.clone()))),
            Self::Series(series) => Some(monitor::Subject::Series(Arc::new(series.clone()))),
            Self::Mesh => None,
        }
    }

    /// The host that it is about, where it is about one.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Element(Element::Host(host) | Element::From(host) | Element::To(host)) => Some(host),
            _ => None,
        }
    }
}

impl From<monitor::Subject<Arc<Series>, Arc<Element>>> for Subject {
    fn from(subject: monitor::Subject<Arc<Series>, Arc<Element>>) -> Self {
        match subject {
            monitor::Subject::Element(element) => Self::Element(Arc::unwrap_or_clone(element)),
            monitor::Subject::Series(series) => Self::Series(Arc::unwrap_or_clone(series)),
        }
    }
}

impl From<Family> for FamilyKey {
    fn from(family: Family) -> Self {
        match family {
            Family::Ipv4 => Self::Ipv4,
            Family::Ipv6 => Self::Ipv6,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Goodput => "goodput",
            Self::Loss => "loss",
            Self::RttMin => "RTT min",
            Self::RttLoaded => "RTT under load",
            Self::RetransmitShare => "retransmits",
            Self::Mtu => "path MTU",
            Self::DownloadRate => "download rate",
            Self::TransferRate => "transfer rate",
        })
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(f, "host {host}"),
            Self::From(host) => write!(f, "host {host}, sending"),
            Self::To(host) => write!(f, "host {host}, receiving"),
            Self::Site(site) => write!(f, "site {site}"),
            Self::Segment(segment) => write!(f, "segment {segment}"),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => element.fmt(f),
            Self::Series(series) => write!(f, "{} to {}, test {}", series.from, series.to, series.test),
            Self::Mesh => f.write_str("the whole mesh"),
        }
    }
}
