//! Requests of people that change something: carried out, and written down in the log of actions.

use super::caller::Person;
use super::request::{Answer, Request, RequestError};
use super::state::Hub;
use super::{demonstrating, incidents, people, plans, reports};
use crate::api::accounts::AccountWish;
use crate::api::demonstration::DemonstrationWish;
use crate::api::mesh::{IncidentStep, PlanText, RunWish};
use crate::api::report::ReportText;
use crate::api::routes::Action;
use crate::trust::digest::Fingerprint;

/// Carries out a request that changes something; [`None`] of one that only reads.
pub(super) fn done(
    hub: &Hub,
    request: &Request,
    action: Action,
    person: &Person,
) -> Result<Option<Answer>, RequestError> {
    let Some(Deed { answer, words }) = of(hub, request, action, person)? else { return Ok(None) };
    people::note(hub, request, &person.name, &words)?;
    Ok(Some(answer))
}

/// What was done.
struct Deed {
    answer: Answer,
    /// For the log.
    words: String,
}

fn of(hub: &Hub, request: &Request, action: Action, person: &Person) -> Result<Option<Deed>, RequestError> {
    let deed = match action {
        Action::SetPlan => {
            let plan: PlanText = request.content()?;
            let words = format!("plan set, SHA-256 {}", Fingerprint::of(plan.text.as_bytes()).short());
            let set = plans::set(hub, plan)?;
            // From now on the hub has pages of its own to show.
            hub.demonstrations.end();
            Deed { answer: Answer::json(&set)?, words }
        }
        Action::AskRun => {
            let wish: RunWish = request.content()?;
            let words = format!("run asked for: {} from {} to {}", wish.test, wish.from, wish.to);
            Deed { answer: Answer::json(&plans::ask(hub, wish)?)?, words }
        }
        Action::StepIncident => {
            let step: IncidentStep = request.content()?;
            let name = serde_json::to_value(step.step).unwrap_or_default();
            let words = format!("incident {}: {} {}", step.id, name.as_str().unwrap_or_default(), step.text);
            Deed { answer: Answer::json(&incidents::step(hub, step, person)?)?, words }
        }
        Action::SetReport => {
            let report: ReportText = request.content()?;
            let words = format!("post-mortem of {} edited", report.id);
            Deed { answer: Answer::json(&reports::set(hub, report)?)?, words }
        }
        Action::SetAccount => {
            let wish: AccountWish = request.content()?;
            let words = match wish.role {
                Some(role) if wish.password.is_some() => {
                    format!("account {}: {}, password set", wish.name, role.name())
                }
                Some(role) => format!("account {}: {}", wish.name, role.name()),
                None => format!("account {} removed", wish.name),
            };
            Deed { answer: Answer::json(&people::set_account(hub, wish)?)?, words }
        }
        Action::SetDemonstration => {
            let wish: DemonstrationWish = request.content()?;
            Deed { answer: Answer::json(&demonstrating::set(hub, wish)?)?, words: demonstrating::words(wish) }
        }
        _ => return Ok(None),
    };
    Ok(Some(deed))
}
