//! Why a scenario is refused.

use std::io;

use document::{DocumentError, Hint, suggestion};

use crate::causes;

/// Why there is no scenario to be had.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Neither a file nor a name of the library.
    #[error("there is no scenario `{name}`, neither as a file nor in the library")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
    },
    /// The file cannot be read.
    #[error("cannot read the scenario {file}")]
    Read {
        /// Path of the file.
        file: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The file is longer than any scenario is.
    #[error("{file} has more than {limit} bytes, which no scenario needs")]
    TooLarge {
        /// Path of the file.
        file: String,
        /// Largest size that is read, bytes.
        limit: u64,
    },
    /// What the file says cannot be.
    #[error("{}", document::shown(.0))]
    Refused(Vec<Complaint>),
}

impl ScenarioError {
    /// What to do about it, a line each.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Unknown { nearest: Some(nearest), .. } => vec![format!("did you mean `{nearest}`?")],
            Self::Unknown { .. } => vec!["`linerate lab list` shows the library".to_owned()],
            Self::Read { .. } | Self::TooLarge { .. } => Vec::new(),
            Self::Refused(complaints) => document::hints(complaints),
        }
    }
}

/// One thing that is wrong with a scenario, and where.
pub type Complaint = document::Complaint<Problem>;

/// What can be wrong with a scenario.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// What can be wrong with any file that a person writes.
    #[error(transparent)]
    Slip(#[from] DocumentError),
    /// A setting of an element that no element can have.
    #[error(transparent)]
    Element(#[from] path::SpecError),
    /// Two ends of one address.
    #[error("{address} belongs to {other} already")]
    SameAddress {
        /// Address that two interfaces have.
        address: std::net::IpAddr,
        /// Who has it.
        other: String,
    },
    /// An address or subnet that cannot be used.
    #[error("{what} cannot be used: {why}")]
    Address {
        /// Text that is no address, or none of this network.
        what: String,
        /// Why.
        why: &'static str,
    },
    /// A link from a host to itself.
    #[error("a link joins two hosts, not `{host}` with itself")]
    Loop {
        /// Name of the host.
        host: String,
    },
    /// A host at the end of no link.
    #[error("no link ends at `{host}`")]
    Unlinked {
        /// Name of the host.
        host: String,
    },
    /// Packets that would never arrive.
    #[error("no route leads from `{from}` to `{to}`")]
    NoRoute {
        /// Sending host.
        from: String,
        /// Receiving host.
        to: String,
    },
    /// Packets that would go round.
    #[error("packets from `{from}` to `{to}` would go round in a circle: {circle}")]
    Circle {
        /// Sending host.
        from: String,
        /// Receiving host.
        to: String,
        /// The hosts on it.
        circle: String,
    },
    /// A route by a host that forwards nothing.
    #[error("`{via}` forwards nothing, so no route to `{to}` leads over it")]
    NotARouter {
        /// Host that the route goes by.
        via: String,
        /// Host or prefix that the route is to.
        to: String,
    },
    /// Hosts that no link joins.
    #[error("no link joins `{one}` and `{other}`")]
    NotNeighbours {
        /// Host at one end.
        one: String,
        /// Host at the other end.
        other: String,
    },
    /// A host that is not at the end of the link.
    #[error("link `{link}` does not end at `{host}`")]
    NotAtLink {
        /// Name of the link.
        link: String,
        /// Name of the host.
        host: String,
    },
    /// A change of an element that the chain does not have, or has more than once.
    #[error("{count} elements of link `{link}` are a `{kind}`, so which becomes another is not said")]
    WhichElement {
        /// Name of the link.
        link: String,
        /// Kind of path element that the fault changes.
        kind: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A fault that nobody would see.
    #[error("the fault is there {fault}, but tests run {tests}")]
    FaultOutsideTests {
        /// When the fault is there.
        fault: String,
        /// When tests run.
        tests: String,
    },
    /// A fault that ends before it begins.
    #[error("`until` is not after `from`")]
    EndsFirst,
    /// A kernel setting that a namespace does not have.
    #[error("`{setting}` is a setting of the whole machine, not of a network namespace")]
    WholeMachine {
        /// Setting as the file has it.
        setting: String,
    },
    /// What a fault changes for a time has no value to go back to.
    #[error("when the fault is over, `{setting}` has no value to go back to")]
    NoWayBack {
        /// Setting as the file has it.
        setting: String,
    },
    /// A fault hangs on a setting that its host does not show.
    #[error("the fault hangs on hosts.{setting}, which is not recorded")]
    NotRecorded {
        /// Setting as the file has it.
        setting: String,
    },
    /// More than the relay carries here.
    #[error("{asked} is more than the relay carries on this machine, {limit}")]
    TooFast {
        /// What is asked for.
        asked: String,
        /// What there is.
        limit: String,
    },
    /// Something this kernel does not have.
    #[error("this machine lacks {need}")]
    Lacking {
        /// What.
        need: crate::needs::Need,
    },
}

impl Hint for Problem {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Slip(DocumentError::Undefined { what: "cause", name, .. }) => {
                let known: Vec<String> = causes::names().map(str::to_owned).collect();
                return suggestion(name, &known, "known causes");
            }
            Self::Slip(slip) => return slip.hint(),
            Self::SameAddress { .. } => "leave `address` out, then each gets one of its own".to_owned(),
            Self::Unlinked { host } => format!("add a [[links]] with `between = [\"{host}\", …]`"),
            Self::NoRoute { .. } => "hosts on the way need `forwards = true`".to_owned(),
            Self::Circle { .. } => "one of the [[routes]] on the way sends packets back".to_owned(),
            Self::NotARouter { via, .. } => format!("write `forwards = true` for [hosts.{via}]"),
            Self::WhichElement { count: 0, kind, .. } => {
                format!("`add = {{ {kind} = … }}` puts one in, or put one into the chain")
            }
            Self::WhichElement { .. } => "say which with `nth`, counting from 0".to_owned(),
            Self::FaultOutsideTests { .. } => "move the fault or the tests".to_owned(),
            Self::WholeMachine { setting } if setting.starts_with("net.core.") => {
                "size sockets by `net.ipv4.tcp_rmem` and `net.ipv4.tcp_wmem`; record the machine's value under `facts`"
                    .to_owned()
            }
            Self::NotRecorded { .. } => "what a namespace cannot show stands under `facts` of its host".to_owned(),
            Self::NoWayBack { setting } => format!("give the host its usual value of `{setting}`"),
            Self::TooFast { .. } => "scale the network down, and say so in `scale`".to_owned(),
            Self::Lacking { .. } => "`linerate lab check` shows what this machine can do".to_owned(),
            Self::Element(_)
            | Self::Address { .. }
            | Self::Loop { .. }
            | Self::NotNeighbours { .. }
            | Self::NotAtLink { .. }
            | Self::EndsFirst
            | Self::WholeMachine { .. } => return None,
        })
    }
}
