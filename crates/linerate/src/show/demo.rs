//! An incident on screen.

use std::collections::BTreeSet;

use diagnose::diagnosis::Ranked;
use diagnose::grid::grids;
use diagnose::proof::{AppliedFix, Chapter};
use lab::play::{Fit, Fitness};
use lab::scenario::Scenario;
use model::quality::Disturbance;
use model::round::Round;

use super::grid::text::Colour;
use super::plural::counted;
use super::{grid, played, why, wrap};

/// On which clock a demonstration is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayClock {
    /// On the machine's, between namespaces.
    Live(Fit),
    /// On the simulator's.
    Virtual,
}

/// A chapter that was played to its end, and how.
pub struct PlayedChapter {
    pub chapter: Chapter,
    pub clock: PlayClock,
}

/// The incidents that `linerate demo` knows, each with its chapters.
pub fn list(stories: &[(&str, &str, &[&str])]) -> String {
    let width = stories.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, title, chapters) in stories {
        text.push_str(&format!("{name:<width$}  {title}\n"));
        text.push_str(&format!("{:<width$}    {}\n", "", chapters.join(", ")));
    }
    text.push('\n');
    text.push_str(&wrap::narrow(
        "`linerate demo NAME` plays the first chapter of one, with --all every chapter; any scenario of `linerate lab list` is a chapter as well.",
        0,
    ));
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
        "On this machine: {} and {}, each a network namespace with the kernel's own TCP; {} links between them, emulated \
         by the lab{}. Nothing outside is touched.\n",
        counted(scenario.hosts.len() - routers, "host", "hosts"),
        counted(routers, "router", "routers"),
        scenario.links.len(),
        if scenario.overlays.is_empty() { "" } else { "; the overlay is the kernel's own VXLAN" },
    );
    text.push_str(&wrap::text(&on_this_machine, 0));
    text
}

/// A heading between two parts of a demonstration, underlined.
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
    wrap::text(&format!("No rule of the host's own audit proposes this fix. {words} It is applied from a plan:"), 0)
}

/// Where a cause is none of a host's, and a host can do its part all the same.
pub fn does_its_part(host: &str, place: &str, ranked: &Ranked) -> String {
    wrap::text(
        &format!(
            "Nothing can be changed at {place} from here; {host}, which sends over it, can be set to fit. Remedy: {}.",
            ranked.remedy
        ),
        0,
    )
}

/// The text of a plan file, as if it was printed in a shell.
pub fn plan(name: &str, text: &str) -> String {
    format!("$ cat {name}\n{}", quoted(text))
}

/// What to report to the operators of a network, and who acts for them here.
pub fn for_people(place: &str, ranked: &Ranked, faults: &[String]) -> String {
    let mut text = wrap::text(
        &format!(
            "No host setting fixes this. Report to the operators of {place}: {}. Remedy: {}. Fixed when: {}.",
            ranked.title, ranked.remedy, ranked.verify
        ),
        0,
    );
    for says in ranked.speaks_for.iter().take(MOST_REASONS) {
        text.push_str(&wrap::text(&format!("+ {says}"), 4));
    }
    text.push_str(&format!(
        "\nEmulated: the lab acts for the operators now, and ends the fault {}.\n",
        faults.join(", ")
    ));
    text
}

/// Where the lab has no fix for what the diagnosis names.
pub const NO_FIX: &str = "The lab has no fix for what the diagnosis names in this network.\n";

/// Whether this machine can play it now, and how.
pub fn fitness(fitness: &Fitness) -> String {
    let text = match fitness {
        Fitness::Quiet => return String::new(),
        Fitness::Busy { because, fit } => format!(
            "This machine is busy: {because}. The demonstration is played live all the same, in a way that fits: the paths' \
             clock goes at {} % of real time and stands still while the emulator is not scheduled, {} test runs at a time, \
             and disturbed tests are repeated.",
            fit.pace.percent(),
            fit.at_once,
        ),
        Fitness::Unfit { because } => format!(
            "This machine has too little CPU time for a live play now: {because}. The demonstration is played in virtual \
             time instead: the simulator's TCP over the same emulated paths."
        ),
    };
    wrap::text(&format!("{text}\n"), 0)
}

/// Tests that this machine disturbed, where they are few.
pub fn disturbed(tests: &[(String, Disturbance)]) -> String {
    let Some((label, worst)) = tests.first() else { return String::new() };
    let others = if tests.len() > 1 { format!(", and {} more", tests.len() - 1) } else { String::new() };
    wrap::text(&format!("Disturbed by this machine, and of less weight: {label} ({worst}){others}."), 0)
}

/// Where this machine disturbed so many tests that nothing is proven by them.
pub fn limits(limits: &[String]) -> String {
    let mut text: String = limits.iter().map(|limit| wrap::text(&format!("Not judged: {limit}."), 0)).collect();
    text.push_str("The chapter is played in virtual time instead.\n");
    text
}

/// Where a live play on a busy machine does not prove the fix.
pub fn not_proven_live() -> String {
    let text = "The live play on this busy machine does not prove a fix. The chapter is played in virtual time as well, \
                where nothing else takes CPU time.";
    format!("\n{}", wrap::text(text, 0))
}

/// What is going to be simulated.
pub fn introduction_to_virtual_time(scenario: &Scenario) -> String {
    let text = format!(
        "In virtual time: {} hosts and {} links, simulated with Linux's TCP over the path elements of the lab; no packet \
         leaves this process.",
        scenario.hosts.len(),
        scenario.links.len(),
    );
    format!("\n{}\n{}", played::introduction(scenario), wrap::text(&text, 0))
}

/// What the fix is, and how it is done in virtual time.
pub fn fix_in_virtual_time(place: &str, ranked: &Ranked, ended: &BTreeSet<String>) -> String {
    let ended = ended.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let text = format!("At {place}: {}. In virtual time the fault {ended} of the scenario ends.", ranked.remedy);
    let mut text = wrap::text(&text, 0);
    for rule in &ranked.fix {
        text.push_str(&format!("On a live network: linerate host fix {rule}\n"));
    }
    text
}

/// What became of each chapter, and what to try next.
pub fn end(played: &[PlayedChapter], left: &[Scenario]) -> String {
    let mut text = heading("Result");
    for PlayedChapter { chapter, clock } in played {
        let causes = chapter.diagnosis.problems.iter().filter_map(|problem| problem.ranking.first());
        let named: Vec<String> = causes.map(|first| format!("{} {}", first.cause, why::at(first))).collect();
        let named = if named.is_empty() { "no problem found".to_owned() } else { named.join(", ") };
        let mut by: Vec<String> = chapter.fixes.iter().map(by).collect();
        by.dedup();
        let proven = match (&chapter.proof, chapter.is_fixed()) {
            (_, true) if chapter.diagnosis.is_healthy() => "nothing to fix",
            (_, true) => "proven",
            (None, false) => "not fixed",
            (Some(_), false) => "fix not proven",
        };
        by.push(proven.to_owned());
        by.push(on_clock(*clock));
        text.push_str(&wrap::text(&format!("{}: {named}; {}", chapter.scenario, by.join(", ")), 0));
    }
    text.push_str("\nThe networks are gone. Next:\n");
    let next = |command: &str, what: &str| format!("  {command:<44}{what}\n");
    for scenario in left {
        text.push_str(&next(&format!("linerate demo {}", scenario.name), &scenario.title));
    }
    let first = played.first().map_or("healthy-lan", |played| played.chapter.scenario.as_str());
    text.push_str(&next(&format!("linerate lab up {first}"), "keep this network and run any tool in it"));
    text.push_str(&next("linerate demo --list", "the other incidents"));
    text.push_str(&next("linerate host audit", "this host's own settings"));
    text.push_str(&next("linerate serve; linerate test HOST", "a path of your own"));
    text
}

/// How a chapter was played.
fn on_clock(clock: PlayClock) -> String {
    match clock {
        PlayClock::Live(fit) if fit == Fit::default() => "played live".to_owned(),
        PlayClock::Live(fit) => format!("played live on a busy machine, at {} % of real time", fit.pace.percent()),
        PlayClock::Virtual => "played in virtual time".to_owned(),
    }
}

/// Who fixed something.
fn by(fix: &AppliedFix) -> String {
    match fix {
        AppliedFix::Host { host, .. } => format!("fixed on {host}"),
        AppliedFix::Network { .. } => "fixed by the network's operators, here by the lab".to_owned(),
    }
}

const MOST_REASONS: usize = 4;
