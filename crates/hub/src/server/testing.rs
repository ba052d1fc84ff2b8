//! Tests from browsers: who may, under which name they are stored, and what is listed of them.

use measure::serve::ServedTest;
use measure::serve::ndt7::upgrade::Ndt7Upgrades;
use model::played::Finding;
use model::run::{Outcome, Role, Run, RunId};
use model::series::packed;
use units::{DataRate, WallTime};

use super::caller::{self, Person};
use super::counters::Event;
use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::order::LeaseName;
use crate::api::record::{BROWSER, Record, RecordKind, RunResult, Verdict, content};
use crate::api::routes::Right;
use crate::api::testing::{BrowserTest, MOST, TestingInfo, TestingState};
use crate::store::StoreError;
use crate::store::rows::{Arrival, RecordQuery, StoredRecord};
use crate::trust::secret;

/// Whether a browser may test, and what this account has measured. An expected rate that is no rate is refused.
pub(super) fn info(hub: &Hub, request: &Request, person: &Person) -> Result<TestingInfo, RequestError> {
    expected(request)?;
    let agent = agent(person);
    let query = RecordQuery { kind: "result", agent: Some(&agent), since: WallTime::default(), most: MOST };
    let tests = hub.store.newest(query)?.iter().filter_map(listed).collect();
    Ok(TestingInfo { state: state(hub), tests })
}

/// Who asks for a test, what the line is expected to carry, and the tests of this hub.
pub(super) struct Wish<'a> {
    pub(super) person: Person,
    pub(super) expected: Option<DataRate>,
    pub(super) upgrades: &'a Ndt7Upgrades,
}

/// Who may test: an account by a page of this hub, or whoever has a token to view.
pub(super) fn wish<'a>(hub: &'a Hub, request: &Request) -> Result<Wish<'a>, RequestError> {
    let person = caller::person(hub, request, Right::View)?;
    // A page of another site could ask in the name of whoever has signed in: WebSockets know no same-origin policy.
    if person.session.is_some() && !request.browser.is_own_page() {
        return Err(RequestError::Forbidden("another site asked for this".to_owned()));
    }
    let refused = |why: &str| Err(RequestError::Conflict(why.to_owned()));
    match (state(hub), &hub.browser_tests) {
        (TestingState::Demonstration, _) => refused("a demonstration is shown here: end it first"),
        (_, None) => refused("the settings of this hub forbid tests from browsers"),
        (_, Some(upgrades)) => Ok(Wish { person, expected: expected(request)?, upgrades }),
    }
}

/// The name of a run that begins now.
pub(super) fn name(hub: &Hub) -> Result<RunId, StoreError> {
    Ok(RunId::new(hub.now(), u128::from_le_bytes(secret::random()?)))
}

/// A test that is over, and whose it was.
pub(super) struct Tested {
    pub(super) id: RunId,
    pub(super) person: Person,
    pub(super) expected: Option<DataRate>,
    pub(super) test: ServedTest,
}

/// Keeps a test. It is on disk when this returns.
pub(super) fn keep(hub: &Hub, tested: Tested) -> Result<(), RequestError> {
    let Tested { id, person, expected, test } = tested;
    let run = Run {
        format: Run::FORMAT,
        id,
        started: test.started,
        role: Role::Server,
        command: Vec::new(),
        spec: test.spec,
        declared_line_rate: expected,
        declared: model::run::Declared::default(),
        batch: None,
        local: measure::identity::local(Some(test.local.ip())),
        peer: model::run::Peer {
            target: format!("the browser of {} at {}", person.name, test.peer.target),
            ..test.peer
        },
        outcome: test.outcome,
        measurement: test.measurement,
    };
    let not_kept =
        |error: &dyn std::fmt::Display| RequestError::NotUnderstood(format!("run {id} is not kept: {error}"));
    let result = RunResult { began: run.started, finding: Finding::Run(Box::new(run)) };
    let json = serde_json::to_vec(&result).map_err(|error| not_kept(&error))?;
    let samples = packed::pack(&test.samples);
    let lease = LeaseName { run: format!("{BROWSER}{id}"), attempt: 1 };
    let record = Record::pack(id.to_string(), RecordKind::Result { lease }, &json, Some(&samples));
    let record = record.map_err(|error| not_kept(&error))?;
    let unpacked = record.unpack().map_err(|error| not_kept(&error))?;
    let verdict = hub.schedule.keep(hub.store.as_ref(), &agent(&person), Arrival { record, unpacked }, hub.now())?;
    hub.counters.count(if verdict == Verdict::Stored { Event::RecordStored } else { Event::RecordRefused });
    hub.watching.ring();
    Ok(())
}

fn state(hub: &Hub) -> TestingState {
    match &hub.browser_tests {
        _ if hub.demonstrations.site(&hub.names).is_some() => TestingState::Demonstration,
        None => TestingState::Off,
        Some(upgrades) if upgrades.is_busy() => TestingState::Busy,
        Some(_) => TestingState::Free,
    }
}

/// What the line should carry, as whoever asks has typed it.
fn expected(request: &Request) -> Result<Option<DataRate>, RequestError> {
    let typed = request.value("expect").filter(|text| !text.trim().is_empty());
    let rate = typed.map(|text| text.trim().parse::<DataRate>()).transpose();
    rate.map_err(|error| RequestError::NotUnderstood(format!("expected rate: {error}")))
}

/// Who has delivered it, as records have it: no agent of that name can join.
fn agent(person: &Person) -> String {
    format!("{BROWSER}{}", person.name)
}

fn listed(record: &StoredRecord) -> Option<BrowserTest> {
    let result: RunResult = content(&record.content).ok()?;
    let Finding::Run(run) = result.finding else { return None };
    let failure = match &run.outcome {
        Outcome::Complete => None,
        Outcome::Failed(failure) => Some(failure.detail.clone()),
    };
    let goodput = run.measurement.as_ref().and_then(|found| found.totals.first()).map(|total| total.goodput);
    Some(BrowserTest { run: run.id, started: run.started, direction: run.spec.direction, goodput, failure })
}
