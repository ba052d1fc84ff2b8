//! What perfSONAR's archiver delivers.

use serde::{Deserialize, Serialize};

use super::record::Verdict;

/// What the hub says to a result of perfSONAR. Each that it could read is answered with status 200, since an archiver delivers
/// others again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArchiveReceipt {
    /// What has become of it.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The run that it is stored as; absent where the plan has none that it fits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
}
