//! Incidents, from the first bad result to the end.

use std::collections::BTreeSet;
use std::time::Duration;

use baseline::mesh::{Element as Of, Fault, Mesh};
use baseline::watch::Quality;
use mesh::clock;
use mesh::incident::{
    Action, ConfigurationChange, Element, Event, EventKind, Explanation, Incident, Incidents, Measured, Metric,
    Occurrence, Refused, Series, SeriesStatus, Settings, Status, Subject,
};
use mesh::notify::{self, Route, Target};
use mesh::rules::Rules;
use path::Seed;
use units::WallTime;

const DAY: u64 = 86_400;
const START: u64 = 1_795_392_000;

fn at(seconds: u64) -> WallTime {
    WallTime::from_unix_nanos((START + seconds) * 1_000_000_000)
}

fn series(from: usize, to: usize, metric: Metric) -> Series {
    Series { from: format!("h{from}"), to: format!("h{to}"), test: "tcp".to_owned(), family: None, metric }
}

/// 8 hosts, two tests a pair and day, each pair at its own hour.
struct Watched {
    incidents: Incidents,
    results: Vec<(u64, Measured)>,
    events: Vec<(u64, Event)>,
}

impl Watched {
    fn new(fault: Option<Fault>, rounds: usize) -> Self {
        let mesh = Mesh { hosts: 8, rounds, seed: Seed(99), fault };
        let mut incidents = Incidents::new(Settings::default(), Rules::default());
        for ((from, to), _) in mesh.pairs() {
            incidents.add_series(series(from, to, Metric::Goodput), Vec::new());
        }
        let mut results = Vec::new();
        for (round, of_round) in (0_u64..).zip(mesh.results()) {
            for (number, result) in (0_u64..).zip(of_round) {
                let second = round * DAY / 2 + number * 7 % 12 * 3_600 + number;
                let series = series(result.series.0, result.series.1, Metric::Goodput);
                let value = result.sample.value;
                results
                    .push((second, Measured { series, at: at(second), value, settled: None, quality: Quality::Good }));
            }
        }
        results.sort_by_key(|(second, _)| *second);
        Self { incidents, results, events: Vec::new() }
    }

    /// Results until a day, an hour at a time.
    fn until(&mut self, day: u64) {
        while let Some((first, _)) = self.results.first().filter(|(second, _)| *second < day * DAY) {
            let hour = first / 3_600;
            let count = self.results.iter().take_while(|(second, _)| second / 3_600 == hour).count();
            let batch: Vec<Measured> = self.results.drain(..count).map(|(_, result)| result).collect();
            let now = (hour + 1) * 3_600;
            let found = self.incidents.results(&batch, at(now));
            let ticked = self.incidents.tick(at(now));
            self.events.extend(found.into_iter().chain(ticked).map(|event| (now, event)));
        }
    }

    fn only(&self) -> &Incident {
        let [incident] = self.incidents.list() else { panic!("{:#?}", self.incidents.list()) };
        incident
    }
}

fn a_bad_host() -> Watched {
    let fault = Fault { element: Of::To(3), rounds: (60, 124), drop: 0.4 };
    Watched::new(Some(fault), 140)
}

fn change(seconds: u64) -> ConfigurationChange {
    ConfigurationChange {
        host: "h3".to_owned(),
        at: at(seconds),
        what: "rx-gro-hw of eth0: on -> off".to_owned(),
        by: Some("ethtool -K eth0 rx-gro-hw off, pid 4711".to_owned()),
    }
}

#[test]
fn a_bad_host_is_one_incident_with_one_identity_from_its_first_day_to_its_end() {
    let mut watched = a_bad_host();
    watched.until(30);
    assert_eq!(watched.incidents.list(), []);
    watched.incidents.configuration(change(30 * DAY - 40));
    watched.until(31);
    let opened = watched.only().clone();
    assert_eq!((opened.status, &opened.subject), (Status::Open, &Subject::Element(Element::To("h3".to_owned()))));
    assert!(opened.opened < at(31 * DAY) && opened.since >= at(30 * DAY), "{opened:?}");
    let lead = opened.timeline.iter().find_map(|entry| match &entry.occurrence {
        Occurrence::Configuration { lead_s, .. } => Some(*lead_s),
        _ => None,
    });
    assert!(lead.is_some_and(|lead| (0..7 * 3_600).contains(&lead)), "{lead:?}");
    assert_eq!(watched.incidents.status(&series(1, 3, Metric::Goodput), at(31 * DAY)), SeriesStatus::Worse);
    assert_eq!(watched.incidents.status(&series(1, 2, Metric::Goodput), at(31 * DAY)), SeriesStatus::Good);

    // A month later it is the same incident, and still open.
    watched.until(61);
    assert_eq!((&watched.only().id, watched.only().status), (&opened.id, Status::Open));
    let id = opened.id;
    let by = || "ann".to_owned();
    watched.incidents.act(&id, Action::Acknowledge { by: by() }, at(61 * DAY)).unwrap();
    let explanation =
        Explanation { cause: "receive-offload-overlay".to_owned(), place: "h3".to_owned(), probability: 0.9, by: by() };
    watched.incidents.act(&id, Action::Explain { explanation }, at(61 * DAY)).unwrap();
    watched.incidents.act(&id, Action::Fix { by: by(), text: "GRO off".to_owned() }, at(61 * DAY)).unwrap();
    assert_eq!(watched.only().status, Status::Fixed, "measurements have not said so yet");
    // The fault ends with the 62nd day: results verify it, and a day later it is closed.
    watched.until(64);
    assert_eq!(watched.only().status, Status::Closed);
    let kinds: Vec<EventKind> = watched.events.iter().map(|(_, event)| event.kind).collect();
    assert_eq!(kinds, [EventKind::Opened, EventKind::Verified, EventKind::Closed]);
    watched.until(70);
    assert_eq!(watched.only().id, id);
    assert_eq!(watched.incidents.act(&id, Action::Acknowledge { by: by() }, at(70 * DAY)), Err(Refused::Closed));
    watched.incidents.act(&id, Action::Note { by: by(), text: "see ticket".to_owned() }, at(70 * DAY)).unwrap();
}

#[test]
fn a_quiet_month_of_poor_and_missing_results_has_no_alarm_and_nothing_stale_is_good() {
    let mut watched = Watched::new(None, 60);
    watched.until(20);
    for (_, result) in &mut watched.results {
        // What an overloaded host measures is low, and no evidence.
        if result.series.from == "h1" {
            result.quality = Quality::Poor;
            result.value /= 3.0;
        }
    }
    watched.until(24);
    assert_eq!(watched.incidents.status(&series(1, 2, Metric::Goodput), at(24 * DAY)), SeriesStatus::Stale);
    assert_eq!(watched.incidents.status(&series(2, 3, Metric::Goodput), at(24 * DAY)), SeriesStatus::Good);
    assert_eq!(watched.incidents.list(), [], "what h1 receives is good");
}

#[test]
fn a_host_that_falls_silent_is_an_incident_and_so_is_a_mesh() {
    let mut watched = Watched::new(None, 80);
    watched.until(20);
    watched
        .results
        .retain(|(second, result)| *second >= 30 * DAY || (result.series.from != "h2" && result.series.to != "h2"));
    watched.until(25);
    assert_eq!(watched.only().subject, Subject::Element(Element::Host("h2".to_owned())));
    watched.until(31);
    assert_eq!(watched.only().status, Status::Verified);
    watched.results.clear();
    let events = watched.incidents.tick(at(60 * DAY));
    assert_eq!(watched.incidents.list().last().unwrap().subject, Subject::Mesh, "{events:?}");
    assert_eq!(watched.incidents.tick(at(61 * DAY)), []);
}

#[test]
fn other_metrics_of_the_same_host_are_symptoms_of_its_incident() {
    let mut watched = a_bad_host();
    for from in 0..8 {
        for to in (0..8).filter(|to| *to != from) {
            watched.incidents.add_series(series(from, to, Metric::Loss), Vec::new());
        }
    }
    let lossy = |second: &u64, result: &Measured| *second >= 30 * DAY && result.series.to == "h3";
    let losses: Vec<(u64, Measured)> = watched
        .results
        .iter()
        .map(|(second, result)| {
            let value = if lossy(second, result) { 0.02 } else { 1e-6 * ((second / 60) % 7) as f64 };
            let series = Series { metric: Metric::Loss, ..result.series.clone() };
            (*second, Measured { series, value, ..result.clone() })
        })
        .collect();
    watched.results.extend(losses);
    watched.results.sort_by_key(|(second, _)| *second);
    watched.until(32);
    let metrics: BTreeSet<Metric> = watched.only().symptoms.iter().map(|symptom| symptom.metric).collect();
    assert_eq!(metrics, BTreeSet::from([Metric::Goodput, Metric::Loss]));
}

/// Results of two hosts, a test in either direction each hour; each direction has a third of its goodput for some hours.
fn two_hosts(hours: u64, faults: &[std::ops::Range<u64>; 2]) -> Vec<(u64, Measured)> {
    let mut results = Vec::new();
    for hour in 0..hours {
        for (number, (from, to), fault) in [(0, (0, 1), &faults[0]), (1, (1, 0), &faults[1])] {
            // Noise of 2 %, the same in every run.
            let noise = 1.0 + 0.002 * ((hour * 7 + number * 13) * 2_654_435_761 % 21) as f64;
            let is_bad = fault.contains(&hour);
            let values = [
                (Metric::Goodput, if is_bad { 3e8 } else { 9e8 } * noise),
                (Metric::RetransmitShare, if is_bad { 0.01 } else { 1e-5 } * noise),
                (Metric::RttLoaded, if is_bad { 9_000.0 } else { 21_000.0 } * noise),
            ];
            let second = hour * 3_600 + number * 60;
            for (metric, value) in values {
                let series = series(from, to, metric);
                results
                    .push((second, Measured { series, at: at(second), value, settled: None, quality: Quality::Good }));
            }
        }
    }
    results
}

/// How many incidents there are once a hub has taken these results, those of one moment together.
fn incidents_of_a_hub(results: &[(u64, Measured)]) -> usize {
    let settings = Settings { pooled_over: Duration::from_secs(7_200), ..Settings::default() };
    let mut incidents = Incidents::new(settings, Rules::default());
    for (_, result) in results {
        incidents.add_series(result.series.clone(), Vec::new());
    }
    for together in results.chunk_by(|one, next| one.0 == next.0) {
        let measured: Vec<Measured> = together.iter().map(|(_, measured)| measured.clone()).collect();
        incidents.results(&measured, at(together[0].0 + 30));
    }
    incidents.list().len()
}

#[test]
fn what_two_hosts_have_in_both_directions_at_once_is_one_incident() {
    assert_eq!(incidents_of_a_hub(&two_hosts(160, &[100..160, 100..160])), 1);
}

#[test]
fn what_begins_days_apart_in_either_direction_is_two_incidents() {
    assert_eq!(incidents_of_a_hub(&two_hosts(240, &[100..150, 200..240])), 2);
}

#[test]
fn a_hub_that_starts_anew_goes_on_with_the_same_incident() {
    let mut watched = a_bad_host();
    let results = watched.results.clone();
    watched.until(40);
    let stored = serde_json::to_string(watched.incidents.list()).unwrap();
    let mut again = Watched::new(None, 0);
    for from in 0..8 {
        for to in (0..8).filter(|to| *to != from) {
            let series = series(from, to, Metric::Goodput);
            again.incidents.add_series(series.clone(), Vec::new());
            let of_series = results.iter().filter(|(second, one)| *second < 40 * DAY && one.series == series);
            let history: Vec<_> = of_series
                .map(|(second, one)| baseline::series::Sample {
                    at_s: i64::try_from(START + second).unwrap(),
                    value: one.value,
                })
                .collect();
            again.incidents.restore_history(&series, &history);
        }
    }
    again.incidents.restore(serde_json::from_str(&stored).unwrap());
    again.results = results.into_iter().filter(|(second, _)| *second >= 40 * DAY).collect();
    again.until(66);
    let (one, other) = (watched.only(), again.only());
    assert_eq!((&one.id, other.status), (&other.id, Status::Closed));
}

#[test]
fn each_step_is_told_once_on_each_route_and_silence_is_kept() {
    let mut watched = a_bad_host();
    let route = |name: &str, hosts: &[&str]| Route {
        name: name.to_owned(),
        target: Target::Slack("https://hooks.example.org/1".to_owned()),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        remind_after_s: Some(7 * DAY),
    };
    let routes = [route("all", &[]), route("h3", &["h3"]), route("others", &["h1"])];
    watched.incidents.configuration(change(30 * DAY - 40));
    watched.until(31);
    let told = notify::messages(&mut watched.incidents, &routes, at(31 * DAY));
    assert_eq!(told.iter().map(|message| message.route.as_str()).collect::<Vec<_>>(), ["all", "h3"]);
    assert!(told[0].subject.starts_with("open: host h3, receiving: goodput -"), "{}", told[0].subject);
    assert!(told[0].text.contains("s after: rx-gro-hw of eth0: on -> off on h3 by ethtool"), "{}", told[0].text);
    assert_eq!(notify::messages(&mut watched.incidents, &routes, at(31 * DAY + 60)), []);
    assert_eq!(notify::messages(&mut watched.incidents, &routes, at(38 * DAY)).len(), 2, "reminded after a week");
    let id = watched.only().id.clone();
    let until = at(50 * DAY);
    watched.incidents.act(&id, Action::Silence { by: "ann".to_owned(), until }, at(40 * DAY)).unwrap();
    assert_eq!(notify::messages(&mut watched.incidents, &routes, at(46 * DAY)), []);
    assert_eq!(notify::messages(&mut watched.incidents, &routes, until).len(), 2);
    watched.until(64);
    let over = notify::messages(&mut watched.incidents, &routes, at(64 * DAY));
    assert!(over.len() == 2 && over.iter().all(|message| message.status == Status::Closed), "{over:?}");
}

#[test]
fn what_is_accepted_is_the_new_normal() {
    let mut watched = a_bad_host();
    watched.until(32);
    let id = watched.only().id.clone();
    let accept = Action::Accept { by: "ann".to_owned(), text: "moved to a slower link".to_owned() };
    watched.incidents.act(&id, accept, at(32 * DAY)).unwrap();
    watched.until(60);
    assert_eq!(watched.only().status, Status::Closed);
    let after = clock::between(watched.only().opened, at(60 * DAY));
    assert!(after > Duration::from_secs(28 * DAY));
}
