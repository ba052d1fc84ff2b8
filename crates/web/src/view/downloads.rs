//! Downloads over time: which file servers and proxies give which site how much.

use serde::{Deserialize, Serialize};

use crate::source::downloads::DownloadSeries;
use crate::source::{Source, SourceError};

/// The history of all downloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DownloadsView {
    /// A series for each server, site and test, by their names.
    pub series: Vec<DownloadSeries>,
}

impl DownloadsView {
    pub(crate) fn of(source: &dyn Source) -> Result<Self, SourceError> {
        Ok(Self { series: source.downloads()? })
    }
}
