//! Experiments: read, run, kept, put together, and what they say.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use gateways::cluster::run;
use gateways::experiment::description::{Experiment, ExperimentError};
use gateways::experiment::report::Report;
use gateways::experiment::row::{MEASURES, Row, place};
use gateways::experiment::table::Table;
use gateways::policy;
use sweep::Share;

const TEXT: &str = r#"
name = "small"
repetitions = 3
policies = ["oracle", "round-robin"]
baseline = "round-robin"
[set]
hours = 0.1
warm-up-hours = 0.02
[vary]
utilisation = [0.5, 0.8]
"#;

fn table(share: &str) -> Table {
    let experiment = Experiment::read(TEXT).unwrap();
    let share: Share = share.parse().unwrap();
    let row = |index| {
        let (cell, repetition) = experiment.case(index).unwrap();
        let entry = policy::find(cell.policy).unwrap();
        Row::new(index, &run::run(&cell.settings, entry, experiment.seed(repetition)).unwrap())
    };
    let rows = (0..experiment.len()).filter(|index| share.has(*index)).map(row).collect();
    Table { experiment, share, program: "test".to_owned(), rows }
}

fn read_again(table: &Table) -> Table {
    let mut file = tempfile::tempfile().unwrap();
    table.write(&mut file).unwrap();
    Table::read(file).unwrap()
}

#[test]
fn a_result_is_read_as_it_was_written_and_shares_become_the_whole() {
    let whole = table("1/1");
    assert_eq!(whole.rows.len(), 12);
    let lines = |rows: &[Row]| rows.iter().map(Row::line).collect::<Vec<_>>();
    assert_eq!(lines(&read_again(&whole).rows), lines(&whole.rows));
    let merged = Table::merge(vec![read_again(&table("2/2")), read_again(&table("1/2"))]).unwrap();
    assert_eq!(lines(&merged.rows), lines(&whole.rows));
    assert!(Table::merge(vec![table("1/2")]).unwrap_err().to_string().contains("share 2/2 is there 0 times"));
    assert!(Table::merge(vec![table("1/2"), table("1/2")]).is_err());
    assert!(whole.rows.iter().all(|row| Row::of_line(&row.line()).unwrap().line() == row.line()));
    let line = whole.rows[0].line();
    assert!((0..line.len()).all(|end| Row::of_line(&line[..end]).is_none()), "no half of a line is a row");
}

#[test]
fn a_report_compares_equal_seeds() {
    let report = Report::new(&table("1/1"));
    assert_eq!(report.lines.len(), 4);
    assert_eq!(report.lines[0].settings, "utilisation 0.5");
    assert!((report.lines[2].utilisation - 0.8).abs() < 1e-9);
    let oracle = &report.lines[0];
    assert!(
        oracle.goodput_gain.is_some() && report.lines[1].goodput_gain.is_none(),
        "a baseline has no gain over itself"
    );
    let spread = oracle.estimate("spread_in_flight").unwrap();
    assert!(spread.low.unwrap() <= spread.mean && spread.mean <= spread.high.unwrap());
    assert!((oracle.without_restart.share - 1.0).abs() < 1e-12 && oracle.without_restart.low > 0.4);
    let best = report.best("utilisation 0.8", &[policy::definition::Needs::Configuration]).unwrap();
    assert_eq!(best.policy, "round-robin");
}

#[test]
fn what_describes_no_experiment_is_refused_by_name() {
    let error = |from: &str, to: &str| Experiment::read(&TEXT.replace(from, to)).unwrap_err();
    assert_eq!(error("\"oracle\"", "\"orcale\""), ExperimentError::Policy("orcale".to_owned()));
    assert!(error("hours = 0.1\n", "houres = 0.1\n").to_string().contains("unknown field `houres`"));
    assert!(error("utilisation = [0.5, 0.8]", "\"reports.fuzz\" = [5, 500]").to_string().contains("`fuzz` is 500"));
    assert!(error("utilisation = [0.5, 0.8]", "\"reports.fuz\" = [5]").to_string().contains("unknown field `fuz`"));
    assert!(error("utilisation = [0.5, 0.8]", "removed = [30]").to_string().contains("has not as many gateways"));
    assert!(error("repetitions = 3", "repetitions = 0").to_string().contains("`repetitions` is 0"));
    assert!(error("repetitions = 3", "repetitions = 4000000000").to_string().contains("more than a million runs"));
    assert!(error("utilisation = [0.5, 0.8]", "utilisation = []").to_string().contains("has values"));
}

#[test]
fn experiments_that_come_with_the_program_can_be_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sweeps/gateways");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let experiment = Experiment::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(path.file_stem().unwrap().to_str(), Some(experiment.name.as_str()));
        count += 1;
    }
    assert!(count >= 2);
}

/// A result of which only some numbers are known, by the combination of each row.
fn with_numbers(text: &str, known: impl Fn(&[(String, String)]) -> Vec<(&'static str, f64)>) -> Report {
    let experiment = Experiment::read(text).unwrap();
    let row = |index| {
        let mut numbers = [f64::NAN; MEASURES.len()];
        for (name, value) in known(&experiment.case(index).unwrap().0.varied) {
            numbers[place(name).unwrap()] = value;
        }
        Row { index, numbers }
    };
    let rows = (0..experiment.len()).map(row).collect();
    Report::new(&Table { experiment, share: "1/1".parse().unwrap(), program: "test".to_owned(), rows })
}

#[test]
fn how_many_may_leave_is_the_last_value_before_a_claim_fails_with_its_interval() {
    let text = TEXT.replace("utilisation = [0.5, 0.8]", "removed = [0, 1, 2, 3]").replace("\"oracle\", ", "");
    let report = with_numbers(&text, |varied| {
        let removed: f64 = varied[0].1.parse().unwrap();
        let restarts = if removed >= 2.0 { 4.0 } else { 0.0 };
        vec![("restarts", restarts), ("deletion_p95_ratio", 1.0 + 0.05 * removed), ("largest_memory_share", 0.9)]
    });
    let limits = &report.answers.limits;
    assert_eq!((limits.len(), limits[0].along.as_str(), limits[0].policy), (1, "removed", "round-robin"));
    let claim = |of: &str| limits[0].claims.iter().find(|claim| claim.claim.contains(of)).unwrap();
    let restart = claim("no restart");
    assert_eq!((restart.holds_to.unwrap().at, restart.fails_at.unwrap().at), (1.0, 2.0));
    // Three of three runs: Wilson's interval begins at 0.44.
    assert!((restart.holds_to.unwrap().low.unwrap() - 0.438).abs() < 0.01, "{restart:?}");
    assert_eq!(claim("deletion p95").fails_at, None, "1.15 at the end");
    assert_eq!(claim("memory").holds_to, None, "0.9 of the limit from the beginning");
    assert!(claim("of deletions fail").holds_to.is_none(), "what was not measured does not hold");
}

#[test]
fn the_best_fuzz_and_ping_is_named_with_what_the_runs_do_not_separate_from_it() {
    let vary = "\"reports.fuzz\" = [1, 20]\n\"reports.usage-s\" = [3.0, 20.0]";
    let text = TEXT.replace("utilisation = [0.5, 0.8]", vary).replace("\"oracle\", ", "");
    let report = with_numbers(&text, |varied| {
        let (fuzz, usage): (f64, f64) = (varied[0].1.parse().unwrap(), varied[1].1.parse().unwrap());
        vec![("restarts", if usage > 10.0 && fuzz > 10.0 { 3.0 } else { 0.0 }), ("spread_in_flight", 0.1 * usage)]
    });
    let best = &report.answers.best_reports[0];
    assert_eq!((best.of, best.settings.as_str()), (4, "reports.fuzz 1, reports.usage-s 3.0"));
    assert_eq!(best.not_separated, ["reports.fuzz 20, reports.usage-s 3.0"]);
    assert_eq!(best.worst, "reports.fuzz 20, reports.usage-s 20.0");
    assert!(best.worst_without_restart.share.abs() < f64::EPSILON);
}

#[test]
fn every_experiment_that_is_shipped_can_be_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sweeps/gateways");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 7, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let read = Experiment::read(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(Some(read.name.as_str()), file.file_stem().and_then(|stem| stem.to_str()));
    }
}
