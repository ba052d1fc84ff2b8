//! One network device: link, driver, offloads, queues, interrupts, counters.
//!
//! * [`link`]: what the kernel makes it of: size limits, stacking, VLAN, VXLAN, bond
//! * [`driver`]: driver, firmware, place on the bus, speed of the link
//! * [`optics`]: what an optical module measures of itself
//! * [`tuning`]: rings, channels, coalescing, pause frames, receive hashing
//! * [`queues`]: which processors serve its queues and interrupts

pub mod driver;
pub mod link;
pub mod optics;
pub mod queues;
pub mod tuning;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use units::DataRate;

use super::fact::{Fact, Missing, Source};
use super::link_speed::reported;
use super::qdisc::Qdisc;
use driver::{Bus, Driver, Eee, Fec, LinkMode};
use link::Link;
use optics::Optics;
use queues::{Interrupt, Queues};
use tuning::{Channels, Coalesce, Feature, Pause, ReceiveHashing, Rings};

/// One network device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interface {
    /// Name in its network namespace, such as `ens2f0np0`.
    pub name: String,
    /// What the kernel makes it of.
    pub link: Fact<Link>,
    /// Driver with version, firmware and, where it says so, the bus.
    pub driver: Fact<Driver>,
    /// Where it is in the machine.
    pub bus: Fact<Bus>,
    /// Speed and duplex.
    pub mode: Fact<LinkMode>,
    /// Forward error correction.
    pub fec: Fact<Fec>,
    /// Energy-efficient Ethernet.
    pub eee: Fact<Eee>,
    /// What its optical module measures of itself; absent of what has no module.
    #[serde(default = "optics_not_read")]
    pub optics: Fact<Optics>,
    /// Features by the kernel's names: `rx-gro-hw`, `tx-tcp-segmentation`.
    pub features: Fact<BTreeMap<String, Feature>>,
    /// Rings.
    pub rings: Fact<Rings>,
    /// Channels.
    pub channels: Fact<Channels>,
    /// Interrupt coalescing.
    pub coalesce: Fact<Coalesce>,
    /// Pause frames.
    pub pause: Fact<Pause>,
    /// How received packets are spread over queues.
    pub receive_hashing: Fact<ReceiveHashing>,
    /// The driver's own switches.
    pub private_flags: Fact<BTreeMap<String, bool>>,
    /// Queueing disciplines, parents before children.
    pub qdiscs: Fact<Vec<Qdisc>>,
    /// Which processors serve its queues.
    pub queues: Fact<Queues>,
    /// Interrupts of its queues, with the CPUs that may handle each.
    pub interrupts: Fact<Vec<Interrupt>>,
    /// Counters of the kernel: `rx_packets`, `rx_dropped`, `rx_missed_errors`, `carrier_changes` and so on.
    pub counters: Fact<BTreeMap<String, u64>>,
    /// The driver's own counters, by its names.
    pub driver_counters: Fact<BTreeMap<String, u64>>,
}

fn optics_not_read() -> Fact<Optics> {
    let reason = "an earlier linerate did not read it".to_owned();
    Fact::missing(Missing::Failed { reason }, Source("snapshot".to_owned()))
}

impl Interface {
    /// Its link speed in bit/s, unless its driver makes that up, as `veth` does.
    #[must_use]
    pub fn reported_speed(&self) -> Option<DataRate> {
        let driver = self.driver.value().map(|driver| driver.name.as_str());
        reported(driver, self.mode.value()?.speed)
    }

    /// Whether it is made by software alone, with no device of a bus under it. Not known where the bus is not.
    #[must_use]
    pub fn is_virtual(&self) -> Option<bool> {
        match self.bus.state() {
            super::fact::State::Ok => Some(false),
            super::fact::State::Absent => Some(true),
            _ => None,
        }
    }
}

/// The kernel's counters of a device: members of `struct rtnl_link_stats64` in order (include/uapi/linux/if_link.h of 6.18).
pub const LINK_COUNTERS: [&str; 25] = [
    "rx_packets",
    "tx_packets",
    "rx_bytes",
    "tx_bytes",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
    "multicast",
    "collisions",
    "rx_length_errors",
    "rx_over_errors",
    "rx_crc_errors",
    "rx_frame_errors",
    "rx_fifo_errors",
    "rx_missed_errors",
    "tx_aborted_errors",
    "tx_carrier_errors",
    "tx_fifo_errors",
    "tx_heartbeat_errors",
    "tx_window_errors",
    "rx_compressed",
    "tx_compressed",
    "rx_nohandler",
    "rx_otherhost_dropped",
];
