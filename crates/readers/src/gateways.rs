//! What is read of clusters of gateways.

use gateways::calibrate::fit::{self, Fitted, Goodness};
use gateways::calibrate::{cmsd_log, memory, summary, transfers};
use gateways::cmsd::recorded::{Event, Recording};
use gateways::experiment::description::Experiment;
use gateways::policy;
use gateways::status::prometheus::{self, Metrics};
use gateways::status::reading::Reading;
use gateways::status::report::{Expected, Question, StatusReport};

/// Recorded decisions of cmsd: every difference names an open of the recording, and there are no more than events.
pub fn cmsd_recording(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(recording) = Recording::read(text) else { return };
    assert!(recording.events.iter().all(|event| match event {
        Event::Open(server) | Event::Login(server) => *server < recording.servers,
        Event::Loads(loads) => loads.len() == recording.servers,
        Event::References(counts) => counts.len() == recording.servers,
    }));
    assert!(recording.differences().len() <= recording.events.len());
}

/// An experiment: what is read has runs, a combination for each of them, and settings within their bounds.
pub fn gateway_experiment(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(experiment) = Experiment::read(text) else { return };
    assert!(experiment.case(experiment.len() - 1).is_some() && experiment.case(experiment.len()).is_none());
    assert!(experiment.cells.iter().all(|cell| cell.settings.check().is_ok()));
    assert_eq!(Experiment::read(text).map(|again| again.digest()), Ok(experiment.digest()));
}

/// Records of a site, each read by its reader: whatever they say, a setting that is used is a number.
pub fn gateway_records(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let summaries = summary::read(&text);
    for pair in summaries.records.windows(2) {
        assert!(summary::rate(&pair[0], &pair[1]).is_none_or(|rate| rate >= 0.0 && rate.is_finite()));
    }
    let fitted = [
        fit::of_log(&cmsd_log::read(&text).records),
        fit::of_summaries(&summaries.records),
        fit::of_transfers(&transfers::read(&text).records),
    ];
    for one in fitted.concat() {
        assert!(one.value.is_finite() || !one.is_used() || is_shape(&one), "{one:?}");
    }
}

/// What gateways report: whatever it says, a status is made of it, no number in it is infinite, and nobody who is excluded gets
/// a request.
pub fn gateway_status(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut readings = prometheus::read(&text, &Metrics::default(), 1e9).records;
    readings.extend(summary::read(&text).records.iter().map(Reading::of_summary));
    readings.extend(cmsd_log::read(&text).records.iter().map(Reading::of_log));
    readings.truncate(MOST_READINGS);
    let now_s = readings.iter().map(|reading| reading.at_s).fold(0.0, f64::max);
    for policy in ["inflight-cmsd", "round-robin", "least-inflight"].into_iter().filter_map(policy::find) {
        let expected = [Expected { name: "gw".to_owned(), nic_gbit_s: Some(9.6) }];
        let question = Question { expected: &expected, memory_limit_gb: Some(60.0), policy, max_load: 98.0, now_s };
        let report = StatusReport::new(&question, readings.clone(), Vec::new());
        for gateway in &report.gateways {
            assert!(gateway.excluded.is_none() || gateway.would_get.unwrap_or(0) == 0, "{gateway:?}");
            assert!(gateway.rate_gbit_s.is_none_or(|rate| rate >= 0.0), "{gateway:?}");
        }
        assert!(report.spread_in_flight.is_none_or(|spread| spread >= 0.0));
    }
    for one in memory::of_readings(&readings) {
        assert!(one.value.is_finite() || !one.is_used(), "{one:?}");
    }
}

/// So many readings are enough for every claim, and a fuzzer has more to do.
const MOST_READINGS: usize = 2000;

/// A fit of a shape says by its distance whether it is one.
fn is_shape(fitted: &Fitted) -> bool {
    matches!(fitted.goodness, Goodness::Distance(distance) if distance.is_nan())
}
