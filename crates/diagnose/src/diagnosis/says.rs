//! One thing that speaks for or against a cause, and how it is told.

use std::fmt;

use model::round::Passage;
use units::DataRate;

use super::own;
use crate::causes::weights::Evidence;
use crate::signs::flow::FlowKind;
use crate::signs::{ALL, Flow, Observation, SignState};

/// What speaks. It is put into words only where it is told: most candidates never are.
#[derive(Debug, Clone)]
pub(crate) enum Says<'a> {
    /// A sign of a flow.
    Sign(&'a Flow, &'a Observation),
    /// A flow that was asked for what the cause always shows, and does not show it.
    Absent(&'a Flow, &'a Observation),
    /// A flow that does well.
    Spared(&'a Flow),
    /// Flows that pass there and suffer, of a cause that spares some: the first of them, and how many.
    Hit(&'a Flow, usize),
    /// Flows that suffer elsewhere: the first of them, and how many.
    Elsewhere(&'a Flow, usize),
    /// A rule that fires at a host, or passes.
    Rule { rule: &'a str, host: &'a str, fires: bool },
    /// Bytes that vanished there, or elsewhere.
    Vanished(&'a Passage, Option<u64>),
    /// Nothing shows what makes it more than another cause.
    Needed(SignState),
    /// No rule by which it is known fires at the host.
    NoRule(&'a str),
    /// A host that sends none of the flows that suffer.
    SendsNone(&'a str),
    /// A host whose tests leave by no card.
    NoNic(&'a str),
    /// A flow that complains, and is as fast as it should be.
    Fast(&'a Flow),
    /// A link on which packets vanish in one direction, and not in the other.
    OneWay(&'a Passage),
    /// A flow that carried more than the fastest link on which the cause exists.
    Carried(&'a Flow, DataRate),
    /// A segment whose interfaces run at a speed.
    Speed(&'a str, DataRate),
    /// A segment whose interfaces have MTUs.
    Mtus(&'a str, [u32; 2]),
    /// A flow whose path takes packets of at most so many bytes, which are less than those of an Ethernet.
    Tunnel(&'a Flow, u32),
}

impl Says<'_> {
    /// What kind of evidence it is; `None` where it excludes a cause, whatever else speaks.
    pub(crate) const fn evidence(&self, weight: f64) -> Option<Evidence> {
        Some(match self {
            Self::Sign(_, seen) => Evidence::Sign(seen.seen.sign),
            Self::Spared(_) | Self::Hit(..) => Evidence::Spared,
            Self::Elsewhere(..) => Evidence::Elsewhere,
            Self::Rule { .. } if weight <= -EXCLUDED => return None,
            Self::Rule { .. } => Evidence::Rules,
            Self::Vanished(..) => Evidence::Vanished,
            Self::Speed(..) => Evidence::Speeds,
            Self::Mtus(..) | Self::Tunnel(..) => Evidence::Mtus,
            Self::Absent(..)
            | Self::Carried(..)
            | Self::OneWay(_)
            | Self::Needed(_)
            | Self::NoRule(_)
            | Self::SendsNone(_)
            | Self::NoNic(_)
            | Self::Fast(_) => {
                return None;
            }
        })
    }

    /// What several flows may say alike; `None` where each thing stands for itself.
    pub(crate) fn kind(&self) -> Option<(usize, usize)> {
        match self {
            Self::Sign(_, seen) => Some((seen.seen.sign, seen.seen.state)),
            Self::Spared(_) => Some((ALL.len(), 0)),
            _ => None,
        }
    }
}

/// A label of more characters is a command line, and is not repeated in each line.
const LONG_LABEL: usize = 60;

/// A flow by its ends, and what its test is called where that says more.
struct Named<'a>(&'a Flow);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flow { sender, receiver, label, .. } = self.0;
        if label.chars().count() > LONG_LABEL {
            // A command line of another tool: what it sent says more.
            let sent = match self.0.kind {
                FlowKind::Tcp => "TCP",
                FlowKind::Udp => "UDP",
                FlowKind::Http => "HTTP",
                FlowKind::Echo => "echoes",
            };
            write!(f, "{sender} to {receiver} ({sent})")
        } else if label.contains(&sender.host) && label.contains(&receiver.host) {
            f.write_str(label)
        } else {
            write!(f, "{sender} to {receiver} ({label})")
        }
    }
}

impl fmt::Display for Says<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sign(flow, seen) | Self::Absent(flow, seen) => write!(f, "{}: {}", Named(flow), seen.says),
            Self::Spared(flow) => write!(f, "{}: is not slow, though it passes there", Named(flow)),
            Self::Hit(flow, 1) => write!(f, "{}: is hit, where the cause spares some flows", Named(flow)),
            Self::Hit(flow, count) => {
                write!(f, "{} and {} more are hit, where the cause spares some flows", Named(flow), count - 1)
            }
            Self::Elsewhere(flow, 1) => write!(f, "{}: is affected too, and does not pass there", Named(flow)),
            Self::Elsewhere(flow, count) => {
                write!(f, "{} and {} more are affected too, and do not pass there", Named(flow), count - 1)
            }
            Self::Rule { rule, host, fires } => match (own::asks(rule), fires) {
                (Some(asks), true) => write!(f, "{host} {asks}"),
                (Some(asks), false) => write!(f, "it is not that {host} {asks}"),
                (None, true) => write!(f, "{rule} fires at {host}"),
                (None, false) => write!(f, "{rule} passes at {host}"),
            },
            Self::Vanished(place, Some(bytes)) => {
                write!(f, "{place}: {} that one end sent did not arrive at the other", units::ByteCount::new(*bytes))
            }
            Self::Carried(flow, fastest) => {
                write!(f, "{}: carried {}, more than the {fastest} of such a link", Named(flow), flow.goodput)
            }
            Self::Needed(seen) => {
                write!(f, "nothing shows what sets it apart: {} = {}", seen.sign().name, seen.state().name)
            }
            Self::NoRule(host) => write!(f, "no rule by which it is known fires at {host}"),
            Self::SendsNone(host) => write!(f, "{host} sends none of the affected flows"),
            Self::NoNic(host) => {
                write!(f, "the tests of {host} leave by a virtual device, which has no card of its own")
            }
            Self::Fast(flow) => write!(f, "{}: is not slow, whatever else it complains of", Named(flow)),
            Self::OneWay(place) => {
                write!(f, "packets vanished on {place}, and all that were sent in the other direction arrived")
            }
            Self::Speed(segment, speed) => write!(f, "the interfaces of {segment} run at {speed}"),
            Self::Mtus(segment, [one, other]) if one == other => {
                write!(f, "both interfaces of {segment} have an MTU of {one}")
            }
            Self::Mtus(segment, [one, other]) => {
                write!(f, "the interfaces of {segment} have MTUs of {one} and {other}")
            }
            Self::Tunnel(flow, largest) => {
                write!(f, "{}: its path takes no more than {largest} bytes, as tunnels do and no Ethernet", Named(flow))
            }
            Self::Vanished(place, None) => {
                write!(f, "{place}: its ends counted the same, and packets vanished elsewhere")
            }
        }
    }
}

/// What a setting weighs that is as it should be, against a cause that is nothing else than this setting.
pub(crate) const EXCLUDED: f64 = 20.0;
