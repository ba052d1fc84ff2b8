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
        pcie_max_read_bytes: fs::read(hardware.directory.join("config"))
            .ok()
            .and_then(|config| max_read_request(&config)),
    };
    Fact::known(bus, Source::file(Path::display(&hardware.directory)))
}

/// MaxReadReq of a PCIe function, from its configuration space: bits 14 to 12 of Device Control, which is 8 bytes into the
/// capability 0x10 (PCI Express Base Specification 6.0, section 7.5.3.4; include/uapi/linux/pci_regs.h). Without root only
/// the first 64 bytes may be read, which do not reach it.
fn max_read_request(config: &[u8]) -> Option<u32> {
    let byte = |at: usize| config.get(at).copied();
    let mut at = usize::from(byte(CAPABILITY_LIST)?);
    // A list that turns in a circle is none.
    for _ in 0..MOST_CAPABILITIES {
        if at < 64 {
            return None;
        }
        if byte(at)? == CAP_ID_EXP {
            let control = u16::from_le_bytes([byte(at + 8)?, byte(at + 9)?]);
            return Some(128 << ((control >> 12) & 7));
        }
        at = usize::from(byte(at + 1)?);
    }
    None
}

const CAPABILITY_LIST: usize = 0x34;
const CAP_ID_EXP: u8 = 0x10;
/// A capability has at least four of 192 bytes.
const MOST_CAPABILITIES: usize = 48;

/// What the kernel writes for a device that is no PCIe device (include/linux/pci.h, `PCIE_LNK_WIDTH_UNKNOWN`).
const UNKNOWN_WIDTH: u32 = 255;

#[cfg(test)]
mod tests {
    use super::max_read_request;

    #[test]
    fn the_read_request_is_found_behind_other_capabilities_and_no_circle_is_followed() {
        let mut config = vec![0_u8; 256];
        config[0x34] = 0x40;
        config[0x40..0x42].copy_from_slice(&[0x01, 0x60]);
        config[0x60..0x62].copy_from_slice(&[0x10, 0x00]);
        config[0x68..0x6a].copy_from_slice(&0x2000_u16.to_le_bytes());
        assert_eq!(max_read_request(&config), Some(512));
        assert_eq!(max_read_request(&config[..64]), None, "what an ordinary user reads");
        config[0x60..0x62].copy_from_slice(&[0x05, 0x40]);
        assert_eq!(max_read_request(&config), None);
    }
}
