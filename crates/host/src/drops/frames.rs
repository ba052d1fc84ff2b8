//! Frames that the devices of a namespace receive and that may be those that are dropped.

use std::path::Path;

use linux::Unavailable;
use linux::facts::link::{self, Device};
use linux::packet_socket::{FrameCounter, FrameCounts, Wanted};
use model::host::drops::{Frames, UnknownPart};

/// A listener on each device that may receive frames of others.
pub(super) struct Listeners(Vec<(String, FrameCounter)>);

impl Listeners {
    /// Listens in the network namespace of the calling thread. Frames that the host surely handles are passed over in
    /// the kernel: untagged IP, and those of VLANs that it has a device for.
    pub(super) fn open() -> Result<Self, Unavailable> {
        let devices = link::read()?;
        let mut listeners = Vec::new();
        for device in devices.iter().filter(|device| listens(device)) {
            let counter = FrameCounter::open(device.link.index, &wanted(device, &devices))?;
            listeners.push((device.name.clone(), counter));
        }
        Ok(Self(listeners))
    }

    /// The listeners' files, for waiting.
    pub(super) fn counters(&self) -> impl Iterator<Item = &FrameCounter> {
        self.0.iter().map(|(_, counter)| counter)
    }

    pub(super) fn drain(&mut self) {
        for (_, counter) in &mut self.0 {
            // A device that has gone is told of with the interval.
            let _ = counter.drain();
        }
    }

    pub(super) fn take(&mut self, unknown: &mut Vec<UnknownPart>) -> Vec<Frames> {
        let mut all = Vec::new();
        for (device, counter) in &mut self.0 {
            match counter.take() {
                Ok(counts) => all.extend(told(device, counts)),
                Err(error) => {
                    let what = format!("{device} frames");
                    unknown.push(UnknownPart { what, why: error.to_string() });
                }
            }
        }
        all
    }
}

fn told(device: &str, counts: FrameCounts) -> impl Iterator<Item = Frames> {
    let frames = |vlan, ethertype, frames| Frames { device: device.to_owned(), vlan, ethertype, frames };
    let missed = (counts.missed > 0).then(|| frames(None, None, counts.missed));
    let kinds = counts.frames.into_iter().map(move |(kind, count)| (kind.vlan, kind.protocol, count));
    let kinds: Vec<Frames> = kinds.map(|(vlan, protocol, count)| frames(vlan, Some(protocol), count)).collect();
    kinds.into_iter().chain(missed)
}

fn listens(device: &Device) -> bool {
    device.link.up && device.name != "lo" && device.link.vlan.is_none()
}

fn wanted(device: &Device, devices: &[Device]) -> Wanted {
    let on_top = devices.iter().filter(|other| other.link.lower.as_deref() == Some(device.name.as_str()));
    let mut except_untagged = vec![ETH_P_IP, ETH_P_ARP];
    if speaks_ipv6(&device.name) {
        except_untagged.push(ETH_P_IPV6);
    }
    Wanted { except_vlans: on_top.filter_map(|other| other.link.vlan).collect(), except_untagged }
}

/// Whether the kernel hands IPv6 of the device to anybody: not with `ipv6.disable=1`, where the protocol has no sysctls.
/// With `disable_ipv6` of the device alone the packets are dropped by IPv6 itself, which is not `rx_dropped`.
fn speaks_ipv6(device: &str) -> bool {
    Path::new(&format!("/proc/sys/net/ipv6/conf/{}/disable_ipv6", device.replace('/', "."))).exists()
}

const ETH_P_IP: u16 = 0x0800; // include/uapi/linux/if_ether.h
const ETH_P_ARP: u16 = 0x0806;
const ETH_P_IPV6: u16 = 0x86dd;
