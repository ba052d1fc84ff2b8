//! The five families, by each rule.

use baseline::families::{Steps, series};
use baseline::rules::Rule;
use baseline::score::Score;
use baseline::screen::Screen;
use path::Seed;

/// Thresholds were chosen on seed 7.
const JUDGED: Seed = Seed(20_261_123);

#[test]
fn steps_are_found_and_still_series_stay_quiet() {
    let (mut score, mut screen) = (Score::default(), Screen::default());
    let with = (0..200).map(|number| series(JUDGED, number, 500, Steps::One));
    for one in with.chain((0..75).map(|number| series(JUDGED, number, 500, Steps::None))) {
        score.count(&one, &Rule::Linerate.alarms(&one.samples, &mut screen));
    }
    assert!(score.f1() >= 0.87, "F1 {:.3} +- {:.3}: {score:?}", score.f1(), score.f1_error());
    assert!(score.alarming * 20 <= score.still, "{} of {} alarm", score.alarming, score.still);
}

#[test]
fn wlcgs_rule_misses_a_drop_of_half_and_forgets_an_old_one() {
    // 4 tests a day with a spread of 10 %, a drop of 50 % a day ago, and one of 90 % that is 8 days old.
    let mut screen = Screen::default();
    let samples = |drop: f64, at: usize| {
        let quiet = series(JUDGED, 0, 100, Steps::None).samples;
        let level = move |place: usize| if place >= at { 1.0 - drop } else { 1.0 };
        quiet.into_iter().enumerate().map(move |(place, mut sample)| {
            sample.at_s *= 6;
            sample.value *= level(place);
            sample
        })
    };
    let half: Vec<_> = samples(0.5, 95).collect();
    assert!(Rule::Wlcg.alarms(&half, &mut screen).is_empty());
    let old: Vec<_> = samples(0.9, 68).collect();
    let alarms = Rule::Wlcg.alarms(&old, &mut screen);
    assert!(alarms.iter().all(|at| *at < 68 + 17), "{alarms:?}");
    let found = Rule::Linerate.alarms(&old, &mut screen);
    assert_eq!(found, [68]);
}

#[test]
fn slacs_rule_finds_a_large_drop_and_not_a_small_one() {
    let mut screen = Screen::default();
    // Series 20 and 0 are of the first family, with drops of 80 % and 5 %.
    let (large, small) = (series(JUDGED, 20, 500, Steps::One), series(JUDGED, 0, 500, Steps::One));
    let alarms = Rule::Slac.alarms(&large.samples, &mut screen);
    assert!(alarms.iter().any(|at| (large.step.unwrap()..large.step.unwrap() + 48).contains(at)), "{alarms:?}");
    assert!(Rule::Slac.alarms(&small.samples, &mut screen).is_empty());
}

#[test]
fn equal_seeds_give_equal_series() {
    assert_eq!(series(Seed(3), 4, 50, Steps::One), series(Seed(3), 4, 50, Steps::One));
    assert_ne!(series(Seed(3), 4, 50, Steps::One), series(Seed(4), 4, 50, Steps::One));
}
