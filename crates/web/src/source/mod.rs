//! Where the data of pages come from.
//!
//! * [`files`]: rounds and runs from files
//! * [`kept`]: an archive
//! * [`results`]: what a series of results of a pair is made of
//! * [`activity`]: what a hub is about to measure
//! * [`downloads`]: files that sites have fetched over time
//! * `pair`, `error`: who sends to whom, and why there is no page

pub mod activity;
pub mod downloads;
mod error;
pub mod files;
pub mod kept;
mod pair;
pub mod results;

use std::fmt::Debug;
use std::sync::Arc;

use archive::running::RunningRound;
use mesh::incident::{Incident, IncidentId};
use model::archived::ListedRun;
use model::host::change::LoggedChange;
use model::host::snapshot::Snapshot;
use model::round::{Round, RoundSummary};
use model::run::{Run, RunId};
use model::series::RunSamples;
use postmortem::document::Merged;
use postmortem::html::Figure;
use serde::{Deserialize, Serialize};

use crate::view::round::RoundOutline;
use activity::Activity;
use downloads::DownloadSeries;
use results::PairResult;

pub use error::SourceError;
pub use pair::Pair;

/// What pages are made of. A method may block while a disk is read.
pub trait Source: Debug + Send + Sync {
    /// What it is, for a person: a file, a folder.
    fn name(&self) -> String;

    /// All rounds, the newest first, at most `limit`.
    ///
    /// # Errors
    /// Where the rounds cannot be read.
    fn rounds(&self, limit: u32) -> Result<Vec<RoundSummary>, SourceError>;

    /// A round with the samples of its runs.
    ///
    /// # Errors
    /// Where it is not there or cannot be read.
    fn round(&self, id: RunId) -> Result<Arc<Round>, SourceError>;

    /// A round without its tests, where the source has its grids without them; it is worked out of the tests otherwise.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn outline(&self, _id: RunId) -> Result<Option<Arc<RoundOutline>>, SourceError> {
        Ok(None)
    }

    /// Rounds that are measured at this moment or were interrupted, the newest first, as far as they are; none where nobody leads any.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn running(&self) -> Result<Vec<Arc<RunningRound>>, SourceError> {
        Ok(Vec::new())
    }

    /// All runs, the newest first, at most `limit`.
    ///
    /// # Errors
    /// Where the runs cannot be read.
    fn runs(&self, limit: u32) -> Result<Vec<ListedRun>, SourceError>;

    /// One run with its samples.
    ///
    /// # Errors
    /// Where it is not there or cannot be read.
    fn run(&self, id: RunId) -> Result<StoredRun, SourceError>;

    /// Results of one host sending to another, in order of time.
    ///
    /// # Errors
    /// Where results cannot be read.
    fn results(&self, pair: &Pair) -> Result<Vec<PairResult>, SourceError>;

    /// Files that were fetched, by server, site and test; empty where no plan has them fetched.
    ///
    /// # Errors
    /// Where results cannot be read.
    fn downloads(&self) -> Result<Vec<DownloadSeries>, SourceError> {
        Ok(Vec::new())
    }

    /// Names of hosts, in order.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn hosts(&self) -> Result<Vec<String>, SourceError>;

    /// The newest facts of a host.
    ///
    /// # Errors
    /// Where facts cannot be read.
    fn snapshot(&self, host: &str) -> Result<Option<Arc<Snapshot>>, SourceError>;

    /// The change log of a host, in order of time, the last `limit` entries.
    ///
    /// # Errors
    /// Where the log cannot be read.
    fn changes(&self, host: &str, limit: u32) -> Result<Vec<LoggedChange>, SourceError>;

    /// All incidents, in the order of opening; [`None`] where nobody watches for any.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn incidents(&self) -> Result<Option<Vec<Incident>>, SourceError> {
        Ok(None)
    }

    /// What is measured at this moment; [`None`] where nobody carries out a plan.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn activity(&self) -> Result<Option<Activity>, SourceError> {
        Ok(None)
    }

    /// One incident.
    ///
    /// # Errors
    /// Where it is not there or cannot be read.
    fn incident(&self, id: &IncidentId) -> Result<IncidentRecord, SourceError> {
        Err(SourceError::unknown(&format!("incident {id}")))
    }

    /// The post-mortem of an incident.
    ///
    /// # Errors
    /// Where it is not there or cannot be read.
    fn report(&self, id: &IncidentId) -> Result<IncidentReport, SourceError> {
        Err(SourceError::unknown(&format!("incident {id}")))
    }
}

/// The post-mortem of an incident.
#[derive(Debug, Clone)]
pub struct IncidentReport {
    /// The heading of the document.
    pub title: String,
    /// Markdown, and which sections of it people have edited.
    pub document: Merged,
    /// What was measured.
    pub figures: Vec<Figure>,
}

/// An incident with its diagnosis.
#[derive(Debug, Clone)]
pub struct IncidentRecord {
    /// With its time line.
    pub incident: Incident,
    /// As `linerate why --json` prints it; absent until there is one.
    pub diagnosis: Option<serde_json::Value>,
    /// Commands that fix its cause, each on its host; none where no rule of the audit does.
    pub fixes: Vec<FixCommand>,
}

/// A command that fixes a cause on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixCommand {
    /// Host on which it is to run.
    pub host: String,
    /// Rule of the audit whose fix it is.
    pub rule: String,
    /// The command, from wherever the plan reaches the host.
    pub command: String,
}

/// A run with its samples.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// What was asked for and found.
    pub run: Arc<Run>,
    /// Samples; none where they were removed.
    pub samples: Arc<RunSamples>,
}
