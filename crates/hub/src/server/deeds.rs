//! What somebody who may change something did, in words for the log of actions.

use super::request::Request;
use crate::api::accounts::AccountWish;
use crate::api::mesh::{IncidentStep, PlanText, RunWish};
use crate::api::report::ReportText;
use crate::api::routes::Action;
use crate::trust::digest::Fingerprint;

/// A request that changes something, in words; [`None`] of one that only reads.
pub(super) fn words(request: &Request, action: Action) -> Option<String> {
    Some(match action {
        Action::SetPlan => {
            let PlanText { text } = request.content().ok()?;
            format!("plan set, SHA-256 {}", Fingerprint::of(text.as_bytes()).short())
        }
        Action::AskRun => {
            let RunWish { test, from, to } = request.content().ok()?;
            format!("run asked for: {test} from {from} to {to}")
        }
        Action::StepIncident => {
            let IncidentStep { id, step, text, .. } = request.content().ok()?;
            let step = serde_json::to_value(step).ok()?;
            format!("incident {id}: {} {text}", step.as_str()?)
        }
        Action::SetReport => {
            let ReportText { id, .. } = request.content().ok()?;
            format!("post-mortem of {id} edited")
        }
        Action::SetAccount => {
            let AccountWish { name, role, password } = request.content().ok()?;
            match role {
                Some(role) if password.is_some() => format!("account {name}: {}, password set", role.name()),
                Some(role) => format!("account {name}: {}", role.name()),
                None => format!("account {name} removed"),
            }
        }
        _ => return None,
    })
}
