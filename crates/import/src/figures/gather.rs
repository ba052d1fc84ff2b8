//! The figures of a file: those of its text, and those that its tests, echoes and transfers measured.

use std::time::Duration;

use model::measurement::Heading;
use model::spec::Protocol;

use super::aspects::{Aspects, Towards};
use super::counted;
use super::layout::{self, Part, ProseLine, lower};
use super::meaning::{self, Place};
use super::{Figure, FigureSource, FigureValue, amount};
use super::{changes, ladder};
use crate::Imported;
use crate::evidence::{Evidence, Shown};

/// All of a file, in its order.
pub(crate) fn gather(prose: &[ProseLine], tests: &[Imported], evidence: &[Evidence]) -> Vec<Figure> {
    let mut all: Vec<Figure> = Vec::new();
    for part in layout::parts(prose) {
        all.extend(of_part(&part));
        if all.len() >= MOST {
            break;
        }
    }
    for line in prose.iter().take(MOST_LINES) {
        all.extend(changes::of(line));
        all.extend(ladder::of(line));
        all.extend(printed_rtt(line));
    }
    let above = |line: usize| said_above(prose, line);
    all.extend(tests.iter().take(MOST_TESTS).flat_map(|test| of_test(test, &above(test.line))));
    all.extend(evidence.iter().take(MOST_TESTS).flat_map(|item| of_evidence(item, &above(item.line))));
    all.sort_by_key(|figure| figure.line);
    all
}

/// More are a matrix or a monitoring system's dump.
const MOST: usize = 500;
const MOST_TESTS: usize = 100;
/// Of so many lines the commands and the like are looked for.
const MOST_LINES: usize = 5_000;

const ANOTHER_DAY: [&str; 27] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "yesterday",
    "gestern",
    "ontem",
    "ayer",
    "hier",
    "last",
    "letzte",
    "week",
    "woche",
    "month",
    "monat",
    "normally",
    "usually",
];

/// `ping during the first run: rtt min/avg/max/mdev = 16.611/16.784/17.213/0.102 ms`: the mean, and what the words say of it.
fn printed_rtt(line: &ProseLine) -> Option<Figure> {
    let (before, behind) = line.text.split_once("min/avg/max")?;
    let mean = behind.split_once('=')?.1.split('/').nth(1)?;
    let rtt = crate::quantity::milliseconds(mean.trim())?;
    let words = lower(&layout::words_of(before));
    let mut of = Aspects::of(&words);
    // `on Monday (monitoring)`: of another day than what was measured here.
    if of.moment.is_none() && words.iter().any(|word| ANOTHER_DAY.contains(&word.trim_end_matches(':'))) {
        of.moment = Some(super::Moment::Before);
    }
    Some(Figure { line: line.number, value: FigureValue::Rtt(rtt), of, source: FigureSource::Text })
}

fn of_part(part: &Part) -> Vec<Figure> {
    let words: Vec<&str> = part.words.iter().map(String::as_str).collect();
    let lower = lower(&part.words);
    let own = Aspects::of(&lower);
    let beside = Aspects { name: part.name.clone(), ..Aspects::of(&part.beside) };
    let of = own.or(&beside).or(&Aspects::of(&part.heading));
    let mut found: Vec<FigureValue> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some(spanned) = amount::at(&words[at..]) else {
            at += 1;
            continue;
        };
        let place = Place { words: &lower, at: at..at + spanned.words, beside: &part.beside };
        found.extend(meaning::of(spanned.amount, &place));
        at += spanned.words;
    }
    // Of the only RTT beside a rate.
    let mut rtts = found.iter().filter_map(|value| if let FigureValue::Rtt(rtt) = value { Some(*rtt) } else { None });
    let rtt = rtts.next().filter(|_| rtts.next().is_none());
    found.extend(counted::of(part));
    let figure =
        |value| Figure { line: part.line, value, of: Aspects { rtt, ..of.clone() }, source: FigureSource::Text };
    found.into_iter().map(figure).collect()
}

/// What the lines directly above an output say of it.
fn said_above(prose: &[ProseLine], line: usize) -> Aspects {
    let behind = prose.partition_point(|one| one.number < line);
    // Fences of Markdown and what somebody put into brackets say nothing of what was measured.
    let is_said = |one: &&ProseLine| {
        let text = one.text.trim();
        !text.starts_with(['`', '[']) && text.contains(char::is_alphabetic)
    };
    let near = prose[..behind].iter().rev().take_while(|one| line - one.number <= FAR_ABOVE).filter(is_said);
    let near = near.take(LINES_ABOVE);
    let mut said = Aspects::default();
    for one in near {
        let words = lower(&layout::words_of(&one.text));
        if words.len() > HEADING_WORDS {
            break;
        }
        said = said.or(&Aspects::of(&words));
        if said.name.is_none() {
            said.name = Some(one.text.trim().trim_end_matches(':').to_owned());
        }
    }
    said
}

const LINES_ABOVE: usize = 2;
const FAR_ABOVE: usize = 5;
/// More words are a story, and may be of several outputs.
const HEADING_WORDS: usize = 24;

fn of_test(test: &Imported, above: &Aspects) -> Vec<Figure> {
    let totals = test.measurement.iter().flat_map(|found| &found.totals);
    totals
        .map(|total| {
            let towards = if total.heading == Heading::Outbound { Towards::Up } else { Towards::Down };
            // Rows alone do not say which way they went; what stands above them may.
            let is_nameless = test.command.is_empty() && test.peer.target == "unknown";
            let said = above.towards.filter(|_| is_nameless);
            let own = Aspects {
                towards: said.or(Some(towards)),
                streams: Some(test.spec.streams),
                protocol: Some(test.spec.protocol),
                ..Aspects::default()
            };
            let mut of = own.or(above);
            // Memory to memory: it has no disk, whatever the words above say of files.
            of.marks.retain(|mark| mark.thing != super::Thing::Disk);
            of.marks.push(super::Mark { thing: super::Thing::Disk, on: false });
            Figure { line: test.line, value: FigureValue::Reached(total.goodput), of, source: FigureSource::Output }
        })
        .filter(|figure| figure.reached().is_some_and(|rate| rate.bps() > 0))
        .collect()
}

fn of_evidence(item: &Evidence, above: &Aspects) -> Vec<Figure> {
    let figure = |value, of: Aspects| Figure { line: item.line, value, of: of.or(above), source: FigureSource::Output };
    match &item.shows {
        Shown::Transfer(one) => {
            let towards = if one.heading == Heading::Outbound { Towards::Up } else { Towards::Down };
            let of = Aspects {
                towards: Some(towards),
                protocol: Some(Protocol::Tcp),
                marks: vec![super::Mark { thing: super::Thing::Disk, on: true }],
                ..Aspects::default()
            };
            vec![figure(FigureValue::Reached(one.rate), of)]
        }
        Shown::Download(one) => {
            let of = Aspects { towards: Some(Towards::Down), protocol: Some(Protocol::Tcp), ..Aspects::default() };
            one.goodput.map(|rate| figure(FigureValue::Reached(rate), of)).into_iter().collect()
        }
        Shown::Echo(series) => {
            let least = series.summary.rtt.min_us.map(Duration::from_micros);
            least.map(|rtt| figure(FigureValue::Rtt(rtt), Aspects::default())).into_iter().collect()
        }
        Shown::Hops(trace) => {
            let last = trace.hops.last().and_then(|hop| hop.answers.iter().map(|answer| answer.rtt).min());
            last.map(|rtt| figure(FigureValue::Rtt(rtt), Aspects::default())).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
