//! Which file sets a value at boot, and which of several definitions wins.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Every definition of every tracked setting.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The files that were read, by path.
    pub files: BTreeMap<String, ConfigurationFile>,
    /// Definitions by setting. A sysctl has its own name; others are `link.IFACE.mtu`, `ethtool.IFACE.ring-rx` and so on
    /// (NetworkManager), `module.NAME.OPTION` (modprobe.d) and `cmdline.NAME` (the kernel command line).
    pub settings: BTreeMap<String, Setting>,
    /// Whether TuneD applies the files of sysctl again after its profile (`reapply_sysctl`); none where TuneD is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned_reapplies_sysctl: Option<bool>,
}

/// One file of settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigurationFile {
    /// The package that owns it; `none` for a file of nobody's, absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Hash of its content (SHA-256, hexadecimal).
    pub sha256: String,
    /// The file of the same name in a higher directory that takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked_by: Option<String>,
    /// Where it links to, if it is a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_to: Option<String>,
}

/// All definitions of one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// Each definition, in the order in which they are applied at boot. Masked files come first: they never are.
    pub definitions: Vec<Definition>,
    /// Which definition holds after boot; an index. None where only masked files and modules define it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// Which definition holds after `sysctl --system`; an index. It reads `/etc/sysctl.conf` last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner_after_sysctl_system: Option<usize>,
    /// Whether the running value is another than the winner's; not known where either is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_differs: Option<bool>,
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Definition {
    /// The value as it is written, blanks made one.
    pub value: String,
    /// Whose definition it is.
    pub origin: Origin,
    /// Absolute path of the file that sets it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The pattern, where it is set by one (`net.ipv4.conf.*.rp_filter`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Whether a failure to set it is passed over (a `-` before it).
    #[serde(default, skip_serializing_if = "is_false")]
    pub failure_ignored: bool,
    /// Whether another file takes the place of its file, so that it is never applied.
    #[serde(default, skip_serializing_if = "is_false")]
    pub masked: bool,
}

/// Who reads a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `/etc/sysctl.conf` or a directory `sysctl.d`.
    Sysctl,
    /// A profile of TuneD.
    Tuned,
    /// A connection of NetworkManager.
    NetworkManager,
    /// A directory `modprobe.d`.
    Modprobe,
    /// The kernel command line.
    CommandLine,
}

impl Setting {
    /// The definition that holds after boot.
    #[must_use]
    pub fn winning(&self) -> Option<&Definition> {
        self.definitions.get(self.winner?)
    }
}

// The shape that serde asks for.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}
