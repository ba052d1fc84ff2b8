//! Driver, firmware, place on the bus, speed of the link.

use serde::{Deserialize, Serialize};
use units::DataRate;

/// A driver, as it names itself. Empty texts are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Driver {
    /// Its name: `mlx5_core`, `8139cp`.
    pub name: String,
    /// Its version; of drivers in the kernel tree that of the kernel.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Version of the device's firmware.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub firmware: String,
    /// Where the device is, such as a PCI address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bus_info: String,
}

/// Where a device is in the machine (sysfs). What its bus does not have is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bus {
    /// Which bus: `pci`, `virtio`, `usb`.
    #[serde(default)]
    pub kind: String,
    /// Its address there.
    #[serde(default)]
    pub address: String,
    /// Vendor and device, as `15b3:1019`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The NUMA node it is close to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<u32>,
    /// The processors it is close to, as the kernel lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_cpus: Option<String>,
    /// Speed of a PCIe lane, as the kernel writes it: `16.0 GT/s PCIe`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_speed: Option<String>,
    /// The highest speed of a PCIe lane of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_max_speed: Option<String>,
    /// PCIe lanes in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_width: Option<u32>,
    /// PCIe lanes of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_max_width: Option<u32>,
    /// The largest read that the device asks for at once (Device Control, MaxReadReq); takes root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_max_read_bytes: Option<u32>,
}

/// Speed and duplex of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkMode {
    /// Speed; absent where it is unknown: the link is down, or the device is virtual.
    #[serde(rename = "speed_bps", default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<DataRate>,
    /// Whether both ends may send at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_duplex: Option<bool>,
    /// Whether the ends agree on the speed by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autonegotiation: Option<bool>,
    /// PCIe, SerDes or wireless lanes of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u32>,
}

/// Forward error correction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fec {
    /// What is in force: `None`, `RS`, `BASER`, as the kernel names link modes; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<String>,
    /// Whether the device chooses.
    pub automatic: bool,
    /// What is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configured: Vec<String>,
}

/// Energy-efficient Ethernet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Eee {
    /// Whether it is allowed.
    pub enabled: bool,
    /// Whether both ends use it.
    pub active: bool,
}
