//! The series that an incident has moved most, each as a figure.

use std::time::Duration;

use baseline::analysis::{Analysis, Gate, Settings, analyse};
use baseline::screen::Screen;
use baseline::series::{Sample, Scale};
use chart::Form;
use chart::detected::{Subject, picture};
use mesh::clock;
use mesh::incident::{Incident, Metric, Series};
use units::WallTime;

use crate::html::Figure;

/// What was measured of a series: from [`since`] on, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Sender, receiver, test, family, metric.
    pub series: Series,
    /// Its results, in the unit of its metric.
    pub samples: Vec<Sample>,
}

/// Whether a series may be one that the incident has moved: of one of its hosts, in a metric that got worse.
#[must_use]
pub fn concerns(incident: &Incident, series: &Series) -> bool {
    let is_of_host =
        incident.hosts.is_empty() || incident.hosts.contains(&series.from) || incident.hosts.contains(&series.to);
    is_of_host && incident.symptoms.iter().any(|symptom| symptom.metric == series.metric)
}

/// From when on results are shown: what was usual is seen in the week before.
#[must_use]
pub fn since(incident: &Incident) -> WallTime {
    clock::earlier(incident.since, WEEK)
}

/// The series that changed most at the time of the incident, in the section about its impact; `made_by` names the program.
#[must_use]
pub fn figures(histories: &[History], incident: &Incident, made_by: &str) -> Vec<Figure> {
    let mut moved: Vec<(f64, &History)> =
        histories.iter().filter_map(|history| Some((shift(history, incident)?, history))).collect();
    moved.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    moved.into_iter().take(MOST_FIGURES).filter_map(|(_, history)| figure(history, made_by)).collect()
}

/// By how much its results differ from those before the incident, on the scale of its metric; [`None`] where one of the two is missing.
fn shift(history: &History, incident: &Incident) -> Option<f64> {
    let seconds = |at: WallTime| i64::try_from(at.unix_seconds()).unwrap_or(i64::MAX);
    let begin = seconds(incident.since);
    let end = incident.verified.or(incident.closed).map(seconds);
    let values = |is_it: &dyn Fn(i64) -> bool| {
        middle(history.samples.iter().filter(|sample| is_it(sample.at_s)).map(|sample| sample.value).collect())
    };
    let before = values(&|at| at < begin)?;
    let during = values(&|at| at >= begin && end.is_none_or(|end| at < end))?;
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

fn figure(history: &History, made_by: &str) -> Option<Figure> {
    let Series { from, to, test, metric, .. } = &history.series;
    let settings = Settings { scale: scale(*metric), gate: Gate::Open, ..Settings::default() };
    let found: Analysis = analyse(&history.samples, &settings, &mut Screen::default());
    let title = format!("{metric} from {from} to {to} ({test})");
    let is_rate = matches!(metric, Metric::Goodput | Metric::DownloadRate);
    let subject = Subject { title: &title, made_by, is_rate };
    let svg = picture(&subject, &history.samples, &found, Form::Svg).ok()?;
    Some(Figure { section: IMPACT.to_owned(), caption: title, svg: String::from_utf8(svg).ok()? })
}

/// The heading of the section that says what was worse.
const IMPACT: &str = "Impact";
/// A reader looks at few.
const MOST_FIGURES: usize = 3;
const WEEK: Duration = Duration::from_secs(7 * 86_400);
