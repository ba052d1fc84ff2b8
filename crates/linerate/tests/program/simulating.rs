//! `linerate simulate flow`.

use serde_json::Value;

use crate::actors::linerate::program;
use crate::actors::process::{Ended, Process};

/// A short path.
const PATH: [&str; 4] = ["--rate", "50Mbit/s", "--rtt", "20ms"];

fn simulate(time: &str, more: &[&str]) -> Ended {
    Process::start(program().args(["simulate", "flow"]).args(PATH).args(["--time", time]).args(more)).finish()
}

#[test]
fn a_transfer_alone_fills_its_path() {
    let ended = simulate("10s", &["--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let rate = report["goodput_bps"].as_f64().unwrap();
    assert!((40e6..=47.9e6).contains(&rate), "{rate} of 47.8 Mbit/s for payload");
    assert!(report.get("beside").is_none() && report.get("sharing").is_none());
}

#[test]
fn transfers_beside_it_have_their_rows_and_their_reports() {
    let many = [
        "--congestion",
        "reno",
        "--flows",
        "2",
        "--apart",
        "1s",
        "--cross-flow",
        "bbr3,2s,5s",
        "--cross-flow",
        "cubic,0s,4MB",
    ];
    let ended = simulate("10s", &[&many[..], &["--json"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let beside = report["beside"].as_array().unwrap();
    let told = |which: usize| (beside[which]["start_us"].as_u64().unwrap(), &beside[which]["transfer"]);
    assert_eq!((report["algorithm"].as_str(), beside.len()), (Some("reno"), 3));
    assert_eq!((told(0).0, told(0).1["algorithm"].as_str()), (1_000_000, Some("reno")));
    assert_eq!((told(1).0, told(1).1["took_us"].as_u64()), (2_000_000, Some(5_000_000)));
    assert_eq!((told(2).0, told(2).1["delivered_bytes"].as_u64()), (0, Some(4_000_000)));
    let ended = simulate("10s", &many);
    let rows = ended.stdout.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    assert_eq!(rows.count(), 1 + 4, "a heading, and a row for each: {}", ended.stdout);
}

/// Jain's index of two: the square of the sum by twice the sum of the squares.
#[test]
fn fairness_is_that_of_the_rates_that_are_told() {
    let ended = simulate("10s", &["--congestion", "reno", "--flows", "2", "--apart", "2s", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let sharing = &report["sharing"];
    let rates: Vec<f64> =
        sharing["goodput_bps"].as_array().unwrap().iter().map(|rate| rate.as_f64().unwrap()).collect();
    let [first, second] = rates[..] else { panic!("{sharing}") };
    let expected = (first + second).powi(2) / (2.0 * (first.powi(2) + second.powi(2)));
    let fairness = sharing["fairness"].as_f64().unwrap();
    assert!((fairness - expected).abs() < 1e-6, "{fairness} of {rates:?}, expected {expected}");
    assert!(first + second > 30e6, "{rates:?} of 47.8 Mbit/s for payload");
}

#[test]
fn what_is_no_transfer_is_refused() {
    for (wrong, told) in [
        (&["--cross-flow", "fast"][..], "is no algorithm that can be simulated"),
        (&["--cross-flow", "bbr,5s,much"], "neither a time nor a number of bytes"),
        (&["--cross-flow", "bbr,1s,2s,3s"], "a name, a start and an amount"),
        (&["--flows", "0"], "0 is not in 1..=1000"),
    ] {
        let ended = simulate("10s", wrong);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{wrong:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{wrong:?} does not say `{told}`: {}", ended.stderr);
    }
}

#[test]
fn an_option_that_changes_nothing_is_named() {
    let of = |queue: &str| simulate("3s", &["--queue", queue, "--ecn"]);
    // 50 ms of 50 Mbit/s, which is the default.
    let idle = of("312500B");
    assert_eq!(idle.code, Some(0), "{}", idle.stderr);
    assert!(idle.stderr.contains("hint: without effect here: --queue, --ecn;"), "{}", idle.stderr);
    let small = of("10kB");
    assert!(small.stderr.contains("hint: without effect here: --ecn;"), "{}", small.stderr);
    assert_ne!(small.stdout, idle.stdout);
}

#[test]
fn a_random_transfer_has_its_spread_over_seeds_and_a_certain_one_has_none() {
    let text = |more: &[&str]| simulate("3s", more).stdout;
    assert!(text(&["--loss", "0.001"]).contains("OVER 10 SEEDS  MEDIAN"));
    assert!(!text(&[]).contains("SEEDS"));
    let asked: Value = serde_json::from_str(&text(&["--loss", "0.001", "--seeds", "5", "--json"])).unwrap();
    let spread = &asked["over_seeds"];
    assert_eq!(spread["seeds"], 5);
    let of = |which: &str| spread["retransmits"][which].as_u64().unwrap();
    assert!(of("min") <= of("median") && of("median") <= of("max") && of("max") > of("min"), "{spread}");
}

#[test]
fn a_long_transfer_is_simulated_once_where_nobody_asked_for_more() {
    // More than a million steps, of which ten seeds or all options would be waited for.
    let long = simulate("300s", &["--loss", "0.001", "--ecn"]);
    assert!(!long.stdout.contains("SEEDS") && !long.stderr.contains("without effect"), "{long:?}");
}

#[test]
fn a_transfer_that_is_given_up_says_so_first() {
    let flow = ["simulate", "flow", "--bytes", "50MB", "--patience", "2s"];
    let ended = Process::start(program().args(flow).args(PATH)).finish();
    assert!(ended.stdout.starts_with("gave up after 2.00 s: "), "{}", ended.stdout);
    assert!(ended.stdout.contains(" of 50.0 MB delivered"), "{}", ended.stdout);
}
