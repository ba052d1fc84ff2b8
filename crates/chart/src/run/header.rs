//! The words around a run: what was tested, when, and what came of it.

use jiff::Timestamp;
use model::measurement::{DirectionTotal, SteadyState};
use model::run::{Outcome, Run};
use units::WallTime;

use super::story::Story;
use crate::header::Header;

/// What was tested, when, and what came of it.
pub(crate) fn header(story: &Story<'_>) -> Header {
    let run = story.run;
    let mut lines = vec![format!("{} · {}", test(run), started(run.started))];
    lines.extend(story.headings.iter().filter_map(|heading| {
        let total = story.total(*heading)?;
        let way = if story.headings.len() > 1 { format!("{}: ", story.way(*heading)) } else { String::new() };
        Some(format!("{way}{}", result(total)))
    }));
    if let Outcome::Failed(failure) = &run.outcome {
        lines.push(format!("failed ({}): {}", failure.kind.words(), failure.detail));
    }
    Header {
        title: title(story),
        lines,
        footer: format!("run {}", run.id),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    }
}

/// `dtn1 → dtn2: 94.1 Mbit/s`, each direction.
fn title(story: &Story<'_>) -> String {
    let each = story.headings.iter().map(|heading| {
        let way = story.way(*heading);
        match story.total(*heading) {
            Some(total) => format!("{way}: {}", total.goodput),
            None => way,
        }
    });
    let title = each.collect::<Vec<_>>().join(", ");
    if matches!(story.run.outcome, Outcome::Failed(_)) { format!("{title}, failed") } else { title }
}

fn test(run: &Run) -> String {
    let mut text = run.spec.summary();
    let flow = run.measurement.as_ref().and_then(|measurement| measurement.flows.first());
    if let Some(control) = flow.and_then(|flow| flow.congestion_control.as_ref()) {
        text.push_str(&format!(", {control}"));
    }
    if let Some(window) = run.spec.window {
        text.push_str(&format!(", socket buffers of {window}"));
    }
    text
}

fn result(total: &DirectionTotal) -> String {
    let moved = total.received.or(total.sent).unwrap_or_default();
    let end = if total.received.is_some() { "received" } else { "sent" };
    let mut parts = vec![format!("{moved} {end} in {}", units::duration::show(total.elapsed))];
    if let Some(count) = total.retransmits {
        parts.push(format!("{count} {} retransmitted", if count.get() == 1 { "segment" } else { "segments" }));
    }
    if let Some(counts) = &total.datagrams {
        parts.push(match total.received {
            Some(_) => format!("{} of {} datagrams lost", counts.lost, counts.sent),
            None => format!("{} datagrams, not known how many arrived", counts.sent),
        });
    }
    if total.steady == SteadyState::NotReached {
        parts.push("no steady state reached".to_owned());
    }
    parts.join(" · ")
}

/// By the clock that is the same for everybody who looks at the picture.
fn started(time: WallTime) -> String {
    Timestamp::from_nanosecond(i128::from(time.unix_nanos()))
        .map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}
