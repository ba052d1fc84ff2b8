//! Which host it is: kernel, boot, processors, product.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;

/// Which host it is, and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Host name without domain, as uname(2) has it.
    pub name: Fact<String>,
    /// The hosts that should be alike, as the operator calls them: `dtn`, `vmhost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_group: Option<String>,
    /// Kernel release, as `uname -r` has it.
    pub kernel_release: Fact<String>,
    /// What the kernel was started with.
    pub kernel_command_line: Fact<String>,
    /// Identity of this boot.
    pub boot_id: Fact<String>,
    /// The machine's architecture, such as `x86_64`.
    pub architecture: Fact<String>,
    /// Name and version of the operating system: `PRETTY_NAME` of `os-release`.
    pub operating_system: Fact<String>,
    /// Processor model.
    pub cpu_model: Fact<String>,
    /// Processor packages.
    pub sockets: Fact<u32>,
    /// Physical cores of all packages.
    pub cores: Fact<u32>,
    /// Processors of each NUMA node, as the kernel lists them (`0-15,32-47`), by the node's number.
    pub numa_nodes: Fact<BTreeMap<u32, String>>,
    /// Memory that the kernel manages.
    #[serde(rename = "memory_bytes")]
    pub memory: Fact<u64>,
    /// Size of a page of memory, in which `tcp_mem` counts.
    #[serde(rename = "page_bytes")]
    pub page: Fact<u64>,
    /// Vendor and product, as the firmware says it (DMI).
    pub product: Fact<String>,
    /// Whether the processor says that it runs under a hypervisor. Containers do not count.
    pub under_hypervisor: Fact<bool>,
    /// How many IOMMU groups there are; none where it is off.
    pub iommu_groups: Fact<u32>,
}
