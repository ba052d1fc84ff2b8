//! Settings from a site's own records, each with how well the model fits what was recorded.
//!
//! * [`cmsd_log`]: loads and reference counts as the manager logs them (`cms.ping ... log`)
//! * [`summary`]: XRootD's summary monitoring, XML documents one after the other
//! * [`transfers`]: files with size and time, from FTS's messages (JSON lines) or any export with a header (CSV)
//! * [`memory`]: memory of a transfer, from what gateways had in flight and in use
//! * [`fit`]: from records to settings; what fits badly is not used, and is named; [`apply`]: into an experiment

pub mod apply;
pub mod cmsd_log;
pub mod fit;
pub mod memory;
pub mod summary;
pub mod transfers;

/// What was read of a file, with what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    /// What could be read.
    pub records: Vec<T>,
    /// Lines or documents that could not, and holes: the first ones, and how many more.
    pub anomalies: Vec<String>,
}

/// Anomalies of one file that are kept; the rest is counted in the last of them.
const MOST_ANOMALIES: usize = 20;
/// Records of one file that are read.
pub const MOST_RECORDS: usize = 2_000_000;

impl<T> Default for Read<T> {
    fn default() -> Self {
        Self { records: Vec::new(), anomalies: Vec::new() }
    }
}

impl<T> Read<T> {
    pub(crate) fn wrong(&mut self, what: impl Into<String>) {
        if self.anomalies.len() < MOST_ANOMALIES {
            self.anomalies.push(what.into());
        } else if self.anomalies.len() == MOST_ANOMALIES {
            self.anomalies.push(format!("and more; only the first {MOST_ANOMALIES} are named"));
        }
    }

    pub(crate) fn keep(&mut self, record: T) {
        if self.records.len() < MOST_RECORDS {
            self.records.push(record);
        } else if self.records.len() == MOST_RECORDS {
            self.wrong(format!("more than {MOST_RECORDS} records: the rest is not read"));
        }
    }
}
