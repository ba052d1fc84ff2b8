//! Each kind of change is called what it is.

use baseline::analysis::{Analysis, Gate, Settings, Shape, analyse};
use baseline::families::{Family, Steps, hourly, series};
use baseline::screen::Screen;
use baseline::series::{Sample, Scale};
use path::Seed;

fn analysed(samples: &[Sample]) -> Analysis {
    analyse(samples, &Settings { gate: Gate::Open, ..Settings::default() }, &mut Screen::default())
}

fn of(family: Family) -> Vec<Sample> {
    series(Seed(99), family as usize, 500, Steps::None).samples
}

fn scaled(samples: &[Sample], by: impl Fn(usize) -> f64) -> Vec<Sample> {
    samples.iter().enumerate().map(|(at, sample)| Sample { value: sample.value * by(at), ..*sample }).collect()
}

#[test]
fn a_drop_and_its_end_are_two_steps() {
    let samples = scaled(&of(Family::Gauss), |at| if (200..300).contains(&at) { 0.7 } else { 1.0 });
    let found = analysed(&samples);
    let steps: Vec<_> = found.changes.iter().map(|change| (change.shape, change.at)).collect();
    assert_eq!(steps, [(Shape::Step, 200), (Shape::Step, 300)]);
    let ratio = found.changes[0].after / found.changes[0].before;
    assert!((ratio - 0.7).abs() < 0.02, "{ratio}");
    assert_eq!(found.segments.len(), 3);
}

#[test]
fn a_slow_decline_is_one_drift() {
    let fall = |at: usize| 1.0 - 0.4 * (at.clamp(150, 350) - 150) as f64 / 200.0;
    let found = analysed(&scaled(&of(Family::Gauss), fall));
    assert_eq!(found.changes.len(), 1, "{:?}", found.changes);
    let drift = found.changes[0];
    assert_eq!(drift.shape, Shape::Drift);
    assert!(drift.at.abs_diff(150) < 40 && drift.until_s.abs_diff(350 * 3600) < 40 * 3600, "{drift:?}");
    assert!((drift.after / drift.before - 0.6).abs() < 0.05, "{drift:?}");
}

#[test]
fn two_levels_with_the_same_shares_are_no_change() {
    let found = analysed(&of(Family::Bimodal));
    assert!(found.modes.is_some());
    assert!(found.changes.is_empty());
}

#[test]
fn a_changed_share_of_two_levels_is_called_that() {
    // Every 5th test is of the lower level, then 3 of 5.
    let is_low = |at: usize| (at * 7919) % 5 < if at < 250 { 1 } else { 3 };
    let samples = scaled(&of(Family::Gauss), |at| if is_low(at) { 0.5 } else { 1.0 });
    let found = analysed(&samples);
    assert_eq!(found.changes.len(), 1, "{:?}", found.changes);
    assert_eq!(found.changes[0].shape, Shape::Share);
    assert!(found.changes[0].at.abs_diff(250) < 15, "{:?}", found.changes);
}

#[test]
fn results_that_scatter_more_are_a_change_of_spread() {
    let quiet = of(Family::Gauss);
    let middle = quiet.iter().map(|sample| sample.value).sum::<f64>() / 500.0;
    let louder = |(at, sample): (usize, &Sample)| {
        let factor = if at < 250 { 0.5 } else { 2.0 };
        Sample { value: middle + (sample.value - middle) * factor, ..*sample }
    };
    let samples: Vec<Sample> = quiet.iter().enumerate().map(louder).collect();
    let found = analysed(&samples);
    assert_eq!(found.changes.len(), 1, "{:?}", found.changes);
    assert_eq!(found.changes[0].shape, Shape::Spread);
    assert!(found.changes[0].at.abs_diff(250) < 15, "{:?}", found.changes);
}

#[test]
fn the_time_of_day_is_a_cycle_and_no_change() {
    let found = analysed(&of(Family::Diurnal));
    let amplitude = found.cycle.map(|cycle| cycle.amplitude());
    assert!(amplitude.is_some_and(|amplitude| (0.05..0.12).contains(&amplitude)), "{amplitude:?}");
    assert!(found.changes.is_empty());
}

#[test]
fn times_without_results_are_gaps_and_change_nothing() {
    let mut samples = of(Family::Gauss);
    samples.drain(200..260);
    let found = analysed(&samples);
    assert_eq!(found.gaps.len(), 1);
    assert_eq!((found.gaps[0].from_s, found.gaps[0].until_s), (199 * 3600, 260 * 3600));
    assert!(found.changes.is_empty());
}

#[test]
fn shares_of_loss_are_compared_by_difference() {
    let loss: Vec<f64> = (0..300).map(|at| if at < 180 { 0.0 } else { 0.02 + 0.001 * f64::from(at * 7 % 5) }).collect();
    let strictness = baseline::place::Strictness { least_shift: 0.001, ..Default::default() };
    let settings = Settings { scale: Scale::Difference, strictness, gate: Gate::Open };
    let found = analyse(&hourly(&loss), &settings, &mut Screen::default());
    let levels: Vec<_> =
        found.changes.iter().filter(|change| change.shape == Shape::Step).map(|change| change.at).collect();
    assert_eq!(levels, [180], "{:?}", found.changes);
}

#[test]
fn whatever_is_no_number_is_left_out() {
    let mut samples = of(Family::Gauss);
    samples[10].value = f64::NAN;
    samples[20].value = f64::INFINITY;
    samples[30].value = 0.0;
    let found = analysed(&samples);
    assert_eq!((found.samples, found.left_out), (498, 2));
    assert!(found.changes.is_empty());
    assert_eq!(analysed(&[]).samples, 0);
}
