//! Devices, addresses, routes and their settings in one host. The calling thread is in the host's network.

use linux::ethtool::Ethtool;
use linux::netlink::NetlinkError;
use linux::rtnetlink::device::Vxlan;
use linux::rtnetlink::qdisc::Tbf;
use linux::rtnetlink::route::{self, Metric};
use linux::rtnetlink::{Index, Rtnetlink};
use linux::sockets::Switch;
use linux::tap::Tap;
use units::Mtu;

use super::error::RaiseError;
use super::given::{CONTROL, Given};
use super::sysctl::{self, SysctlTrouble};
use crate::blueprint::{Device, Host, Qdisc, Route, Tunnel, What};

/// What changes a host from inside.
pub(super) struct Tools<'a> {
    host: &'a str,
    rtnetlink: Rtnetlink,
    ethtool: Ethtool,
    pub(super) given: &'a mut Given,
}

impl<'a> Tools<'a> {
    /// For the host called `host`, in whose network the calling thread is.
    pub(super) fn open(host: &'a str, given: &'a mut Given) -> Result<Self, RaiseError> {
        let said = |source| RaiseError::Netlink {
            host: host.to_owned(),
            what: "cannot speak to the kernel".to_owned(),
            source,
        };
        let socket = |source| RaiseError::Host {
            host: host.to_owned(),
            step: "opening a socket",
            needs: "a free descriptor",
            source,
        };
        Ok(Self { host, rtnetlink: Rtnetlink::open().map_err(said)?, ethtool: Ethtool::open().map_err(socket)?, given })
    }

    /// Everything in the network of the host. Returns its ends of cables in the order of the blueprint.
    pub(super) fn furnish(&mut self, host: &Host) -> Result<Vec<Tap>, RaiseError> {
        self.settings(host, |key| !is_of_any_device(host, key))?;
        let loopback = self.index("lo")?;
        self.rtnetlink.set_up(loopback).map_err(|source| self.said("cannot bring up lo", source))?;
        for address in &host.addresses {
            self.address(loopback, "lo", *address, if address.is_ipv4() { 32 } else { 128 })?;
        }
        let mut taps = Vec::with_capacity(host.devices.len());
        for device in &host.devices {
            taps.push(self.device(host, device)?);
        }
        for tunnel in &host.tunnels {
            self.tunnel(host, tunnel)?;
        }
        for route in &host.routes {
            self.route(route)?;
        }
        Ok(taps)
    }

    /// Makes one change.
    pub(super) fn alter(&mut self, what: &What) -> Result<(), RaiseError> {
        match what {
            What::Sysctl(key, value) => self.sysctl(key, value),
            What::Feature { device, feature, on } => self.feature(device, feature, Switch::from(*on)),
            What::Route(route) => self.route(route),
            What::Mtu { device, mtu } => self.mtu(device, *mtu),
            What::Qdisc { device, qdisc: Some(qdisc) } => self.qdisc(device, qdisc),
            What::Qdisc { device, qdisc: None } => {
                let index = self.index(device)?;
                let unset = self.rtnetlink.unset_qdisc(index);
                unset.map_err(|source| self.said(format!("cannot give {device} its own queue back"), source))
            }
            // Its first process is told that, not its network.
            What::CpuShare(_) => Ok(()),
        }
    }

    fn device(&mut self, host: &Host, device: &Device) -> Result<Tap, RaiseError> {
        let tap = Tap::open(&device.name).map_err(|source| RaiseError::Tap { host: self.host.to_owned(), source })?;
        let index = self.index(&device.name)?;
        self.mtu(&device.name, device.mtu)?;
        self.settings(host, |key| sysctl::is_of_device(key, &device.name))?;
        for (feature, on) in &device.features {
            self.feature(&device.name, feature, Switch::from(*on))?;
        }
        if let Some(speed) = device.speed {
            let failed = |source| RaiseError::Speed { host: self.host.to_owned(), device: device.name.clone(), source };
            self.ethtool.set_speed(&device.name, speed).map_err(failed)?;
        }
        if let Some(qdisc) = &device.qdisc {
            self.qdisc(&device.name, qdisc)?;
        }
        self.plug_in(index, &device.name, &device.addresses)?;
        Ok(tap)
    }

    fn tunnel(&mut self, host: &Host, tunnel: &Tunnel) -> Result<(), RaiseError> {
        let Tunnel { name, vni, port, local, remotes, addresses, mtu } = tunnel;
        let vxlan = Vxlan { name, vni: *vni, port: *port, local: *local, remotes, mtu: *mtu };
        self.rtnetlink
            .add_vxlan(&vxlan)
            .map_err(|source| self.said(format!("cannot make the overlay {name}"), source))?;
        let index = self.index(name)?;
        self.settings(host, |key| sysctl::is_of_device(key, name))?;
        self.plug_in(index, name, addresses)
    }

    fn plug_in(&mut self, index: Index, name: &str, addresses: &[(std::net::IpAddr, u8)]) -> Result<(), RaiseError> {
        for (address, prefix) in addresses {
            self.address(index, name, *address, *prefix)?;
        }
        self.rtnetlink.set_up(index).map_err(|source| self.said(format!("cannot bring up {name}"), source))?;
        for (address, prefix) in addresses {
            self.given.networks.push((name.to_owned(), *address, *prefix));
            if self.given.pinned.is_some() {
                self.pin_network(name, *address, *prefix)?;
            }
        }
        Ok(())
    }

    fn address(&mut self, index: Index, name: &str, address: std::net::IpAddr, prefix: u8) -> Result<(), RaiseError> {
        let added = self.rtnetlink.add_address(index, address, prefix);
        added.map_err(|source| self.said(format!("cannot give {address}/{prefix} to {name}"), source))
    }

    fn route(&mut self, route: &Route) -> Result<(), RaiseError> {
        self.given.keep(route);
        self.make(route)
    }

    /// Makes a route, with what is pinned on all of them.
    pub(super) fn make(&mut self, route: &Route) -> Result<(), RaiseError> {
        let own = route.metrics.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let pinned = self.given.pinned.as_deref().filter(|_| !route.metrics.contains_key(CONGCTL));
        let all = own.chain(pinned.map(|name| (CONGCTL, name)));
        let metrics = all.map(|(name, value)| Metric::parse(name, value)).collect::<Result<Vec<_>, _>>();
        let metrics = metrics.map_err(|source| RaiseError::Metric { host: self.host.to_owned(), source })?;
        let device = self.index(&route.device)?;
        let made = self.rtnetlink.replace_route(&route::Route {
            to: route.to,
            via: route.via,
            device,
            source: route.source,
            metrics: &metrics,
            priority: if route.via.is_none() && route.to.0.is_ipv6() { BEFORE_THE_KERNELS } else { 0 },
        });
        let (to, prefix) = route.to;
        made.map_err(|source| {
            self.said(format!("cannot make the route to {to}/{prefix} over {}", route.device), source)
        })
    }

    fn mtu(&mut self, device: &str, mtu: Mtu) -> Result<(), RaiseError> {
        let index = self.index(device)?;
        let set = self.rtnetlink.set_mtu(index, mtu);
        set.map_err(|source| self.said(format!("cannot set the MTU of {device} to {}", mtu.get()), source))
    }

    fn qdisc(&mut self, device: &str, qdisc: &Qdisc) -> Result<(), RaiseError> {
        let index = self.index(device)?;
        let set = match qdisc {
            Qdisc::Pfifo { packets } => self.rtnetlink.set_pfifo(index, *packets),
            Qdisc::Tbf { rate, burst, limit } => {
                self.rtnetlink.set_tbf(index, Tbf { rate: *rate, burst: *burst, limit: *limit })
            }
        };
        set.map_err(|source| self.said(format!("cannot set the qdisc of {device}"), source))
    }

    fn feature(&mut self, device: &str, feature: &str, wanted: Switch) -> Result<(), RaiseError> {
        let switched = self.ethtool.set_feature(device, feature, wanted);
        switched.map_err(|source| RaiseError::Feature { host: self.host.to_owned(), source })
    }

    fn settings(&mut self, host: &Host, belongs: impl Fn(&str) -> bool) -> Result<(), RaiseError> {
        let settings = host.sysctls.iter().filter(|(key, _)| belongs(key));
        settings.into_iter().try_for_each(|(key, value)| self.sysctl(key, value))
    }

    fn sysctl(&mut self, key: &str, value: &str) -> Result<(), RaiseError> {
        if key == CONTROL {
            return self.control(value);
        }
        sysctl::set(key, value).map_err(|trouble| self.setting(key, trouble))
    }

    pub(super) fn setting(&self, key: &str, trouble: SysctlTrouble) -> RaiseError {
        RaiseError::Sysctl { host: self.host.to_owned(), key: key.to_owned(), trouble }
    }

    fn index(&mut self, device: &str) -> Result<Index, RaiseError> {
        self.rtnetlink.index(device).map_err(|source| self.said(format!("there is no device {device}"), source))
    }

    fn said(&self, what: impl Into<String>, source: NetlinkError) -> RaiseError {
        RaiseError::Netlink { host: self.host.to_owned(), what: what.into(), source }
    }
}

/// Whether a setting belongs to a device of this host, which does not exist yet.
fn is_of_any_device(host: &Host, key: &str) -> bool {
    let devices = host.devices.iter().map(|device| &device.name).chain(host.tunnels.iter().map(|tunnel| &tunnel.name));
    devices.into_iter().any(|device| sysctl::is_of_device(key, device))
}

/// The metric of a route that names a congestion control.
const CONGCTL: &str = "congctl";

/// The kernel's own routes of version 6 have 256 (include/uapi/linux/ipv6_route.h, `IP6_RT_PRIO_ADDRCONF`).
const BEFORE_THE_KERNELS: u32 = 255;
