//! Over which queues received packets are spread (`ETHTOOL_GRXFHINDIR`, `ETHTOOL_SRXFHINDIR`).

use super::SetError;
use crate::ethtool::Ethtool;

/// The queue of each entry of the table.
///
/// # Errors
/// Why it cannot be read; [`crate::Reason::Unsupported`] where the driver has none.
pub fn read(device: &str) -> Result<Vec<u32>, SetError> {
    let what = || format!("read the receive spread of {device}");
    let ethtool = Ethtool::open().map_err(|source| SetError::System { what: what(), source })?;
    ethtool.spread(device).map_err(|source| SetError::System { what: what(), source })
}

/// Sets the queue of each entry.
///
/// # Errors
/// What the kernel or the driver says.
pub fn write(device: &str, queues: &[u32]) -> Result<(), SetError> {
    let what = || format!("set the receive spread of {device}");
    let ethtool = Ethtool::open().map_err(|source| SetError::System { what: what(), source })?;
    ethtool.set_spread(device, queues).map_err(|source| SetError::System { what: what(), source })
}
