//! What a run should have reached, beside what it did, for a person.

use comfy_table::Table;
use model::expectation::{Expectation, Expected, Inputs, Prediction};
use model::measurement::Heading;
use model::run::Run;
use units::DataRate;
use units::duration::show;

use super::table;

/// What each direction of a run should have reached: as it was kept with the run, or as the run alone tells it.
pub fn of(run: &Run) -> Vec<Expectation> {
    let kept = run.measurement.as_ref().map(|measurement| measurement.expectations.as_slice()).unwrap_or_default();
    if kept.is_empty() { predict::of_run(run) } else { kept.to_vec() }
}

/// A line for one direction: `148 Mbit/s (receive window, 6 MiB buffer at RTT 190 ms); measured 1.70 Mbit/s, 1 % of it`.
pub fn line(run: &Run, expectation: &Expectation) -> String {
    match &expectation.expected {
        Expected::Predicted(prediction) => beside(run, expectation.heading, prediction),
        Expected::Unknown { reason } => format!("unknown, {reason}"),
    }
}

fn beside(run: &Run, heading: Heading, prediction: &Prediction) -> String {
    let mut text = format!("{} ({})", prediction.goodput, prediction.because);
    let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
    let total = totals.into_iter().find(|total| total.heading == heading);
    if let (Some(total), Some(part)) = (total, prediction.attained) {
        text.push_str(&format!("; measured {}, {}", total.goodput, attained(part)));
    }
    text
}

/// How what was measured stands to what was expected. A declared rate that is too low makes an expectation of no worth.
fn attained(part: f64) -> String {
    if part > IMPLAUSIBLE {
        "which is more: the path is faster than what was declared or is known of it".to_owned()
    } else {
        format!("{} of it", percent(part))
    }
}

/// Beyond this a prediction was made from a rate that is not the path's; predictions from the right one are closer.
const IMPLAUSIBLE: f64 = 1.5;

/// What each prediction of a run was reckoned from.
pub fn inputs(expectations: &[Expectation]) -> String {
    let predictions = expectations.iter().filter_map(|expectation| expectation.expected.prediction());
    predictions
        .map(|prediction| {
            let simulated = if prediction.simulated < prediction.inputs.time {
                format!("; its first {} were simulated", show(prediction.simulated))
            } else {
                String::new()
            };
            format!("\nwhat is expected was reckoned from{simulated}\n{}", sources(&prediction.inputs))
        })
        .collect()
}

/// A simulated transfer beside the run that it was taken from: what was measured, and where each setting is from.
pub fn beside_run(inputs: &Inputs, measured: DataRate, simulated: Option<DataRate>) -> String {
    let mut text = format!("\ntaken from the run\n{}", sources(inputs));
    if let Some(simulated) = simulated {
        let part = measured.share_of(simulated).map(|part| format!(", {} of it", percent(part))).unwrap_or_default();
        text.push_str(&format!("\nsimulated {simulated}; measured {measured}{part}\n"));
    }
    text
}

/// Inputs with where each is from.
fn sources(inputs: &Inputs) -> String {
    let mut all = Table::new();
    all.set_header(["WHAT", "VALUE", "KNOWN", "FROM"]);
    for row in predict::words::rows(inputs) {
        all.add_row(row);
    }
    table::text(all)
}

/// A part in hundredths; small ones with a digit more.
pub fn percent(part: f64) -> String {
    let hundredths = part * 100.0;
    if hundredths < 9.95 { format!("{hundredths:.1} %") } else { format!("{hundredths:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::{attained, percent};

    #[test]
    fn more_than_a_path_was_declared_to_have_is_no_percentage() {
        assert_eq!(attained(1.02), "102 % of it");
        assert!(attained(95.9).starts_with("which is more: the path is faster than what was declared"));
    }

    #[test]
    fn small_parts_are_told_apart() {
        assert_eq!(percent(0.0114), "1.1 %");
        assert_eq!(percent(0.998), "100 %");
    }
}
