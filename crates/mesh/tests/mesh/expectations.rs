//! What the plan expects opens incidents, whatever is usual.

use baseline::expectation::Expectation;
use baseline::series::Sample;
use baseline::watch::Quality;
use mesh::incident::{Action, Explanation, Incidents, Measured, Metric, Series, SeriesStatus, Settings, Sign, Status};
use mesh::rules::Rules;
use units::WallTime;

const START_S: u64 = 1_795_392_000;
const HOUR_S: u64 = 3_600;

fn at(hour: u64) -> WallTime {
    WallTime::from_unix_nanos((START_S + hour * HOUR_S) * 1_000_000_000)
}

fn series() -> Series {
    let [from, to, test] = ["a", "b", "tcp"].map(str::to_owned);
    Series { from, to, test, family: None, metric: Metric::Goodput }
}

/// A pair that should have 850 Mbit/s.
fn incidents() -> Incidents {
    let mut incidents = Incidents::new(Settings::default(), Rules::default());
    incidents.add_series(series(), Vec::new());
    incidents.expect(&series(), Expectation { value: 8.5e8, limit: 6.8e8 });
    incidents
}

fn measure(incidents: &mut Incidents, hours: std::ops::Range<u64>, value: f64) {
    for hour in hours {
        let measured = Measured { series: series(), at: at(hour), value, settled: None, quality: Quality::Good };
        incidents.results(&[measured], at(hour));
    }
}

#[test]
fn a_pair_that_never_reached_what_the_plan_expects_is_an_incident_that_says_so() {
    let mut incidents = incidents();
    measure(&mut incidents, 0..4, 2.88e7);
    let [incident] = incidents.list() else { panic!("{:?}", incidents.list()) };
    let [symptom] = incident.symptoms.as_slice() else { panic!("{:?}", incident.symptoms) };
    assert_eq!((symptom.sign, incident.since), (Sign::Short, at(0)));
    assert_eq!(symptom.to_string(), "goodput 3 % of what the plan expects");
    assert_eq!(incidents.status(&series(), at(4)), SeriesStatus::Worse);
    measure(&mut incidents, 4..7, 8.4e8);
    assert_eq!(incidents.list()[0].status, Status::Verified);
}

#[test]
fn a_cause_on_a_path_has_no_at_before_its_place() {
    let explanation = |place: &str| Explanation {
        cause: "slow-segment".to_owned(),
        place: place.to_owned(),
        probability: 0.7,
        by: "diagnosis".to_owned(),
    };
    assert_eq!(explanation("between a and b").to_string(), "slow-segment between a and b");
    assert_eq!(explanation("wide-area").to_string(), "slow-segment at wide-area");
}

#[test]
fn what_was_accepted_stays_so_after_a_start() {
    let mut before = incidents();
    measure(&mut before, 0..4, 4e8);
    let id = before.list()[0].id.clone();
    before.act(&id, Action::Accept { by: "ann".to_owned(), text: "half a circuit".to_owned() }, at(4)).unwrap();
    let stored = before.list().to_vec();
    let mut again = incidents();
    let sample = |hour: u64| Sample { at_s: i64::try_from(START_S + hour * HOUR_S).unwrap(), value: 4e8 };
    again.restore_history(&series(), &(0..4).map(sample).collect::<Vec<_>>());
    again.restore(stored);
    measure(&mut again, 4..12, 4e8);
    assert_eq!(again.list().len(), 1, "{:?}", again.list());
}
