//! Who measured: enough to know years later what a number came from.

use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use super::link_speed::reported;

/// One host at the time of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostIdentity {
    /// Host name as the measuring program knows it; absent in logs that do not print it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The measuring software and its version: `linerate 0.1.0`, `iperf 3.12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// Kernel release, as `uname -r` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Identity of this boot; two runs with different ones have a reboot between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// Processor model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Processors online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_online: Option<u16>,
    /// The device that carried the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// What its TCP may take for buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpBuffers>,
}

/// What TCP of a host may take for the buffers of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpBuffers {
    /// For what is received.
    #[serde(rename = "receive_bytes")]
    pub receive: BufferSizes,
    /// For what is sent.
    #[serde(rename = "send_bytes")]
    pub send: BufferSizes,
}

/// The size of a buffer that grows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BufferSizes {
    /// What it has when memory is short.
    pub least: ByteCount,
    /// What it begins with.
    pub first: ByteCount,
    /// The most that it grows to by itself.
    pub most: ByteCount,
    /// The most that an application may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_asked: Option<ByteCount>,
}

/// The network device that carried a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// Interface name, such as `ens2f0np0`.
    pub name: String,
    /// Driver of the kernel, such as `mlx5_core`; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Its link speed; absent for virtual devices, which report none.
    #[serde(rename = "speed_bps", default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<DataRate>,
    /// Its largest packet.
    #[serde(rename = "mtu_bytes", default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
}

impl Device {
    /// Its link speed in bit/s, unless its driver makes that up, as `veth` does.
    #[must_use]
    pub fn reported_speed(&self) -> Option<DataRate> {
        reported(self.driver.as_deref(), self.speed)
    }

    /// Whether it is software alone: no ring, no bus and no cable of its own can lose or hold back a packet.
    #[must_use]
    pub fn has_no_nic(&self) -> bool {
        self.name == "lo" || matches!(self.driver.as_deref(), Some("veth" | "dummy" | "macvlan" | "ipvlan" | "bridge"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_namespaces_has_no_nic_and_what_a_hypervisor_gives_has_one() {
        let device = |name: &str, driver: Option<&str>| Device {
            name: name.to_owned(),
            driver: driver.map(str::to_owned),
            speed: None,
            mtu: None,
        };
        assert!(device("eth0", Some("veth")).has_no_nic() && device("lo", None).has_no_nic());
        for driver in [None, Some("virtio_net"), Some("tun"), Some("mlx5_core")] {
            assert!(!device("eth0", driver).has_no_nic(), "{driver:?}");
        }
    }
}
