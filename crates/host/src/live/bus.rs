//! Where a device is in the machine. What is below /sys/bus is the same in all network namespaces.

use std::fs;
use std::path::{Path, PathBuf};

use linux::facts::link::{Device, Parent};
use model::host::fact::{Fact, Missing, Source};
use model::host::interface::driver::Bus;

use super::file;
use super::sysfs::Sysfs;

/// The hardware under a device: its bus and address, and its directory in sysfs.
pub(super) struct Hardware {
    parent: Parent,
    pub(super) directory: PathBuf,
}

impl Hardware {
    /// [`None`] for a device without hardware.
    pub(super) fn under(device: &Device, sysfs: &Sysfs) -> Option<Self> {
        let parent = device.parent.clone().or_else(|| by_sysfs(device, sysfs))?;
        let link = format!("/sys/bus/{}/devices/{}", parent.bus, parent.address);
        let directory = fs::canonicalize(&link).unwrap_or_else(|_| link.into());
        Some(Self { parent, directory })
    }

    /// A file of the device, or of the device that it is part of: a virtio device has its place by its PCI device.
    pub(super) fn file(&self, name: &str) -> Option<String> {
        let above = || self.directory.parent().and_then(|parent| file::optional(parent.join(name)));
        file::optional(self.directory.join(name)).or_else(above)
    }
}

/// Kernels before 5.14 do not tell over netlink.
fn by_sysfs(device: &Device, sysfs: &Sysfs) -> Option<Parent> {
    let directory = sysfs.directory(&device.name, &device.link).ok()?.join("device");
    let last = |path: PathBuf| Some(path.file_name()?.to_str()?.to_owned());
    let address = last(fs::read_link(&directory).ok()?)?;
    Some(Parent { bus: last(fs::read_link(directory.join("subsystem")).ok()?)?, address })
}

pub(super) fn read(hardware: Option<&Hardware>) -> Fact<Bus> {
    let Some(hardware) = hardware else {
        return Fact::missing(Missing::Absent, Source::netlink("RTM_GETLINK"));
    };
    let hexadecimal = |name: &str| {
        let text = file::optional(hardware.directory.join(name))?;
        Some(text.trim_start_matches("0x").to_owned())
    };
    let number = |name: &str| hardware.file(name)?.parse().ok();
    let bus = Bus {
        kind: hardware.parent.bus.clone(),
        address: hardware.parent.address.clone(),
        model: hexadecimal("vendor").zip(hexadecimal("device")).map(|(vendor, device)| format!("{vendor}:{device}")),
        // Below zero where the firmware does not say.
        numa_node: number("numa_node"),
        local_cpus: hardware.file("local_cpulist"),
        pcie_speed: hardware.file("current_link_speed").filter(|speed| !speed.starts_with("Unknown")),
        pcie_max_speed: hardware.file("max_link_speed").filter(|speed| !speed.starts_with("Unknown")),
        pcie_width: number("current_link_width").filter(|&width| width != 0 && width != UNKNOWN_WIDTH),
        pcie_max_width: number("max_link_width").filter(|&width| width != 0 && width != UNKNOWN_WIDTH),
    };
    Fact::known(bus, Source::file(Path::display(&hardware.directory)))
}

/// What the kernel writes for a device that is no PCIe device (include/linux/pci.h, `PCIE_LNK_WIDTH_UNKNOWN`).
const UNKNOWN_WIDTH: u32 = 255;
