//! The answer in words.

use std::collections::BTreeSet;
use std::fmt;

use super::cell::Symptom;
use super::element::{Element, Network};
use super::explanation::{Ambiguity, Blamed, Explanation, Located, SeparatingTest, Tester};

/// Several lines, the likeliest explanation first.
impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {} cells are bad", self.symptom, self.bad, self.known)?;
        if self.unknown > 0 {
            write!(f, ", {} are not known", self.unknown)?;
        }
        if self.explanations.is_empty() && self.bad > 0 {
            f.write_str(", and no part of the network explains them better than chance does")?;
        }
        writeln!(f)?;
        // What is this unlikely is told where it cannot be told apart, and only there.
        let likely = self.explanations.iter().enumerate().filter(|(at, other)| *at == 0 || other.probability >= 0.01);
        for (rank, (_, explanation)) in (1..).zip(likely) {
            write_explanation(f, rank, explanation, self.bad)?;
        }
        if let Some(ambiguity) = &self.ambiguity {
            write_ambiguity(f, ambiguity)?;
        }
        if !self.unexplained.is_empty() {
            writeln!(f, "not explained: {}", listed(&self.unexplained))?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

fn write_explanation(f: &mut fmt::Formatter<'_>, rank: usize, explanation: &Explanation, bad: usize) -> fmt::Result {
    let blamed: Vec<String> = explanation.blamed.iter().map(ToString::to_string).collect();
    writeln!(f, "{rank}. {}", blamed.join("; and "))?;
    let (explained, against) = (explanation.explained.len(), explanation.contradicting.len());
    writeln!(
        f,
        "   hit ratio {:.2} ({explained} of {}), coverage {explained}/{bad}, probability {}",
        explanation.hit_ratio(),
        explained + against,
        percent(explanation.probability)
    )?;
    if against > 0 {
        writeln!(f, "   against it: {} good", listed(&explanation.contradicting))?;
    }
    let alias: BTreeSet<String> =
        explanation.blamed.iter().flat_map(|blamed| &blamed.alias).map(ToString::to_string).collect();
    if !alias.is_empty() {
        writeln!(f, "   the same hosts: {}", alias.into_iter().collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}

fn write_ambiguity(f: &mut fmt::Formatter<'_>, ambiguity: &Ambiguity) -> fmt::Result {
    writeln!(f, "these measurements cannot tell apart; fewer faults are likelier by themselves:")?;
    for (letter, set) in ('a'..='z').zip(&ambiguity.between) {
        writeln!(f, "  {letter}) {}", together(set))?;
    }
    match &ambiguity.test {
        Some(test) => writeln!(f, "the test that would: {test}"),
        None => writeln!(f, "no test between hosts that are known would"),
    }
}

fn together(set: &[Element]) -> String {
    set.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ")
}

impl fmt::Display for Blamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (passes {})", self.element, part(self.passes))
    }
}

impl fmt::Display for SeparatingTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {} to {}", self.from, self.to)?;
        if let Network::Named(name) = &self.network {
            write!(f, " in {name}")?;
        }
        write!(f, "; bad means {}, good means {}", letters(&self.bad_under), letters(&self.good_under))
    }
}

impl fmt::Display for Tester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member { host } => f.write_str(host),
            Self::Newcomer { apart_from } if apart_from.is_empty() => f.write_str("a further host"),
            Self::Newcomer { apart_from } => {
                let apart: Vec<String> = apart_from.iter().map(ToString::to_string).collect();
                write!(f, "a further host that is not {}", apart.join(", nor "))
            }
        }
    }
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Goodput => "goodput",
            Self::Download => "downloads",
            Self::Loss => "loss",
            Self::Mtu => "packet size",
        })
    }
}

fn letters(places: &[usize]) -> String {
    let letter = |place: &usize| ('a'..='z').nth(*place).unwrap_or('?').to_string();
    places.iter().map(letter).collect::<Vec<_>>().join(" or ")
}

/// The first few of a list, and how many more there are.
fn listed<T: fmt::Display>(all: &[T]) -> String {
    let first: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    match all.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// How many pairs a line names.
const SHOWN: usize = 6;

fn percent(part: f64) -> String {
    match part * 100.0 {
        percent if percent > 99.9 => "> 99.9 %".to_owned(),
        percent if percent < 0.1 => "< 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// The part of what should pass: percent, or one in how many.
fn part(part: f64) -> String {
    if part >= 0.001 { format!("{:.2} %", part * 100.0) } else { format!("one part in {:.0}", 1.0 / part) }
}
