//! Incidents as post-mortems, from what a hub keeps: the same in the hub and beside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use baseline::series::Sample;
use diagnose::diagnosis::Diagnosis;
use mesh::incident::{Incident, IncidentId, Series};
use postmortem::document::{self, Merged};
use postmortem::figures::{self, History};
use postmortem::html::Figure;
use postmortem::sections::{self, Record, Section};
use units::WallTime;

use crate::api::version;
use crate::store::rows::{SeriesHistory, SeriesResult};
use crate::store::{Store, StoreError};

/// A post-mortem with what the record says now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postmortem {
    /// The heading of the document.
    pub title: String,
    /// What the record says.
    pub sections: Vec<Section>,
    /// The document as Markdown: the sections, and what people have edited at the hub.
    pub document: Merged,
    /// What was measured.
    pub figures: Vec<Figure>,
}

/// The post-mortem of an incident; [`None`] where there is no such incident.
///
/// # Errors
/// Where the database refuses.
pub fn postmortem(store: &dyn Store, id: &IncidentId, now: WallTime) -> Result<Option<Postmortem>, StoreError> {
    let all = store.mesh()?.incidents;
    let Some(incident) = all.iter().find(|incident| incident.id == *id) else { return Ok(None) };
    // A hub of another version may have said more of causes than this program understands.
    let diagnosis: Option<Diagnosis> = store.diagnosis(id)?.and_then(|text| serde_json::from_str(&text).ok());
    let record = Record { incident, diagnosis: diagnosis.as_ref(), all: &all, now };
    let (title, sections) = (sections::title(incident), sections::sections(&record));
    let document = match store.report(id)? {
        Some(edited) => document::merge(&edited, &sections, &title),
        None => Merged { text: document::new(&title, &sections), kept: Vec::new() },
    };
    let made_by = format!("linerate {}", version::TEXT);
    let figures = figures::figures(&histories(store, incident)?, incident, &made_by);
    Ok(Some(Postmortem { title, sections, document, figures }))
}

/// What was measured of the series that the incident may have moved.
fn histories(store: &dyn Store, incident: &Incident) -> Result<Vec<History>, StoreError> {
    let mut histories: BTreeMap<Series, Vec<Sample>> = BTreeMap::new();
    store.histories(figures::since(incident), &mut |SeriesHistory { series, results }| {
        if figures::concerns(incident, &series) {
            let at_s = |result: &SeriesResult| i64::try_from(result.at.unix_seconds()).unwrap_or(i64::MAX);
            let samples = results.iter().map(|result| Sample { at_s: at_s(result), value: result.value });
            histories.insert(Arc::unwrap_or_clone(series), samples.collect());
        }
    })?;
    Ok(histories.into_iter().map(|(series, samples)| History { series, samples }).collect())
}
