//! Who this host is.

use std::net::IpAddr;

use linux::ethtool::Ethtool;
use linux::{host, links};
use model::host::{BufferSizes, Device, HostIdentity, TcpBuffers};
use units::ByteCount;

use wire::params::CLIENT_VERSION;

/// This host, with the device that carries `address` where one is given.
#[must_use]
pub fn local(address: Option<IpAddr>) -> HostIdentity {
    let processors = host::cpus().ok();
    HostIdentity {
        name: Some(host::hostname()),
        software: Some(CLIENT_VERSION.to_owned()),
        kernel: Some(host::kernel_release()),
        boot_id: host::boot_id().ok(),
        cpus_online: processors.as_ref().and_then(|p| u16::try_from(p.online).ok()),
        cpu_model: processors.and_then(|p| p.model),
        device: address.and_then(device),
        tcp: tcp_buffers(),
    }
}

/// What TCP may take for buffers in the network namespace of this thread; none where the kernel does not say.
fn tcp_buffers() -> Option<TcpBuffers> {
    let sizes = |autotuned: &str, asked: &str| {
        let [least, first, most] = host::sysctl_numbers(autotuned).ok()?.try_into().ok()?;
        let most_asked = host::sysctl_numbers(asked).ok().and_then(|numbers| numbers.first().copied());
        let [least, first, most] = [least, first, most].map(ByteCount::new);
        Some(BufferSizes { least, first, most, most_asked: most_asked.map(ByteCount::new) })
    };
    Some(TcpBuffers {
        receive: sizes("net.ipv4.tcp_rmem", "net.core.rmem_max")?,
        send: sizes("net.ipv4.tcp_wmem", "net.core.wmem_max")?,
    })
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
