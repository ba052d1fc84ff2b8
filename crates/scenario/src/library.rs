//! The scenarios that come with the program: the files of `scenarios/`.

use crate::{Scenario, ScenarioError, read};
use document::Source;

/// A scenario of the library.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name of the scenario, without `.toml`.
    pub name: &'static str,
    /// Text of the scenario file.
    pub text: &'static str,
}

impl Entry {
    /// Reads it.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn load(&self) -> Result<Scenario, ScenarioError> {
        let file = format!("scenarios/{}.toml", self.name);
        read::scenario(self.name.to_owned(), Source { file, text: self.text.to_owned() })
    }
}

/// Reads the scenario of this name.
///
/// # Errors
/// [`ScenarioError::Unknown`] with the nearest name there is.
pub fn load(name: &str) -> Result<Scenario, ScenarioError> {
    match library().iter().find(|entry| entry.name == name) {
        Some(entry) => entry.load(),
        None => Err(ScenarioError::Unknown { name: name.chars().take(80).collect(), nearest: nearest(name) }),
    }
}

/// The name of the library that is most like this one, where any is.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    document::nearest(name, library().iter().map(|entry| entry.name))
}

/// All of them, by name.
#[must_use]
pub fn library() -> &'static [Entry] {
    ENTRIES
}

macro_rules! entries {
    ($($name:literal,)*) => {
        &[$(Entry { name: $name, text: include_str!(concat!("../../../scenarios/", $name, ".toml")) },)*]
    };
}

/// A test holds this list and the folder together.
const ENTRIES: &[Entry] = entries! {
    "amlight-burst-early",
    "amlight-burst-late",
    "amlight-burst-repeated",
    "amlight-quiet",
    "asymmetric-route",
    "bufferbloat",
    "circuit-shaped",
    "circuit-unshaped",
    "congestion-control",
    "cross-traffic",
    "dc24-ecn",
    "dc24-small-buffers",
    "dc24-small-rings",
    "dirty-fibre",
    "duplex-mismatch",
    "firewall-inbound",
    "firewall-window",
    "healthy-100ms",
    "healthy-300ms",
    "healthy-lan",
    "lag-member",
    "lhn-backup-circuit",
    "lhn-router-replaced",
    "lhn-tuning-reset",
    "lhn-untuned-host",
    "mtu-black-hole",
    "nrao-emulated-nic",
    "nrao-mtu-mismatch",
    "nrao-overlay-offload",
    "nrao-rerouted",
    "nrao-storage-link",
    "nrao-unknown-vlan",
    "outage",
    "policer",
    "random-loss-1e-3",
    "random-loss-1e-4",
    "receive-window",
    "receiver-slow",
    "reordering",
    "route-change",
    "send-buffer",
    "sender-cpu",
    "udp-sender-drops",
};
