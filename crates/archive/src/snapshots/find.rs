//! From a host and a moment to one snapshot.

use rusqlite::OptionalExtension;
use units::WallTime;

use super::{SnapshotError, SnapshotId, SnapshotSummary, indexed, summary};
use crate::store::Archive;

/// Which snapshot is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// That of a number.
    Number(SnapshotId),
    /// The newest of a host.
    Latest {
        /// Host name as its snapshots have it.
        host: String,
    },
    /// What a host was at a moment: the newest taken then or earlier.
    At {
        /// Host name as its snapshots have it.
        host: String,
        /// Moment that was asked for, by this host's clock.
        time: WallTime,
    },
    /// What a host should be.
    Baseline {
        /// Host name as its snapshots have it.
        host: String,
    },
}

impl Archive {
    /// The snapshot that is meant.
    ///
    /// # Errors
    /// Where there is none, or the database refuses.
    pub fn find_snapshot(&self, wanted: &Wanted) -> Result<SnapshotSummary, SnapshotError> {
        let (condition, host, number, what) = match wanted {
            Wanted::Number(id) => ("id = ?2", "", id.row(), ""),
            Wanted::Latest { host } => ("host = ?1 AND ?2 = 0", host.as_str(), 0, "snapshot"),
            Wanted::At { host, time } => {
                ("host = ?1 AND taken_unix_ns <= ?2", host.as_str(), indexed(*time), "snapshot that early")
            }
            Wanted::Baseline { host } => {
                ("host = ?1 AND ?2 = 0 AND blessed_unix_ns IS NOT NULL", host.as_str(), 0, "blessed snapshot")
            }
        };
        let query = format!(
            "SELECT id, host, taken_unix_ns, boot_id, kernel, role_group, blessed_unix_ns, label FROM snapshots
             WHERE (?1 IS NOT NULL AND {condition}) ORDER BY taken_unix_ns DESC, id DESC LIMIT 1"
        );
        let found = self.connection.query_row(&query, (host, number), summary).optional();
        self.answered(found)?.ok_or_else(|| match wanted {
            Wanted::Number(id) => SnapshotError::Unknown { id: *id, path: self.path.clone() },
            _ => SnapshotError::None { what, host: host.to_owned(), path: self.path.clone() },
        })
    }
}
