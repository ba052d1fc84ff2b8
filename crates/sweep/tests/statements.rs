//! What is expected of rows, and what is drawn of them, with rows that are made up.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use sweep::expectation::Verdict;
use sweep::selection::Rows;
use sweep::{Measure, Row, Sweep};

const BASE: &str = r#"
name = "made-up"
repetitions = 2
[set]
rate = "1Gbit/s"
rtt = ["10ms", "20ms"]
burst-rate = "1Gbit/s"
burst-length = ["1s", "2s", "3s"]
"#;

/// Completion times of the six combinations, in milliseconds: first those of 10 ms. Each repetition has the same.
fn rows(took_ms: [u64; 6]) -> Vec<Row> {
    let row = |(cell, took): (usize, u64), repetition: u64| {
        let mut row = Row { index: cell as u64 * 2 + repetition, numbers: [0; Measure::ALL.len()] };
        (row.numbers[0], row.numbers[7]) = (took * 1_000, cell as u64 + repetition);
        row
    };
    let cells = took_ms.into_iter().enumerate();
    cells.flat_map(|cell| [row(cell, 0), row(cell, 1)]).collect()
}

fn judge(expect: &str, took_ms: [u64; 6]) -> (Verdict, String) {
    let sweep = Sweep::read(&format!("{BASE}\n[[expect]]\nname = \"x\"\nsays = \"y\"\n{expect}")).unwrap();
    let rows = rows(took_ms);
    let judged = sweep.expectations[0].judge(&Rows::new(&sweep.experiment, &rows));
    (judged.verdict, judged.found)
}

const RISING: [u64; 6] = [100, 200, 300, 1_000, 2_000, 3_000];

#[test]
fn a_number_lies_within_its_bounds_or_not() {
    for (expect, verdict) in [
        ("at-least = \"650ms\"", Verdict::Met),
        ("at-least = \"651ms\"", Verdict::NotMet),
        ("at-most = \"649ms\"", Verdict::NotMet),
        ("is = \"700ms\"\nwithin = 0.1", Verdict::Met),
        ("is = \"800ms\"\nwithin = 0.1", Verdict::NotMet),
        ("is = \"1200ms\"\nfactor = 2", Verdict::Met),
        ("is = \"2s\"\nfactor = 2", Verdict::NotMet),
        ("statistic = \"highest-median\"\nat-least = \"3s\"", Verdict::Met),
        ("statistic = \"lowest-median\"\nwhere = { rtt = \"20ms\" }\nat-most = \"999ms\"", Verdict::NotMet),
        ("what = \"resent\"\nstatistic = \"most\"\nat-least = 6\nat-most = 6", Verdict::Met),
        ("what = \"resent\"\nstatistic = \"least\"\nat-least = 1", Verdict::NotMet),
    ] {
        assert_eq!(judge(expect, RISING).0, verdict, "{expect}");
    }
}

#[test]
fn one_number_is_held_against_another() {
    let than = "statistic = \"mean-median\"\nwhere = { rtt = \"20ms\" }\nthan = { where = { rtt = \"10ms\" } }";
    for (bounds, verdict) in [
        ("ratio-at-least = 10\nratio-at-most = 10.01", Verdict::Met),
        ("ratio-at-most = 9", Verdict::NotMet),
        ("more-at-least = \"1.8s\"", Verdict::Met),
        ("more-at-most = \"1.7s\"", Verdict::NotMet),
    ] {
        assert_eq!(judge(&format!("{than}\n{bounds}"), RISING).0, verdict, "{bounds}");
    }
}

#[test]
fn a_fall_is_found_and_named() {
    assert_eq!(judge("rises-with = \"burst-length\"", RISING), (Verdict::Met, "4 of 4 steps".to_owned()));
    let (verdict, found) = judge("rises-with = \"burst-length\"", [100, 90, 300, 1_000, 2_000, 500]);
    assert_eq!(verdict, Verdict::NotMet);
    assert_eq!(found, "2 of 4 steps; falls from 2.00 s at 2.00 s to 500 ms at 3.00 s");
    assert_eq!(
        judge("rises-with = \"burst-length\"\nslack = 0.1", [100, 90, 300, 1_000, 2_000, 2_000]).0,
        Verdict::Met
    );
}

#[test]
fn without_rows_nothing_is_known() {
    let sweep = Sweep::read(&format!("{BASE}\n[[expect]]\nname = \"x\"\nsays = \"y\"\nat-least = \"1s\"")).unwrap();
    let judged = sweep.expectations[0].judge(&Rows::new(&sweep.experiment, &[]));
    assert_eq!(judged.verdict, Verdict::Unknown);
}

#[test]
fn a_figure_has_a_panel_and_a_curve_for_each_value_and_the_points_that_belong_there() {
    let figure = r#"
[[figure]]
name = "f"
title = "F"
across = "burst-length"
panels = "rtt"
statistics = ["median", "p95"]
[[figure.measured]]
says = "elsewhere"
where = { rtt = "20ms" }
statistic = "median"
points = [["2s", "1.5s"]]
"#;
    let sweep = Sweep::read(&format!("{BASE}{figure}")).unwrap();
    let rows = rows(RISING);
    let panels = sweep.figures[0].panels(&Rows::new(&sweep.experiment, &rows));
    let shape: Vec<(&str, usize)> = panels.iter().map(|panel| (panel.title.as_str(), panel.curves.len())).collect();
    assert_eq!(shape, [("rtt 10.0 ms", 2), ("rtt 20.0 ms", 3)]);
    assert_eq!(panels[0].curves[0].points, [(1e6, 100e3), (2e6, 200e3), (3e6, 300e3)]);
    let elsewhere = &panels[1].curves[2];
    assert_eq!((elsewhere.is_simulated, elsewhere.points.as_slice()), (false, [(2e6, 1.5e6)].as_slice()));
}
