//! An incident as it is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use baseline::expectation::Yardstick;
use serde::{Deserialize, Serialize};
use units::WallTime;

use super::subject::{Metric, Subject};

/// The name of an incident: it is the same from its first sign to its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct IncidentId(pub String);

/// An incident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Incident {
    /// The same from the first sign to the end.
    pub id: IncidentId,
    /// Where it stands.
    pub status: Status,
    /// What it is about.
    pub subject: Subject,
    /// The hosts that it may be a fault of.
    pub hosts: BTreeSet<String>,
    /// When the first bad result was measured, as far as is known.
    #[serde(rename = "since_unix_ns")]
    pub since: WallTime,
    /// When it was opened.
    #[serde(rename = "opened_unix_ns")]
    pub opened: WallTime,
    /// When results were as before again.
    #[serde(rename = "verified_unix_ns", skip_serializing_if = "Option::is_none", default)]
    pub verified: Option<WallTime>,
    /// When it was closed.
    #[serde(rename = "closed_unix_ns", skip_serializing_if = "Option::is_none", default)]
    pub closed: Option<WallTime>,
    /// Until when nobody is notified.
    #[serde(rename = "silent_until_unix_ns", skip_serializing_if = "Option::is_none", default)]
    pub silent_until: Option<WallTime>,
    /// What is worse.
    pub symptoms: Vec<Symptom>,
    /// Its cause, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub explanation: Option<Explanation>,
    /// All that happened, in order.
    pub timeline: Vec<TimelineEntry>,
    /// What was sent about it: so that nothing is sent twice.
    #[serde(default)]
    pub sent: BTreeMap<String, WallTime>,
}

/// Where an incident stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was found.
    Open,
    /// Somebody knows.
    Acknowledged,
    /// Its cause is known.
    Explained,
    /// Something was done about it; results have not shown yet that it helped.
    Fixed,
    /// Results are as before.
    Verified,
    /// It stayed so, or a person closed it.
    Closed,
}

/// Something that is worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Symptom {
    /// What of it.
    pub metric: Metric,
    /// Where it shows.
    pub subject: Subject,
    /// When it was first measured.
    #[serde(rename = "since_unix_ns")]
    pub since: WallTime,
    /// By how much, on the scale of its metric: the logarithm of the ratio of rates and times, the difference of shares. 0 where there
    /// are no results.
    pub shift: f64,
    /// Whether there are results at all.
    pub sign: Sign,
    /// When it was over.
    #[serde(rename = "recovered_unix_ns", skip_serializing_if = "Option::is_none", default)]
    pub recovered: Option<WallTime>,
}

/// What a symptom is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// Results are worse than those before them.
    Worse,
    /// Results fall short of what the plan expects, whatever is usual.
    Short,
    /// There are none.
    Silent,
}

/// A cause, as the diagnosis or a person names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Its name in the catalogue, or a person's words.
    pub cause: String,
    /// Where.
    pub place: String,
    /// How sure it is, 0 to 1.
    pub probability: f64,
    /// Who says so.
    pub by: String,
}

/// The cause with its place: `ring-small at b`, `slow-segment between a and b`.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.place.starts_with("between ") { "" } else { "at " };
        write!(f, "{} {at}{}", self.cause, self.place)
    }
}

/// A line of a host's change log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigurationChange {
    /// The host, by its name in the plan.
    pub host: String,
    /// When.
    #[serde(rename = "at_unix_ns")]
    pub at: WallTime,
    /// What: `rx-gro-hw of eth0: on -> off`.
    pub what: String,
    /// Who: `ethtool -K eth0 rx-gro-hw off, pid 4711`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
}

/// A line of an incident's time line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineEntry {
    /// When it happened; what is learnt later is put in its place.
    #[serde(rename = "at_unix_ns")]
    pub at: WallTime,
    /// What.
    #[serde(flatten)]
    pub occurrence: Occurrence,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum Occurrence {
    /// It was opened.
    Opened,
    /// Something more is worse.
    Symptom {
        /// In words.
        text: String,
    },
    /// What it is about is another element, which explains more.
    Moved {
        /// What explains more of the bad results.
        to: Subject,
    },
    /// A setting of a host of it was changed.
    Configuration {
        /// Its host is one of the incident.
        change: ConfigurationChange,
        /// Seconds from the change to the first bad result; negative where it came after.
        lead_s: i64,
    },
    /// Somebody knows.
    Acknowledged {
        /// Who.
        by: String,
    },
    /// A cause was named.
    Explained {
        /// It.
        explanation: Explanation,
    },
    /// Something was done.
    Fixed {
        /// By whom.
        by: String,
        /// What.
        text: String,
    },
    /// The hub has asked for the test that separates what may be the cause.
    NextTest {
        /// Name of the run, by which its result is known.
        run: String,
        /// What its result will say.
        text: String,
    },
    /// Results are as before.
    Verified,
    /// They are not any more.
    Reopened,
    /// A person's words.
    Note {
        /// Whose.
        by: String,
        /// At most some lines.
        text: String,
    },
    /// Nobody is notified for a while.
    Silenced {
        /// By whom.
        by: String,
        /// Until when.
        #[serde(rename = "until_unix_ns")]
        until: WallTime,
    },
    /// The present level is the new normal.
    Accepted {
        /// By whom.
        by: String,
        /// Why.
        text: String,
    },
    /// It is over.
    Closed {
        /// By whom; by itself where nobody.
        by: Option<String>,
        /// Why.
        text: String,
    },
}

/// What a call has changed: the incident is to be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Of which incident.
    pub incident: IncidentId,
    /// What.
    pub kind: EventKind,
}

/// What happened to an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// It is new.
    Opened,
    /// It has another symptom, or is about something else.
    Grown,
    /// A change of configuration was entered.
    ConfigurationSeen,
    /// A person, or the diagnosis, made a step.
    Stepped,
    /// Results are as before.
    Verified,
    /// They are not any more.
    Reopened,
    /// It is over.
    Closed,
}

impl Incident {
    /// Whether all that is worse is the rate of transfers: nothing was tested yet.
    #[must_use]
    pub fn is_of_transfers(&self) -> bool {
        let worse = || self.symptoms.iter().filter(|symptom| symptom.recovered.is_none());
        worse().next().is_some() && worse().all(|symptom| symptom.metric == Metric::TransferRate)
    }

    /// What it costs of the rate at most, as a logarithm: 0 once nothing of it is worse, infinite where results are missing.
    #[must_use]
    pub fn severity(&self) -> f64 {
        let worse = self.symptoms.iter().filter(|symptom| symptom.recovered.is_none());
        worse.map(Symptom::severity).fold(0.0, f64::max)
    }

    /// The run that the hub has asked for to separate causes.
    #[must_use]
    pub fn next_test(&self) -> Option<&str> {
        self.timeline.iter().rev().find_map(|entry| match &entry.occurrence {
            Occurrence::NextTest { run, .. } => Some(run.as_str()),
            _ => None,
        })
    }
}

impl Symptom {
    /// What it costs of the rate, as a logarithm: a transfer has MSS / (RTT sqrt(loss)) (Mathis and others 1997). Retransmits and RTT under
    /// load are of tests whose goodput says what they cost.
    fn severity(&self) -> f64 {
        match (self.sign, self.metric) {
            (Sign::Silent, _) => f64::INFINITY,
            (Sign::Worse | Sign::Short, Metric::RetransmitShare | Metric::RttLoaded) => 0.0,
            (Sign::Worse | Sign::Short, Metric::Loss) => (self.shift.abs() / HARMLESS_LOSS).ln_1p() / 2.0,
            (
                Sign::Worse | Sign::Short,
                Metric::Goodput | Metric::DownloadRate | Metric::TransferRate | Metric::RttMin | Metric::Mtu,
            ) => self.shift.abs(),
        }
    }
}

/// One packet in ten thousand.
const HARMLESS_LOSS: f64 = 1e-4;

impl Status {
    /// Whether something is still to be done or watched.
    #[must_use]
    pub fn is_active(self) -> bool {
        self != Self::Closed
    }

    /// Whether results are bad.
    #[must_use]
    pub fn is_bad(self) -> bool {
        self < Self::Verified
    }
}

impl fmt::Display for IncidentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Acknowledged => "acknowledged",
            Self::Explained => "explained",
            Self::Fixed => "fixed, not verified",
            Self::Verified => "verified",
            Self::Closed => "closed",
        })
    }
}

/// Goodput -31 %: what a symptom is, in words.
impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sign == Sign::Silent {
            return f.write_str("no results");
        }
        match self.metric {
            Metric::Loss | Metric::RetransmitShare => write!(f, "{} {:+.2} %", self.metric, 100.0 * self.shift),
            _ if self.sign == Sign::Short => {
                write!(f, "{} {} % of what the plan expects", self.metric, percent(100.0 * self.shift.exp()))
            }
            _ => {
                // A rate that is all but gone has not lost all of itself.
                let digits = if self.shift < ALL_BUT_GONE { 2 } else { 0 };
                write!(f, "{} {:+.digits$} %", self.metric, 100.0 * self.shift.exp_m1())
            }
        }
    }
}

/// With two digits where they are the first.
fn percent(value: f64) -> String {
    let digits = if value < 1.0 { 2 } else { 0 };
    format!("{value:.digits$}")
}

/// The logarithm of half a percent.
const ALL_BUT_GONE: f64 = -5.3;

impl Sign {
    /// What results are worse than.
    pub(super) const fn against(self) -> Yardstick {
        match self {
            Self::Worse | Self::Silent => Yardstick::History,
            Self::Short => Yardstick::Expectation,
        }
    }
}

impl From<Yardstick> for Sign {
    fn from(against: Yardstick) -> Self {
        match against {
            Yardstick::History => Self::Worse,
            Yardstick::Expectation => Self::Short,
        }
    }
}

impl Occurrence {
    /// Whether somebody has said that they know.
    #[must_use]
    pub const fn is_acknowledgement(&self) -> bool {
        matches!(self, Self::Acknowledged { .. })
    }
}

impl fmt::Display for Occurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened => f.write_str("opened"),
            Self::Symptom { text } => write!(f, "symptom: {text}"),
            Self::Moved { to } => write!(f, "is about {to} now"),
            Self::Configuration { change, .. } => {
                write!(f, "setting changed: {} on {}", change.what, change.host)?;
                change.by.as_ref().map_or(Ok(()), |by| write!(f, " by {by}"))
            }
            Self::Acknowledged { by } => write!(f, "acknowledged by {by}"),
            Self::Explained { explanation } => {
                let Explanation { probability, by, .. } = explanation;
                write!(f, "explained by {by}: {explanation} ({:.0} %)", 100.0 * probability)
            }
            Self::Fixed { by, text } => write!(f, "fixed, not verified: {text}, by {by}"),
            Self::NextTest { run, text } => write!(f, "test {run} asked for: {text}"),
            Self::Verified => f.write_str("verified: results are as before"),
            Self::Reopened => f.write_str("results are bad again"),
            Self::Note { by, text } => write!(f, "{by}: {text}"),
            Self::Silenced { by, until } => write!(f, "silent until {}, by {by}", crate::clock::shown(*until)),
            Self::Accepted { by, text } => write!(f, "accepted by {by}: {text}"),
            Self::Closed { by: Some(by), text } => write!(f, "closed by {by}: {text}"),
            Self::Closed { by: None, text } => write!(f, "closed: {text}"),
        }
    }
}
