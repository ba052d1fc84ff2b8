//! Tests from the browser of somebody who has signed in.

use model::run::RunId;
use model::spec::Direction;
use serde::{Deserialize, Serialize};
use units::{DataRate, WallTime};

/// Whether a browser may test now, and what those of this account have measured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestingInfo {
    /// Whether it may.
    pub state: TestingState,
    /// Tests of this account, the newest first, 20 at most.
    pub tests: Vec<BrowserTest>,
}

/// Whether a browser may test now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestingState {
    /// It may.
    #[default]
    Free,
    /// Another test runs.
    Busy,
    /// The settings of this hub forbid it.
    Off,
    /// A demonstration is shown in place of this hub's own pages.
    Demonstration,
}

/// A test that a browser has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrowserTest {
    /// Name of its run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub run: RunId,
    /// When it began.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// `reverse` is a download, `forward` an upload.
    pub direction: Direction,
    /// Payload a second at the receiver.
    #[serde(rename = "goodput_bps", default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<DataRate>,
    /// Why it has not run to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Tests that are listed.
pub const MOST: usize = 20;
