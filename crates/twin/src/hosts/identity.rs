//! The little that a run keeps of each of its hosts.

use model::host::{BufferSizes, Device, HostIdentity, TcpBuffers};
use units::ByteCount;

use crate::network::Network;
use crate::network::state::HostState;

/// Who a host is that sends by a link.
pub(crate) fn of(network: &Network<'_>, host: usize, link: Option<usize>) -> HostIdentity {
    let state = &network.hosts[host];
    let device = link.and_then(|link| {
        let mut devices = network.blueprint.hosts[host].devices.iter();
        devices.find(|device| device.cable == link)
    });
    HostIdentity {
        name: Some(network.blueprint.hosts[host].name.clone()),
        software: Some(SOFTWARE.to_owned()),
        kernel: Some(KERNEL.to_owned()),
        boot_id: None,
        cpu_model: None,
        cpus_online: Some(2),
        device: device.map(|device| Device {
            name: device.name.clone(),
            driver: Some("tun".to_owned()),
            speed: device.speed,
            mtu: state.devices.get(&device.name).map(|device| device.mtu.get()),
        }),
        tcp: buffers(state),
    }
}

fn buffers(state: &HostState) -> Option<TcpBuffers> {
    let sizes = |name: &str, most_asked: &str| {
        let [least, first, most] = state.sizes(name)?.map(ByteCount::new);
        Some(BufferSizes { least, first, most, most_asked: state.number(most_asked).map(ByteCount::new) })
    };
    Some(TcpBuffers {
        receive: sizes("net.ipv4.tcp_rmem", "net.core.rmem_max")?,
        send: sizes("net.ipv4.tcp_wmem", "net.core.wmem_max")?,
    })
}

/// What a host of a virtual play runs.
pub(crate) const SOFTWARE: &str = concat!("linerate ", env!("CARGO_PKG_VERSION"));
const KERNEL: &str = "6.18.0";
