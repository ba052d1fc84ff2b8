//! An incident on screen.

use diagnose::diagnosis::Ranked;
use diagnose::grid::grids;
use diagnose::proof::{Chapter, Mended};
use lab::scenario::Scenario;
use model::round::Round;

use super::grid::text::Colour;
use super::{grid, played, why, wrap};

/// The incidents that can be told.
pub fn list(stories: &[(&str, &str, &[&str])]) -> String {
    let width = stories.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, title, chapters) in stories {
        text.push_str(&format!("{name:<width$}  {title}\n"));
        text.push_str(&format!("{:<width$}    {}\n", "", chapters.join(", ")));
    }
    text.push_str("\n`linerate demo NAME` tells the first chapter of one, with --all every chapter; any scenario of `linerate lab list` is a\nchapter as well.\n");
    text
}

/// The same for programs.
pub fn list_json(stories: &[(&str, &str, &[&str])]) -> anyhow::Result<Vec<u8>> {
    let all = stories
        .iter()
        .map(|(name, title, chapters)| serde_json::json!({ "name": name, "title": title, "scenarios": chapters }));
    super::json::document(&all.collect::<Vec<_>>())
}

/// What is going to be built, and what stands for what.
pub fn introduction(scenario: &Scenario) -> String {
    let routers = scenario.hosts.iter().filter(|host| host.forwards).count();
    let mut text = format!("\n{}", played::introduction(scenario));
    text.push('\n');
    let on_this_machine = format!(
        "On this machine: {} and {}, each a network namespace with the kernel's own TCP; {} links between them, driven by \
         the lab{}. Nothing outside is touched.\n",
        counted(scenario.hosts.len() - routers, "host", "hosts"),
        counted(routers, "machine that forwards", "machines that forward"),
        scenario.links.len(),
        if scenario.overlays.is_empty() { "" } else { "; the overlay is the kernel's own VXLAN" },
    );
    text.push_str(&wrap::text(&on_this_machine, 0));
    text
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A heading.
pub fn heading(title: &str) -> String {
    format!("\n{title}\n{}\n", "-".repeat(title.chars().count()))
}

/// The grid of a round; nothing where only pairs were tested.
pub fn grid(round: &Round) -> String {
    let mut grids = grids(round);
    // Tests outside of the overlay are pairs, no grid.
    grids.grids.retain(|grid| grid.network.is_some());
    if grids.grids.is_empty() {
        return String::new();
    }
    grid::text::text(&grids, Colour::of_standard_output())
}

/// A command in a host, as a person would type it.
pub fn prompt(command: &str) -> String {
    format!("$ {command}\n")
}

/// What a person would type to do the same in a lab of their own.
pub fn command(host: &str, arguments: &[String], plan: &str) -> String {
    let words = arguments.iter().map(|word| if word.ends_with(plan) { plan } else { word.as_str() });
    format!("linerate lab exec {host} -- linerate {}", words.collect::<Vec<_>>().join(" "))
}

/// What a command printed.
pub fn quoted(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// Why a person has to know the step.
pub fn because(words: &str) -> String {
    wrap::text(&format!("No rule of the host's own audit proposes it here. {words} So it is done by a plan:"), 0)
}

/// Where a cause is none of a host's, and a host can do its part all the same.
pub fn does_its_part(host: &str, place: &str, ranked: &Ranked) -> String {
    wrap::text(
        &format!(
            "At {place} nothing can be changed from here; {host}, which sends over it, can do its part. Remedy: {}.",
            ranked.remedy
        ),
        0,
    )
}

/// A plan.
pub fn plan(name: &str, text: &str) -> String {
    format!("$ cat {name}\n{}", quoted(text))
}

/// What to tell the people who run a network, and who does it here.
pub fn for_people(place: &str, ranked: &Ranked, faults: &[String]) -> String {
    let mut text = wrap::text(
        &format!(
            "No setting of a host mends this. Tell those who run {place}: {}. Remedy: {}. Mended when: {}.",
            ranked.title, ranked.remedy, ranked.verify
        ),
        0,
    );
    for says in ranked.speaks_for.iter().take(MOST_REASONS) {
        text.push_str(&wrap::text(&format!("+ {says}"), 4));
    }
    text.push_str(&format!("\nEmulated: the lab does it for them now, and ends its fault {}.\n", faults.join(", ")));
    text
}

/// Where nothing that the diagnosis names can be mended in the lab.
pub const NOTHING_TO_MEND: &str = "Nothing that the diagnosis names can be mended in this network.\n";

/// Where the emulation was late by so little that a comparison stands.
pub fn late(slight: &[String]) -> String {
    slight.first().map_or_else(String::new, |worst| {
        wrap::text(&format!("(The machine was busy, before and after alike: {worst}.)"), 0)
    })
}

/// Where the emulation did not keep up.
pub fn limits(limits: &[String]) -> String {
    limits.iter().map(|limit| format!("NO EVIDENCE, the emulation was the limit: {limit}\n")).collect()
}

/// What became of each chapter, and what to try next.
pub fn end(told: &[Chapter], left: &[Scenario]) -> String {
    let mut text = heading("What came of it");
    for chapter in told {
        let causes = chapter.diagnosis.problems.iter().filter_map(|problem| problem.ranking.first());
        let named: Vec<String> = causes.map(|first| format!("{} {}", first.cause, why::at(first))).collect();
        let named = if named.is_empty() { "nothing is wrong".to_owned() } else { named.join(", ") };
        let mut by: Vec<String> = chapter.mended.iter().map(by).collect();
        by.dedup();
        let proven = match (&chapter.proof, chapter.is_mended()) {
            (_, true) if chapter.diagnosis.is_healthy() => "nothing to mend",
            (_, true) => "proven",
            (None, false) => "not mended",
            (Some(_), false) => "NOT PROVEN",
        };
        by.push(proven.to_owned());
        text.push_str(&wrap::text(&format!("{}: {named}; {}", chapter.scenario, by.join(", ")), 0));
    }
    text.push_str("\nThe networks are gone. Next:\n");
    let next = |command: &str, what: &str| format!("  {command:<44}{what}\n");
    for scenario in left {
        text.push_str(&next(&format!("linerate demo {}", scenario.name), &scenario.title));
    }
    let first = told.first().map_or("healthy-lan", |chapter| chapter.scenario.as_str());
    text.push_str(&next(&format!("linerate lab up {first}"), "keep this network, and walk around in it"));
    text.push_str(&next("linerate demo --list", "the other incidents"));
    text.push_str(&next("linerate host audit", "this host's own settings"));
    text.push_str(&next("linerate serve; linerate test HOST", "a path of your own"));
    text
}

/// Who mended something.
fn by(mended: &Mended) -> String {
    match mended {
        Mended::Host { host, .. } => format!("fixed on {host}"),
        Mended::Network { .. } => "mended by the network's people, here by the lab".to_owned(),
    }
}

const MOST_REASONS: usize = 4;
