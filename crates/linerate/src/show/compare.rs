//! Runs beside each other: what differs in what was asked for, in the hosts, in the result, and whether the difference
//! is more than noise.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use comfy_table::Table;
use model::archived::{ComparedRuns, RunComparison, RunDifference};
use model::run::{Outcome, Run};
use serde::Serialize;
use serde_json::Value;
use stats::rank;
use stats::summary::Ordered;
use units::DataRate;
use units::duration::show;

use super::list::NAME;
use super::{table, when};

/// The spread of a repeated test, and how it compares with stored runs where some are given.
pub fn repeated(runs: &[Run], against: Option<&[Run]>) -> String {
    let mut text = format!("\n{}\n", spread("these runs", &goodputs(runs)));
    if let Some(stored) = against {
        text.push_str(&format!("{}\n", spread("the stored ones", &goodputs(stored))));
        text.push_str(&format!("{}\n", judgement(&goodputs(stored), &goodputs(runs))));
    }
    text
}

/// Two sets of runs beside each other. The first of each stands for what was asked for and for the hosts.
///
/// Where that does not fit `width` columns, runs have the first letters of their names, by which every command finds them; where
/// it still does not, what differs stands under each other.
pub fn sets(a: &[Run], b: &[Run], width: Option<usize>) -> String {
    let (mut whole, same) = side_by_side(a, b, usize::MAX);
    let longest = table::columns_of(&table::side_by_side(&mut whole));
    let table = if width.is_some_and(|width| width < longest) { side_by_side(a, b, NAME).0 } else { whole };
    let mut text = table::fitting(table, width);
    if same == Sameness::Same {
        text.push_str("the tests and the hosts are the same, as far as they are known\n");
    }
    text.push_str(&format!("{}\n", judgement(&goodputs(a), &goodputs(b))));
    text
}

/// Whether the tests and the hosts of two runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sameness {
    Same,
    Different,
}

/// A column for each set of runs, whose names have at most so many letters.
fn side_by_side(a: &[Run], b: &[Run], letters: usize) -> (Table, Sameness) {
    let mut table = Table::new();
    let mut same = Sameness::Same;
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return (table, same) };
    table.set_header(["", "A", "B"]);
    table.add_row(["run".to_owned(), name(a, letters), name(b, letters)]);
    table.add_row(["started".to_owned(), when::local(first_a.started), when::local(first_b.started)]);
    let result = if a.len() > 1 || b.len() > 1 { "first result" } else { "result" };
    for (part, a, b) in [
        ("test", facts(&first_a.spec), facts(&first_b.spec)),
        ("this host", facts(&first_a.local), facts(&first_b.local)),
        ("peer", facts(&first_a.peer), facts(&first_b.peer)),
        (result, results(first_a), results(first_b)),
    ] {
        for (fact, a, b) in differing(&a, &b) {
            if part != result {
                same = Sameness::Different;
            }
            table.add_row([format!("{part}: {fact}"), a, b]);
        }
    }
    (table, same)
}

/// Two sets of runs beside each other, for programs; schema: docs/formats/run-comparison.schema.json. The first run of
/// each set stands for what was asked for and for the hosts.
pub fn comparison(a: &[Run], b: &[Run]) -> RunComparison {
    let (rates_a, rates_b) = (goodputs(a), goodputs(b));
    let medians = Ordered::new(rates_a.clone()).median().zip(Ordered::new(rates_b.clone()).median());
    let enough = rates_a.len() >= FEWEST && rates_b.len() >= FEWEST;
    let side = |runs: &[Run], rates: &[f64]| ComparedRuns {
        runs: runs.iter().map(|run| run.id).collect(),
        median_goodput_bps: Ordered::new(rates.to_vec()).median(),
    };
    RunComparison {
        a: side(a, &rates_a),
        b: side(b, &rates_b),
        differences: a.first().zip(b.first()).map_or_else(Vec::new, |(a, b)| differences(a, b)),
        change_percent: medians.filter(|(a, _)| *a > 0.0).map(|(a, b)| (b / a - 1.0) * 100.0),
        p_two_sided: rank::test(&rates_a, &rates_b).filter(|_| enough).map(|test| test.p_two_sided),
        judgement: judgement(&rates_a, &rates_b),
    }
}

/// What differs between two runs, by subject.
fn differences(a: &Run, b: &Run) -> Vec<RunDifference> {
    let subjects = [
        ("test", facts(&a.spec), facts(&b.spec)),
        ("this host", facts(&a.local), facts(&b.local)),
        ("peer", facts(&a.peer), facts(&b.peer)),
        ("result", results(a), results(b)),
    ];
    let of = |(subject, a, b): (&str, BTreeMap<String, String>, BTreeMap<String, String>)| {
        let names: BTreeSet<String> = a.keys().chain(b.keys()).cloned().collect();
        let differing = names.into_iter().filter(|name| a.get(name) != b.get(name));
        let found: Vec<RunDifference> = differing
            .map(|fact| RunDifference {
                subject: subject.to_owned(),
                a: a.get(&fact).cloned(),
                b: b.get(&fact).cloned(),
                fact,
            })
            .collect();
        found
    };
    subjects.into_iter().flat_map(of).collect()
}

fn name(runs: &[Run], letters: usize) -> String {
    let of = |run: &Run| run.id.to_string().chars().take(letters).collect::<String>();
    match runs {
        [only] => of(only),
        [first, ..] => format!("{} and {} more", of(first), runs.len() - 1),
        [] => String::new(),
    }
}

/// Whether B is faster or slower than A, and whether that could be chance.
fn judgement(a: &[f64], b: &[f64]) -> String {
    let medians = Ordered::new(a.to_vec()).median().zip(Ordered::new(b.to_vec()).median());
    let Some((before, after)) = medians else { return "nothing to compare: no run has a goodput".to_owned() };
    let change = if before > 0.0 { (after / before - 1.0) * 100.0 } else { 0.0 };
    let difference = format!("median goodput {} against {} ({change:+.1} %)", rate(after), rate(before));
    if a.len() < FEWEST || b.len() < FEWEST {
        return format!(
            "{difference}: with {} and {} runs nobody can tell this from noise; `linerate test --repeat {FEWEST}` makes enough",
            b.len(),
            a.len()
        );
    }
    let Some(compared) = rank::compare(a, b) else { return difference };
    let word = if compared.p_two_sided < LEVEL { "more than noise" } else { "not more than noise" };
    format!("{difference}: {word} (Mann-Whitney, p = {:.3}, {} and {} runs)", compared.p_two_sided, b.len(), a.len())
}

/// With four runs on each side the smallest p that the rank test can give is 0.029, with three it is 0.1.
const FEWEST: usize = 4;
/// A difference that chance alone would make less often than this is taken for one.
const LEVEL: f64 = 0.05;

fn spread(what: &str, goodputs: &[f64]) -> String {
    let ordered = Ordered::new(goodputs.to_vec());
    let (Some(median), Some(min), Some(max)) = (ordered.median(), ordered.min(), ordered.max()) else {
        return format!("{what}: no goodput");
    };
    let deviation = ordered.mad().filter(|_| median > 0.0).map_or(0.0, |mad| mad / median * 100.0);
    format!(
        "{what}: median {} of {}, from {} to {}, half of them within {deviation:.1} %",
        rate(median),
        goodputs.len(),
        rate(min),
        rate(max)
    )
}

/// The goodput of each run that ended as it should; of a test both ways the slower direction.
#[expect(clippy::cast_precision_loss, reason = "a rate below 2^53 bit/s is exact")]
fn goodputs(runs: &[Run]) -> Vec<f64> {
    let slowest = |run: &Run| run.measurement.as_ref()?.totals.iter().map(|total| total.goodput).min();
    let complete = runs.iter().filter(|run| run.outcome == Outcome::Complete);
    complete.filter_map(slowest).map(|rate| rate.bps() as f64).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of rates is a rate")]
fn rate(bps: f64) -> DataRate {
    DataRate::from_bps(bps.round() as u64)
}

fn results(run: &Run) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for total in run.measurement.iter().flat_map(|measurement| &measurement.totals) {
        let way = super::intervals::way(total.heading);
        facts.insert(format!("goodput {way}"), total.goodput.to_string());
        if let Some(retransmits) = total.retransmits {
            facts.insert(format!("retransmits {way}"), retransmits.to_string());
        }
        if let Some(datagrams) = &total.datagrams {
            facts.insert(format!("datagrams lost {way}"), format!("{} of {}", datagrams.lost, datagrams.sent));
        }
    }
    let latency = run.measurement.as_ref().and_then(|measurement| measurement.latency.as_ref());
    for (name, summary) in [("idle", latency.and_then(|l| l.idle)), ("loaded", latency.and_then(|l| l.loaded))] {
        if let Some(median) = summary.and_then(|summary| summary.median_us) {
            facts.insert(format!("RTT {name} median"), show(Duration::from_micros(median)));
        }
    }
    facts
}

/// An object as flat facts, without what differs from run to run by nature.
fn facts<T: Serialize>(value: &T) -> BTreeMap<String, String> {
    const BY_NATURE: [&str; 2] = ["address", "target"];
    let mut facts = BTreeMap::new();
    // By way of text: a writer of values would be a second one of each type.
    let value = serde_json::to_vec(value).and_then(|text| serde_json::from_slice(&text)).unwrap_or_default();
    flatten("", &value, &mut facts);
    facts.retain(|name, _| !BY_NATURE.contains(&name.as_str()));
    facts
}

fn flatten(name: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(&name, member, facts);
            }
        }
        Value::String(text) => {
            facts.insert(name.to_owned(), text.clone());
        }
        other => {
            facts.insert(name.to_owned(), other.to_string());
        }
    }
}

fn differing(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<(String, String, String)> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let text =
        |facts: &BTreeMap<String, String>, name: &String| facts.get(name).cloned().unwrap_or_else(|| "-".to_owned());
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| (name.clone(), text(a, name), text(b, name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_runs_are_not_judged_and_many_are() {
        assert!(judgement(&[9e8], &[1e8]).contains("nobody can tell this from noise"));
        let fast = [9.0e8, 9.1e8, 9.2e8, 9.3e8, 9.4e8];
        let slow = [1.0e8, 1.1e8, 1.2e8, 1.3e8, 1.4e8];
        let text = judgement(&fast, &slow);
        assert!(text.contains("(-87.0 %): more than noise (Mann-Whitney, p = 0.008"), "{text}");
        assert!(judgement(&fast, &fast).contains("not more than noise"));
        assert!(judgement(&[], &fast).contains("nothing to compare"));
    }

    #[test]
    fn only_what_differs_is_shown_by_its_full_name() {
        let old = facts(&serde_json::json!({"kernel": "6.1", "device": {"mtu_bytes": 9000}, "address": "x"}));
        let new =
            facts(&serde_json::json!({"kernel": "6.1", "device": {"mtu_bytes": 1500, "name": "em1"}, "address": "y"}));
        let rows = differing(&old, &new);
        assert_eq!(rows[0], ("device.mtu_bytes".to_owned(), "9000".to_owned(), "1500".to_owned()));
        assert_eq!(rows[1], ("device.name".to_owned(), "-".to_owned(), "em1".to_owned()));
        assert_eq!(rows.len(), 2);
    }
}
