//! What a rule proposes: operations with types, each with the command that a person would type, and its undo.
//!
//! An operation names what changes, never how: whoever applies it captures the old value first. The undo that is shown
//! here comes from the same snapshot as the finding.

pub mod ansible;
mod command;
pub mod exact;
pub mod mask;
pub mod plan;
pub mod report;
pub mod route;
mod undo;

use serde::{Deserialize, Serialize};

pub use command::Target;

/// One change. `T` is a text that may be computed (in a rule) or is (in a report).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>"))]
pub enum Operation<T> {
    /// A kernel setting of the namespace.
    Sysctl {
        /// Its name, with dots.
        key: T,
        /// Its new value.
        value: T,
    },
    /// A feature of the device.
    Feature {
        /// Its name, as the kernel has it.
        name: String,
        /// Whether it is to be active.
        on: bool,
    },
    /// Sizes of the device's rings.
    Rings {
        /// Receive descriptors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rx: Option<T>,
        /// Transmit descriptors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tx: Option<T>,
    },
    /// How many queues the device has.
    Channels {
        /// Queues that receive and send.
        combined: T,
    },
    /// How many packets an interrupt stands for.
    Coalesce {
        /// Whether the device adapts it.
        adaptive: bool,
    },
    /// Flow control with the switch.
    Pause {
        /// Whether pause frames are heeded.
        rx: bool,
        /// Whether pause frames are sent.
        tx: bool,
    },
    /// Whether the link saves energy when idle.
    Eee {
        /// Whether it does.
        on: bool,
    },
    /// Whether speed and duplex are negotiated.
    Autonegotiation {
        /// Whether they are.
        on: bool,
    },
    /// Packets spread evenly over so many receive queues.
    Spread {
        /// Queues.
        queues: T,
    },
    /// The device's MTU.
    Mtu {
        /// Bytes.
        bytes: T,
    },
    /// The device's transmit queue length.
    TxQueueLength {
        /// Packets.
        packets: T,
    },
    /// The largest aggregates of IPv4 that the device is handed and that it builds.
    LargestAggregate {
        /// Bytes.
        bytes: T,
    },
    /// How a bond chooses the member for a flow.
    BondHash {
        /// `xmit_hash_policy`, such as `layer3+4`.
        policy: String,
    },
    /// A queue discipline in place of what is there.
    Qdisc {
        /// `root`, or the class it hangs on.
        parent: String,
        /// Kind as `tc` spells it, such as `fq`.
        kind: String,
        /// Its own number, where classes or others are to hang on it: `1:`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<String>,
        /// Its options, as `tc` has them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<T>,
    },
    /// A class of a queue discipline.
    Class {
        /// What it hangs on.
        parent: String,
        /// Its own number.
        class: String,
        /// Kind and options, as `tc` has them.
        options: T,
    },
    /// No queue discipline but the kernel's own.
    NoQdisc {},
    /// Metrics of a route; the whole route is written again, because the kernel drops what is not repeated.
    Route {
        /// Prefix of the route whose metrics change.
        to: T,
        /// The metrics, as `ip route` has them.
        metrics: T,
    },
    /// Queue interrupts of the device spread over CPUs.
    Interrupts {
        /// CPUs as a list, such as `0-7,16`.
        cpus: T,
    },
    /// Packets of the device's receive queues spread over CPUs in software.
    Steering {
        /// The CPUs as a list, `0-3,8`; none for an end of it.
        cpus: T,
    },
    /// The frequency governor of all CPUs.
    Governor {
        /// Governor of cpufreq, such as `performance`.
        name: String,
    },
    /// Whether a core runs two threads.
    Smt {
        /// Whether it does.
        on: bool,
    },
    /// Idle states that take longer to leave are closed.
    IdleStates {
        /// Microseconds.
        longest_exit_us: u32,
    },
    /// A word of the kernel command line.
    BootParameter {
        /// Word of the kernel command line, such as `iommu=pt`.
        add: String,
    },
    /// A service that is to be stopped, now and at boot.
    StopService {
        /// Unit of systemd, such as `irqbalance.service`.
        unit: T,
    },
    /// A kernel module loaded, now and at boot.
    Module {
        /// Name of the kernel module.
        name: T,
    },
    /// What no program can do.
    Advice {
        /// What to do.
        text: T,
        /// How to take it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<T>,
    },
}

/// What applying a fix costs while it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Disruption {
    /// No packet.
    None,
    /// Established flows may be reset.
    FlowReset,
    /// The driver may take the link down for milliseconds to seconds.
    LinkBounce,
    /// A service is restarted, or CPUs come and go.
    ServiceRestart,
    /// It takes effect with the next start of the host or guest.
    Reboot,
}

impl Disruption {
    /// The words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::FlowReset => "established flows may reset",
            Self::LinkBounce => "the link may go down for seconds",
            Self::ServiceRestart => "a service or CPU restarts",
            Self::Reboot => "takes a reboot",
        }
    }
}

impl<T> Operation<T> {
    /// What it costs while it is done, where nobody says otherwise.
    #[must_use]
    pub fn disruption(&self) -> Disruption {
        match self {
            Self::Rings { .. }
            | Self::Channels { .. }
            | Self::Autonegotiation { .. }
            | Self::Eee { .. }
            | Self::Pause { .. }
            | Self::Mtu { .. } => Disruption::LinkBounce,
            Self::Smt { .. } | Self::StopService { .. } => Disruption::ServiceRestart,
            Self::BootParameter { .. } => Disruption::Reboot,
            _ => Disruption::None,
        }
    }

    /// The same operation with other texts.
    ///
    /// # Errors
    /// The first of `change`.
    pub fn try_map<U, E>(&self, change: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Operation<U>, E> {
        Ok(match self {
            Self::Sysctl { key, value } => Operation::Sysctl { key: change(key)?, value: change(value)? },
            Self::Feature { name, on } => Operation::Feature { name: name.clone(), on: *on },
            Self::Rings { rx, tx } => Operation::Rings {
                rx: rx.as_ref().map(&mut *change).transpose()?,
                tx: tx.as_ref().map(&mut *change).transpose()?,
            },
            Self::Channels { combined } => Operation::Channels { combined: change(combined)? },
            Self::Coalesce { adaptive } => Operation::Coalesce { adaptive: *adaptive },
            Self::Pause { rx, tx } => Operation::Pause { rx: *rx, tx: *tx },
            Self::Eee { on } => Operation::Eee { on: *on },
            Self::Autonegotiation { on } => Operation::Autonegotiation { on: *on },
            Self::Spread { queues } => Operation::Spread { queues: change(queues)? },
            Self::Mtu { bytes } => Operation::Mtu { bytes: change(bytes)? },
            Self::TxQueueLength { packets } => Operation::TxQueueLength { packets: change(packets)? },
            Self::LargestAggregate { bytes } => Operation::LargestAggregate { bytes: change(bytes)? },
            Self::BondHash { policy } => Operation::BondHash { policy: policy.clone() },
            Self::Qdisc { parent, kind, handle, options } => Operation::Qdisc {
                parent: parent.clone(),
                kind: kind.clone(),
                handle: handle.clone(),
                options: options.as_ref().map(change).transpose()?,
            },
            Self::Class { parent, class, options } => {
                Operation::Class { parent: parent.clone(), class: class.clone(), options: change(options)? }
            }
            Self::NoQdisc {} => Operation::NoQdisc {},
            Self::Route { to, metrics } => Operation::Route { to: change(to)?, metrics: change(metrics)? },
            Self::Interrupts { cpus } => Operation::Interrupts { cpus: change(cpus)? },
            Self::Steering { cpus } => Operation::Steering { cpus: change(cpus)? },
            Self::Governor { name } => Operation::Governor { name: name.clone() },
            Self::Smt { on } => Operation::Smt { on: *on },
            Self::IdleStates { longest_exit_us } => Operation::IdleStates { longest_exit_us: *longest_exit_us },
            Self::BootParameter { add } => Operation::BootParameter { add: add.clone() },
            Self::StopService { unit } => Operation::StopService { unit: change(unit)? },
            Self::Module { name } => Operation::Module { name: change(name)? },
            Self::Advice { text, undo } => {
                Operation::Advice { text: change(text)?, undo: undo.as_ref().map(change).transpose()? }
            }
        })
    }
}
