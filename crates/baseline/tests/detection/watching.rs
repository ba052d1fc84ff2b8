//! One series, result by result.

use baseline::families::{Steps, series};
use baseline::screen::Screen;
use baseline::series::Sample;
use baseline::watch::{Quality, State, Status, Turn, Watch, WatchSettings};
use path::Seed;

const DAY_S: i64 = 86_400;

/// Two results a day of a path with a spread of 5 %, with a level of each.
fn results(count: usize, level: impl Fn(usize) -> f64) -> Vec<Sample> {
    let quiet = series(Seed(31), 0, count, Steps::None).samples;
    let sample = |(at, sample): (usize, Sample)| Sample { at_s: sample.at_s * 12, value: sample.value * level(at) };
    quiet.into_iter().enumerate().map(sample).collect()
}

fn turns(watch: &mut Watch, results: &[Sample]) -> Vec<(usize, Turn)> {
    let mut screen = Screen::default();
    let turns = results.iter().map(|result| watch.record(*result, Quality::Good, &mut screen));
    turns.enumerate().filter(|(_, turn)| *turn != Turn::None).collect()
}

#[test]
fn a_drop_that_has_lasted_a_month_is_still_open_and_its_end_closes_it() {
    let mut watch = Watch::new(WatchSettings::default());
    let results = results(180, |at| if (60..150).contains(&at) { 0.7 } else { 1.0 });
    let found = turns(&mut watch, &results[..150]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1, Turn::Opened);
    assert!((60..70).contains(&found[0].0), "{found:?}");
    let State::Changed(open) = watch.state() else { panic!("{:?}", watch.state()) };
    assert_eq!(open.change.at_s, results[60].at_s);
    assert_eq!(watch.baseline().len(), 60);
    let found = turns(&mut watch, &results[150..]);
    assert_eq!(found.iter().map(|(_, turn)| *turn).collect::<Vec<_>>(), [Turn::Recovered]);
    assert!(found[0].0 < 12, "{found:?}");
}

#[test]
fn poor_results_never_alarm() {
    let mut watch = Watch::new(WatchSettings::default());
    let mut screen = Screen::default();
    for (at, result) in results(120, |at| if at >= 60 { 0.1 } else { 1.0 }).into_iter().enumerate() {
        let quality = if at >= 60 { Quality::Poor } else { Quality::Good };
        assert_eq!(watch.record(result, quality, &mut screen), Turn::None);
    }
    assert_eq!(watch.poor(), 60);
    assert_eq!(watch.state(), &State::Steady);
}

#[test]
fn a_series_without_results_is_stale_and_never_steady() {
    let mut watch = Watch::new(WatchSettings::default());
    assert_eq!(watch.status(0), Status::NoData);
    let results = results(30, |_| 1.0);
    turns(&mut watch, &results);
    let last_s = results[29].at_s;
    assert_eq!(watch.status(last_s + DAY_S), Status::Fresh(&State::Steady));
    assert_eq!(watch.status(last_s + 4 * DAY_S), Status::Stale { last_s, was: &State::Steady });
}

#[test]
fn an_accepted_level_is_the_new_normal() {
    let mut watch = Watch::new(WatchSettings::default());
    let results = results(140, |at| if at >= 60 { 0.7 } else { 1.0 });
    assert_eq!(turns(&mut watch, &results[..80]).len(), 1);
    watch.accept();
    assert!(turns(&mut watch, &results[80..]).is_empty());
    assert_eq!(watch.state(), &State::Steady);
}

#[test]
fn a_rise_of_the_rate_is_no_alarm() {
    let mut watch = Watch::new(WatchSettings::default());
    assert!(turns(&mut watch, &results(140, |at| if at >= 60 { 1.5 } else { 1.0 })).is_empty());
    assert!(watch.baseline().len() < 90);
}
