//! The series that an incident has moved most, each as a figure.

use baseline::analysis::{Analysis, Gate, Settings, analyse};
use baseline::screen::Screen;
use baseline::series::{Sample, Scale};
use chart::Form;
use chart::detected::{Subject, picture};
use hub::api::mesh::{History, Pairs};
use linux::clock;
use mesh::clock::between;
use mesh::incident::{Incident, Metric, Series};
use units::WallTime;

use super::super::mesh::{Hub, quoted};
use crate::show::report::html::Figure;

/// Histories of the series that changed most at the time of an incident, in the section about its impact. Where a hub has none any more,
/// there are no figures.
pub(super) fn of(hub: &mut Hub, incident: &Incident) -> anyhow::Result<Vec<Figure>> {
    let metrics: Vec<Metric> = incident.symptoms.iter().map(|symptom| symptom.metric).collect();
    let pairs: Pairs = hub.get("/api/v1/pairs")?;
    let is_its = |series: &Series| {
        metrics.contains(&series.metric)
            && (incident.hosts.is_empty()
                || incident.hosts.contains(&series.from)
                || incident.hosts.contains(&series.to))
    };
    let candidates = pairs.series.into_iter().map(|info| info.series).filter(is_its).take(MOST_CANDIDATES);
    let mut moved = Vec::new();
    for series in candidates {
        let history = history(hub, &series, incident)?;
        moved.extend(shift(&history, incident).map(|shift| (shift, history)));
    }
    moved.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(moved.into_iter().take(MOST_FIGURES).filter_map(|(_, history)| figure(&history)).collect())
}

/// What was measured since some time before the incident.
fn history(hub: &mut Hub, series: &Series, incident: &Incident) -> anyhow::Result<History> {
    let since = between(incident.since, clock::wall_now()).as_secs().saturating_add(BEFORE_S);
    let Series { from, to, test, metric, .. } = series;
    let [from, to, test] = [from, to, test].map(|text| quoted(text));
    let metric = serde_json::to_value(metric)?;
    let metric = metric.as_str().unwrap_or_default();
    hub.get(&format!("/api/v1/history?from={from}&to={to}&test={test}&metric={metric}&since_s={since}"))
}

/// By how much its results differ from those before the incident, on the scale of its metric; [`None`] where one of the two is missing.
fn shift(history: &History, incident: &Incident) -> Option<f64> {
    let end = incident.verified.or(incident.closed);
    let values = |is_it: &dyn Fn(WallTime) -> bool| {
        middle(history.points.iter().filter(|point| is_it(point.at)).map(|point| point.value).collect())
    };
    let before = values(&|at| at < incident.since);
    let during = values(&|at| at >= incident.since && end.is_none_or(|end| at < end));
    let (before, during) = (before?, during?);
    Some(match scale(history.series.metric) {
        Scale::Ratio if before > 0.0 && during > 0.0 => (during / before).ln().abs(),
        _ => (during - before).abs(),
    })
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Shares are compared by their difference, all else by its ratio.
const fn scale(metric: Metric) -> Scale {
    match metric {
        Metric::Loss | Metric::RetransmitShare => Scale::Difference,
        Metric::Goodput | Metric::RttMin | Metric::RttLoaded | Metric::Mtu | Metric::DownloadRate => Scale::Ratio,
    }
}

fn figure(history: &History) -> Option<Figure> {
    let Series { from, to, test, metric, .. } = &history.series;
    let sample = |point: &hub::api::mesh::PointInfo| Sample {
        at_s: i64::try_from(point.at.unix_seconds()).unwrap_or(i64::MAX),
        value: point.value,
    };
    let samples: Vec<Sample> = history.points.iter().map(sample).collect();
    let settings = Settings { scale: scale(*metric), gate: Gate::Open, ..Settings::default() };
    let found: Analysis = analyse(&samples, &settings, &mut Screen::default());
    let title = format!("{metric} from {from} to {to} ({test})");
    let made_by = format!("linerate {}", env!("CARGO_PKG_VERSION"));
    let is_rate = matches!(metric, Metric::Goodput | Metric::DownloadRate);
    let subject = Subject { title: &title, made_by: &made_by, is_rate };
    let svg = picture(&subject, &samples, &found, Form::Svg).ok()?;
    Some(Figure { section: "Impact", caption: title, svg: String::from_utf8(svg).ok()? })
}

/// Series of the incident's hosts that are looked at: each is a request.
const MOST_CANDIDATES: usize = 64;
/// A reader looks at few.
const MOST_FIGURES: usize = 3;
/// What was usual is seen in the week before.
const BEFORE_S: u64 = 7 * 86_400;
