//! Features of devices, and the switches of their drivers.

use std::collections::BTreeMap;

use model::host::interface::tuning::Feature;

use super::header::Asked;
use super::{Settings, bitset};
use crate::Unavailable;

impl Settings {
    /// All features of the device with the number `index`, by the kernel's names.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn features(&mut self, index: u32) -> Result<BTreeMap<String, Feature>, Unavailable> {
        let sets =
            self.ask("FEATURES_GET", FEATURES_GET, Asked::compact(index), |sets: &mut [Vec<u32>; 4], attribute| {
                if let Some(set) =
                    usize::from(attribute.kind).checked_sub(FEATURES_HW).and_then(|place| sets.get_mut(place))
                {
                    *set = bitset::bits(attribute)?;
                }
                Ok(())
            })?;
        let [hw, wanted, active, nochange] = &sets;
        let names = self.feature_names.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let feature = |place| Feature {
            hw: bitset::holds(hw, place),
            wanted: bitset::holds(wanted, place),
            active: bitset::holds(active, place),
            nochange: bitset::holds(nochange, place),
        };
        Ok(names.map(|(place, name)| (name.clone(), feature(place))).collect())
    }

    /// The switches that the driver of the device with the number `index` has of its own.
    ///
    /// # Errors
    /// Why they cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
    pub fn private_flags(&mut self, index: u32) -> Result<BTreeMap<String, bool>, Unavailable> {
        self.ask("PRIVFLAGS_GET", PRIVFLAGS_GET, Asked::of(index), |flags: &mut BTreeMap<_, _>, attribute| {
            if attribute.kind == PRIVFLAGS_FLAGS {
                flags.extend(bitset::named(attribute)?);
            }
            Ok(())
        })
    }
}

// include/uapi/linux/ethtool_netlink.h of 6.18
const FEATURES_GET: u8 = 11;
const PRIVFLAGS_GET: u8 = 13;
const PRIVFLAGS_FLAGS: u16 = 2;

/// The first of four sets: hw, wanted, active, nochange.
const FEATURES_HW: usize = 2;
