//! Incidents, shown to people and stepped by them.

use std::time::Duration;

use mesh::clock;
use mesh::incident::{Action, Explanation, Incident, IncidentId, Refused};
use mesh::notify;
use units::WallTime;

use super::caller::Person;
use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::mesh::{IncidentDetail, IncidentList, IncidentStep, Step};
use crate::watching::ActError;

pub(super) fn list(hub: &Hub) -> IncidentList {
    IncidentList { incidents: hub.watching.state().incidents.list().to_vec() }
}

pub(super) fn one(hub: &Hub, request: &Request) -> Result<IncidentDetail, RequestError> {
    let id = request.value("id").ok_or_else(|| RequestError::NotUnderstood("`id` is missing behind `?`".to_owned()))?;
    let incident = hub.watching.state().incidents.get(&IncidentId(id.clone())).cloned();
    detail(hub, incident.ok_or_else(|| RequestError::NotFound(format!("incident {id}")))?)
}

/// A step of a person. An account makes it in its own name, a token in the name that it says.
pub(super) fn step(hub: &Hub, mut asked: IncidentStep, person: &Person) -> Result<IncidentDetail, RequestError> {
    if person.role.is_some() {
        asked.by.clone_from(&person.name);
    }
    if asked.text.len() > LONGEST_TEXT || asked.by.is_empty() || asked.by.len() > LONGEST_NAME {
        return Err(RequestError::NotUnderstood(format!(
            "`by` has 1 to {LONGEST_NAME} bytes, `text` at most {LONGEST_TEXT}"
        )));
    }
    let id = IncidentId(asked.id.clone());
    let now = hub.now();
    let acted = hub.watching.act(hub.store.as_ref(), &id, action(asked, now)?, now);
    let incident = acted.map_err(|error| match error {
        ActError::Refused(Refused::Unknown) => RequestError::NotFound(format!("incident {id}")),
        ActError::Refused(refused) => RequestError::Conflict(refused.to_string()),
        ActError::Store(error) => RequestError::Store(error),
    })?;
    hub.watching.ring();
    detail(hub, incident)
}

fn action(asked: IncidentStep, now: WallTime) -> Result<Action, RequestError> {
    let IncidentStep { by, step, text, seconds, .. } = asked;
    if text.trim().is_empty() && !matches!(step, Step::Acknowledge | Step::Silence) {
        return Err(RequestError::NotUnderstood("this step needs a `text`".to_owned()));
    }
    Ok(match step {
        Step::Acknowledge => Action::Acknowledge { by },
        Step::Explain => {
            let explanation = Explanation { cause: text, place: "as stated".to_owned(), probability: 1.0, by };
            Action::Explain { explanation }
        }
        Step::Fix => Action::Fix { by, text },
        Step::Note => Action::Note { by, text },
        Step::Silence => {
            let span = seconds.ok_or_else(|| RequestError::NotUnderstood("a silence needs `for_s`".to_owned()))?;
            Action::Silence { by, until: clock::later(now, Duration::from_secs(span)) }
        }
        Step::Accept => Action::Accept { by, text },
        Step::Close => Action::Close { by, text },
    })
}

fn detail(hub: &Hub, incident: Incident) -> Result<IncidentDetail, RequestError> {
    let diagnosis = hub.store.diagnosis(&incident.id)?.and_then(|text| serde_json::from_str(&text).ok());
    let text = notify::text(&incident, hub.now());
    Ok(IncidentDetail { incident, text, diagnosis })
}

const LONGEST_TEXT: usize = 4000;
const LONGEST_NAME: usize = 200;
