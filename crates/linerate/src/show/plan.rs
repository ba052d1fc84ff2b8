//! Whether a plan fits, and what a day of it looks like.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use foreign::terminal::line;
use mesh::check::Checked;
use mesh::clock;
use mesh::fit::hours;

use super::plural::counted;
use super::round::Times;
use super::table;

/// All of it, as text.
pub fn checked(checked: &Checked, times: Times) -> String {
    let fit = &checked.fit;
    let runs =
        |count: u64, what: &str| counted(usize::try_from(count).unwrap_or(usize::MAX), what, &format!("{what}s"));
    let mut text = format!(
        "{}\n{} and {} a day\n\n",
        line(&checked.title),
        runs(fit.heavy_runs, "heavy run"),
        runs(fit.light_runs, "light run")
    );
    text.push_str(&loads(checked));
    text.push('\n');
    for problem in &fit.problems {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "does not fit: {}", line(&problem.to_string()));
    }
    if let Some(day) = &checked.day {
        let waited = day.runs.iter().filter(|run| !run.waited.is_zero()).count();
        let longest = day.runs.iter().map(|run| run.waited).max().unwrap_or_default();
        let _ = writeln!(
            text,
            "{}: {} begin, {waited} wait for another, {} s at most",
            if checked.length < DAY {
                format!("the first {}", units::duration::show(checked.length))
            } else {
                "a day".to_owned()
            },
            counted(day.runs.len(), "run", "runs"),
            longest.as_secs()
        );
        for missed in day.missed.iter().take(MOST_MISSED) {
            let _ = writeln!(text, "no room for {}: {}", line(&missed.run), line(&missed.why));
        }
        if day.missed.len() > MOST_MISSED {
            let _ = writeln!(text, "and {} more without room", day.missed.len() - MOST_MISSED);
        }
    }
    for warning in &fit.warnings {
        let _ = writeln!(text, "note: {}", line(warning));
    }
    if times == Times::Listed {
        text.push('\n');
        text.push_str(&listed(checked));
    }
    text.push_str(if checked.fits() { "it fits\n" } else { "it does not fit\n" });
    text
}

fn loads(checked: &Checked) -> String {
    let mut all = Table::new();
    all.set_header(["USED ALONE", "RUNS", "BUSY", "OF A DAY", "BYTES", "BUDGET"]);
    for load in checked.fit.loads.iter().take(MOST_LOADS) {
        let percent = load.busy.as_secs_f64() / 864.0;
        all.add_row([
            line(&load.resource.to_string()).into_owned(),
            load.runs.to_string(),
            if load.busy.is_zero() { String::new() } else { hours(load.busy) },
            if load.busy.is_zero() { String::new() } else { format!("{percent:.1} %") },
            load.bytes.to_string(),
            load.budget.map_or_else(String::new, |budget| budget.to_string()),
        ]);
    }
    for number in 1..6 {
        if let Some(column) = all.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table::text(all);
    if checked.fit.loads.len() > MOST_LOADS {
        let _ = writeln!(text, "and {} less busy ones", checked.fit.loads.len() - MOST_LOADS);
    }
    text
}

fn listed(checked: &Checked) -> String {
    let mut all = Table::new();
    all.set_header(["BEGINS", "TEST", "FROM", "TO", "KEPT", "WAITED"]);
    for run in checked.day.iter().flat_map(|day| &day.runs) {
        all.add_row([
            clock::shown(run.begins),
            line(&run.test).into_owned(),
            line(&run.from).into_owned(),
            line(&run.to).into_owned(),
            format!("{} s", run.keep.as_secs()),
            if run.waited.is_zero() { String::new() } else { format!("{} s", run.waited.as_secs()) },
        ]);
    }
    table::text(all)
}

const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
/// Enough to see who is busiest.
const MOST_LOADS: usize = 12;
const MOST_MISSED: usize = 5;
