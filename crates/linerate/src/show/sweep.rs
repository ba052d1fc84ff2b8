//! What a sweep found, for people.

use std::fmt::Write;

use comfy_table::Table;
use sweep::Report;
use sweep::parameter::Parameter;
use sweep::selection::Rows;
use sweep::summary::{self, Variants};
use sweep::table::Table as Rowed;

use super::table;

pub fn text(report: &Report, by: &[&'static Parameter], table: &Rowed) -> String {
    let mut text = headline(report, table);
    text.push_str(&groups(report, by, table));
    if !report.expectations.is_empty() {
        text.push('\n');
        text.push_str(&expectations(report));
    }
    text
}

fn headline(report: &Report, table: &Rowed) -> String {
    let mut text = format!("{}: {} transfers", report.name, report.flows);
    if table.share != sweep::Share::WHOLE {
        let _ = write!(text, " of {}, share {}", report.flows_in_all, report.shard);
    }
    text.push_str("\n\n");
    text
}

fn groups(report: &Report, by: &[&'static Parameter], table: &Rowed) -> String {
    let rows = Rows::new(&table.sweep.experiment, &table.rows);
    let has_variants = report.groups.iter().any(|group| group.variant.is_some());
    let lines = summary::groups(&rows, by, if has_variants { Variants::Apart } else { Variants::Together });
    let sets = |name: &str| table.sweep.experiment.cells.iter().any(|cell| !cell.settings.get(name).is_none());
    let (has_deadline, has_next) = (sets("deadline"), sets("next-start"));
    let has_given_up = report.groups.iter().any(|group| group.gave_up > 0.0);
    let mut header: Vec<String> = Vec::new();
    header.extend(has_variants.then(|| "VARIANT".to_owned()));
    header.extend(by.iter().map(|parameter| parameter.name.replace('-', " ").to_uppercase()));
    header.extend(["TRANSFERS", "TOOK", "95 %"].map(str::to_owned));
    header.extend(has_given_up.then(|| "GAVE UP".to_owned()));
    header.extend(has_deadline.then(|| "MISSED".to_owned()));
    header.extend(has_next.then(|| "INTO NEXT".to_owned()));
    header.extend(["RETRANSMITS", "95 %"].map(str::to_owned));
    let mut out = Table::new();
    out.set_header(header);
    for (line, group) in lines.iter().zip(&report.groups) {
        let [took, took_p95, resent, resent_p95] = group.shown();
        let mut row: Vec<String> = Vec::new();
        row.extend(line.variant.clone().filter(|_| has_variants));
        row.extend(line.values.iter().map(|(_, value)| value.to_string()));
        row.extend([group.flows.to_string(), took, took_p95]);
        row.extend(has_given_up.then(|| percent(group.gave_up)));
        row.extend(has_deadline.then(|| percent(group.missed)));
        row.extend(has_next.then(|| percent(group.cascaded)));
        row.extend([resent, resent_p95]);
        out.add_row(row);
    }
    table::text(out)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn expectations(report: &Report) -> String {
    let met = report.expectations.iter().filter(|expected| expected.met == Some(true)).count();
    let mut out = Table::new();
    out.set_header(["EXPECTED", "", "WANTED", "FOUND"]);
    for expected in &report.expectations {
        let verdict = match expected.met {
            Some(true) => "met",
            Some(false) => "NOT MET",
            None => "unknown",
        };
        out.add_row([expected.name.as_str(), verdict, &expected.wanted, &expected.found]);
    }
    format!("{}\n{met} of {} expectations are met\n", table::text(out), report.expectations.len())
}
