//! From a request to a response, without a socket.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use archive::running::RunningRound;
use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, diagnose};
use diagnose::explained::Explained;
use diagnose::grid::{Grids, grids};
use mesh::incident::IncidentId;
use model::round::Round;
use model::run::RunId;
use postmortem::html;

use crate::assets;
use crate::exchange::{Coding, Problem, Request, Response};
use crate::guard;
use crate::query::Query;
use crate::source::{IncidentReport, Pair, Source, SourceError};
use crate::view::cell::{self, CellView};
use crate::view::downloads::DownloadsView;
use crate::view::host::HostView;
use crate::view::incident::IncidentView;
use crate::view::matrix::{self, MatrixCell, MatrixView};
use crate::view::network::{MarkedBy, NetworkView};
use crate::view::overview::Overview;
use crate::view::pair::{self, PairView};
use crate::view::peers::{KnownHosts, PeersView};
use crate::view::progress::RoundProgress;
use crate::view::report::ReportView;
use crate::view::round::{RoundOutline, RoundView};
use crate::view::samples::{self, SamplesView};
use crate::view::what_if::{Simulations, WhatIfView};

/// All pages over one source.
#[derive(Debug)]
pub struct Site {
    source: Box<dyn Source>,
    rules: Rules,
    names: Vec<String>,
    simulations: Simulations,
    /// The rounds that were asked for last, with what was worked out of them.
    recent: Mutex<Vec<Arc<Worked>>>,
}

/// A round and what follows from it. Its tests are read where something is asked that the outline does not have: of a mesh of a thousand
/// hosts they are a million.
#[derive(Debug)]
struct Worked {
    id: RunId,
    /// Of which state of a round that runs it was worked out; [`None`] of one that is kept.
    running: Option<Arc<RunningRound>>,
    outline: Arc<RoundOutline>,
    tests: OnceLock<WithTests>,
    diagnosis: OnceLock<Diagnosis>,
}

#[derive(Debug)]
struct WithTests {
    round: Arc<Round>,
    grids: Grids,
}

impl WithTests {
    fn read(source: &dyn Source, id: RunId) -> Result<Self, SourceError> {
        let round = source.round(id)?;
        let grids = grids(&round);
        Ok(Self { round, grids })
    }
}

impl Worked {
    fn is_of(&self, running: Option<&Arc<RunningRound>>) -> bool {
        let lines = |running: &Arc<RunningRound>| (running.lines, running.is_led);
        self.running.as_ref().map(lines) == running.map(lines)
    }

    fn with_tests(&self, source: &dyn Source) -> Result<&WithTests, SourceError> {
        if let Some(read) = self.tests.get() {
            return Ok(read);
        }
        let read = WithTests::read(source, self.id)?;
        Ok(self.tests.get_or_init(|| read))
    }
}

impl Site {
    /// Pages over `source`, under the names of this machine and `names`.
    #[must_use]
    pub fn new(source: Box<dyn Source>, names: Vec<String>) -> Self {
        Self { source, rules: Rules::built_in(), names, simulations: Simulations::default(), recent: Mutex::default() }
    }

    /// Answers a request.
    #[must_use]
    pub fn answer(&self, request: &Request) -> Response {
        if let Err(refused) = guard::check(request, &self.names) {
            return Response::refusal(refused.status, &refused.problem);
        }
        let response = match self.routed(request) {
            Ok(response) => response,
            Err(error) => refusal(&error),
        };
        let response = if request.takes_gzip() { response.compressed() } else { response };
        if response.tag.is_some() && response.tag == request.known {
            return Response { status: 304, body: std::borrow::Cow::Borrowed(b""), ..response };
        }
        response
    }

    fn routed(&self, request: &Request) -> Result<Response, SourceError> {
        let query = Query::parse(&request.query);
        let coding = if request.takes_gzip() { Coding::Gzip } else { Coding::Identity };
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        match parts.as_slice() {
            ["" | "pair" | "host" | "plan" | "people" | "what-if" | "downloads" | "this-computer"]
            | ["round" | "run" | "incident", _]
            | ["round", _, "why" | "network"]
            | ["incident", _, "network"]
            | ["incident", _, "report"] => Ok(assets::shell(coding)),
            ["incident", id, "report.html"] => {
                let report = self.report(id)?;
                Ok(Response::document("text/html; charset=utf-8", html::page(&report.document.text, &report.figures)))
            }
            ["incident", id, "report.md"] => {
                Ok(Response::document("text/markdown; charset=utf-8", self.report(id)?.document.text))
            }
            ["assets", path @ ..] => {
                assets::named(&path.join("/"), coding).ok_or_else(|| SourceError::unknown("such file"))
            }
            ["view", "v1", path @ ..] => self.document(path, &query),
            // A hub answers this itself: there people sign in.
            ["api", "v1", "session"] => {
                let is_hub = self.source.incidents()?.is_some();
                Ok(Response::json(&serde_json::json!({ "has_accounts": false, "is_hub": is_hub })))
            }
            _ => Err(SourceError::unknown("such page")),
        }
    }

    fn document(&self, path: &[&str], query: &Query) -> Result<Response, SourceError> {
        match path {
            ["overview"] => Ok(Response::json(&Overview::of(self.source.as_ref(), query)?)),
            ["round", id] => {
                let worked = self.worked(id)?;
                let progress = worked.running.as_deref().map(RoundProgress::of);
                Ok(Response::json(&RoundView::of(&worked.outline, progress)))
            }
            ["round", id, "grid"] => {
                let worked = self.worked(id)?;
                let matrix = matrix::chosen(&worked.outline.matrices, query.text("metric"))?;
                Ok(Response::json(&MatrixView::of(worked.id, matrix)))
            }
            ["round", id, "grid", "cell"] => {
                let worked = self.worked(id)?;
                let matrix = matrix::chosen(&worked.outline.matrices, query.text("metric"))?;
                Ok(Response::json(&MatrixCell::of(matrix, &pair_of(query)?)?))
            }
            ["round", id, "cell"] => {
                let (worked, pair) = (self.worked(id)?, pair_of(query)?);
                let WithTests { round, grids } = worked.with_tests(self.source.as_ref())?;
                Ok(Response::json(&CellView::of(&cell::Evaluated { round, grids }, pair)))
            }
            ["round", id, "why"] => {
                let worked = self.worked(id)?;
                Ok(Response::json(self.diagnosis(&worked)?))
            }
            ["round", id, "network"] => {
                let worked = self.worked(id)?;
                let round = &worked.with_tests(self.source.as_ref())?.round;
                Ok(Response::json(&NetworkView::of(round, &MarkedBy::Diagnosis(self.diagnosis(&worked)?))))
            }
            ["incident", id, "network"] => {
                let record = self.source.incident(&IncidentId((*id).to_owned()))?;
                let worked = self.worked(LATEST)?;
                let round = &worked.with_tests(self.source.as_ref())?.round;
                Ok(Response::json(&NetworkView::of(round, &MarkedBy::Incident(&record))))
            }
            ["run", id] => {
                let run = self.source.run(run_id(id)?)?;
                Ok(Response::json(&Explained::of(&run.run, &run.samples)))
            }
            ["run", id, "samples"] => {
                let run = self.source.run(run_id(id)?)?;
                Ok(Response::json(&SamplesView::of(&run, &samples::Window::of(query))))
            }
            ["incident", id, "report"] => {
                let IncidentReport { title, document, .. } = self.report(id)?;
                Ok(Response::json(&ReportView { title, text: document.text, kept: document.kept }))
            }
            ["incident", id] => {
                Ok(Response::json(&IncidentView::of(self.source.incident(&IncidentId((*id).to_owned()))?)))
            }
            ["pair"] => {
                Ok(Response::json(&PairView::of(self.source.as_ref(), pair_of(query)?, pair::Asked::of(query))?))
            }
            ["downloads"] => Ok(Response::json(&DownloadsView::of(self.source.as_ref())?)),
            ["what-if"] => Ok(Response::json(&WhatIfView::of(self.source.as_ref(), query, &self.simulations)?)),
            ["host"] => {
                let name = query.text("name").ok_or_else(|| SourceError::unknown("host without a name"))?;
                Ok(Response::json(&HostView::of(self.source.as_ref(), name, &self.rules)?))
            }
            ["host", "peers"] => {
                let name = query.text("name").ok_or_else(|| SourceError::unknown("host without a name"))?;
                // A source without a round knows hosts by name alone.
                let round = self.worked(LATEST).ok();
                let lines = round.as_ref().map(|round| round.outline.hosts.as_slice()).unwrap_or_default();
                let known = KnownHosts { source: self.source.as_ref(), rules: &self.rules };
                Ok(Response::json(&PeersView::of(name, lines, &known)?))
            }
            _ => Err(SourceError::unknown("such document")),
        }
    }

    fn diagnosis<'a>(&self, worked: &'a Worked) -> Result<&'a Diagnosis, SourceError> {
        let round = &worked.with_tests(self.source.as_ref())?.round;
        Ok(worked.diagnosis.get_or_init(|| diagnose(round, Catalogue::built_in(), &self.rules)))
    }

    fn report(&self, id: &str) -> Result<IncidentReport, SourceError> {
        self.source.report(&IncidentId(id.to_owned()))
    }

    /// The round of a name; `latest` is the newest.
    fn round_id(&self, text: &str) -> Result<RunId, SourceError> {
        if text != LATEST {
            return run_id(text);
        }
        let newest = self.source.rounds(1)?;
        newest.first().map(|round| round.id).ok_or_else(|| SourceError::unknown("round yet: no result has come"))
    }

    /// A round with its grids, as it was worked out before or anew.
    fn worked(&self, id: &str) -> Result<Arc<Worked>, SourceError> {
        let id = self.round_id(id)?;
        let running = self.source.running()?.into_iter().find(|running| running.round.id == id);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = recent.iter().position(|worked| worked.id == id) {
            let worked = recent.remove(place);
            if worked.is_of(running.as_ref()) {
                recent.push(Arc::clone(&worked));
                return Ok(worked);
            }
        }
        let (outline, tests) = match self.source.outline(id)? {
            Some(outline) => (outline, OnceLock::new()),
            None => {
                let read = WithTests::read(self.source.as_ref(), id)?;
                let outline = RoundOutline::of(&read.round, matrix::matrices(&read.round, &read.grids));
                (Arc::new(outline), OnceLock::from(read))
            }
        };
        let worked = Arc::new(Worked { id, running, outline, tests, diagnosis: OnceLock::new() });
        if recent.len() >= MOST_ROUNDS {
            recent.remove(0);
        }
        recent.push(Arc::clone(&worked));
        Ok(worked)
    }
}

/// Whether what is answered under a path holds data, which only those may have who may see it; all else is the same for everybody.
#[must_use]
pub fn holds_data(path: &str) -> bool {
    path.starts_with("/view/") || path.ends_with("/report.html") || path.ends_with("/report.md")
}

fn run_id(text: &str) -> Result<RunId, SourceError> {
    text.parse().map_err(|_| SourceError::unknown("such name of a run or round"))
}

fn pair_of(query: &Query) -> Result<Pair, SourceError> {
    let name = |key| query.text(key).map(str::to_owned);
    let pair = name("from").zip(name("to")).map(|(from, to)| Pair { from, to, network: name("network") });
    pair.ok_or_else(|| SourceError::unknown("pair without `from` and `to`"))
}

fn refusal(error: &SourceError) -> Response {
    let status = match error {
        SourceError::Unknown { .. } => 404,
        SourceError::Wrong { .. } => 400,
        SourceError::Busy | SourceError::Reading => 503,
        SourceError::Broken { .. } => 500,
    };
    Response::refusal(status, &Problem { error: error.to_string(), hint: error.hint() })
}

/// The name of the newest round in addresses.
const LATEST: &str = "latest";
/// Rounds in memory; one of a hundred hosts has 10 MB.
const MOST_ROUNDS: usize = 4;
