//! Fixes for people: what would be done, what became of it, the journal, a roll-out.

use std::fmt::Write;

use audit::fix::Disruption;
use audit::fix::plan::{FixPlan, PlannedStep};
use audit::fix::report::{FixReport, KeptIn, Outcome, RollOut, Verdict, Verification};
use comfy_table::Table;
use foreign::terminal::line;
use linux::facts::qdisc::OptionsOwner;
use model::host::fix::captured::Difference;
use model::host::fix::journal::{Because, Entry, State};

use crate::show::{table, when, wrap};

/// What became of a fix, or would.
pub fn text(report: &FixReport) -> String {
    let clean = foreign::terminal::lines_of(report);
    let report = clean.as_ref().unwrap_or(report);
    let mut text = String::new();
    match &report.outcome {
        Outcome::Planned => text.push_str(&planned(report)),
        Outcome::NothingToDo => text.push_str("nothing to do\n"),
        Outcome::AlreadySo => {
            text.push_str("nothing was changed: every setting had the wanted value already, as was read back\n");
        }
        Outcome::Kept => {
            let _ = writeln!(text, "fix {} is kept: {}", report.fix.unwrap_or_default(), rules(&report.plan));
            text.push_str(&changes(&report.changes));
        }
        Outcome::TakenBack { because } => {
            let _ = writeln!(text, "undone: {because}; every old value is there again");
        }
    }
    if let Some(verification) = &report.verification {
        text.push_str(&proof(verification));
    }
    if let Some(kept) = &report.kept_in {
        text.push_str(&files(kept));
    }
    text.push_str(&not_done(&report.plan));
    text
}

/// The commands and their undo.
fn planned(report: &FixReport) -> String {
    let mut text = format!("{}: this would be done, and nothing is changed now\n", report.host);
    for (step, commands) in report.plan.steps.iter().zip(&report.commands) {
        let _ = writeln!(text, "\n{}{}", rules_of(step), place(step));
        if let Some(disruption) = step.disruption.filter(|&disruption| disruption != Disruption::None) {
            let _ = writeln!(text, "  ({})", disruption.words());
        }
        for command in &commands.apply {
            let _ = writeln!(text, "  {command}");
        }
    }
    text.push_str("\nand this takes it back\n");
    for index in &report.undo_order {
        let Some((commands, step)) = report.commands.get(*index).zip(report.plan.steps.get(*index)) else { continue };
        match &commands.undo {
            Some(lines) => text.extend(lines.iter().map(|line| format!("  {line}\n"))),
            None => text.push_str(&format!("  (no command does{}; `linerate host undo` does)\n", place(step))),
        }
    }
    text
}

fn rules(plan: &FixPlan) -> String {
    let rules = plan.rules();
    if rules.is_empty() { "a plan of somebody's own".to_owned() } else { rules.join(", ") }
}

fn rules_of(step: &PlannedStep) -> String {
    if step.rules.is_empty() { "asked for".to_owned() } else { step.rules.join(", ") }
}

fn place(step: &PlannedStep) -> String {
    let link = step.link.iter().map(|link| format!(" on {link}"));
    link.chain(step.namespace.iter().map(|namespace| format!(" in {namespace}"))).collect()
}

/// Settings with their old and new values.
pub fn changes(changes: &[Difference]) -> String {
    let shown = |value: &Option<String>| value.as_deref().map_or_else(|| "-".to_owned(), qdisc_words);
    let mut text = String::new();
    for change in changes {
        let namespace = change.namespace.iter().map(|namespace| format!(" in {namespace}")).collect::<String>();
        let _ = writeln!(text, "  {}{namespace}: {} -> {}", change.key, shown(&change.old), shown(&change.new));
    }
    text
}

/// A qdisc or class of the journal, `pfifo auto:0 e8030000`, with options by name where they are understood; all else as it is.
fn qdisc_words(value: &str) -> String {
    // A kind without options, and a number that the kernel gave out.
    let value = value.strip_suffix(" auto:0").unwrap_or(value);
    let Some((before, options)) = value.rsplit_once(' ') else { return value.to_owned() };
    let Some((kind, place)) = before.split_once(' ') else { return value.to_owned() };
    let is_class = place.starts_with("on ");
    let named = linux::facts::qdisc::options_by_name(
        kind,
        if is_class { OptionsOwner::Class } else { OptionsOwner::Qdisc },
        options,
    );
    // Numbers that the kernel gives out say nothing.
    let place = if place == "auto:0" { "" } else { place };
    match named {
        Some(named) => {
            let named: Vec<String> = named.iter().map(|(name, value)| format!("{name}={value}")).collect();
            [kind, place]
                .into_iter()
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .chain(named)
                .collect::<Vec<_>>()
                .join(" ")
        }
        None => value.to_owned(),
    }
}

/// Both series, and the answer.
fn proof(verification: &Verification) -> String {
    let counted = verification.counted;
    let mut table = Table::new();
    table.set_header(["", "median", "least", "most", "runs"]);
    for (side, series) in [("without the fix", &verification.before), ("with the fix", &verification.after)] {
        let mut ordered = series.values.clone();
        ordered.sort_by(f64::total_cmp);
        let text = |value: Option<&f64>| value.map(|value| counted.shown(*value)).unwrap_or_default();
        let runs = match series.runs.first() {
            Some(first) => format!("{first} and {} more", series.runs.len() - 1),
            None => series.values.len().to_string(),
        };
        let (least, most) = (text(ordered.first()), text(ordered.last()));
        table.add_row([side.to_owned(), counted.shown(series.median), least, most, runs]);
    }
    let answer = match verification.verdict {
        Verdict::Gain => "the fix gains more than noise",
        Verdict::Loss => "the fix loses more than noise",
        Verdict::Noise => "the difference may be noise",
    };
    format!(
        "\n{}{answer}: {} (Mann-Whitney, p = {:.4}, asked for p <= {:.4})\n",
        table::text(table),
        counted.difference(verification.shift),
        verification.p_two_sided,
        1.0 - verification.confidence,
    )
}

fn files(kept: &KeptIn) -> String {
    let mut text = String::new();
    for file in &kept.files {
        let _ = writeln!(text, "kept over the next start by {file}");
    }
    for other in &kept.overruled {
        let _ = writeln!(
            text,
            "warning: {} will be {} {}, by {}: take that line out",
            other.setting, other.value, other.when, other.by
        );
    }
    for lost in &kept.lost {
        let _ = writeln!(text, "not kept over the next start: {}", lost.setting);
        text.push_str(&wrap::text(&lost.reason, 2));
    }
    text
}

/// What a person has to do, and what was left out.
fn not_done(plan: &FixPlan) -> String {
    let mut text = String::new();
    for by_hand in &plan.by_hand {
        let _ = writeln!(text, "\nby hand, for {}:", by_hand.rules.join(", "));
        text.push_str(&wrap::text(&by_hand.text, 2));
    }
    // One rule may change many settings of one namespace, all left out for one reason.
    let mut left_out: Vec<((String, &str), usize)> = Vec::new();
    for step in &plan.left_out {
        let what = (format!("{}: {}", place(&step.step), rules_of(&step.step)), step.reason.as_str());
        match left_out.iter_mut().find(|(known, _)| *known == what) {
            Some((_, settings)) => *settings += 1,
            None => left_out.push((what, 1)),
        }
    }
    for ((what, reason), settings) in left_out {
        let many = if settings == 1 { String::new() } else { format!(" ({settings} settings)") };
        let _ = writeln!(text, "\nleft out{what}{many}");
        text.push_str(&wrap::text(reason, 2));
    }
    text
}

/// The journal as a table.
pub fn list(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "no fix was ever applied here\n".to_owned();
    }
    let mut table = Table::new();
    table.set_header(["fix", "begun", "state", "why", "settings"]);
    for entry in entries {
        let settings = entry.changes().len().to_string();
        table.add_row([
            entry.fix.to_string(),
            when::local(entry.begun),
            line(&state(&entry.state)).into_owned(),
            line(&entry.reason).into_owned(),
            settings,
        ]);
    }
    table::text(table)
}

fn state(state: &State) -> String {
    match state {
        State::Begun => "being applied".to_owned(),
        State::Unconfirmed => "waits to be confirmed".to_owned(),
        State::Kept => "kept".to_owned(),
        State::Undone { because } => match because {
            Because::StepFailed { reason, .. } => format!("undone: {reason}"),
            Because::NotConfirmed => "undone: not confirmed".to_owned(),
            Because::HelperEnded => "undone: the helper ended".to_owned(),
            Because::Asked => "undone".to_owned(),
            Because::NothingChanged => "changed nothing".to_owned(),
        },
        State::Stuck { left } => format!("stuck: {}", left.join("; ")),
        State::GoneWithBoot => "gone with a boot".to_owned(),
    }
}

/// What an undo brought back.
pub fn undone(entry: &Entry, files: &[String]) -> String {
    let clean = foreign::terminal::lines_of(entry);
    let entry = clean.as_ref().unwrap_or(entry);
    let reason = if entry.reason.is_empty() { String::new() } else { format!(": {}", entry.reason) };
    let mut text = format!("fix {} is undone{reason}\n", entry.fix);
    let back = entry.changes().into_iter().map(|change| Difference { old: change.new, new: change.old, ..change });
    text.push_str(&changes(&back.collect::<Vec<_>>()));
    for file in files {
        let _ = writeln!(text, "taken out of {file}");
    }
    text
}

/// Stage by stage.
pub fn roll_out(done: &RollOut) -> String {
    let clean = foreign::terminal::lines_of(done);
    let done = clean.as_ref().unwrap_or(done);
    let mut text = String::new();
    for (number, stage) in done.stages.iter().enumerate() {
        let _ = writeln!(text, "stage {}", number + 1);
        for host in &stage.hosts {
            let gain = host.report.as_ref().and_then(|report| report.verification.as_ref());
            let gain = gain.map(|proof| {
                let [before, after] = [&proof.before, &proof.after].map(|series| proof.counted.shown(series.median));
                format!(" ({before} -> {after}, p = {:.4})", proof.p_two_sided)
            });
            let gain = gain.unwrap_or_default();
            let _ = match &host.stopped {
                None => match host.report.as_ref().map(|report| &report.outcome) {
                    Some(Outcome::Planned) => {
                        let commands = host.report.iter().flat_map(|report| &report.commands);
                        let lines: String =
                            commands.flat_map(|each| &each.apply).map(|line| format!("    {line}\n")).collect();
                        write!(text, "  {}: this would be done\n{lines}", host.name)
                    }
                    Some(Outcome::AlreadySo) => writeln!(text, "  {}: has it already", host.name),
                    _ => writeln!(text, "  {}: kept{gain}", host.name),
                },
                Some(reason) => writeln!(text, "  {}: stopped here: {reason}{gain}", host.name),
            };
        }
    }
    if !done.untouched.is_empty() {
        let _ = writeln!(text, "not touched: {}", done.untouched.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::qdisc_words;

    #[test]
    fn a_qdisc_of_the_journal_has_its_options_by_name() {
        assert_eq!(qdisc_words("pfifo auto:0 e8030000"), "pfifo limit_packets=1000");
        assert_eq!(qdisc_words("pfifo 1:0 e8030000"), "pfifo 1:0 limit_packets=1000");
        assert_eq!(qdisc_words("noqueue auto:0"), "noqueue");
        for other in ["4096 131072 6291456", "red auto:0 e803", "on", "bbr", ""] {
            assert_eq!(qdisc_words(other), other);
        }
    }
}
