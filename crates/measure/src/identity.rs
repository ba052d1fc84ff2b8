//! Who this host is.

use std::net::IpAddr;

use linux::ethtool::Ethtool;
use linux::{host, links};
use model::host::{Device, HostIdentity};

use crate::wire::params::CLIENT_VERSION;

/// This host, with the device that carries `address` where one is given.
#[must_use]
pub fn local(address: Option<IpAddr>) -> HostIdentity {
    let processors = host::processors().ok();
    HostIdentity {
        name: Some(host::hostname()),
        software: Some(CLIENT_VERSION.to_owned()),
        kernel: Some(host::kernel_release()),
        boot_id: host::boot_id().ok(),
        cpus_online: processors.as_ref().and_then(|p| u16::try_from(p.online).ok()),
        cpu_model: processors.and_then(|p| p.model),
        device: address.and_then(device),
    }
}

/// The device that carries an address of ours, as far as it tells.
fn device(address: IpAddr) -> Option<Device> {
    let link = links::carrying(address).ok()??;
    let ethtool = Ethtool::open().ok();
    let driver = ethtool.as_ref().and_then(|ethtool| ethtool.driver(&link.name).ok());
    let settings = ethtool.as_ref().and_then(|ethtool| ethtool.link(&link.name).ok());
    Some(Device {
        driver: driver.map(|driver| driver.driver).or(link.kind),
        speed: settings.and_then(|settings| settings.speed),
        mtu: link.mtu,
        name: link.name,
    })
}
