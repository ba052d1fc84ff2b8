//! What changed in a series.

use std::fmt::Write;

use baseline::analysis::{Analysis, Change, Shape};
use baseline::csv::Column;
use baseline::rules::Rule;
use comfy_table::Table;
use serde_json::json;
use units::{DataRate, WallTime};

use super::{table, when};

/// All that was found, as text.
pub fn changes(column: &Column, found: &Analysis) -> anyhow::Result<String> {
    let mut text = String::new();
    let left_out =
        if found.left_out > 0 { format!(", {} left out (no number)", found.left_out) } else { String::new() };
    writeln!(text, "{}: {} results{left_out}", column.name, found.samples)?;
    if let Some(modes) = &found.modes {
        let low = modes.is_low.iter().filter(|low| **low).count();
        let ratio = (-modes.gap).exp() * 100.0;
        writeln!(text, "two levels: {low} of {} results on the lower one, {ratio:.0} % of the upper", found.samples)?;
    }
    if let Some(cycle) = found.cycle.filter(|_| column.has_times) {
        writeln!(text, "daily cycle: +- {:.0} %", cycle.amplitude() * 100.0)?;
    }
    if found.changes.is_empty() {
        writeln!(
            text,
            "no change found{}",
            if found.samples < FEW { ": fewer than 10 results cannot show one" } else { "" }
        )?;
    } else {
        let mut rows = Table::new();
        rows.set_header(["CHANGE", "AT", "BEFORE", "AFTER", "SHIFT", "Z"]);
        for change in &found.changes {
            rows.add_row(row(column, change));
        }
        text.push_str(&table::text(rows));
    }
    for gap in found.gaps.iter().take(MOST_GAPS) {
        writeln!(text, "no results from {} to {}", moment(column, gap.from_s), moment(column, gap.until_s))?;
    }
    if found.gaps.len() > MOST_GAPS {
        writeln!(text, "and {} more gaps", found.gaps.len() - MOST_GAPS)?;
    }
    Ok(text)
}

/// Where another rule alarms, as one JSON document.
pub fn alarms_json(rule: Rule, column: &Column, alarms: &[usize]) -> String {
    let times: Vec<i64> = alarms.iter().map(|at| column.samples[*at].at_s).collect();
    format!("{}\n", json!({ "rule": rule.name(), "alarms_at_unix_s": times }))
}

/// Where another rule alarms, as text.
pub fn alarms(rule: Rule, column: &Column, alarms: &[usize]) -> anyhow::Result<String> {
    let mut text = format!("{}: {} alarms by the rule {}\n", column.name, alarms.len(), rule.name());
    for at in alarms {
        writeln!(text, "  {}", moment(column, column.samples[*at].at_s))?;
    }
    Ok(text)
}

/// Whether values are shown as rates: the name of the column says bits per second.
pub fn is_rate(column: &Column) -> bool {
    let name = column.name.to_ascii_lowercase();
    name.ends_with("bps") || name.contains("bit/s") || name.contains("bits_per_second")
}

fn row(column: &Column, change: &Change) -> [String; 6] {
    let name = match change.shape {
        Shape::Step => "step",
        Shape::Drift => "drift",
        Shape::Spread => "spread",
        Shape::Share => "share of the lower level",
    };
    let at = if change.until_s > change.at_s {
        format!("{} to {}", moment(column, change.at_s), moment(column, change.until_s))
    } else {
        moment(column, change.at_s)
    };
    let value = |value: f64| match change.shape {
        Shape::Share => format!("{:.0} %", value * 100.0),
        Shape::Spread => format!("{value:.3}"),
        Shape::Step | Shape::Drift => self::value(column, value),
    };
    let shift = (change.after / change.before - 1.0) * 100.0;
    let shift =
        if shift.is_finite() && change.shape != Shape::Share { format!("{shift:+.0} %") } else { "-".to_owned() };
    [name.to_owned(), at, value(change.before), value(change.after), shift, format!("{:.1}", change.z)]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts saturate, and a rate is shown in 3 digits"
)]
fn value(column: &Column, value: f64) -> String {
    if is_rate(column) { DataRate::from_bps(value.max(0.0).round() as u64).to_string() } else { format!("{value:.4}") }
}

/// A calendar time, or the number of the row.
fn moment(column: &Column, at_s: i64) -> String {
    if !column.has_times {
        return format!("row {}", at_s / 3600 + 1);
    }
    let nanos = u64::try_from(at_s).unwrap_or(0).saturating_mul(1_000_000_000);
    when::local(WallTime::from_unix_nanos(nanos))
}

/// All that was found, as one JSON document.
pub fn changes_json(column: &Column, found: &Analysis) -> anyhow::Result<String> {
    let shape = |shape: Shape| match shape {
        Shape::Step => "step",
        Shape::Drift => "drift",
        Shape::Spread => "spread",
        Shape::Share => "share",
    };
    let change = |change: &Change| {
        json!({
            "change": shape(change.shape), "row": change.at + 1, "at_unix_s": change.at_s, "until_unix_s": change.until_s,
            "before": change.before, "after": change.after, "z": change.z,
        })
    };
    let all = json!({
        "column": column.name,
        "has_times": column.has_times,
        "results": found.samples,
        "left_out": found.left_out,
        "has_two_levels": found.modes.is_some(),
        "daily_cycle_amplitude": found.cycle.map(|cycle| cycle.amplitude()),
        "changes": found.changes.iter().map(change).collect::<Vec<_>>(),
    });
    Ok(format!("{}\n", serde_json::to_string(&all)?))
}

/// Fewer results show no change.
const FEW: usize = 10;
/// Gaps that are listed.
const MOST_GAPS: usize = 5;
