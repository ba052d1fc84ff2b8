//! Series, their histories, grids, records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mesh::clock;
use mesh::incident::{Metric, Series, SeriesStatus};
use units::WallTime;

use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::mesh::{Grid, Grids, History, Pairs, PointInfo, RecordInfo, SeriesInfo, SeriesState, USUAL_HISTORY};
use crate::api::record::content;
use crate::store::rows::{PointQuality, SeriesResult};

pub(super) fn pairs(hub: &Hub) -> Pairs {
    Pairs { series: all(hub) }
}

pub(super) fn grids(hub: &Hub) -> Grids {
    let mut grids: BTreeMap<(String, Metric), Vec<SeriesInfo>> = BTreeMap::new();
    for info in all(hub) {
        grids.entry((info.series.test.clone(), info.series.metric)).or_default().push(info);
    }
    let grid = |((test, metric), cells): ((String, Metric), Vec<SeriesInfo>)| {
        let hosts: BTreeSet<&String> = cells.iter().flat_map(|cell| [&cell.series.from, &cell.series.to]).collect();
        Grid { metric, test, hosts: hosts.into_iter().cloned().collect(), cells }
    };
    Grids { grids: grids.into_iter().map(grid).collect() }
}

pub(super) fn history(hub: &Hub, request: &Request) -> Result<History, RequestError> {
    let wanted = |name: &str| {
        request.value(name).ok_or_else(|| RequestError::NotUnderstood(format!("`{name}` is missing behind `?`")))
    };
    let family = request.value("family").map(|text| word("family", text)).transpose()?;
    let series = Series {
        from: wanted("from")?,
        to: wanted("to")?,
        test: wanted("test")?,
        family,
        metric: word("metric", wanted("metric")?)?,
    };
    let points = hub.store.points(Some(&series), since(hub.now(), request, USUAL_HISTORY)?)?;
    if points.is_empty() && !hub.watching.state().series.contains_key(&series) {
        return Err(RequestError::NotFound(format!(
            "series of {} from {} to {}, test {}",
            series.metric, series.from, series.to, series.test
        )));
    }
    let state = hub.watching.state();
    let concerns = |incident: &&mesh::incident::Incident| {
        incident.hosts.contains(&series.from) || incident.hosts.contains(&series.to)
    };
    let incidents = state.incidents.list().iter().filter(concerns).map(|incident| incident.id.0.clone()).collect();
    Ok(History { series, points: points.iter().map(SeriesResult::of).map(point).collect(), incidents })
}

pub(super) fn record(hub: &Hub, request: &Request) -> Result<RecordInfo, RequestError> {
    let key = request.value("key").and_then(|text| text.parse().ok());
    let key = key.ok_or_else(|| RequestError::NotUnderstood("`key` is a number behind `?`".to_owned()))?;
    let found = hub.store.record(key)?.ok_or_else(|| RequestError::NotFound(format!("record {key}")))?;
    let content = content(&found.content).unwrap_or(serde_json::Value::Null);
    let crate::store::rows::StoredRecord { key, agent, kind, run, received, .. } = found;
    Ok(RecordInfo { key, agent, kind, run, received, content })
}

/// From which moment on something is asked for.
pub(super) fn since(now: WallTime, request: &Request, usual: Duration) -> Result<WallTime, RequestError> {
    let span = match request.value("since_s") {
        Some(text) => Duration::from_secs(
            text.parse().map_err(|_| RequestError::NotUnderstood("`since_s` is a number of seconds".to_owned()))?,
        ),
        None => usual,
    };
    Ok(clock::earlier(now, span))
}

fn all(hub: &Hub) -> Vec<SeriesInfo> {
    let now = hub.now();
    let state = hub.watching.state();
    let info = |(series, recent): (&Arc<Series>, &crate::watching::Recent)| SeriesInfo {
        series: series.as_ref().clone(),
        state: shown(state.incidents.status(series, now)),
        last: recent.last.map(point),
        usual: state.incidents.usual(series),
        results: recent.results,
    };
    state.series.iter().map(info).collect()
}

const fn shown(status: SeriesStatus) -> SeriesState {
    match status {
        SeriesStatus::Good => SeriesState::Good,
        SeriesStatus::Worse => SeriesState::Worse,
        SeriesStatus::Suspect => SeriesState::Suspect,
        SeriesStatus::Learning => SeriesState::Learning,
        SeriesStatus::Stale => SeriesState::Stale,
        SeriesStatus::NoData => SeriesState::NoData,
    }
}

fn point(result: SeriesResult) -> PointInfo {
    PointInfo { at: result.at, value: result.value, judged: result.good == PointQuality::Good, record: result.record }
}

/// A word of an enumeration, as JSON has it.
fn word<T: serde::de::DeserializeOwned>(name: &str, text: String) -> Result<T, RequestError> {
    let wrong = format!("`{text}` is no {name}");
    serde_json::from_value(serde_json::Value::String(text)).map_err(|_| RequestError::NotUnderstood(wrong))
}
