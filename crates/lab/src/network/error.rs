//! Why a network cannot be made or changed.

use std::io;
use std::path::Path;

use linux::ethtool::FeatureError;
use linux::netlink::NetlinkError;
use linux::rtnetlink::route::MetricError;
use linux::tap::TapError;

use super::place::PlaceError;
use super::sysctl::{self, SysctlTrouble};

/// Why a network cannot be made or changed. Nothing is left of one that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RaiseError {
    /// The process lacks a privilege.
    #[error("making a network takes {missing}, which this process lacks")]
    Rights {
        /// Which.
        missing: String,
    },
    /// There is no directory for files of hosts.
    #[error("there is no place for the files of hosts")]
    Place(#[from] PlaceError),
    /// A namespace, a mount or the first process.
    #[error("host {host}: {step} fails ({needs})")]
    Host {
        /// Which host.
        host: String,
        /// What was tried.
        step: &'static str,
        /// What it takes.
        needs: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A kernel setting.
    #[error("host {host}: the kernel setting `{key}` {trouble}")]
    Sysctl {
        /// Which host.
        host: String,
        /// Which setting.
        key: String,
        /// What is wrong with it.
        trouble: SysctlTrouble,
    },
    /// A device at the end of a cable.
    #[error("host {host}: a device cannot be made")]
    Tap {
        /// Which host.
        host: String,
        /// Why not.
        source: TapError,
    },
    /// A change to devices, addresses, routes or queueing disciplines.
    #[error("host {host}: {what}")]
    Netlink {
        /// Which host.
        host: String,
        /// What was tried.
        what: String,
        /// Why not.
        source: NetlinkError,
    },
    /// A feature of a device.
    #[error("host {host}: a feature cannot be switched")]
    Feature {
        /// Which host.
        host: String,
        /// Why not.
        source: FeatureError,
    },
    /// The speed of a device, or what is needed to set it.
    #[error("host {host}: the speed of {device} cannot be set")]
    Speed {
        /// Which host.
        host: String,
        /// Which device.
        device: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A metric of a route.
    #[error("host {host}: a route cannot be made")]
    Metric {
        /// Which host.
        host: String,
        /// Why not.
        source: MetricError,
    },
}

impl RaiseError {
    /// Tells a setting that does not exist from one that only the machine has. It is called outside of the host.
    pub(super) fn seen_from_outside(mut self) -> Self {
        if let Self::Sysctl { key, trouble: trouble @ SysctlTrouble::Absent, .. } = &mut self
            && sysctl::file(key).is_some_and(|file| Path::new(&file).exists())
        {
            *trouble = SysctlTrouble::OfTheMachine;
        }
        self
    }
}
