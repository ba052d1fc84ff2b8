//! Old values, in a form from which exactly they are made again. They are kept on disk by who is privileged and are
//! never taken from anybody else.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::names::{DeviceName, NamespaceName, Prefix, SysctlKey};

/// Values of one network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamespaceValues {
    /// Its name; that of the helper where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<NamespaceName>,
    /// Its number: a namespace that has the name later is another one.
    pub inode: u64,
    /// Numbers of the devices that the values are of: a device that has the name later is another one.
    #[serde(default)]
    pub devices: BTreeMap<String, u32>,
    /// The values, in the order in which they are to be written.
    pub values: Vec<Captured>,
}

/// What belongs together and is written together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Captured {
    /// One sysctl of the namespace.
    Sysctl {
        /// Key with dots, such as `net.ipv4.tcp_rmem`.
        key: SysctlKey,
        /// Its value, as the kernel showed it.
        value: String,
    },
    /// A small file of the kernel.
    File {
        /// Which.
        file: KernelFile,
        /// What was in it.
        content: String,
    },
    /// The features of a device that can be switched: whether each is asked for.
    Features {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// By name.
        wanted: BTreeMap<String, bool>,
    },
    /// Numbers of one kind.
    Numbers {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Which kind.
        table: Table,
        /// By name.
        values: BTreeMap<String, u32>,
    },
    /// What a link says that it can do (`ETHTOOL_A_LINKMODES_OURS`), as bits in words of 32.
    LinkModes {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Words of 32 bits of the bitmap of advertised link modes (ethtool).
        advertised: Vec<u32>,
    },
    /// Over which queues received packets are spread.
    Spread {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// The queue of each entry.
        queues: Vec<u32>,
    },
    /// All queueing disciplines and classes of a device.
    Qdiscs {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Parents before children.
        tree: Vec<Node>,
    },
    /// A whole route.
    Route {
        /// Prefix that the route is to.
        to: Prefix,
        /// The message that makes it, in hexadecimal; absent where there was no such route.
        message: Option<String>,
        /// Its metrics for people.
        metrics: BTreeMap<String, String>,
    },
    /// Whether a module is there.
    Module {
        /// Module as `lsmod` lists it.
        name: String,
        /// Whether it is.
        loaded: bool,
    },
}

/// Kinds of numbers that a device has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Sizes of the link: `mtu`, `txqlen`, `gso-max`.
    Link,
    /// Rings.
    Rings,
    /// Channels.
    Channels,
    /// Interrupt coalescing.
    Coalesce,
    /// Pause frames.
    Pause,
    /// Energy-efficient Ethernet.
    Eee,
    /// Speed, duplex and whether they are negotiated.
    Mode,
    /// How a bond chooses.
    Bond,
}

/// Small files of the kernel that are written, each by what it is about and never by a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KernelFile {
    /// Where an interrupt may go, as a list.
    Interrupt {
        /// Number of the interrupt in `/proc/interrupts`.
        number: u32,
    },
    /// Which processors handle what a receive queue brings.
    Steering {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Number of the queue, from 0.
        queue: u32,
    },
    /// Which processors send by a transmit queue.
    Sending {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Number of the queue, from 0.
        queue: u32,
    },
    /// The governor of a processor.
    Governor {
        /// Number of the CPU, from 0.
        cpu: u32,
    },
    /// Whether an idle state of a processor is closed.
    IdleState {
        /// Number of the CPU, from 0.
        cpu: u32,
        /// Number of the idle state, from 0, the shallowest.
        state: u32,
    },
    /// Whether cores run two threads.
    Smt {},
}

/// One queueing discipline or class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Which of both.
    pub what: NodeKind,
    /// Kind as `tc` spells it, such as `fq_codel`.
    pub kind: String,
    /// Its own number; a discipline that the kernel put in by itself has 0.
    pub handle: u32,
    /// What it hangs on.
    pub parent: u32,
    /// Its options as the kernel gave them (`TCA_OPTIONS`), in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
}

/// Whether a node is a discipline or a class of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A qdisc, classful or not.
    Qdisc,
    /// A class of a classful qdisc, such as htb.
    Class,
}

/// One setting that a fix has changed, or would.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The network namespace; that of the helper where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<NamespaceName>,
    /// What: `net.ipv4.tcp_rmem`, `eth0 rings rx`, `eth0 feature rx-gro`, `eth0 qdisc root`, `route 192.0.2.0/24 mtu`.
    pub key: String,
    /// The value before; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The value after; absent where there is none any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl Captured {
    /// What it is about, in words that are the same before and after a change.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Self::Sysctl { key, .. } => key.to_string(),
            Self::File { file, .. } => file.to_string(),
            Self::Features { device, .. } => format!("{device} feature"),
            Self::Numbers { device, table, .. } => format!("{device} {table}"),
            Self::LinkModes { device, .. } => format!("{device} link modes"),
            Self::Spread { device, .. } => format!("{device} receive spread"),
            Self::Qdiscs { device, .. } => format!("{device} qdisc"),
            Self::Route { to, .. } => format!("route {to}"),
            Self::Module { name, .. } => format!("module {name}"),
        }
    }

    /// The device it is of, if one.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceName> {
        match self {
            Self::Features { device, .. }
            | Self::Numbers { device, .. }
            | Self::LinkModes { device, .. }
            | Self::Spread { device, .. }
            | Self::Qdiscs { device, .. } => Some(device),
            Self::File { file, .. } => file.device(),
            Self::Sysctl { .. } | Self::Route { .. } | Self::Module { .. } => None,
        }
    }

    /// Each setting in it with its value as text.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, String> {
        let subject = self.subject();
        let one = |value: String| BTreeMap::from([(subject.clone(), value)]);
        match self {
            Self::Sysctl { value, .. } => one(value.clone()),
            Self::File { content, .. } => one(content.clone()),
            Self::Features { wanted, .. } => {
                let text = |on: &bool| if *on { "on" } else { "off" }.to_owned();
                wanted.iter().map(|(name, on)| (format!("{subject} {name}"), text(on))).collect()
            }
            Self::Numbers { values, .. } => {
                values.iter().map(|(name, value)| (format!("{subject} {name}"), value.to_string())).collect()
            }
            Self::LinkModes { advertised, .. } => one(hexadecimal(advertised.iter().rev().copied())),
            Self::Spread { queues, .. } => one(queues.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")),
            Self::Qdiscs { tree, .. } => tree.iter().map(|node| node.setting(&subject)).collect(),
            Self::Route { message, metrics, .. } => {
                let whole = message.iter().map(|message| (subject.clone(), message.clone()));
                let each = metrics.iter().map(|(name, value)| (format!("{subject} {name}"), value.clone()));
                whole.chain(each).collect()
            }
            Self::Module { loaded, .. } => one(if *loaded { "loaded" } else { "not loaded" }.to_owned()),
        }
    }
}

impl Node {
    fn setting(&self, subject: &str) -> (String, String) {
        // Numbers from 8000 on are the kernel's to give, as 0 is; with each making it gives another
        // (net/sched/sch_api.c, qdisc_alloc_handle).
        let number = |number: u32| match number >> 16 {
            0 | 0x8000.. => format!("auto:{:x}", number & 0xffff),
            major => format!("{major:x}:{:x}", number & 0xffff),
        };
        let parent = if self.parent == u32::MAX { "root".to_owned() } else { number(self.parent) };
        let options = self.options.as_ref().map(|options| format!(" {options}")).unwrap_or_default();
        match self.what {
            NodeKind::Qdisc => {
                (format!("{subject} {parent}"), format!("{} {}{options}", self.kind, number(self.handle)))
            }
            NodeKind::Class => {
                (format!("{subject} class {}", number(self.handle)), format!("{} on {parent}{options}", self.kind))
            }
        }
    }
}

impl KernelFile {
    /// The device it is of, if one.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceName> {
        match self {
            Self::Steering { device, .. } | Self::Sending { device, .. } => Some(device),
            Self::Interrupt { .. } | Self::Governor { .. } | Self::IdleState { .. } | Self::Smt {} => None,
        }
    }
}

/// The settings that differ between two states of the same place.
#[must_use]
pub fn differences(before: &NamespaceValues, after: &NamespaceValues) -> Vec<Difference> {
    let settings = |place: &NamespaceValues| -> BTreeMap<String, String> {
        place.values.iter().flat_map(Captured::settings).collect()
    };
    let (old, new) = (settings(before), settings(after));
    let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let difference = |key: &String| {
        let (old, new) = (old.get(key).cloned(), new.get(key).cloned());
        (old != new).then(|| Difference { namespace: before.namespace.clone(), key: key.clone(), old, new })
    };
    keys.into_iter().filter_map(difference).collect()
}

/// Numbers of 32 bits as hexadecimal digits.
fn hexadecimal(words: impl Iterator<Item = u32>) -> String {
    words.map(|word| format!("{word:08x}")).collect()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Link => "link",
            Self::Rings => "rings",
            Self::Channels => "channels",
            Self::Coalesce => "coalesce",
            Self::Pause => "pause",
            Self::Eee => "eee",
            Self::Mode => "mode",
            Self::Bond => "bond",
        })
    }
}

impl fmt::Display for KernelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupt { number } => write!(f, "irq {number} affinity"),
            Self::Steering { device, queue } => write!(f, "{device} rx-{queue} rps_cpus"),
            Self::Sending { device, queue } => write!(f, "{device} tx-{queue} xps_cpus"),
            Self::Governor { cpu } => write!(f, "cpu{cpu} governor"),
            Self::IdleState { cpu, state } => write!(f, "cpu{cpu} idle state {state} disabled"),
            Self::Smt {} => f.write_str("smt"),
        }
    }
}
