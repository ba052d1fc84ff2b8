//! Which settings keep a deadline most often, for people.

use std::fmt::Write;
use std::time::Duration;

use audit::fix::Target;
use audit::fix::plan::FixPlan;
use comfy_table::Table;
use sweep::parameter::ALL;
use sweep::report::Quantile;
use sweep::value::{QuantityKind, Value};
use tune::answer::Tried;
use tune::candidate::Candidate;
use tune::distribution::{Distribution, Spread};
use tune::split::{Misses, Split};
use tune::{Answer, Question, TunedSettings, Verdict};

use super::table;

pub fn text(question: &Question, found: &TunedSettings, answer: &Answer, written: Option<&[String]>) -> String {
    let mut text = format!("{}: {} transfers\n\n{}", question.name, answer.flows, verdict(answer));
    if found.best != found.present {
        let _ = write!(text, "\n{}", settings(question, found));
    }
    let _ = write!(text, "\n{}", tried(question, found, answer));
    if !answer.fresh {
        text.push_str("These are the draws that the best was chosen by, so it looks better than it is.\n");
    }
    if answer.front.len() > 2 {
        let _ = write!(text, "\n{}", trade_off(answer));
    }
    for split in &answer.by {
        let _ = write!(text, "\n{}", by(split, found.best != found.present));
    }
    if found.best != found.present {
        plan(&mut text, "At the sender", &answer.sender);
        plan(&mut text, "At the receiver", &answer.receiver);
        if !answer.elsewhere.is_empty() {
            let _ = writeln!(text, "\nElsewhere:");
            answer.elsewhere.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        how(&mut text, answer, written);
    }
    text
}

fn verdict(answer: &Answer) -> String {
    let (present, best) = (&answer.present, &answer.best);
    let now = format!("As it is, {} transfers miss their deadline: {}.", counted(present), sure(present));
    let then = || format!("{} do: {} ({})", counted(best), sure(best), chance(answer.p));
    match answer.verdict {
        Verdict::Helps => format!("{now}\nWith the best settings, {}.\n", then()),
        Verdict::NothingMissed => format!("{now}\nNo setting has to be changed.\n"),
        Verdict::NothingHelps if best.set.is_empty() => {
            format!("{now}\nNo setting of these helps.\n{}", quicker(answer))
        }
        Verdict::NothingHelps => {
            format!("{now}\nNo setting of these helps: with the best, {}.\n{}", then(), quicker(answer))
        }
    }
}

/// Where no setting keeps the deadline, one may still save time.
fn quicker(answer: &Answer) -> String {
    const WORTH_TELLING: f64 = 0.9;
    let now = answer.present.took_median_us;
    let least = answer.others.iter().map(|tried| tried.took_median_us).fold(answer.best.took_median_us, f64::min);
    if least >= now * WORTH_TELLING {
        return String::new();
    }
    format!("They can be shorter, and still too long: {} in place of {} in the median.\n", time(least), time(now))
}

fn counted(tried: &Tried) -> String {
    format!("{} of {}", tried.missed, tried.draws)
}

fn sure(tried: &Tried) -> String {
    format!("{}, 95 % sure {}", percent(share(tried)), interval(tried))
}

fn chance(p: f64) -> String {
    let digits = if p < 0.01 { 4 } else { 2 };
    if p < 0.0001 { "by chance alone: p < 0.0001".to_owned() } else { format!("by chance alone: p = {p:.digits$}") }
}

fn settings(question: &Question, found: &TunedSettings) -> String {
    let mut out = Table::new();
    out.set_header(["SETTING", "NOW", "BEST"]);
    for dial in found.best.changed(question) {
        let of = |candidate: &Candidate| candidate.value(question, dial).to_string();
        out.add_row([question.dials[dial].parameter.name.to_owned(), of(&found.present), of(&found.best)]);
    }
    table::text(out)
}

fn tried(question: &Question, found: &TunedSettings, answer: &Answer) -> String {
    let has_next = !question.base.get("next-start").is_none();
    let mut out = Table::new();
    let mut header = vec!["", "TRANSFERS", "MISSED", "95 % SURE", "TOOK", "95 %"];
    header.extend(has_next.then_some("INTO NEXT"));
    out.set_header(header);
    let mut line = |name: String, tried: &Tried| {
        let mut row = vec![name, tried.draws.to_string(), percent(share(tried)), interval(tried)];
        let gave_up = f64::from(tried.gave_up) / f64::from(tried.draws.max(1));
        row.extend([
            Quantile { share: 0.5, micros: tried.took_median_us }.shown(gave_up),
            Quantile { share: 0.95, micros: tried.took_p95_us }.shown(gave_up),
        ]);
        row.extend(has_next.then(|| percent(f64::from(tried.cascaded) / f64::from(tried.draws.max(1)))));
        out.add_row(row);
    };
    line("as it is".to_owned(), &answer.present);
    if found.best != found.present {
        line("the best".to_owned(), &answer.best);
    }
    for without in &answer.without {
        line(format!("  with {} as it is", without.setting), &without.tried);
    }
    for (number, tried) in (1..).zip(&answer.others) {
        line(format!("other {number}"), tried);
    }
    if let Some(own) = &answer.own_queue {
        line("as it is, bursts in their own queue".to_owned(), &own.present);
        if found.best != found.present {
            line("the best, bursts in their own queue".to_owned(), &own.best);
        }
    }
    let mut text = table::text(out);
    // Beneath, because they are as long as there are settings.
    for (number, candidate) in (1..).zip(&found.others) {
        let _ = writeln!(text, "other {number}: {}", changes(question, candidate));
    }
    text
}

/// What fewer changes, or less memory, would cost.
fn trade_off(answer: &Answer) -> String {
    let mut out = Table::new();
    out.set_header(["SETTINGS CHANGED", "BUFFERS", "MISSED", "95 % SURE", "CHANGED"]);
    for point in &answer.front {
        // The unit of a column is in its name, and of no use beside a name here.
        let name = |column: &String| column.trim_end_matches("_bytes").trim_end_matches("_bps").replace('_', "-");
        let names = point.tried.set.keys().map(name).collect::<Vec<_>>().join(", ");
        out.add_row([
            point.changed.to_string(),
            point.memory_bytes.to_string(),
            percent(share(&point.tried)),
            interval(&point.tried),
            names,
        ]);
    }
    table::text(out)
}

fn changes(question: &Question, candidate: &Candidate) -> String {
    let one = |dial: usize| format!("{} {}", question.dials[dial].parameter.name, candidate.value(question, dial));
    candidate.changed(question).into_iter().map(one).collect::<Vec<_>>().join(", ")
}

fn by(split: &Split, is_changed: bool) -> String {
    let has_own = split.parts.iter().any(|part| part.own_queue.is_some());
    let mut out = Table::new();
    let name = format!("MISSED BY {}", split.parameter.replace('-', " ").to_uppercase());
    let mut header = vec![name.as_str(), "AS IT IS"];
    header.extend(is_changed.then_some("THE BEST"));
    header.extend(has_own.then_some("AS IT IS, OWN QUEUE"));
    out.set_header(header);
    let cell = |misses: &Misses| {
        if misses.draws == 0 { "-".to_owned() } else { format!("{} of {}", misses.missed, misses.draws) }
    };
    for part in &split.parts {
        let mut row = vec![part.says.clone(), cell(&part.present)];
        row.extend(is_changed.then(|| cell(&part.best)));
        row.extend(part.own_queue.as_ref().map(cell));
        out.add_row(row);
    }
    table::text(out)
}

fn plan(text: &mut String, place: &str, plan: &FixPlan) {
    if plan.steps.is_empty() && plan.by_hand.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{place}:");
    for step in &plan.steps {
        let target = Target { namespace: "", link: step.link.as_deref().unwrap_or_default() };
        let _ = writeln!(text, "  {}", step.operation.command(&target));
    }
    for by_hand in &plan.by_hand {
        let _ = writeln!(text, "  by hand: {}", by_hand.text);
    }
}

fn how(text: &mut String, answer: &Answer, written: Option<&[String]>) {
    let has_steps = [&answer.sender, &answer.receiver].iter().any(|plan| !plan.steps.is_empty());
    match written {
        Some(paths) if !paths.is_empty() => {
            text.push_str("\nWhat applies it, with an undo, on the host that it is for:\n");
            paths.iter().for_each(|path| text.push_str(&format!("  linerate host fix {path}\n")));
        }
        None if has_steps => {
            text.push_str("\n--fixes FOLDER writes this as plans that `linerate host fix` applies, with an undo.\n");
        }
        _ => {}
    }
}

/// What would be tried.
pub fn outlook(question: &Question, flows: u64, each: Duration, jobs: usize) -> String {
    let mut text = format!("{}: {}\n", question.name, question.about);
    let show = units::duration::show;
    let whole = each.saturating_mul(u32::try_from(flows / jobs.max(1) as u64).unwrap_or(u32::MAX));
    let _ = writeln!(text, "{flows} transfers, about {} with {jobs} at once: one takes {}", show(whole), show(each));
    text.push_str("\nWhat may be changed, with what it may become:\n");
    for dial in &question.dials {
        let value = |(place, value): (usize, &Value)| {
            if place == dial.present { format!("{value} (now)") } else { value.to_string() }
        };
        let values = dial.values.iter().enumerate().map(value).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "  {}: {values}", dial.parameter.name);
    }
    if !question.drawn.is_empty() {
        text.push_str("\nWhat is drawn for each transfer:\n");
    }
    for (place, distribution) in &question.drawn {
        let _ = writeln!(text, "  {}: {}", ALL[*place].name, drawn(distribution));
    }
    text
}

fn drawn(distribution: &Distribution) -> String {
    match distribution {
        Distribution::Each(values) => {
            format!("one of {}", values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        Distribution::Between { from, to, spread: Spread::Even } => format!("evenly from {from} to {to}"),
        Distribution::Between { from, to, spread: Spread::Log } => {
            format!("from {from} to {to}, evenly by its logarithm")
        }
    }
}

fn share(tried: &Tried) -> f64 {
    f64::from(tried.missed) / f64::from(tried.draws.max(1))
}

fn interval(tried: &Tried) -> String {
    format!("{} to {}", percent(tried.missed_low), percent(tried.missed_high))
}

/// Two digits where they tell something.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn time(micros: f64) -> String {
    QuantityKind::Time.of_number(micros).to_string()
}
