//! The catalogue as a page for people: docs/causes.md.

use std::fmt::Write;

use super::{Catalogue, Cause, PlaceKind};
use crate::diagnosis::own;
use crate::signs;

/// Markdown of the whole page: a table of all causes, a section for each, and the signs with their states.
#[must_use]
pub fn page(catalogue: &Catalogue) -> String {
    let mut page = String::from(
        "# Causes\n\nWhat `linerate why` knows. Generated from `crates/diagnose/causes/`; each name is stable.\n\n\
         A cause is recognised by [signs](#signs): questions about a flow with a few possible answers. Behind each answer\n\
         stands how often it is seen where the cause is at work. [docs/diagnosis.md](diagnosis.md) tells how they are\n\
         weighed.\n\n| cause | where | what is wrong |\n|---|---|---|\n",
    );
    for cause in catalogue.all() {
        let _ = writeln!(page, "| [`{0}`](#{0}) | {1} | {2} |", cause.id, place(cause.place), cause.title);
    }
    for cause in catalogue.all() {
        entry(&mut page, cause);
    }
    table_of_signs(&mut page);
    page
}

/// One cause for a terminal.
#[must_use]
pub fn explained(cause: &Cause) -> String {
    let mut text = String::new();
    entry(&mut text, cause);
    text.trim_start_matches(['\n', '#', ' ']).to_owned()
}

fn entry(page: &mut String, cause: &Cause) {
    let _ = writeln!(
        page,
        "\n## {}\n\n**{}** ({}). {}\n",
        cause.id,
        cause.title,
        place(cause.place),
        one_line(&cause.explanation)
    );
    let mut shown = signs_of(cause);
    for (rule, part) in &cause.rules {
        shown.push(format!("{} {:.0} %", named(rule), part * 100.0));
    }
    let _ = writeln!(page, "- Shows: {}", shown.join(", "));
    if !cause.requires.is_empty() {
        let named = cause.requires.iter().map(|seen| format!("`{} = {}`", seen.sign().name, seen.state().name));
        let _ = writeln!(page, "- Out where none is seen of: {}", named.collect::<Vec<_>>().join(", "));
    }
    if !cause.requires_of_host.is_empty() {
        let named = cause.requires_of_host.iter().map(|rule| named(rule));
        let _ = writeln!(page, "- Out where none is seen of: {}", named.collect::<Vec<_>>().join(", "));
    }
    if !cause.needs.is_empty() {
        let named = cause.needs.iter().map(|seen| format!("`{} = {}`", seen.sign().name, seen.state().name));
        let of_host = cause.needs_of_host.iter().map(|rule| self::named(rule));
        let named: Vec<String> = named.chain(of_host).collect();
        let _ = writeln!(page, "- Named only with one of: {}", named.join(", "));
    }
    if !cause.needs_on_whole_paths.is_empty() {
        let named =
            cause.needs_on_whole_paths.iter().map(|seen| format!("`{} = {}`", seen.sign().name, seen.state().name));
        let named: Vec<String> = named.collect();
        let _ =
            writeln!(page, "- On a path whose segments are not known, named only with one of: {}", named.join(", "));
    }
    excluded(page, cause);
    for manner in &cause.manners {
        let share = manner.prior / cause.ways().map(|way| way.prior).sum::<f64>();
        let _ = writeln!(
            page,
            "- Or, {:.0} % of the time, {}{}: {}",
            share * 100.0,
            manner.title,
            if manner.of_whole_paths { " (only on paths whose segments are not known)" } else { "" },
            signs_of(manner).join(", ")
        );
    }
    let _ = writeln!(page, "- The test that decides: {}", cause.test);
    let fixes = cause.fix.iter().map(|rule| format!("`linerate host fix {rule}`"));
    let fixes = fixes.collect::<Vec<_>>().join(", ");
    let _ = writeln!(
        page,
        "- Remedy: {}{}",
        cause.remedy,
        if fixes.is_empty() { String::new() } else { format!(" ({fixes})") }
    );
    let _ = writeln!(page, "- Fixed when: {}", cause.verify);
    if !cause.references.is_empty() {
        let _ = writeln!(page, "- See: {}", cause.references.join("; "));
    }
}

/// Where it is out, and where it takes the place of others.
fn excluded(page: &mut String, cause: &Cause) {
    if !cause.never.is_empty() {
        let named = cause.never.iter().map(|seen| format!("`{} = {}`", seen.sign().name, seen.state().name));
        let _ = writeln!(page, "- Out where a flow shows: {}", named.collect::<Vec<_>>().join(", "));
    }
    if !cause.both_roles.is_empty() {
        let named: Vec<String> = cause.both_roles.iter().map(|cause| format!("`{cause}`")).collect();
        let _ = writeln!(page, "- Named where a host has {} in its two roles", named.join(" and "));
    }
    if cause.only_slows {
        let _ = writeln!(page, "- Out where no flow is slow");
    }
    if cause.of_answers {
        let _ = writeln!(
            page,
            "- It hits flows whose acknowledgments pass its place, and is out where no sign of it was seen"
        );
    }
    if cause.by_load {
        let _ = writeln!(page, "- Not what echoes over an idle path are lost to");
    }
    if cause.of_nic {
        let _ = writeln!(
            page,
            "- Hardly at a host whose tests leave by a virtual device (veth, bridge), which has no card"
        );
    }
    if cause.by_rules {
        let _ = writeln!(page, "- Named only where a rule of it fires at the host");
    }
    if cause.both_ways {
        let _ =
            writeln!(page, "- Out where packets vanish in one direction of the link only, by the counters of its ends");
    }
    if let Some(rate) = cause.fastest_link {
        let _ = writeln!(page, "- Out where a flow carried more than {rate} past the place");
    }
}

/// A rule of the audit, or what a host is asked besides.
fn named(rule: &str) -> String {
    own::asks(rule).map_or_else(|| format!("[`{rule}`](rules.md)"), |asks| format!("the host {asks}"))
}

fn signs_of(cause: &Cause) -> Vec<String> {
    let told = cause.shows.iter();
    told.map(|(seen, part)| format!("`{} = {}` {:.0} %", seen.sign().name, seen.state().name, part * 100.0)).collect()
}

fn table_of_signs(page: &mut String) {
    page.push_str("\n## Signs\n\nHow usual an answer is among slow flows, whatever ails them; of gateways, where something is wrong with some of them.\n\n| sign | question | answers |\n|---|---|---|\n");
    for sign in signs::ALL {
        let states: Vec<String> =
            sign.states.iter().map(|state| format!("{} {:.0} %", state.name, state.usual * 100.0)).collect();
        let _ = writeln!(page, "| `{}` | {} | {} |", sign.name, sign.asks, states.join(", "));
    }
}

fn place(kind: PlaceKind) -> &'static str {
    match kind {
        PlaceKind::Sender => "sending host",
        PlaceKind::Receiver => "receiving host",
        PlaceKind::Host => "host",
        PlaceKind::Entry => "host, at its door",
        PlaceKind::Segment => "segment, one direction",
        PlaceKind::Link => "segment",
        PlaceKind::Service => "service",
        PlaceKind::Gateway => "storage gateway",
        PlaceKind::Balancer => "balancer of gateways",
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
