//! The change log: what was changed on a host, when, by whom and why.

use serde::{Deserialize, Serialize};
use units::WallTime;

/// One entry of the change log, with its number in the archive that keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoggedChange {
    /// What `linerate host log note` calls it.
    pub number: u64,
    /// Change as it was found, and who made it.
    #[serde(flatten)]
    pub entry: ChangeEntry,
}

/// Something that changed on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeEntry {
    /// When it was seen. Without `after_unix_ns` it happened then.
    #[serde(rename = "time_unix_ns")]
    pub time: WallTime,
    /// When it was still as before: the change lies between the two times.
    #[serde(rename = "after_unix_ns", default, skip_serializing_if = "Option::is_none")]
    pub after: Option<WallTime>,
    /// The host, as its kernel has its name.
    pub host: String,
    /// The boot during which it was seen (`/proc/sys/kernel/random/boot_id`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// The network namespace; none for the host's own and for what belongs to the whole host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What it is a setting of, such as the interface `eth0`; none for the host or namespace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What changed, such as `net.ipv4.tcp_rmem` or `rx-gro-hw`.
    pub fact: String,
    /// The value before; none where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The value since; none where there is none any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Who did it.
    pub actor: Actor,
    /// How it came to be known.
    pub source: ChangeSource,
    /// Why, in people's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ChangeNote>,
}

/// Who changed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A process of this host, by what its kernel reported.
    Process(ActingProcess),
    /// Not known.
    Unknown {
        /// Why not.
        reason: String,
    },
}

/// A process that changed something, as far as it could be seen before it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActingProcess {
    /// Number in the host's own namespace of processes.
    pub pid: u32,
    /// The file of its program, or else the name that its kernel thread has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Its arguments, the program first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command_line: Vec<String>,
    /// The user whose rights it had, by name, or by number where that has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The user who had logged in, which stays through `sudo` and `su`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
}

/// How a change came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeSource {
    /// `linerate host watch` saw it happen.
    Watch,
    /// What was read differs from what was known before.
    Comparison,
    /// `linerate host fix` or `linerate host undo` did it.
    Fix,
    /// The host started anew.
    Boot,
    /// A person entered it.
    Person,
}

/// What a person says about a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeNote {
    /// When it was noted.
    #[serde(rename = "time_unix_ns")]
    pub time: WallTime,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// In words.
    pub text: String,
    /// The ticket that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

impl ChangeEntry {
    /// An entry of `fact`, with nothing known besides.
    #[must_use]
    pub fn new(time: WallTime, host: impl Into<String>, fact: impl Into<String>, source: ChangeSource) -> Self {
        Self {
            time,
            after: None,
            host: host.into(),
            boot: None,
            namespace: None,
            subject: None,
            fact: fact.into(),
            old: None,
            new: None,
            actor: Actor::Unknown { reason: "nobody looked".to_owned() },
            source,
            notes: Vec::new(),
        }
    }
}

impl ChangeSource {
    /// In one word, as it is serialised.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Comparison => "comparison",
            Self::Fix => "fix",
            Self::Boot => "boot",
            Self::Person => "person",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_is_written_flat_with_its_number_and_read_back() {
        let mut entry = ChangeEntry::new(WallTime::from_unix_nanos(7), "dtn1", "mtu", ChangeSource::Watch);
        entry.new = Some("9000".to_owned());
        let logged = LoggedChange { number: 3, entry };
        let text = serde_json::to_string(&logged).unwrap();
        assert_eq!(
            text,
            r#"{"number":3,"time_unix_ns":7,"host":"dtn1","fact":"mtu","new":"9000","#.to_owned()
                + r#""actor":{"unknown":{"reason":"nobody looked"}},"source":"watch"}"#
        );
        assert_eq!(serde_json::from_str::<LoggedChange>(&text).unwrap(), logged);
    }
}
