//! The files that are read at boot, and what reads them.

use serde::{Deserialize, Serialize};

/// What reads a file at boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Product {
    /// systemd-sysctl and `sysctl --system`.
    Sysctl,
    /// systemd-modules-load.
    Modules,
    /// NetworkManager, when it has brought up a device.
    NetworkManager,
    /// udev, when a device appears.
    Udev,
}

impl Product {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sysctl, Self::Modules, Self::NetworkManager, Self::Udev];

    /// Where its file is; of sysctls the first place to be tried.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Sysctl => SYSCTL_FILES[0],
            Self::Modules => "/etc/modules-load.d/linerate.conf",
            Self::NetworkManager => "/etc/NetworkManager/dispatcher.d/99-linerate",
            Self::Udev => "/etc/udev/rules.d/99-linerate.rules",
        }
    }

    /// Every place where its file may be.
    #[must_use]
    pub fn paths(self) -> Vec<&'static str> {
        if self == Self::Sysctl { SYSCTL_FILES.to_vec() } else { vec![self.path()] }
    }

    /// Rights of the file. NetworkManager runs what only root can write and anybody can run.
    #[must_use]
    pub fn mode(self) -> u32 {
        if self == Self::NetworkManager { 0o755 } else { 0o644 }
    }

    /// How the file begins.
    #[must_use]
    pub(super) fn head(self) -> &'static str {
        match self {
            Self::NetworkManager => "#!/bin/sh\n",
            _ => "",
        }
    }
}

/// Files are applied in the order of their names, so the first in which all settings win is taken. The last is behind
/// `99-sysctl.conf`, as which many systems read `/etc/sysctl.conf`.
pub const SYSCTL_FILES: [&str; 3] =
    ["/etc/sysctl.d/90-linerate.conf", "/etc/sysctl.d/99-linerate.conf", "/etc/sysctl.d/99-zz-linerate.conf"];
