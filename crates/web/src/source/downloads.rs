//! Files that sites have fetched over time.

use serde::{Deserialize, Serialize};
use units::WallTime;

/// Downloads of one test by one site from one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DownloadSeries {
    /// The server or proxy, which sends.
    pub from: String,
    /// The site, which fetches.
    pub to: String,
    /// The label of the test.
    pub test: String,
    /// The median of all results that are shown, in bit/s.
    pub usual_bps: f64,
    /// The latest result, in bit/s.
    pub latest_bps: f64,
    /// Results in order of time.
    pub results: Vec<DownloadResult>,
}

/// One result: the median of the downloads of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DownloadResult {
    /// When the run started.
    #[serde(rename = "at_unix_ns")]
    pub at: WallTime,
    /// Goodput of the download, in bit/s.
    pub goodput_bps: f64,
}

impl DownloadSeries {
    /// A series of results in order of time; [`None`] where there is none.
    #[must_use]
    pub fn of(ends: Ends, results: Vec<DownloadResult>) -> Option<Self> {
        let latest = results.last()?.goodput_bps;
        let mut values: Vec<f64> = results.iter().map(|result| result.goodput_bps).collect();
        values.sort_by(f64::total_cmp);
        let Ends { from, to, test } = ends;
        Some(Self { from, to, test, usual_bps: values[values.len() / 2], latest_bps: latest, results })
    }
}

/// Whose results a series has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ends {
    /// Server or proxy that sends the file.
    pub from: String,
    /// Site that fetches it.
    pub to: String,
    /// The label of the test.
    pub test: String,
}
