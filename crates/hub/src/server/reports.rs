//! Incidents as post-mortems.

use baseline::series::Sample;
use diagnose::diagnosis::Diagnosis;
use mesh::incident::{Incident, IncidentId, Series};
use postmortem::document::{self, Merged};
use postmortem::figures::{self, History};
use postmortem::html::{self, Figure};
use postmortem::sections::{self, Record, Section};

use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::report::{FigureInfo, ReportInfo, ReportText, SectionInfo};
use crate::api::version;
use crate::store::StoreError;
use crate::store::people::ReportRow;

pub(super) fn report(hub: &Hub, request: &Request) -> Result<ReportInfo, RequestError> {
    let id = request.value("id").ok_or_else(|| RequestError::NotUnderstood("`id` is missing behind `?`".to_owned()))?;
    of_incident(hub, &id)
}

pub(super) fn set(hub: &Hub, request: &Request) -> Result<ReportInfo, RequestError> {
    let ReportText { id, text } = request.content()?;
    if text.len() > LONGEST_TEXT {
        return Err(RequestError::TooLarge(LONGEST_TEXT));
    }
    let incident = incident(hub, &id)?;
    hub.store.set_report(ReportRow { incident: incident.id, text })?;
    of_incident(hub, &id)
}

/// The post-mortem of an incident, with what the record says now.
pub(super) fn of_incident(hub: &Hub, id: &str) -> Result<ReportInfo, RequestError> {
    let incident = incident(hub, id)?;
    let diagnosis: Option<Diagnosis> =
        hub.store.diagnosis(&incident.id)?.and_then(|text| serde_json::from_str(&text).ok());
    let all = hub.watching.state().incidents.list().to_vec();
    let record = Record { incident: &incident, diagnosis: diagnosis.as_ref(), all: &all, now: hub.now() };
    let (title, sections) = (sections::title(&incident), sections::sections(&record));
    let Merged { text, kept } = match hub.store.report(&incident.id)? {
        Some(edited) => document::merge(&edited, &sections, &title),
        None => Merged { text: document::new(&title, &sections), kept: Vec::new() },
    };
    let figures = figures::figures(&histories(hub, &incident)?, &incident, &format!("linerate {}", version::TEXT));
    let section = |Section { key, title, text }| SectionInfo { key, title, text };
    let figure = |Figure { section, caption, svg }| FigureInfo { section, caption, svg };
    Ok(ReportInfo {
        id: id.to_owned(),
        title,
        sections: sections.into_iter().map(section).collect(),
        text,
        kept,
        figures: figures.into_iter().map(figure).collect(),
    })
}

/// The same as a page of its own, to print or to send.
pub(super) fn page(hub: &Hub, id: &str) -> Result<String, RequestError> {
    let ReportInfo { text, figures, .. } = of_incident(hub, id)?;
    let figure = |FigureInfo { section, caption, svg }| Figure { section, caption, svg };
    Ok(html::page(&text, &figures.into_iter().map(figure).collect::<Vec<_>>()))
}

fn incident(hub: &Hub, id: &str) -> Result<Incident, RequestError> {
    let found = hub.watching.state().incidents.get(&IncidentId(id.to_owned())).cloned();
    found.ok_or_else(|| RequestError::NotFound(format!("incident {id}")))
}

fn histories(hub: &Hub, incident: &Incident) -> Result<Vec<History>, StoreError> {
    let candidates: Vec<Series> = {
        let state = hub.watching.state();
        let concerned = state.series.keys().filter(|series| figures::concerns(incident, series));
        concerned.take(MOST_CANDIDATES).cloned().collect()
    };
    let since = figures::since(incident);
    let history = |series: Series| {
        let points = hub.store.points(Some(&series), since)?;
        let sample = |point: &crate::store::rows::Point| Sample {
            at_s: i64::try_from(point.at.unix_seconds()).unwrap_or(i64::MAX),
            value: point.value,
        };
        Ok(History { samples: points.iter().map(sample).collect(), series })
    };
    candidates.into_iter().map(history).collect()
}

/// Series of the incident's hosts that are looked at.
const MOST_CANDIDATES: usize = 64;
const LONGEST_TEXT: usize = 200_000;
