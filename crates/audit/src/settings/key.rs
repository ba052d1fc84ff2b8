//! The name of a setting: where it is, and what it is called there.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of a setting. As text it is `net.ipv4.tcp_rmem`, `em1: feature.rx-gro-hw`, or `eth0: mtu in ingress_sbox`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Key {
    /// The network namespace; empty for the host's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The network device; none for a setting of the namespace, or of the whole host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What it is called there: a sysctl by its own name, all else as `GROUP.NAME`.
    pub name: String,
}

/// A text that names no setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the name of a setting; those of a device are written `em1: mtu`, others `net.ipv4.tcp_rmem`")]
pub struct NotAKey {
    text: String,
}

impl Key {
    /// A setting of the whole host.
    #[must_use]
    pub fn host(name: impl Into<String>) -> Self {
        Self::of("", None, name)
    }

    /// A setting of a device of the host's own namespace.
    #[must_use]
    pub fn device(device: &str, name: impl Into<String>) -> Self {
        Self::of("", Some(device), name)
    }

    /// A setting of a namespace (empty: the host's own), or of a device in it.
    #[must_use]
    pub fn of(namespace: &str, device: Option<&str>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.to_owned(), device: device.map(str::to_owned), name: name.into() }
    }

    /// A sysctl by its name. One that each device has is a setting of the device, with `*` in the place of its name.
    #[must_use]
    pub fn sysctl(namespace: &str, name: &str) -> Self {
        for pattern in model::host::tracked::PER_INTERFACE {
            let Some((before, after)) = pattern.split_once('*') else { continue };
            let device = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            // `all` and `default` are no devices but stand for them.
            if let Some(device) = device.filter(|device| !matches!(*device, "" | "all" | "default")) {
                return Self::of(namespace, Some(device), *pattern);
            }
        }
        Self::of(namespace, None, name)
    }

    /// The name of the sysctl, where it is one.
    #[must_use]
    pub fn as_sysctl(&self) -> Option<String> {
        if self.group() != SYSCTL {
            return None;
        }
        Some(self.device.as_ref().map_or_else(|| self.name.clone(), |device| self.name.replacen('*', device, 1)))
    }

    /// What it belongs to: `feature`, `ring`, `route`, `sysctl`.
    #[must_use]
    pub fn group(&self) -> &str {
        let first = self.name.split(['.', '[']).next().unwrap_or_default();
        if matches!(first, "net" | "vm" | "kernel") { SYSCTL } else { first }
    }

    /// Its name without what people leave out: `rx-gro-hw` for a feature.
    #[must_use]
    pub fn short(&self) -> &str {
        self.name.strip_prefix("feature.").unwrap_or(&self.name)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(device) = &self.device {
            write!(f, "{device}: ")?;
        }
        f.write_str(&self.name)?;
        if self.namespace.is_empty() { Ok(()) } else { write!(f, " in {}", self.namespace) }
    }
}

impl FromStr for Key {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let (rest, namespace) = text.split_once(" in ").unwrap_or((text, ""));
        // The kernel takes no device whose name has a colon (dev_valid_name, net/core/dev.c).
        let (device, name) = rest.split_once(": ").map_or((None, rest), |(device, name)| (Some(device), name));
        let is_empty = name.trim().is_empty() || device.is_some_and(|device| device.trim().is_empty());
        if is_empty {
            return Err(NotAKey { text: text.to_owned() });
        }
        Ok(Self::of(namespace.trim(), device, name))
    }
}

/// The group of all sysctls.
pub(super) const SYSCTL: &str = "sysctl";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for text in [
            "net.ipv4.tcp_rmem",
            "em1: feature.rx-gro-hw",
            "eth0.100: net.ipv4.conf.*.rp_filter in ingress_sbox",
            "route[fe80::/64 table 7].initcwnd in pid:7",
        ] {
            assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        }
        for text in ["", ": mtu", "em1: ", "  "] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_sysctl_of_a_device_is_a_setting_of_the_device() {
        let key = Key::sysctl("", "net.ipv4.conf.eth0.100.rp_filter");
        assert_eq!(key, Key::device("eth0.100", "net.ipv4.conf.*.rp_filter"));
        assert_eq!(key.as_sysctl().as_deref(), Some("net.ipv4.conf.eth0.100.rp_filter"));
        assert_eq!(Key::sysctl("a", "net.ipv4.conf.all.rp_filter").device, None);
        assert_eq!(Key::device("eth0", "mtu").as_sysctl(), None);
    }
}
