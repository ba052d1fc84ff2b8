//! Features and rings of devices: the kernel's, and in a host of a lab those of the hardware that it is shown
//! ([`crate::recorded`]).

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use linux::set::features::{self, Feature};
use linux::set::numbers;
use model::host::fix::captured::Table;
use model::host::fix::names::DeviceName;
use model::host::interface::tuning::Rings;
use model::host::recorded::RecordedFacts;

use super::error::FixError;
use super::here::Here;
use crate::recorded::{self, RecordedError};

impl Here {
    /// The features of a device that can be switched.
    pub(super) fn features(&self, device: &DeviceName) -> Result<BTreeMap<String, Feature>, FixError> {
        let mut found = features::read(self.index(device)?)?;
        if let Some((_, facts)) = self.hardware()? {
            let recorded = facts.features(device.as_str());
            found.retain(|name, _| !recorded.contains_key(name));
            let switched = recorded.into_iter().filter(|(_, feature)| !feature.is_fixed());
            found.extend(
                switched.map(|(name, feature)| (name, Feature { wanted: feature.wanted, active: feature.active })),
            );
        }
        Ok(found)
    }

    /// Asks for features of a device, or asks for them no more.
    pub(super) fn set_features(&self, device: &DeviceName, wanted: &BTreeMap<String, bool>) -> Result<(), FixError> {
        let index = self.index(device)?;
        let Some((path, facts)) = self.hardware()? else { return Ok(features::write(index, wanted)?) };
        let recorded = facts.features(device.as_str());
        let (shown, own): (BTreeMap<_, _>, BTreeMap<_, _>) =
            wanted.clone().into_iter().partition(|(name, _)| recorded.contains_key(name));
        if !shown.is_empty() {
            recorded::switch(&path, device.as_str(), &shown).map_err(of_hardware)?;
        }
        if own.is_empty() { Ok(()) } else { Ok(features::write(index, &own)?) }
    }

    /// The numbers of one kind that a device has.
    pub(super) fn numbers(&self, device: &DeviceName, table: Table) -> Result<BTreeMap<String, u32>, FixError> {
        let index = self.index(device)?;
        match self.rings(device, table)? {
            Some((_, rings)) => Ok(entries(&rings)),
            None => Ok(numbers::read(index, table)?),
        }
    }

    /// Writes some of the numbers of one kind.
    pub(super) fn set_numbers(
        &self,
        device: &DeviceName,
        table: Table,
        values: &BTreeMap<String, u32>,
    ) -> Result<(), FixError> {
        let index = self.index(device)?;
        let Some((path, rings)) = self.rings(device, table)? else { return Ok(numbers::write(index, table, values)?) };
        let most = BTreeMap::from([("rx", rings.rx_max), ("tx", rings.tx_max)]);
        let beyond =
            |(name, value): &(&String, &u32)| most.get(name.as_str()).is_some_and(|most| Some(**value) > *most);
        if let Some((name, value)) = values.iter().find(beyond) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it has not so many");
            return Err(FixError::File { what: format!("set {name} ring of {device} to {value}"), source });
        }
        recorded::set_rings(&path, device.as_str(), values).map_err(of_hardware)
    }

    /// The rings that are recorded of a device, with their file.
    fn rings(&self, device: &DeviceName, table: Table) -> Result<Option<(PathBuf, Rings)>, FixError> {
        if table != Table::Rings {
            return Ok(None);
        }
        let hardware = self.hardware()?;
        Ok(hardware.and_then(|(path, facts)| Some((path, facts.rings(device.as_str())?))))
    }

    /// The hardware that this host is shown; none in other namespaces than its own.
    fn hardware(&self) -> Result<Option<(PathBuf, RecordedFacts)>, FixError> {
        let Some(path) = self.shown_hardware() else { return Ok(None) };
        let facts = recorded::read(&path).map_err(of_hardware)?;
        Ok(Some((path, facts)))
    }
}

/// What is set of rings; what they could be is no setting.
fn entries(rings: &Rings) -> BTreeMap<String, u32> {
    let all = [("rx", rings.rx), ("rx-mini", rings.rx_mini), ("rx-jumbo", rings.rx_jumbo), ("tx", rings.tx)];
    all.into_iter().filter_map(|(name, entries)| Some((name.to_owned(), entries?))).collect()
}

fn of_hardware(error: RecordedError) -> FixError {
    let what = error.to_string();
    let source = match error {
        RecordedError::Unreadable { source, .. } | RecordedError::Unwritable { source, .. } => source,
        RecordedError::Malformed { message, .. } => io::Error::new(io::ErrorKind::InvalidData, message),
    };
    FixError::File { what, source }
}
