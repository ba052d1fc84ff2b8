//! What can be set of a transfer: the table that readers, columns and documentation share.

use crate::value::{QuantityKind, Value};

/// Something that can be set of a transfer, and varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in files.
    pub name: &'static str,
    /// What it is.
    pub kind: QuantityKind,
    /// What holds where a file says nothing; [`None`] where it has to say something.
    pub usual: Option<&'static str>,
    /// Whether it may be `none`.
    pub may_be_none: bool,
    /// What it means.
    pub says: &'static str,
}

const fn given(name: &'static str, kind: QuantityKind, says: &'static str) -> Parameter {
    Parameter { name, kind, usual: None, may_be_none: false, says }
}

const fn usual(name: &'static str, kind: QuantityKind, usual: &'static str, says: &'static str) -> Parameter {
    Parameter { name, kind, usual: Some(usual), may_be_none: false, says }
}

const fn optional(name: &'static str, kind: QuantityKind, says: &'static str) -> Parameter {
    Parameter { name, kind, usual: Some("none"), may_be_none: true, says }
}

/// Names that files of earlier versions have.
const BEFORE: [(&str, &str); 2] = [("processor-rate", "cpu-rate"), ("adapter-rate", "nic-rate")];

/// All of them, in the order in which they are varied: the first changes last.
pub const ALL: [Parameter; 40] = [
    usual("congestion", QuantityKind::Word, "cubic", "the congestion control"),
    given("rate", QuantityKind::Rate, "bottleneck rate"),
    given("rtt", QuantityKind::Time, "RTT without queueing"),
    optional("queue", QuantityKind::Bytes, "bottleneck queue limit; 50 ms at line rate with `none`"),
    usual("loss", QuantityKind::Share, "0", "random loss probability on the forward path"),
    usual(
        "burst-queue",
        QuantityKind::Word,
        "shared",
        "the queue of the burst: `shared` with the transfer, or its `own`",
    ),
    usual(
        "burst-share",
        QuantityKind::Share,
        "0.1",
        "share of the link that a burst in its `own` queue has while the transfer has data to send",
    ),
    optional("burst-rate", QuantityKind::Rate, "rate of a burst into the bottleneck queue; no burst with `none`"),
    usual("burst-start", QuantityKind::Time, "0s", "when it begins, from the start of the command"),
    usual("burst-jitter", QuantityKind::Time, "0s", "by how much earlier or later than that, evenly drawn"),
    optional("burst-length", QuantityKind::Time, "how long it lasts; no burst with `none`"),
    optional("bytes", QuantityKind::Bytes, "how much is sent; without, it is sent for `time`"),
    usual("time", QuantityKind::Time, "60s", "for how long is sent, where `bytes` is `none`"),
    usual("patience", QuantityKind::Time, "10min", "time after which a transfer is given up"),
    usual(
        "start-up",
        QuantityKind::Time,
        "0s",
        "what the command does before it asks for the connection that carries the data",
    ),
    usual("start-up-round-trips", QuantityKind::Count, "0", "RTTs that the command takes before that"),
    usual(
        "clock",
        QuantityKind::Word,
        "transfer",
        "what a completion time counts from: the `transfer`, or the `command`",
    ),
    usual("mtu", QuantityKind::Bytes, "1500B", "the largest IP packet"),
    usual(
        "initial-window",
        QuantityKind::Count,
        "10",
        "initial congestion window in segments (`initcwnd` of the route)",
    ),
    optional(
        "receiver-initial-window",
        QuantityKind::Count,
        "initial receive window in segments (`initrwnd` of the route)",
    ),
    usual("wmem", QuantityKind::Bytes, "4MiB", "maximum send buffer (`tcp_wmem`, third value)"),
    usual("rmem", QuantityKind::Bytes, "6MiB", "maximum receive buffer (`tcp_rmem`, third value)"),
    usual("rmem-default", QuantityKind::Bytes, "128KiB", "initial receive buffer (`tcp_rmem`, second value)"),
    usual(
        "kernel",
        QuantityKind::Word,
        "6.1",
        "kernel release of both hosts: `5.10` (before 5.14), `6.1`, `6.6` or later",
    ),
    usual("writer", QuantityKind::Word, "polls", "how the application writes: `polls`, as iperf3, or `blocks`"),
    usual(
        "streams",
        QuantityKind::Count,
        "1",
        "connections over which `bytes` are spread, all begun at once (`iperf3 -P`)",
    ),
    optional("application-rate", QuantityKind::Rate, "rate at which the application has data"),
    optional("cpu-rate", QuantityKind::Rate, "rate at which one CPU can send"),
    optional(
        "nic-rate",
        QuantityKind::Rate,
        "link rate of the sending NIC; with `none` the next common speed above `rate`, at least 10 Gbit/s",
    ),
    optional(
        "receive-rate",
        QuantityKind::Rate,
        "rate at which one CPU receives what comes in order; no bound with `none`",
    ),
    optional(
        "receive-rate-out-of-order",
        QuantityKind::Rate,
        "rate at which it receives while segments are missing; as in order with `none`",
    ),
    usual(
        "receive-ring",
        QuantityKind::Count,
        "1024",
        "packets that the ring of the receiving NIC holds (`ethtool -G rx`)",
    ),
    usual(
        "receive-coalescing",
        QuantityKind::Time,
        "0s",
        "time that the receiving NIC waits before it interrupts (`rx-usecs`)",
    ),
    usual("fq", QuantityKind::Flag, "false", "pace with the fq qdisc"),
    optional("pace", QuantityKind::Rate, "maximum pacing rate (fq `maxrate`)"),
    usual("offload", QuantityKind::Flag, "true", "segmentation offload (`ethtool -K tso on gso on`)"),
    usual("ecn", QuantityKind::Flag, "false", "negotiate ECN (`tcp_ecn` = 1)"),
    optional("deadline", QuantityKind::Time, "a transfer that takes longer has missed it"),
    optional("next-start", QuantityKind::Time, "a transfer that takes longer runs into the next one"),
    optional(
        "next-end",
        QuantityKind::Time,
        "a transfer that takes longer is still there when the next one should be done",
    ),
];

/// Why something that is written sets no parameter.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// A parameter that is not known.
    #[error("`{name}` in {place} is no parameter{}", near(name))]
    Unknown {
        /// Where it stands.
        place: String,
        /// What was written.
        name: String,
    },
    /// A value that a parameter cannot have.
    #[error("`{name}` in {place}: {why}")]
    Value {
        /// Where it stands.
        place: String,
        /// Name of the parameter, which is known.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// What may have been meant by a name that is none, for the end of a complaint.
#[must_use]
pub fn near(name: &str) -> String {
    let alike = |known: &&Parameter| known.name.contains(name) || (!name.is_empty() && name.contains(known.name));
    match ALL.iter().find(alike) {
        Some(known) => format!("; there is `{}`", known.name),
        None => "; docs/formats/sweep.md has all of them".to_owned(),
    }
}

impl Parameter {
    /// The one of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<(usize, &'static Self)> {
        let name = BEFORE.iter().find(|(before, _)| *before == name).map_or(name, |(_, now)| now);
        ALL.iter().enumerate().find(|(_, parameter)| parameter.name == name)
    }

    /// The one of a name that stands somewhere.
    ///
    /// # Errors
    /// There is none.
    pub fn named(place: &str, name: &str) -> Result<(usize, &'static Self), ParameterError> {
        Self::find(name).ok_or_else(|| ParameterError::Unknown { place: place.to_owned(), name: name.to_owned() })
    }

    /// That what stands somewhere is no value of it.
    #[must_use]
    pub fn error(&self, place: &str, why: String) -> ParameterError {
        ParameterError::Value { place: place.to_owned(), name: self.name.to_owned(), why }
    }

    /// The name of its column.
    #[must_use]
    pub fn column(&self) -> String {
        format!("{}{}", self.name.replace('-', "_"), self.kind.suffix())
    }

    /// Reads a value of it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(&self, written: &toml::Value) -> Result<Value, String> {
        let value = self.kind.read(written)?;
        if value.is_none() && !self.may_be_none {
            return Err(format!("it cannot be `none`; write {}", self.kind.example()));
        }
        Ok(value)
    }

    /// What holds where nothing is said.
    #[must_use]
    pub fn usual_value(&self) -> Option<Value> {
        self.kind.read_text(self.usual?).ok()
    }
}

/// A value for each of [`ALL`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings(Vec<Value>);

impl Settings {
    /// Settings from a value for each parameter, in the order of [`ALL`].
    #[must_use]
    pub fn new(values: Vec<Value>) -> Self {
        assert_eq!(values.len(), ALL.len(), "settings have a value for each parameter");
        Self(values)
    }

    /// All values, in the order of [`ALL`].
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.0
    }

    /// The value of a parameter; that of one that is not there is not set.
    #[must_use]
    pub fn get(&self, name: &str) -> &Value {
        const NOTHING: &Value = &Value::None;
        Parameter::find(name).and_then(|(place, _)| self.0.get(place)).unwrap_or(NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_where_nothing_is_said_can_be_read() {
        for parameter in ALL {
            let Some(text) = parameter.usual else { continue };
            let value = parameter.usual_value();
            assert!(value.is_some(), "{}: {text}", parameter.name);
            assert_eq!(value == Some(Value::None), parameter.may_be_none, "{}", parameter.name);
        }
    }

    #[test]
    fn the_format_page_names_every_parameter() {
        let page = include_str!("../../../docs/formats/sweep.md");
        for parameter in ALL {
            let row =
                format!("| `{}` | {} | {} |", parameter.name, parameter.usual.unwrap_or("to be given"), parameter.says);
            assert!(page.contains(&row), "docs/formats/sweep.md lacks {row}");
        }
    }
}
