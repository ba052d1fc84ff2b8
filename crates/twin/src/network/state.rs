//! How a host is set at a moment.

use std::collections::BTreeMap;
use std::net::IpAddr;

use scenario::blueprint::{Host, Qdisc, Route, What};
use units::Mtu;

use crate::hosts::kernel;

/// Settings of a host that change what its flows attain.
#[derive(Debug, Clone)]
pub(crate) struct HostState {
    sysctls: BTreeMap<String, String>,
    pub(crate) devices: BTreeMap<String, DeviceState>,
    pub(crate) routes: Vec<Route>,
    pub(crate) cpu_share: Option<f64>,
}

/// Settings of one of its devices.
#[derive(Debug, Clone)]
pub(crate) struct DeviceState {
    pub(crate) mtu: Mtu,
    pub(crate) features: BTreeMap<String, bool>,
    pub(crate) qdisc: Option<Qdisc>,
}

impl HostState {
    pub(crate) fn new(host: &Host) -> Self {
        let devices = host.devices.iter().map(|device| {
            let state = DeviceState { mtu: device.mtu, features: device.features.clone(), qdisc: device.qdisc.clone() };
            (device.name.clone(), state)
        });
        let mut sysctls = kernel::sysctls();
        sysctls.extend(host.sysctls.iter().cloned());
        Self { sysctls, devices: devices.collect(), routes: host.routes.clone(), cpu_share: host.cpu_share }
    }

    pub(crate) fn alter(&mut self, what: &What) {
        match what {
            What::Sysctl(name, value) => {
                self.sysctls.insert(name.clone(), value.clone());
            }
            What::Feature { device, feature, on } => {
                if let Some(device) = self.devices.get_mut(device) {
                    device.features.insert(feature.clone(), *on);
                }
            }
            What::Route(route) => {
                self.routes.retain(|known| known.to != route.to);
                self.routes.push(route.clone());
            }
            What::Mtu { device, mtu } => {
                if let Some(device) = self.devices.get_mut(device) {
                    device.mtu = *mtu;
                }
            }
            What::Qdisc { device, qdisc } => {
                if let Some(device) = self.devices.get_mut(device) {
                    device.qdisc = qdisc.clone();
                }
            }
            What::CpuShare(share) => self.cpu_share = *share,
        }
    }

    /// All kernel settings by name, those that nobody set as the kernel has them.
    pub(crate) fn sysctls(&self) -> &BTreeMap<String, String> {
        &self.sysctls
    }

    pub(crate) fn sysctl(&self, name: &str) -> Option<&str> {
        self.sysctls.get(name).map(String::as_str)
    }

    /// A setting that is a number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.sysctl(name)?.trim().parse().ok()
    }

    /// The three sizes of a setting of buffers.
    pub(crate) fn sizes(&self, name: &str) -> Option<[u64; 3]> {
        let mut words = self.sysctl(name)?.split_whitespace().map(str::parse);
        let mut next = || words.next()?.ok();
        Some([next()?, next()?, next()?])
    }

    /// The route to an address.
    pub(crate) fn route(&self, to: IpAddr) -> Option<&Route> {
        self.routes.iter().find(|route| route.to.0 == to)
    }
}
