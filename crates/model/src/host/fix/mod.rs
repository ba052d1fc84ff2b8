//! Fixes: typed steps, the values that they take the place of, and the journal that survives a loss of power.
//!
//! * [`Step`], [`Change`]: one concrete change at one place; [`discipline`]: queueing disciplines with typed options
//! * [`names`], [`sysctl`]: what names and values a step may carry at all; [`Step::check`]
//! * [`captured`]: old values, in a form from which exactly they are made again
//! * [`journal`]: one entry a fix
//! * [`talk`]: what is said to the privileged helper, and what it says

pub mod captured;
pub mod check;
pub mod discipline;
pub mod journal;
pub mod names;
pub mod sysctl;
pub mod talk;

use serde::{Deserialize, Serialize};

use discipline::{Discipline, Hook, HtbClass};
use names::{BondPolicy, ClassId, CpuList, CpuMask, DeviceName, FeatureName, GovernorName, ModuleName};
use names::{NamespaceName, Prefix, SysctlKey};

pub use check::Unfit;

/// One change at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The network namespace: a name of `ip netns` or Docker, or `pid:N`; that of the helper where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<NamespaceName>,
    /// What changes.
    pub change: Change,
}

/// What changes. Nothing in it is a path, a program or a text that is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Change {
    /// A kernel setting.
    Sysctl {
        /// Its name, with dots.
        key: SysctlKey,
        /// Its new value, as the kernel writes it, with blanks between numbers.
        value: String,
    },
    /// A feature of a device.
    Feature {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// The kernel's name of it.
        name: FeatureName,
        /// Whether it is to be active.
        on: bool,
    },
    /// Sizes of rings.
    Rings {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Receive descriptors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rx: Option<u32>,
        /// Transmit descriptors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tx: Option<u32>,
    },
    /// How many queues a device has. What is absent stays.
    Channels {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Queues that receive and send.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        combined: Option<u32>,
        /// Queues that only receive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rx: Option<u32>,
        /// Queues that only send.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tx: Option<u32>,
    },
    /// Whether a driver adapts how many packets an interrupt stands for.
    Coalesce {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Whether it does, for both directions.
        adaptive: bool,
    },
    /// Flow control with the switch.
    Pause {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Whether pause frames are heeded.
        rx: bool,
        /// Whether pause frames are sent.
        tx: bool,
    },
    /// Whether the link saves energy when idle.
    Eee {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Whether it does.
        on: bool,
    },
    /// Whether speed and duplex are negotiated.
    Autonegotiation {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Whether they are.
        on: bool,
    },
    /// Received packets spread evenly over the first so many queues.
    Spread {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Queues.
        queues: u32,
    },
    /// The largest packet that a device sends.
    Mtu {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Bytes of the largest IP packet, without the frame around it.
        bytes: u32,
    },
    /// Length of the transmit queue.
    TxQueueLength {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Packets.
        packets: u32,
    },
    /// The largest aggregates of IPv4 that a device is handed and that are built from what it receives.
    LargestAggregate {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// Bytes of the largest aggregate, headers included.
        bytes: u32,
    },
    /// How a bond chooses the member for a flow.
    BondHash {
        /// Device of the bond itself, not of a port.
        device: DeviceName,
        /// Headers by whose hash packets are spread over the ports.
        policy: BondPolicy,
    },
    /// A queueing discipline in the place of what is there.
    Qdisc {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// What it hangs on.
        hook: Hook,
        /// Kind and options.
        discipline: Discipline,
    },
    /// A class of `htb`.
    Class {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// What it hangs on.
        hook: Hook,
        /// Its own number.
        class: ClassId,
        /// Rate, ceiling and bursts of the class.
        htb: HtbClass,
    },
    /// No queueing discipline but what the kernel gives by itself.
    NoQdisc {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
    },
    /// Metrics of the one route to a destination in the main table. All else of the route stays as it is.
    Route {
        /// Prefix of a route of the main table.
        to: Prefix,
        /// The metrics that change, as `ip route` writes them: `initcwnd 40 mtu lock 8900`.
        metrics: String,
    },
    /// Where the interrupts of a device may go.
    Interrupts {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// CPUs that may handle the interrupts.
        cpus: CpuList,
    },
    /// Which processors handle what each receive queue of a device brings, in software (RPS).
    Steering {
        /// Network device, by its name in the namespace of the fix.
        device: DeviceName,
        /// CPUs that process the packets in software.
        cpus: CpuMask,
    },
    /// The frequency governor of all processors.
    Governor {
        /// Governor, the same for all CPUs.
        name: GovernorName,
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
    /// A kernel module loaded. It stays loaded when the fix is undone: others may use it by then.
    Module {
        /// Module to be loaded, such as `tcp_bbr`.
        name: ModuleName,
    },
}

impl Change {
    /// The device that it is about, if one.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceName> {
        match self {
            Self::Feature { device, .. }
            | Self::Rings { device, .. }
            | Self::Channels { device, .. }
            | Self::Coalesce { device, .. }
            | Self::Pause { device, .. }
            | Self::Eee { device, .. }
            | Self::Autonegotiation { device, .. }
            | Self::Spread { device, .. }
            | Self::Mtu { device, .. }
            | Self::TxQueueLength { device, .. }
            | Self::LargestAggregate { device, .. }
            | Self::BondHash { device, .. }
            | Self::Qdisc { device, .. }
            | Self::Class { device, .. }
            | Self::NoQdisc { device }
            | Self::Interrupts { device, .. }
            | Self::Steering { device, .. } => Some(device),
            Self::Sysctl { .. }
            | Self::Route { .. }
            | Self::Governor { .. }
            | Self::Smt { .. }
            | Self::IdleStates { .. }
            | Self::Module { .. } => None,
        }
    }
}
