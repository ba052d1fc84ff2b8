//! Why a scenario is refused.

use std::fmt;
use std::io;

use super::causes;
use super::nearest::nearest;
use super::source::Place;

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
        /// The file.
        file: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The file is longer than any scenario is.
    #[error("{file} has more than {limit} bytes, which no scenario needs")]
    TooLarge {
        /// The file.
        file: String,
        /// The limit.
        limit: u64,
    },
    /// What the file says cannot be.
    #[error("{}", shown(.0))]
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
            Self::Refused(complaints) => {
                let mut hints: Vec<String> = Vec::new();
                for hint in complaints.iter().filter_map(|complaint| complaint.problem.hint()) {
                    if !hints.contains(&hint) {
                        hints.push(hint);
                    }
                }
                hints
            }
        }
    }
}

fn shown(complaints: &[Complaint]) -> String {
    complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Complaint {
    /// Where it stands.
    pub place: Place,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// What can be wrong with a scenario.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A key, or a name where only a few may stand, that is not known there.
    #[error("unknown {what} `{name}`")]
    UnknownWord {
        /// A key, an element, a kind.
        what: &'static str,
        /// What stands there.
        name: String,
        /// What may stand there.
        known: Vec<String>,
    },
    /// Not TOML, or a value of the wrong kind.
    #[error("{0}")]
    Syntax(String),
    /// A host, link, overlay or anything else that is named but not defined.
    #[error("no {what} is called `{name}`")]
    Undefined {
        /// What it should be.
        what: &'static str,
        /// Its name.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Two things of one name.
    #[error("there is another {what} called `{name}`")]
    Twice {
        /// What they are.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// Not a name that a host, a link or an overlay can have.
    #[error("`{name}` cannot be the name of {what}: {why}")]
    Name {
        /// What it should name.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Keys that exclude each other, or of which one is needed.
    #[error("{0}")]
    Keys(&'static str),
    /// A key that things of this kind do not have.
    #[error("{of} has no `{key}`")]
    NotOfKind {
        /// What it is.
        of: String,
        /// The key.
        key: String,
        /// The keys it has.
        known: Vec<String>,
    },
    /// A key that things of this kind need.
    #[error("{of} needs `{key}`")]
    Needs {
        /// What it is.
        of: String,
        /// The key.
        key: &'static str,
    },
    /// More than a lab has room for.
    #[error("{count} {what} are too many: a network has at most {limit}")]
    TooMany {
        /// Hosts, links.
        what: &'static str,
        /// How many.
        count: usize,
        /// The most.
        limit: usize,
    },
    /// A value outside its range.
    #[error("{value} is not between {from} and {to}")]
    Range {
        /// The value.
        value: f64,
        /// The least.
        from: f64,
        /// The most.
        to: f64,
    },
    /// A setting of an element that no element can have.
    #[error(transparent)]
    Element(#[from] path::SpecError),
    /// Two ends of one address.
    #[error("{address} belongs to {other} already")]
    SameAddress {
        /// The address.
        address: std::net::IpAddr,
        /// Who has it.
        other: String,
    },
    /// An address or subnet that cannot be used.
    #[error("{what} cannot be used: {why}")]
    Address {
        /// The address.
        what: String,
        /// Why.
        why: &'static str,
    },
    /// A link from a host to itself.
    #[error("a link joins two hosts, not `{host}` with itself")]
    Loop {
        /// The host.
        host: String,
    },
    /// A host at the end of no link.
    #[error("no link ends at `{host}`")]
    Unlinked {
        /// The host.
        host: String,
    },
    /// Packets that would never arrive.
    #[error("no route leads from `{from}` to `{to}`")]
    NoRoute {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
    /// Packets that would go round.
    #[error("packets from `{from}` to `{to}` would go round in a circle: {circle}")]
    Circle {
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
        /// The hosts on it.
        circle: String,
    },
    /// A route by a host that forwards nothing.
    #[error("`{via}` forwards nothing, so no route to `{to}` leads over it")]
    NotARouter {
        /// The host.
        via: String,
        /// The destination.
        to: String,
    },
    /// Hosts that no link joins.
    #[error("no link joins `{one}` and `{other}`")]
    NotNeighbours {
        /// The one.
        one: String,
        /// The other.
        other: String,
    },
    /// A host that is not at the end of the link.
    #[error("link `{link}` does not end at `{host}`")]
    NotAtLink {
        /// The link.
        link: String,
        /// The host.
        host: String,
    },
    /// A change of an element that the chain does not have, or has more than once.
    #[error("{count} elements of link `{link}` are a `{kind}`, so which becomes another is not said")]
    WhichElement {
        /// The link.
        link: String,
        /// The kind.
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
        /// The setting.
        setting: String,
    },
    /// What a fault changes for a time has no value to go back to.
    #[error("when the fault is over, `{setting}` has no value to go back to")]
    NoWayBack {
        /// The setting.
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
        need: super::needs::Need,
    },
}

impl Problem {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownWord { name, known, .. } | Self::NotOfKind { key: name, known, .. } => {
                return suggestion(name, known, "known here");
            }
            Self::Undefined { what: "cause", name, .. } => {
                let known: Vec<String> = causes::ALL.iter().map(|(id, _)| (*id).to_owned()).collect();
                return suggestion(name, &known, "known causes");
            }
            Self::Undefined { name, known, .. } => return suggestion(name, known, "defined"),
            Self::Name { .. } => "use letters, digits and hyphens: `dtn-01`".to_owned(),
            Self::Needs { of, key } => format!("write `{key} = …` for {of}"),
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
            Self::NoWayBack { setting } => format!("give the host its usual value of `{setting}`"),
            Self::TooFast { .. } => "scale the network down, and say so in `scale`".to_owned(),
            Self::Lacking { .. } => "`linerate lab check` shows what this machine can do".to_owned(),
            Self::Syntax(_)
            | Self::Twice { .. }
            | Self::Keys(_)
            | Self::TooMany { .. }
            | Self::Range { .. }
            | Self::Element(_)
            | Self::Address { .. }
            | Self::Loop { .. }
            | Self::NotNeighbours { .. }
            | Self::NotAtLink { .. }
            | Self::EndsFirst
            | Self::WholeMachine { .. } => return None,
        })
    }
}

fn suggestion(name: &str, known: &[String], which: &str) -> Option<String> {
    if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let listed = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    (!known.is_empty()).then(|| format!("{which}: {listed}"))
}
