//! Where the data of pages come from.
//!
//! * [`files`]: rounds and runs from files
//! * [`kept`]: an archive
//! * [`results`]: what a series of results of a pair is made of

pub mod files;
pub mod kept;
pub mod results;

use std::fmt::Debug;
use std::sync::Arc;

use archive::RunSummary;
use model::host::change::LoggedChange;
use model::host::snapshot::Snapshot;
use model::round::{Round, RoundSummary};
use model::run::{Run, RunId};
use model::series::RunSamples;

use crate::view::matrix::Matrix;
use results::PairResult;

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

    /// The grids of a round, where the source has them without its tests; they are worked out of the tests otherwise.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn matrices(&self, _id: RunId) -> Result<Option<Arc<Vec<Matrix>>>, SourceError> {
        Ok(None)
    }

    /// All runs, the newest first, at most `limit`.
    ///
    /// # Errors
    /// Where the runs cannot be read.
    fn runs(&self, limit: u32) -> Result<Vec<RunSummary>, SourceError>;

    /// A run.
    ///
    /// # Errors
    /// Where it is not there or cannot be read.
    fn run(&self, id: RunId) -> Result<StoredRun, SourceError>;

    /// Results of one host sending to another, in order of time.
    ///
    /// # Errors
    /// Where results cannot be read.
    fn results(&self, pair: &Pair) -> Result<Vec<PairResult>, SourceError>;

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
}

/// A run with its samples.
#[derive(Debug, Clone)]
pub struct StoredRun {
    /// The run.
    pub run: Arc<Run>,
    /// Samples; none where they were removed.
    pub samples: Arc<RunSamples>,
}

/// One host sending to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// The network that they met in; their usual addresses where it is absent.
    pub network: Option<String>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is not there.
    #[error("there is no {what}")]
    Unknown {
        /// What was asked for.
        what: String,
    },
    /// It is there and cannot be read.
    #[error("{what} cannot be read: {cause}")]
    Broken {
        /// What was asked for.
        what: String,
        /// Why, with all causes.
        cause: String,
    },
}

impl SourceError {
    /// Nothing of that name.
    #[must_use]
    pub fn unknown(what: &str) -> Self {
        Self::Unknown { what: what.to_owned() }
    }

    /// An error of whoever has the data.
    #[must_use]
    pub fn broken(what: &str, error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        let cause = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        Self::Broken { what: what.to_owned(), cause }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { .. } => Some("the list of rounds and runs is at /".to_owned()),
            Self::Broken { .. } => Some("`linerate runs check` looks for damage in an archive".to_owned()),
        }
    }
}
