//! Who this host is.

use std::net::IpAddr;

use linux::host;
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

fn device(_address: IpAddr) -> Option<Device> {
    None
}
