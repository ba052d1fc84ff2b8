//! A score for people: a line for each play as it ends, then the sums.

use std::fmt::Write;

use comfy_table::Table;
use diagnose::score::judge::{JudgedCause, Verdict};
use diagnose::score::summary::{CountOf, NOTHING};
use diagnose::score::{Missing, Score};
use twin::fidelity::Fidelity;
use units::duration::show;

use super::table;

/// Writing to a text does not fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{ let _ = writeln!($text, $($argument)*); }};
}

/// What became of one play.
pub fn play(number: usize, count: usize, verdict: &Verdict) -> String {
    let width = count.to_string().len();
    let mark = if verdict.is_right() { "right" } else { "WRONG" };
    let name = format!("{} #{}", verdict.scenario, verdict.seed);
    let mut text = format!("{number:>width$}/{count}  {mark}  {name:<26}");
    let mut says: Vec<String> = verdict.planted.iter().map(found).collect();
    let besides = verdict.besides.iter();
    says.extend(
        besides.map(|named| format!("not so: {} at {} {}", named.cause, named.place, percent(named.probability))),
    );
    if says.is_empty() {
        says.push("healthy".to_owned());
    }
    line!(text, "  {}", says.join("; "));
    for limit in &verdict.limited_by_emulation {
        line!(text, "{:width$}   doubtful, the emulation was the limit: {limit}", "");
    }
    text
}

fn found(found: &JudgedCause) -> String {
    let Some(named) = &found.named else {
        return format!("{} at {} was not seen", found.cause, found.at);
    };
    let named_as = format!("{} at {} {}", named.cause, named.place, percent(named.probability));
    match (found.rank, found.is_place_right) {
        (Some(1), true) => named_as,
        (Some(1), false) => format!("{named_as}, but it is at {}", found.at),
        (Some(rank), _) => format!("{named_as}; {} at {} is number {rank}", found.cause, found.at),
        (None, _) => format!("{named_as} for {} at {}", found.cause, found.at),
    }
}

/// What could not be judged.
pub fn missing(missing: &Missing) -> String {
    let seed = missing.seed.map(|seed| format!(" #{seed}")).unwrap_or_default();
    format!("not judged: {}{seed}: {}\n", missing.scenario, missing.why.trim().replace('\n', "\n    "))
}

/// All plays together: what was taken for what, and shares with their confidence intervals.
pub fn text(score: &Score) -> String {
    let mut text = String::from("\nplanted, and what was named first\n");
    confusion(&mut text, score);
    let mut sums = Table::new();
    let mut sum = |what: &str, part: CountOf| {
        if let Some(share) = part.share() {
            sums.add_row([what.to_owned(), percent(share), within(part), format!("{} of {}", part.count, part.of)]);
        }
    };
    sum("named first", score.first);
    sum("first, or not told from it", score.first_or_alike);
    sum("among the first three", score.among_three);
    sum("host or segment", score.place);
    if let Some(felt) = &score.felt {
        sum("of those that change a rate", felt.first);
        sum("  among the first three", felt.among_three);
        sum("  host or segment", felt.place);
    }
    if let Some(traced) = &score.with_trace {
        sum("of those that leave a trace", traced.first);
        sum("  among the first three", traced.among_three);
        sum("  host or segment", traced.place);
    }
    if let Some(unfelt) = &score.unfelt {
        sum("of those that change none", unfelt.first);
        sum("  among the first three", unfelt.among_three);
        sum("  host or segment", unfelt.place);
    }
    sum("said: not to be told apart", score.sets);
    sum("false alarms", score.false_alarms);
    sum("innocents blamed", score.innocents_blamed);
    line!(text, "\n{}", table::text(sums).trim_end());
    calibration(&mut text, score);
    if !score.plays.is_empty() {
        line!(
            text,
            "\nmeasured in {}, the median; diagnosed in {} at most",
            show(score.measured),
            show(score.diagnosed)
        );
    }
    let limited = score.plays.iter().filter(|play| !play.limited_by_emulation.is_empty()).count();
    if limited > 0 {
        line!(text, "{limited} plays are doubtful: the emulation was the limit, also when they were played again");
    }
    if !score.missing.is_empty() {
        line!(text, "{} were not judged", score.missing.len());
    }
    text
}

/// From where to where a share lies with 95 % confidence.
fn within(part: CountOf) -> String {
    let interval = diagnose::score::certainty::interval(part);
    interval.map(|of| format!("{} to {}", percent(of.from), percent(of.to))).unwrap_or_default()
}

/// How fast incidents were played and judged.
pub fn pace(count: usize, took: std::time::Duration) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a count of plays")]
    let rate = count as f64 / took.as_secs_f64().max(1e-9);
    format!("{count} incidents in {}: {rate:.1} a second\n", show(took))
}

fn confusion(text: &mut String, score: &Score) {
    let mut cells = Table::new();
    cells.set_header(["PLANTED", "NAMED", "TIMES", ""]);
    for taken in &score.confusion {
        let name = |name: &str| if name == NOTHING { "(nothing)".to_owned() } else { name.to_owned() };
        let mark = if taken.planted == taken.named { "" } else { "wrong" };
        cells.add_row([name(&taken.planted), name(&taken.named), taken.times.to_string(), mark.to_owned()]);
    }
    text.push_str(&table::text(cells));
}

fn calibration(text: &mut String, score: &Score) {
    let Some(brier) = score.brier else { return };
    for (what, estimate) in
        [("calibration error (ECE)", score.calibration_error), ("Brier score", score.brier_estimate)]
    {
        if let Some(of) = estimate {
            line!(text, "{what} {:.3} ({:.3} to {:.3})", of.value, of.interval.from, of.interval.to);
        }
    }
    let mut bands = Table::new();
    bands.set_header(["SAID", "MEAN", "RIGHT", ""]);
    for band in &score.calibration {
        bands.add_row([
            format!("{} to {}", percent(band.from), percent(band.to)),
            percent(band.said),
            band.right.share().map(percent).unwrap_or_default(),
            format!("{} of {}", band.right.count, band.right.of),
        ]);
    }
    line!(
        text,
        "\nBrier score {brier:.3}; how often what was said with some probability was right\n{}",
        table::text(bands).trim_end()
    );
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// Whether virtual plays tell what live ones told.
pub fn fidelity(fidelity: &Fidelity, plays: usize) -> String {
    let mut signs = Table::new();
    signs.set_header(["SIGN", "SAME", "DIFFERENT", "LIVE ONLY", "VIRTUAL ONLY"]);
    let (mut same, mut all) = (0, 0);
    for (name, of) in &fidelity.signs {
        same += of.same;
        all += of.same + of.different;
        let counts = [of.same, of.different, of.live_only, of.virtual_only].map(|count| count.to_string());
        signs.add_row([name.clone()].into_iter().chain(counts));
    }
    let mut text = String::new();
    for of in &fidelity.differences {
        text.push_str(&format!(
            "{} {}: {}\n    live    {}\n    virtual {}\n",
            of.scenario, of.label, of.sign, of.live, of.simulated
        ));
    }
    text.push_str(&format!(
        "\n{}\n\n{same} of {all} answers are the same, in {plays} plays\n",
        table::text(signs).trim_end()
    ));
    text
}
