//! The series that an incident has moved most, each as a figure.

use std::time::Duration;

use baseline::analysis::{Analysis, Change, Segment, Shape};
use baseline::series::Sample;
use chart::Form;
use chart::detected::{Subject, picture};
use mesh::clock;
use mesh::incident::{Incident, Metric, Occurrence, Series, TimelineEntry};
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
    moved.into_iter().take(MOST_FIGURES).filter_map(|(_, history)| figure(history, incident, made_by)).collect()
}

/// By how much its results differ from those before the incident, on the scale of its metric; [`None`] where one of the two is missing.
fn shift(history: &History, incident: &Incident) -> Option<f64> {
    let [before, during, _] = stretches(&history.samples, incident);
    let (before, during) = (level(before)?.level, level(during)?.level);
    Some(match history.series.metric {
        // Shares are compared by their difference, all else by its ratio.
        Metric::Loss | Metric::RetransmitShare => (during - before).abs(),
        _ if before > 0.0 && during > 0.0 => (during / before).ln().abs(),
        _ => (during - before).abs(),
    })
}

/// What was measured before the incident, during it, and after something was done about it, else after results were as before.
fn stretches<'a>(samples: &'a [Sample], incident: &Incident) -> [&'a [Sample]; 3] {
    let seconds = |at: WallTime| i64::try_from(at.unix_seconds()).unwrap_or(i64::MAX);
    let is_fix = |entry: &&TimelineEntry| matches!(entry.occurrence, Occurrence::Fixed { .. });
    let fixed = incident.timeline.iter().rev().find(is_fix).map(|entry| entry.at);
    let end = fixed.or(incident.verified).or(incident.closed).map_or(i64::MAX, seconds);
    let (before, rest) = samples.split_at(samples.partition_point(|sample| sample.at_s < seconds(incident.since)));
    let (during, after) = rest.split_at(rest.partition_point(|sample| sample.at_s < end));
    [before, during, after]
}

/// The median of a stretch, and what 95 of 100 results are between; [`None`] of an empty one.
fn level(samples: &[Sample]) -> Option<Segment> {
    let mut values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    values.sort_by(f64::total_cmp);
    let low = values.len() / 20;
    Some(Segment {
        from_s: samples.first()?.at_s,
        until_s: samples.last()?.at_s,
        samples: samples.len(),
        level: values[values.len() / 2],
        low: values[low],
        high: values[values.len() - 1 - low],
    })
}

fn figure(history: &History, incident: &Incident, made_by: &str) -> Option<Figure> {
    let Series { from, to, test, metric, .. } = &history.series;
    let levels = stretches(&history.samples, incident).map(level);
    let step = |(before, after): (&Option<Segment>, &Option<Segment>)| {
        let (before, after) = (before.as_ref()?, after.as_ref()?);
        Some(Change {
            shape: Shape::Step,
            at: history.samples.partition_point(|sample| sample.at_s < after.from_s),
            at_s: after.from_s,
            until_s: after.from_s,
            before: before.level,
            after: after.level,
            // The incident says that there is one: nothing is estimated here.
            z: f64::INFINITY,
        })
    };
    let found = Analysis {
        samples: history.samples.len(),
        changes: levels.iter().zip(&levels[1..]).filter_map(step).collect(),
        segments: levels.into_iter().flatten().collect(),
        ..Analysis::default()
    };
    let title = format!("{metric} from {from} to {to} ({test})");
    let is_rate = matches!(metric, Metric::Goodput | Metric::DownloadRate | Metric::TransferRate);
    let subject = Subject { title: &title, made_by, is_rate };
    let svg = picture(&subject, &history.samples, &found, Form::Svg).ok()?;
    Some(Figure { section: IMPACT.to_owned(), caption: title, svg: String::from_utf8(svg).ok()? })
}

/// The heading of the section that says what was worse.
const IMPACT: &str = "Impact";
/// A reader looks at few.
const MOST_FIGURES: usize = 3;
const WEEK: Duration = Duration::from_secs(7 * 86_400);

#[cfg(test)]
mod tests {
    use mesh::incident::{Element, IncidentId, Sign, Status, Subject as About, Symptom};
    use units::WallTime;

    use super::*;

    fn at(seconds: u64) -> WallTime {
        WallTime::from_unix_nanos(seconds * 1_000_000_000)
    }

    fn incident() -> Incident {
        let about = About::Element(Element::Host("b".to_owned()));
        let symptom = Symptom {
            metric: Metric::Goodput,
            subject: about.clone(),
            since: at(1_000),
            shift: -2.0,
            sign: Sign::Worse,
            recovered: None,
        };
        Incident {
            id: IncidentId("I1000-1".to_owned()),
            status: Status::Verified,
            subject: about,
            hosts: ["b".to_owned()].into(),
            since: at(1_000),
            opened: at(1_100),
            verified: Some(at(2_000)),
            closed: None,
            silent_until: None,
            symptoms: vec![symptom],
            explanation: None,
            timeline: Vec::new(),
            sent: std::collections::BTreeMap::new(),
        }
    }

    fn history(from: &str, during: f64) -> History {
        let metric = Metric::Goodput;
        let series = Series { from: from.to_owned(), to: "b".to_owned(), test: "tcp".to_owned(), family: None, metric };
        let value = |at_s: i64| if (1_000..2_000).contains(&at_s) { during } else { 9e9 };
        let samples = (0..30).map(|number| number * 100).map(|at_s| Sample { at_s, value: value(at_s) });
        History { series, samples: samples.collect() }
    }

    #[test]
    fn the_series_that_moved_most_is_drawn_first_with_its_three_levels() {
        let figures = figures(&[history("a", 5e9), history("c", 1e9)], &incident(), "linerate");
        assert_eq!(figures.len(), 2);
        assert!(figures[0].caption.starts_with("goodput from c to b"), "{}", figures[0].caption);
        assert!(figures[0].svg.contains("30 results, 2 changes"), "{}", figures[0].svg);
    }

    #[test]
    fn series_of_other_hosts_and_metrics_are_none_of_it_and_one_without_a_before_is_not_drawn() {
        let of_it = history("a", 1e9);
        assert!(concerns(&incident(), &of_it.series));
        assert!(!concerns(&incident(), &Series { to: "d".to_owned(), ..of_it.series.clone() }));
        assert!(!concerns(&incident(), &Series { metric: Metric::Loss, ..of_it.series.clone() }));
        let late = History { samples: of_it.samples[15..].to_vec(), ..of_it };
        assert_eq!(figures(&[late, History { samples: Vec::new(), ..history("a", 1.0) }], &incident(), ""), Vec::new());
    }
}
