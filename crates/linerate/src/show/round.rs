//! What a plan would do, and what a round was.

use std::path::Path;
use std::time::Duration;

use archive::rounds::has_result;
use comfy_table::{CellAlignment, Table};
use diagnose::grid::Grids;
use foreign::terminal::{indented, line};
use model::expectation::Expectation;
use model::played::Finding;
use model::quality::{Grade, Quality};
use model::round::{Round, RoundSummary, Tested};
use plan::Plan;
use plan::schedule::report::Report;
use predict::of_round::Expectations;

use super::plural::counted;
use super::{expectation, grid, played, table, when};

/// Whether each test is listed with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    Listed,
    Left,
}

/// How long, how busy each host, and which test when.
pub fn schedule(plan: &Plan, report: &Report, times: Times) -> String {
    let mut text = format!("{}\n{}\n\n", report.title, summary(report));
    text.push_str(&tests(plan, report));
    text.push('\n');
    text.push_str(&hosts(report));
    if times == Times::Listed {
        text.push('\n');
        text.push_str(&listed(report));
    }
    text
}

/// The rounds that are kept, or a line that says where they would be.
pub fn list(rounds: &[RoundSummary], archive: &Path) -> String {
    if rounds.is_empty() {
        return format!("no rounds in {}\n", archive.display());
    }
    let mut all = Table::new();
    all.set_header(["ROUND", "STARTED", "TOOK", "PLAN", "HOSTS", "TESTS", "FAILED"]);
    for round in rounds {
        let failed = match (round.hosts_failed, round.tests_failed) {
            (0, 0) => String::new(),
            (0, tests) => counted(tests, "test", "tests"),
            (hosts, tests) => format!("{}, {}", counted(hosts, "host", "hosts"), counted(tests, "test", "tests")),
        };
        all.add_row([
            round.id.to_string(),
            when::local(round.started),
            clock(round.elapsed),
            round.title.clone(),
            round.hosts.to_string(),
            round.tests.to_string(),
            failed,
        ]);
    }
    right(&mut all, &[2, 4, 5]);
    table::text(all)
}

/// A round that has just ended: its grid, what went wrong, and what to do next.
pub fn outcome(round: &Round, grids: &Grids, is_kept: Kept) -> String {
    let mut text = String::new();
    if !grids.grids.is_empty() {
        let is_wanted = std::io::IsTerminal::is_terminal(&std::io::stdout()) && std::env::var_os("NO_COLOR").is_none();
        let colour = if is_wanted { grid::text::Colour::On } else { grid::text::Colour::Off };
        text.push_str(&grid::text::text(grids, colour));
        text.push('\n');
    }
    text.push_str(&sums(round));
    if is_kept == Kept::Yes {
        let id = round.id;
        text.push_str(&format!("\nround {id}\nlinerate why {id}\n"));
    }
    text
}

/// Whether a round is in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Yes,
    No,
}

/// How many tests gave a result, and what is odd about hosts.
fn sums(round: &Round) -> String {
    let done = round.tests.iter().filter(|tested| has_result(&tested.finding)).count();
    let mut text = format!("{done} of {} tests gave a result, in {}\n", round.tests.len(), clock(round.elapsed));
    let poor = round.tests.iter().filter(|tested| Quality::of(tested).grade() == Grade::Poor).count();
    if poor > 0 {
        text.push_str(&format!("{poor} of them of poor quality: something beside the path disturbed them\n"));
    }
    for member in &round.members {
        if let Some(why) = member.why_absent() {
            text.push_str(&format!("{} took no part, or ceased to: {}\n", line(&member.name), indented(why)));
        }
        for remark in &member.remarks {
            text.push_str(&format!("{}: {}\n", line(&member.name), indented(remark)));
        }
    }
    text
}

/// A round that is kept: each test with what it found.
pub fn round(round: &Round) -> String {
    let mut text = format!("{}\nround {}, {}\n", round.title, round.id, when::local(round.started));
    text.push_str(&sums(round));
    text.push('\n');
    let mut expectations = Expectations::of(round);
    for tested in &round.tests {
        text.push_str(&found(tested, &expectations.of_test(tested)));
    }
    text
}

fn found(tested: &Tested, expectations: &[Expectation]) -> String {
    let pair = format!("{} > {}", tested.from, tested.to);
    let head = format!("{:6.1} s  {pair:<28} {:<12}", tested.began.as_secs_f64(), tested.label);
    let mut lines = played::finding(&tested.finding, tested.samples.as_deref());
    if let Finding::Run(run) = &tested.finding {
        lines.extend(expectations.iter().map(|of_it| format!("expected {}", expectation::line(run, of_it))));
    }
    lines.extend(quality(tested));
    let blank = " ".repeat(head.chars().count());
    let lines = lines.iter().enumerate().map(|(number, line)| {
        let head = if number == 0 { &head } else { &blank };
        format!("{head} {line}\n")
    });
    lines.collect()
}

/// What disturbed a test besides the path; none where nothing did, or nothing is known.
fn quality(tested: &Tested) -> Option<String> {
    let quality = Quality::of(tested);
    let worst = quality.disturbances.first().filter(|_| quality.grade() > Grade::Good)?;
    let attempt = tested.attempt.map_or_else(String::new, |attempt| format!(", attempt {attempt}"));
    Some(format!("quality {}{attempt}: {worst}", quality.grade().name()))
}

fn summary(report: &Report) -> String {
    let mut summary = format!("{} tests in {}", report.tests.len(), clock(report.length));
    let heavy = |whole: Duration| whole.saturating_sub(report.light).as_secs_f64();
    let least = heavy(report.least);
    if least > 0.0 {
        let over = (heavy(report.length) / least - 1.0) * 100.0;
        let how =
            if over < 0.05 { "which cannot be shorter".to_owned() } else { format!("{over:.1} % above the least") };
        summary.push_str(&format!(", {how}"));
    }
    if !report.light.is_zero() {
        summary.push_str(&format!("; the first {} are for light tests", clock(report.light)));
    }
    summary
}

fn tests(plan: &Plan, report: &Report) -> String {
    let mut all = Table::new();
    all.set_header(["TEST", "GROUP", "PAIRS", "EACH", ""]);
    for (number, test) in plan.tests.iter().enumerate() {
        let pairs = plan.pairs(number).len();
        let network = plan.groups[test.group].network;
        let mine = report.tests.iter().find(|planned| {
            planned.label == test.label
                && planned.from.network == network.map(|network| plan.networks[network].name.clone())
        });
        let each = mine.map(|planned| units::duration::show(planned.lasts)).unwrap_or_default();
        let alone = if mine.is_some_and(|planned| planned.alone) { "takes turns" } else { "several at once" };
        all.add_row([
            test.label.clone(),
            plan.groups[test.group].name.clone(),
            pairs.to_string(),
            each,
            alone.to_owned(),
        ]);
    }
    right(&mut all, &[2, 3]);
    table::text(all)
}

fn hosts(report: &Report) -> String {
    let mut all = Table::new();
    all.set_header(["HOST", "TAKES TURNS", "BUSY", "OF THE ROUND"]);
    for host in &report.hosts {
        let part = host.busy.as_secs_f64() / report.length.as_secs_f64().max(f64::MIN_POSITIVE) * 100.0;
        all.add_row([host.host.clone(), host.tests.to_string(), clock(host.busy), format!("{part:.0} %")]);
    }
    right(&mut all, &[1, 2, 3]);
    table::text(all)
}

fn listed(report: &Report) -> String {
    let mut all = Table::new();
    all.set_header(["BEGINS", "FROM", "TO", "TEST"]);
    for test in &report.tests {
        all.add_row([clock(test.begins), test.from.to_string(), test.to.to_string(), test.label.clone()]);
    }
    right(&mut all, &[0]);
    table::text(all)
}

fn right(table: &mut Table, columns: &[usize]) {
    for column in columns {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// `1:32:04`, or `4:08` below an hour.
fn clock(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_a_clock() {
        assert_eq!(clock(Duration::from_secs(5_524)), "1:32:04");
        assert_eq!(clock(Duration::from_millis(247_001)), "4:08");
        assert_eq!(clock(Duration::ZERO), "0:00");
    }
}
