//! What an experiment with gateways found, for people.

use comfy_table::Table;
use gateways::calibrate::fit::{FEWEST, Fitted, Goodness, LARGEST_DISTANCE, LEAST_EXPLAINED};
use gateways::experiment::report::{CellSummary, Interval, Report};
use gateways::policy::{self, definition::Needs};

use super::table;

/// The table of results, and what it says.
pub fn text(report: &Report) -> String {
    let mut text = format!("{}: {} runs", report.name, report.runs);
    if !report.about.is_empty() {
        text.push_str(&format!("\n{}", report.about));
    }
    let mut settings: Vec<&str> = Vec::new();
    for line in &report.lines {
        if !settings.contains(&line.settings.as_str()) {
            settings.push(&line.settings);
        }
    }
    for setting in settings {
        text.push_str("\n\n");
        let lines: Vec<&CellSummary> = report.lines.iter().filter(|line| line.settings == setting).collect();
        if !setting.is_empty() {
            text.push_str(&format!("{setting} (offered load {:.0} % of the capacity)\n", 100.0 * lines[0].utilisation));
        }
        text.push_str(&group(&lines));
        text.push_str(&verdict(report, setting));
    }
    text.push_str(&super::gateways_answers::text(&report.answers));
    text.push_str(
        "\nmeans over all runs of a line, and half the width of their 95 % interval; CALM: runs without a restart\n",
    );
    text
}

fn group(lines: &[&CellSummary]) -> String {
    let has_gain = lines.iter().any(|line| line.goodput_gain.is_some());
    let mut out = Table::new();
    let mut header = vec![
        "POLICY",
        "GOODPUT Gbit/s",
        "SPREAD",
        "RESTARTS",
        "CALM",
        "TRANSFER p50",
        "DELETION p95",
        "DELETIONS FAILED",
    ];
    header.extend(["TESTS FAILED", "MEMORY", "WAITED"]);
    header.extend(has_gain.then_some("GOODPUT GAIN"));
    out.set_header(header);
    for line in lines {
        let show = |name: &str, digits: usize| shown(line.estimate(name), Format { digits, scale: 1.0, unit: "" });
        let share = |name: &str| shown(line.estimate(name), Format { digits: 2, scale: 100.0, unit: " %" });
        let memory = line.estimate("largest_memory_share").map_or(0.0, |interval| interval.largest);
        let mut row = vec![
            line.policy.to_owned(),
            show("goodput_gbit_s", 1),
            show("spread_in_flight", 3),
            show("restarts", 1),
            format!(
                "{:.0} % ({:.0} to {:.0})",
                100.0 * line.without_restart.share,
                100.0 * line.without_restart.low,
                100.0 * line.without_restart.high
            ),
            show("transfer_p50_s", 1) + " s",
            shown(line.estimate("deletion_p95_ratio"), Format { digits: 2, scale: 1.0, unit: "x" }),
            share("deletions_failed_share"),
            share("tests_failed_share"),
            format!("{:.0} %", 100.0 * memory),
            show("clients_waited", 0),
        ];
        if has_gain {
            row.push(shown(line.goodput_gain, Format { digits: 2, scale: 100.0, unit: " %" }));
        }
        out.add_row(row);
    }
    table::text(out)
}

/// How a number is shown.
#[derive(Clone, Copy)]
struct Format {
    digits: usize,
    scale: f64,
    unit: &'static str,
}

fn shown(interval: Option<Interval>, format: Format) -> String {
    let Format { digits, scale, unit } = format;
    let Some(interval) = interval else { return "not measured".to_owned() };
    let mean = interval.mean * scale;
    match interval.high {
        Some(high) => format!("{mean:.digits$} ±{:.digits$}{unit}", high * scale - mean),
        None => format!("{mean:.digits$}{unit}"),
    }
}

fn verdict(report: &Report, setting: &str) -> String {
    let configured = report.best(setting, &[Needs::Configuration]);
    let any = report.best(setting, &[Needs::Configuration, Needs::Xrootd57, Needs::Balancer]);
    let name = |line: &CellSummary| {
        let calm = 100.0 * line.without_restart.share;
        format!("{} ({calm:.0} % of runs without a restart)", line.policy)
    };
    let mut text = String::new();
    if let Some(line) = configured {
        text.push_str(&format!("best by configuration of any XRootD 5: {}\n", name(line)));
    }
    if let Some(line) = any.filter(|line| configured.map(|other| other.policy) != Some(line.policy)) {
        text.push_str(&format!("best of all that can be built: {}\n", name(line)));
    }
    text
}

/// The table of policies.
pub fn policies() -> String {
    let mut out = Table::new();
    out.set_header(["POLICY", "NEEDS", "WHAT IT DOES"]);
    for entry in &policy::ALL {
        let needs = match entry.needs {
            Needs::Configuration => "XRootD 5",
            Needs::Xrootd57 => "XRootD 5.7",
            Needs::Balancer => "a balancer",
            Needs::Oracle => "is a bound",
        };
        out.add_row([entry.name, needs, entry.about]);
    }
    table::text(out)
}

/// What records say, and how well the model fits them.
pub fn calibration(fitted: &[Fitted]) -> String {
    let mut out = Table::new();
    out.set_header(["SETTING", "VALUE", "FIT", "FROM"]);
    for one in fitted {
        let fit = match one.goodness {
            Goodness::Measured => "measured".to_owned(),
            Goodness::Distance(distance) if one.is_used() => format!("good: distance {distance:.3}"),
            Goodness::Distance(distance) => format!("BAD: distance {distance:.3}, above {LARGEST_DISTANCE}; not used"),
            Goodness::Explained(part) if one.is_used() => format!("good: explains {:.0} %", 100.0 * part),
            Goodness::Explained(part) => {
                format!("BAD: explains {:.0} %, below {:.0} %; not used", 100.0 * part, 100.0 * LEAST_EXPLAINED)
            }
            Goodness::TooFew(count) => format!("{count} records, {FEWEST} are needed; not used"),
        };
        let value = if one.value.is_finite() { format!("{:.3}", one.value) } else { "unknown".to_owned() };
        out.add_row([one.setting, &value, &fit, &one.from]);
    }
    table::text(out)
}
