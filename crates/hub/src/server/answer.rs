//! Who may ask what, and what the hub says.

use super::caller::{Caller, Person, caller};
use super::counters::Event;
use super::request::{Answer, Media, Request, RequestError};
use super::state::Hub;
use super::{
    archived, dashboard, deeds, demonstrating, hosts, incidents, joining, metrics, openid, people, plans, records,
    reports, testing, views, work,
};
use crate::api::OPENAPI;
use crate::api::people::{AgentList, Health};
use crate::api::routes::{self, Action, Right, Route};
use crate::api::version::{self, Version};

/// Answers a request. Blocks while the database writes.
#[must_use]
pub fn answer(hub: &Hub, request: &Request) -> Answer {
    hub.counters.count(Event::Request);
    let answered = match routes::find(request.target()) {
        Some(route) => routed(hub, request, route),
        None if request.path.starts_with(API) => Err(RequestError::NotFound("such request".to_owned())),
        None => openid::answer(hub, request).unwrap_or_else(|| dashboard::answer(hub, request)),
    };
    answered.unwrap_or_else(|error| {
        hub.counters.count(match &error {
            RequestError::Forbidden(_) => Event::RequestForbidden,
            RequestError::Store(_) => Event::RequestFailed,
            _ => Event::RequestRefused,
        });
        let from = request.from.map_or_else(|| "here".to_owned(), |from| from.to_string());
        let (method, path) = (&request.method, &request.path);
        hub.log.say(hub.now(), format_args!("{from}: {method} {path}: {}", shown(&error)));
        Answer::refusal(&error)
    })
}

/// An error with its causes.
pub(crate) fn shown(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn routed(hub: &Hub, request: &Request, route: &Route) -> Result<Answer, RequestError> {
    if request.body.len() > route.largest_body {
        return Err(RequestError::TooLarge(route.largest_body));
    }
    check_version(request, route.right)?;
    match caller(hub, request, route.right)? {
        Caller::Agent(agent) => for_agent(hub, request, route.action, &agent),
        Caller::Joining(token) => Answer::json(&joining::join(hub, request, token)?),
        Caller::Person(person) => {
            if let Some(answer) = deeds::done(hub, request, route.action, &person)? {
                return Ok(answer);
            }
            for_people(hub, request, route.action, &person)
        }
    }
}

/// Agents say their version with each request.
fn check_version(request: &Request, right: Right) -> Result<(), RequestError> {
    let said = match (&request.version, right) {
        (Some(said), _) => said,
        (None, Right::Agent | Right::Join) => {
            return Err(RequestError::NotUnderstood(format!("the header {} is missing", version::HEADER)));
        }
        (None, Right::Anyone | Right::View | Right::Operate | Right::Admin | Right::Archive) => return Ok(()),
    };
    let refused = |error: version::VersionError| RequestError::Version(error.to_string());
    Version::ours().map_err(refused)?.check(said.parse().map_err(refused)?).map_err(refused)
}

fn for_agent(hub: &Hub, request: &Request, action: Action, agent: &str) -> Result<Answer, RequestError> {
    match action {
        Action::Work => Answer::json(&work::work(hub, request, agent)?),
        Action::Deliver => Answer::json(&records::deliver(hub, request, agent)?),
        _ => Err(RequestError::NotFound("such request of agents".to_owned())),
    }
}

/// What people read, and their sessions.
fn for_people(hub: &Hub, request: &Request, action: Action, person: &Person) -> Result<Answer, RequestError> {
    match action {
        Action::Health => {
            hub.store.check(hub.now())?;
            Answer::json(&Health { status: "ok".to_owned(), version: version::TEXT.to_owned() })
        }
        Action::OpenApi => Ok(Answer::written(OPENAPI)),
        Action::Metrics => Ok(Answer {
            status: 200,
            media: Media::Metrics,
            headers: Vec::new(),
            body: metrics::text(hub)?.into_bytes(),
        }),
        Action::Agents => Answer::json(&AgentList::of(hub.store.agents()?)),
        Action::Plan => Answer::json(&plans::plan(hub)?),
        Action::CheckPlan => Answer::json(&plans::check(hub, request)?),
        Action::Runs => {
            hub.schedule.look(hub.store.as_ref())?;
            Answer::json(&hub.schedule.ahead())
        }
        Action::Pairs => Answer::json(&views::pairs(hub)),
        Action::History => Answer::json(&views::history(hub, request)?),
        Action::Grid => Answer::json(&views::grids(hub)),
        Action::Hosts => Answer::json(&hosts::list(hub)?),
        Action::Host => Answer::json(&hosts::one(hub, request)?),
        Action::Changes => Answer::json(&hosts::changes(hub, request)?),
        Action::Incidents => Answer::json(&incidents::list(hub)),
        Action::Incident => Answer::json(&incidents::one(hub, request)?),
        Action::Record => Answer::json(&views::record(hub, request)?),
        Action::Session => Answer::json(&people::session(hub, person)?),
        Action::SignIn => people::sign_in(hub, request),
        Action::SignOut => people::sign_out(hub, request, person),
        Action::Accounts => Answer::json(&people::accounts(hub)?),
        Action::Actions => Answer::json(&people::actions(hub)?),
        Action::Report => Answer::json(&reports::report(hub, request)?),
        Action::Archive => Answer::json(&archived::deliver(hub, request)?),
        Action::Demonstration => Answer::json(&demonstrating::info(hub)?),
        Action::Testing => Answer::json(&testing::info(hub, request, person)?),
        Action::SetPlan
        | Action::AskRun
        | Action::StepIncident
        | Action::SetAccount
        | Action::SetReport
        | Action::SetDemonstration
        | Action::Join
        | Action::Work
        | Action::Deliver => Err(RequestError::NotFound("such request of people".to_owned())),
    }
}

/// Where requests of the table are.
const API: &str = "/api/";
