//! How fast and how right captures are explained.
//!
//! Speed is that of `trace_speed`, counts beside other programs those of `trace_truth`, and files that were made to do harm are those of
//! `trace_hostile`. Verdicts: simulated transfers whose limit is known, on seeds that no rule was tuned on. Policers:
//! the captures of Flach et al. (SIGCOMM 2016), where `scripts/policer-captures` has fetched them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use capture::report::TransferReport;
use capture::verdict::Cause;
use path::Seed;

use super::trace_speed::read;
use super::{trace_hostile, trace_speed, trace_truth};
use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::labelled::{Label, captured, case};
use crate::outcome::{Row, Target};

/// Rules were tuned on other seeds.
const JUDGED: Seed = Seed(0x7ace);

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = trace_speed::rows(actors, effort)?;
    rows.extend(trace_truth::rows(effort)?);
    rows.extend(trace_hostile::rows(actors)?);
    rows.extend(verdicts(effort.choose(300, 10_000))?);
    rows.extend(policers().unwrap_or_else(|error| vec![Row::failed("policers of the public captures", &error)]));
    Ok(rows)
}

/// Right ones of all.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    right: u32,
    of: u32,
}

/// Whether a transfer is what it is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judgment {
    Yes,
    No,
}

impl Score {
    fn count(&mut self, judgment: Judgment) {
        (self.right, self.of) = (self.right + u32::from(judgment == Judgment::Yes), self.of + 1);
    }

    fn percent(self) -> f64 {
        100.0 * f64::from(self.right) / f64::from(self.of.max(1))
    }

    /// Half of a 95 % interval (Wilson).
    fn half_width(self) -> f64 {
        let (n, share) = (f64::from(self.of.max(1)), self.percent() / 100.0);
        let z = 1.96_f64;
        100.0 * z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt()
    }
}

/// A verdict with so much probability is sure.
const SURE: f64 = 0.9;

/// Counts, and a 95 % interval.
fn interval(score: &Score) -> String {
    format!("{} of {}, +- {:.1}", score.right, score.of, score.half_width())
}

fn verdicts(count: usize) -> anyhow::Result<Vec<Row>> {
    let mut scores: BTreeMap<Label, Score> = BTreeMap::new();
    let (mut sure, mut others) = (Score::default(), BTreeMap::<Label, BTreeMap<&str, u32>>::new());
    for number in 0..count {
        let case = case(JUDGED, number);
        let report = read(&captured(&case)?);
        let transfer = report.connections.first().and_then(|connection| connection.transfers.first());
        let first = transfer.and_then(|transfer| transfer.verdicts.first());
        let is_right = first.is_some_and(|verdict| verdict.cause == case.label.cause());
        let judgment = if is_right { Judgment::Yes } else { Judgment::No };
        scores.entry(case.label).or_default().count(judgment);
        if !is_right {
            let named = first.map_or("nothing", |verdict| verdict.cause.name());
            *others.entry(case.label).or_default().entry(named).or_default() += 1;
        }
        if first.is_some_and(|verdict| verdict.confidence >= SURE) {
            sure.count(if is_right { Judgment::No } else { Judgment::Yes });
        }
    }
    let instead = |label: &Label| {
        let named = others.get(label).into_iter().flatten().map(|(name, count)| format!("{name} {count}"));
        named.collect::<Vec<_>>().join(", ")
    };
    let row = |name: &str, score: &Score| {
        Row::new(format!("limit named first: {name}"), score.percent(), "%").note(interval(score))
    };
    let all = scores
        .values()
        .fold(Score::default(), |sum, score| Score { right: sum.right + score.right, of: sum.of + score.of });
    let sure = Row::new("limit named first with 90 % and more, and wrong", sure.percent(), "%").note(interval(&sure));
    let mut rows = vec![row("all", &all).target(Target::AtLeast(97.0)), sure];
    rows.extend(scores.iter().map(|(label, score)| {
        let row = row(label.name(), score);
        let instead = instead(label);
        if instead.is_empty() { row } else { row.note(format!("{}; instead: {instead}", interval(score))) }
    }));
    Ok(rows)
}

/// Where the script puts the public captures.
const CAPTURES: &str = "target/policer-captures";

fn policers() -> anyhow::Result<Vec<Row>> {
    let files: Vec<PathBuf> = fs::read_dir(CAPTURES)
        .context("no public captures; `scripts/policer-captures` fetches them (130 MB)")?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "pcap"))
        .collect();
    ensure!(!files.is_empty(), "no captures in {CAPTURES}");
    let [mut alone, mut several, mut others] = [Score::default(); 3];
    for file in files {
        let report = read(&fs::read(&file)?);
        let is_policer =
            |transfer: &TransferReport| transfer.verdicts.iter().any(|verdict| verdict.cause == Cause::Policer);
        let is_found = report.connections.iter().flat_map(|connection| &connection.transfers).any(is_policer);
        let found = if is_found { Judgment::Yes } else { Judgment::No };
        // Names hold the settings: a policer's rate, and both clients of two flows.
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match (name.contains("PCIR="), name.contains("CD1=")) {
            (true, false) => alone.count(found),
            (true, true) => several.count(found),
            (false, _) => others.count(found),
        }
    }
    let row = |what: &str, score: Score| {
        Row::new(what, score.percent(), "%").note(format!(
            "{} of {}, +- {:.1}",
            score.right,
            score.of,
            score.half_width()
        ))
    };
    Ok(vec![
        row("public captures: policers found, one flow", alone).target(Target::AtLeast(93.0)),
        row("public captures: policers found, several flows", several).target(Target::AtLeast(80.0)),
        row("public captures: shapers and random loss called policers", others).target(Target::AtMost(1.0)),
    ])
}
