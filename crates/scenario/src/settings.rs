//! How a host is set: by itself, by its group, by the defaults.

use std::collections::BTreeMap;

use document::{DocumentError, Key};
use serde::Deserialize;
use units::{ByteCount, DataRate, Mtu};

use crate::blueprint::Qdisc;
use crate::diagnostics::Diagnostics;
use crate::error::Problem;

/// Settings of a host. What is absent stays as the kernel has it.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Kernel settings by name with dots.
    pub sysctls: BTreeMap<String, String>,
    /// Congestion control of its connections.
    pub congestion_control: Option<String>,
    /// Features of its devices on or off, by the names of ethtool -k.
    pub offloads: BTreeMap<String, bool>,
    /// Largest packet of its devices.
    pub mtu: Option<Mtu>,
    /// Queueing discipline of its devices.
    pub qdisc: Option<Qdisc>,
    /// The share of time in which its programs run, above 0 to 1.
    pub cpu_share: Option<f64>,
}

impl Settings {
    /// These settings, and those of `outer` where these say nothing.
    #[must_use]
    pub fn over(self, outer: &Self) -> Self {
        let mut sysctls = outer.sysctls.clone();
        sysctls.extend(self.sysctls);
        let mut offloads = outer.offloads.clone();
        offloads.extend(self.offloads);
        Self {
            sysctls,
            congestion_control: self.congestion_control.or_else(|| outer.congestion_control.clone()),
            offloads,
            mtu: self.mtu.or(outer.mtu),
            qdisc: self.qdisc.or_else(|| outer.qdisc.clone()),
            cpu_share: self.cpu_share.or(outer.cpu_share),
        }
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { sysctls, congestion_control, offloads, mtu, qdisc, cpu_share } = self;
        let lists = sysctls.is_empty() && offloads.is_empty();
        lists && congestion_control.is_none() && mtu.is_none() && qdisc.is_none() && cpu_share.is_none()
    }

    /// All kernel settings, congestion control among them.
    #[must_use]
    pub fn all_sysctls(&self) -> Vec<(String, String)> {
        let congestion = self.congestion_control.iter().map(|name| (CONGESTION_CONTROL.to_owned(), name.clone()));
        self.sysctls.clone().into_iter().chain(congestion).collect()
    }
}

/// The kernel setting that `congestion-control` stands for.
pub(crate) const CONGESTION_CONTROL: &str = "net.ipv4.tcp_congestion_control";

/// `[defaults]` and `[groups.NAME]`.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SettingsText {
    #[serde(default)]
    pub(crate) sysctl: toml::Table,
    pub(crate) congestion_control: Option<String>,
    #[serde(default)]
    pub(crate) offloads: BTreeMap<String, bool>,
    pub(crate) mtu: Option<Mtu>,
    pub(crate) qdisc: Option<QdiscText>,
    pub(crate) cpu_share: Option<f64>,
}

/// A queueing discipline as it is written in files: `{ pfifo = { packets = 100 } }`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum QdiscText {
    Pfifo(PfifoText),
    Tbf(TbfText),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PfifoText {
    packets: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TbfText {
    #[serde(deserialize_with = "units::text::read")]
    rate: DataRate,
    #[serde(deserialize_with = "units::text::read")]
    burst: ByteCount,
    #[serde(deserialize_with = "units::text::read")]
    limit: ByteCount,
}

impl QdiscText {
    pub(crate) fn settle(self) -> Qdisc {
        match self {
            Self::Pfifo(PfifoText { packets }) => Qdisc::Pfifo { packets },
            Self::Tbf(TbfText { rate, burst, limit }) => Qdisc::Tbf { rate, burst, limit },
        }
    }
}

impl SettingsText {
    pub(crate) fn settle(self, key: &Key, diagnostics: &mut Diagnostics<'_>) -> Settings {
        if let Some(share) = self.cpu_share
            && !(LEAST_SHARE..=1.0).contains(&share)
        {
            diagnostics
                .complain(&key.at("cpu-share"), DocumentError::Range { value: share, from: LEAST_SHARE, to: 1.0 });
        }
        Settings {
            sysctls: sysctls(&self.sysctl, &key.at("sysctl"), diagnostics),
            congestion_control: self.congestion_control,
            offloads: self.offloads,
            mtu: self.mtu,
            qdisc: self.qdisc.map(QdiscText::settle),
            cpu_share: self.cpu_share,
        }
    }
}

/// A program that runs less than this does not get through a test.
const LEAST_SHARE: f64 = 0.01;

/// Kernel settings by name with dots, however deep the tables in which they were written.
pub(crate) fn sysctls(table: &toml::Table, key: &Key, diagnostics: &mut Diagnostics<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(table, key, "", diagnostics, &mut found);
    found
}

fn collect(
    table: &toml::Table,
    key: &Key,
    prefix: &str,
    diagnostics: &mut Diagnostics<'_>,
    found: &mut BTreeMap<String, String>,
) {
    for (name, value) in table {
        let key = key.at(name);
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let value = match value {
            toml::Value::Table(inner) => {
                collect(inner, &key, &name, diagnostics, found);
                continue;
            }
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            _ => {
                diagnostics.complain(&key, DocumentError::Keys("a kernel setting is a text or a whole number"));
                continue;
            }
        };
        if is_of_namespace(&name) {
            found.insert(name, value);
        } else {
            diagnostics.complain(&key, Problem::WholeMachine { setting: name });
        }
    }
}

/// Whether a network namespace has this setting for itself.
fn is_of_namespace(setting: &str) -> bool {
    setting.starts_with("net.")
        && (!setting.starts_with("net.core.") || CORE_OF_NAMESPACE.contains(&setting))
        && !WHOLE_MACHINE.contains(&setting)
}

/// The settings under net.core that each namespace can write for itself: `netns_core_table` in
/// net/core/sysctl_net_core.c, Linux 6.18.
const CORE_OF_NAMESPACE: [&str; 5] = [
    "net.core.optmem_max",
    "net.core.somaxconn",
    "net.core.tstamp_allow_data",
    "net.core.txq_reselection_ms",
    "net.core.txrehash",
];

/// Settings of TCP and UDP that all namespaces share: `ipv4_table` in net/ipv4/sysctl_net_ipv4.c, Linux 6.18.
const WHOLE_MACHINE: [&str; 5] = [
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_mem",
    "net.ipv4.udp_mem",
];
