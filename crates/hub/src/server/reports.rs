//! Incidents as post-mortems, read and edited by people.

use mesh::incident::IncidentId;
use postmortem::html::Figure;
use postmortem::sections::Section;

use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::report::{FigureInfo, ReportInfo, ReportText, SectionInfo};
use crate::reports::postmortem;
use crate::store::people::ReportRow;

pub(super) fn report(hub: &Hub, request: &Request) -> Result<ReportInfo, RequestError> {
    let id = request.value("id").ok_or_else(|| RequestError::NotUnderstood("`id` is missing behind `?`".to_owned()))?;
    of_incident(hub, id)
}

/// Keeps what somebody has made of one.
pub(super) fn set(hub: &Hub, report: ReportText) -> Result<ReportInfo, RequestError> {
    let ReportText { id, text } = report;
    if text.len() > LONGEST_TEXT {
        return Err(RequestError::TooLarge(LONGEST_TEXT));
    }
    if hub.watching.state().incidents.get(&IncidentId(id.clone())).is_none() {
        return Err(RequestError::NotFound(format!("incident {id}")));
    }
    hub.store.set_report(ReportRow { incident: IncidentId(id.clone()), text })?;
    of_incident(hub, id)
}

fn of_incident(hub: &Hub, id: String) -> Result<ReportInfo, RequestError> {
    let found = postmortem(hub.store.as_ref(), &IncidentId(id.clone()), hub.now())?;
    let found = found.ok_or_else(|| RequestError::NotFound(format!("incident {id}")))?;
    let section = |Section { key, title, text }| SectionInfo { key, title, text };
    let figure = |Figure { section, caption, svg }| FigureInfo { section, caption, svg };
    Ok(ReportInfo {
        id,
        title: found.title,
        sections: found.sections.into_iter().map(section).collect(),
        text: found.document.text,
        kept: found.document.kept,
        figures: found.figures.into_iter().map(figure).collect(),
    })
}

const LONGEST_TEXT: usize = 200_000;
