//! What a device can do for the kernel, and what of it is switched on (`ETHTOOL_GFEATURES`, `ETHTOOL_SFEATURES`).

use std::collections::BTreeMap;
use std::io;

use super::{ETH_GSTRING_LEN, ETHTOOL_GSTRINGS, Ethtool, text, unavailable, word};
use crate::Unavailable;
use crate::sockets::Switch;

/// One feature of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Whether it works.
    pub state: Switch,
    /// Whether it can be switched.
    pub hold: Hold,
}

/// Whether a feature can be switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// It can.
    Free,
    /// The driver has it so, once and for all.
    Fixed,
}

/// Why a feature was not switched.
#[derive(Debug, thiserror::Error)]
pub enum FeatureError {
    /// The kernel knows no such feature.
    #[error("no device has a feature `{feature}`; `ethtool -k` shows those there are")]
    Unknown {
        /// What was asked for.
        feature: String,
    },
    /// The driver does not let it be switched.
    #[error("the driver of {device} does not let `{feature}` be switched {}", if *.wanted == Switch::On { "on" } else { "off" })]
    Fixed {
        /// Interface name, as it was asked for.
        device: String,
        /// Name as it was asked for: the kernel's own, or one that stands for several.
        feature: String,
        /// What was asked for.
        wanted: Switch,
    },
    /// Another feature, or a missing one, holds it.
    #[error("`{feature}` of {device} stays {}: another feature that it rests on is so", if *.wanted == Switch::On { "off" } else { "on" })]
    Held {
        /// Interface name, as it was asked for.
        device: String,
        /// Name as it was asked for: the kernel's own, or one that stands for several.
        feature: String,
        /// What was asked for.
        wanted: Switch,
    },
    /// The features cannot be read or set at all.
    #[error("the features of {device} cannot be switched")]
    Failed {
        /// Interface name, as it was asked for.
        device: String,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Ethtool {
    /// All features of a device, by the kernel's names.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn features(&self, device: &str) -> Result<BTreeMap<String, Feature>, Unavailable> {
        let read = || {
            let names = self.feature_names(device)?;
            let blocks = self.feature_blocks(device, names.len())?;
            Ok(names.into_iter().enumerate().filter(|(_, name)| !name.is_empty()).map(move |(place, name)| {
                let bit = |word: usize| Switch::from(blocks[place / 32][word] & 1 << (place % 32) != 0);
                let hold = if bit(AVAILABLE) == Switch::On && bit(NEVER_CHANGED) == Switch::Off {
                    Hold::Free
                } else {
                    Hold::Fixed
                };
                (name, Feature { state: bit(ACTIVE), hold })
            }))
        };
        read().map(Iterator::collect).map_err(|error: io::Error| unavailable(device, "features", &error))
    }

    /// Switches a feature by one of the names that `ethtool -k` shows: the kernel's own, or one that stands for
    /// several. What is as it should be already is left alone.
    ///
    /// # Errors
    /// See [`FeatureError`].
    pub fn set_feature(&self, device: &str, feature: &str, wanted: Switch) -> Result<(), FeatureError> {
        let failed = |source| FeatureError::Failed { device: device.to_owned(), source };
        let (named, asked) = (device.to_owned(), feature.to_owned());
        let names = self.feature_names(device).map_err(failed)?;
        let blocks = self.feature_blocks(device, names.len()).map_err(failed)?;
        let bit = |blocks: &[[u32; 4]], place: usize, word: usize| blocks[place / 32][word] & 1 << (place % 32) != 0;
        let places = 0..names.len();
        let meant: Vec<usize> = places.filter(|place| is_meant(feature, &names[*place])).collect();
        if meant.is_empty() {
            return Err(FeatureError::Unknown { feature: asked });
        }
        let differs = |blocks: &[[u32; 4]], place: &usize| bit(blocks, *place, ACTIVE) != wanted.is_on();
        let changing: Vec<usize> = meant.into_iter().filter(|place| differs(&blocks, place)).collect();
        if changing.is_empty() {
            return Ok(());
        }
        let is_free = |place: &usize| bit(&blocks, *place, AVAILABLE) && !bit(&blocks, *place, NEVER_CHANGED);
        let free: Vec<usize> = changing.into_iter().filter(is_free).collect();
        if free.is_empty() {
            return Err(FeatureError::Fixed { device: named, feature: asked, wanted });
        }
        self.request_features(device, names.len(), &free, wanted).map_err(failed)?;
        let now = self.feature_blocks(device, names.len()).map_err(failed)?;
        if free.iter().all(|place| differs(&now, place)) {
            return Err(FeatureError::Held { device: named, feature: asked, wanted });
        }
        Ok(())
    }

    /// The names of all features this kernel knows, in its order.
    fn feature_names(&self, device: &str) -> io::Result<Vec<String>> {
        // struct ethtool_sset_info: reserved, mask of sets, their sizes.
        let mut ask = [0; 12];
        ask[4..].copy_from_slice(&(1u64 << ETH_SS_FEATURES).to_ne_bytes());
        let count = word(self.request(device, ETHTOOL_GSSET_INFO, &ask)?.bytes(), 16)?;
        let ask = [ETH_SS_FEATURES.to_ne_bytes(), count.to_ne_bytes()].concat();
        let answer = self.request(device, ETHTOOL_GSTRINGS, &ask)?;
        let names = answer.bytes()[12..].chunks_exact(ETH_GSTRING_LEN);
        Ok(names.take(count as usize).map(|name| text(name, 0, ETH_GSTRING_LEN)).collect())
    }

    /// `struct ethtool_get_features_block`s: available, requested, active, never changed.
    fn feature_blocks(&self, device: &str, count: usize) -> io::Result<Vec<[u32; 4]>> {
        let blocks = count.div_ceil(32);
        let wanted = u32::try_from(blocks).unwrap_or(u32::MAX);
        let answer = self.request(device, ETHTOOL_GFEATURES, &wanted.to_ne_bytes())?;
        let at = |block: usize, index: usize| word(answer.bytes(), 8 + block * 16 + index * 4);
        (0..blocks).map(|block| Ok([at(block, 0)?, at(block, 1)?, at(block, 2)?, at(block, 3)?])).collect()
    }

    fn request_features(&self, device: &str, count: usize, places: &[usize], wanted: Switch) -> io::Result<()> {
        let mut blocks = vec![[0u32; 2]; count.div_ceil(32)];
        for place in places {
            let bit = 1 << (place % 32);
            blocks[place / 32][0] |= bit;
            blocks[place / 32][1] |= if wanted.is_on() { bit } else { 0 };
        }
        let mut ask = u32::try_from(blocks.len()).unwrap_or(u32::MAX).to_ne_bytes().to_vec();
        ask.extend(blocks.iter().flatten().flat_map(|word| word.to_ne_bytes()));
        self.request(device, ETHTOOL_SFEATURES, &ask).map(drop)
    }
}

/// Whether the kernel's `name` is what a user calls `feature`.
fn is_meant(feature: &str, name: &str) -> bool {
    let group = GROUPS.iter().find(|(group, _)| *group == feature);
    group.map_or(feature == name, |(_, members)| members.contains(&name))
}

/// The names that ethtool has for several features, or had before the kernel had its own (ethtool 6.1, `off_flag_def`
/// in ethtool.c, and its patterns written out).
const GROUPS: [(&str, &[&str]); 11] = [
    ("rx-checksumming", &["rx-checksum"]),
    (
        "tx-checksumming",
        &["tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-checksum-fcoe-crc", "tx-checksum-sctp"],
    ),
    ("scatter-gather", &["tx-scatter-gather", "tx-scatter-gather-fraglist"]),
    (
        "tcp-segmentation-offload",
        &["tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation"],
    ),
    ("generic-segmentation-offload", &["tx-generic-segmentation"]),
    ("generic-receive-offload", &["rx-gro"]),
    ("large-receive-offload", &["rx-lro"]),
    ("rx-vlan-offload", &["rx-vlan-hw-parse"]),
    ("tx-vlan-offload", &["tx-vlan-hw-insert"]),
    ("ntuple-filters", &["rx-ntuple-filter"]),
    ("receive-hashing", &["rx-hashing"]),
];

// include/uapi/linux/ethtool.h of 6.18
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;

// Words of struct ethtool_get_features_block.
const AVAILABLE: usize = 0;
const ACTIVE: usize = 2;
const NEVER_CHANGED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtnetlink::Rtnetlink;
    use crate::sandbox::in_sandbox;

    #[test]
    fn features_are_switched_by_either_name_and_as_ethtool_shows_them() {
        in_sandbox(module_path!(), "features_are_switched_by_either_name_and_as_ethtool_shows_them", || {
            Rtnetlink::open().unwrap().add_plain("veth", "west").unwrap();
            let ethtool = Ethtool::open().unwrap();
            let shown = || {
                let output = std::process::Command::new("ethtool").args(["-k", "west"]).output().unwrap();
                String::from_utf8_lossy(&output.stdout).into_owned()
            };
            for (name, switch) in [("generic-receive-offload", Switch::On), ("tx-udp-segmentation", Switch::Off)] {
                ethtool.set_feature("west", name, switch).unwrap();
                let state = if switch == Switch::On { "on" } else { "off" };
                assert!(shown().contains(&format!("{name}: {state}\n")), "{name}: {}", shown());
            }
            ethtool.set_feature("west", "tcp-segmentation-offload", Switch::Off).unwrap();
            let features = ethtool.features("west").unwrap();
            assert_eq!(features["tx-tcp-segmentation"], Feature { state: Switch::Off, hold: Hold::Free });
            assert_eq!(features["rx-gro"].state, Switch::On);
            assert_eq!(features["rx-gro-hw"], Feature { state: Switch::Off, hold: Hold::Fixed });
        });
    }

    #[test]
    fn feature_that_cannot_be_switched_is_told_from_one_that_does_not_exist() {
        in_sandbox(module_path!(), "feature_that_cannot_be_switched_is_told_from_one_that_does_not_exist", || {
            let ethtool = Ethtool::open().unwrap();
            let fixed = ethtool.set_feature("lo", "rx-gro-hw", Switch::On).unwrap_err();
            assert_eq!(fixed.to_string(), "the driver of lo does not let `rx-gro-hw` be switched on");
            let unknown = ethtool.set_feature("lo", "warp", Switch::On).unwrap_err();
            assert!(matches!(unknown, FeatureError::Unknown { .. }), "{unknown}");
            let absent = ethtool.set_feature("nonesuch0", "rx-gro", Switch::On).unwrap_err();
            assert!(matches!(absent, FeatureError::Failed { .. }), "{absent}");
        });
    }
}
