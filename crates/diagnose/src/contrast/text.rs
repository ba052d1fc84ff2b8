//! Contrasts in words.

use std::fmt;

use super::class::Effort;
use super::history::{History, Step, Suspect};
use super::rank::{Contrast, Flip, Separator};

/// Several lines, what to try first before all others.
impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} bad ({}), {} good", self.bad.len(), self.bad.join(", "), self.good.len())?;
        if self.separators.is_empty() {
            return writeln!(f, "nothing that is known separates them");
        }
        for (rank, separator) in (1..).zip(self.separators.iter().take(SHOWN)) {
            writeln!(f, "{rank}. {separator}")?;
        }
        if let Some(more) = self.separators.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            writeln!(f, "   and {more} more")?;
        }
        if !self.separators.iter().any(|separator| separator.is_significant) {
            let (least, ways) = (self.least_p, self.ways);
            writeln!(
                f,
                "no proof: chance separates so few hosts in {ways} ways with p {least:.2} at the least; only a change tells"
            )?;
        }
        self.next.iter().try_for_each(|flip| writeln!(f, "next: {flip}"))
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = self.usual.as_deref().unwrap_or("no such thing");
        write!(f, "{}: {} (good: {usual})", self.name, self.mark)?;
        write!(
            f,
            ", score {:.2} = {:.2} separation x {:.2} rarity x {:.2} {}, p {:.2}",
            self.score, self.separation, self.rarity, self.prior, self.class, self.p
        )?;
        if let Some(shown) = &self.proxy_of {
            write!(f, "; a sign of {shown}")?;
        }
        if !self.against.is_empty() {
            write!(f, "; against it: {}", self.against.join(", "))?;
        }
        Ok(())
    }
}

/// How many attributes are printed.
const SHOWN: usize = 5;

impl fmt::Display for Flip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "no such thing".to_owned());
        write!(f, "on {} turn {} from {} to {}", self.host, self.attribute, value(&self.from), value(&self.to))?;
        let how = match self.effort {
            Effort::Running => "repeat the bad tests, and turn it back where they stay bad",
            Effort::Restart => "start it anew and repeat the bad tests",
            Effort::Hardware => "that is, try other hardware, and repeat the bad tests",
        };
        write!(f, "; {how}")
    }
}

/// A line for each change of the rate, with what came before it.
impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return writeln!(f, "the rate has not changed by more than noise");
        }
        self.steps.iter().try_for_each(|step| write!(f, "{step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.after / self.before - 1.0) * 100.0;
        let (before, after) = (short(self.before), short(self.after));
        writeln!(f, "the rate went from {before} to {after} ({percent:+.0} %), p {:.1e}", self.p)?;
        if self.suspects.is_empty() {
            return writeln!(f, "  no entry of the change log precedes it");
        }
        (1..).zip(&self.suspects).try_for_each(|(rank, suspect)| writeln!(f, "  {rank}. {suspect}"))
    }
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = &self.entry;
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let subject = entry.subject.as_ref().map(|subject| format!("{subject}: ")).unwrap_or_default();
        write!(
            f,
            "{}, {subject}{} from {} to {} ({})",
            entry.host,
            entry.fact,
            value(&entry.old),
            value(&entry.new),
            self.class
        )?;
        match self.good_since {
            0 => f.write_str(", after the last good test"),
            1 => f.write_str(", but one test was still good after it"),
            more => write!(f, ", but {more} tests were still good after it"),
        }?;
        if self.is_on_path { Ok(()) } else { f.write_str(", on a host that is not at this path") }
    }
}

/// A number to three digits.
fn short(number: f64) -> String {
    let digits = if number == 0.0 { 0.0 } else { number.abs().log10().floor() };
    let after_point = if digits >= 2.0 {
        0
    } else if digits >= 1.0 {
        1
    } else if digits >= 0.0 {
        2
    } else {
        4
    };
    format!("{number:.after_point$}")
}
