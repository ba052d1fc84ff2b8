//! A cluster of the model, and what a status of it says.

use diagnose::causes::Catalogue;
use diagnose::diagnosis::Diagnosis;
use gateways::cluster::run;
use gateways::cluster::settings::{GatewayClass, Settings};
use gateways::policy;
use gateways::status::report::{Expected, Question, StatusReport};
use path::Seed;

/// Twelve gateways of two sizes at some load, for a quarter of an hour of a day.
pub(crate) fn cluster(utilisation: f64) -> Settings {
    let mut settings = Settings {
        gateways: vec![
            GatewayClass { count: 3, nic_gbit_s: 6.4, ..GatewayClass::default() },
            GatewayClass { count: 9, ..GatewayClass::default() },
        ],
        hours: 0.25,
        warm_up_hours: 0.0,
        ..Settings::default()
    };
    settings.transfers.offered_gbit_s *= utilisation / settings.utilisation();
    settings
}

/// What gateways report in the last part of the run, every so many seconds.
pub(crate) fn status(settings: &Settings, policy: &str, seed: u64) -> StatusReport {
    let entry = policy::find(policy).unwrap();
    let end_s = settings.hours * 3600.0;
    let mut readings = run::reported(settings, entry, Seed(seed), EVERY_S).unwrap();
    readings.retain(|reading| reading.at_s > end_s - WATCHED_S);
    let rates = settings.gateways.iter().flat_map(|class| std::iter::repeat_n(class.nic_gbit_s, class.count));
    let expected: Vec<Expected> = rates
        .enumerate()
        .map(|(at, rate)| Expected { name: format!("gw{}", at + 1), nic_gbit_s: Some(rate) })
        .collect();
    let question = Question {
        expected: &expected,
        memory_limit_gb: None,
        policy: policy::find("inflight-cmsd").unwrap(),
        max_load: 100.0,
        now_s: end_s,
    };
    StatusReport::new(&question, readings, Vec::new())
}

pub(crate) fn diagnosis(status: &StatusReport) -> Diagnosis {
    diagnose::gateways::diagnose(status, Catalogue::built_in()).unwrap()
}

/// `gateway-slow at gw4`: the likeliest of each problem that has a name.
pub(crate) fn named(diagnosis: &Diagnosis) -> Vec<String> {
    let problems = diagnosis.problems.iter().filter(|problem| problem.ranking[0].probability > problem.unknown);
    problems.map(|problem| format!("{} at {}", problem.ranking[0].cause, problem.ranking[0].places[0].place)).collect()
}

/// Reports every 5 s, and ten minutes of them.
const EVERY_S: f64 = 5.0;
const WATCHED_S: f64 = 600.0;
