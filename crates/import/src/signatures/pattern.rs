//! Lines with gaps: `rx-usecs: {rx}`, `peer {name:word} ... {age} days`.

use std::collections::BTreeMap;

/// What gaps hold: numbers in thousandths, and all of them as they are printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Captures {
    pub(super) numbers: BTreeMap<String, u64>,
    pub(super) texts: BTreeMap<String, String>,
}

/// A line as a table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// A word that each line has, by which lines are looked up.
    pub(super) word: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Gap {
        name: String,
        of: GapKind,
    },
    /// Any text, also none.
    Any,
}

/// What a gap may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GapKind {
    Number,
    Word,
    /// A power in dBm, of which the attenuation below 1 mW is the number.
    Dbm,
    /// Some words.
    Text,
}

impl Pattern {
    /// Of its text; `None` where a gap has no end or no known kind.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(behind) = rest.strip_prefix("...") {
                parts.push(Part::Any);
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix('{') {
                let (gap, behind) = behind.split_once('}')?;
                let (name, of) = match gap.split_once(':') {
                    None => (gap, GapKind::Number),
                    Some((name, "word")) => (name, GapKind::Word),
                    Some((name, "dbm")) => (name, GapKind::Dbm),
                    Some((name, "text")) => (name, GapKind::Text),
                    Some(_) => return None,
                };
                parts.push(Part::Gap { name: name.to_owned(), of });
                rest = behind;
            } else {
                let end = rest.find('{').unwrap_or(rest.len()).min(rest.find("...").unwrap_or(rest.len()));
                parts.push(Part::Text(rest[..end].to_owned()));
                rest = &rest[end..];
            }
        }
        // Each row of iperf has the last of these.
        let is_plain = |word: &&str| !word.contains('{') && !word.contains("...") && *word != "sec";
        let word = text.split_whitespace().filter(is_plain).max_by_key(|word| word.len()).map(str::to_owned);
        Some(Self { parts, word })
    }

    /// The text that such a line begins with.
    pub(super) fn start(&self) -> Option<&str> {
        match self.parts.first() {
            Some(Part::Text(start)) => Some(start),
            _ => None,
        }
    }

    /// What the gaps of a line hold, if it is such a line. Blanks are compared as one.
    pub(super) fn find(&self, line: &str) -> Option<Captures> {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut found = Captures::default();
        rest_fits(&self.parts, &line, &mut found).then_some(found)
    }

    /// The names of its gaps that hold numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Gap { name, of: GapKind::Number | GapKind::Dbm } => Some(name.as_str()),
            _ => None,
        })
    }
}

fn rest_fits(parts: &[Part], text: &str, found: &mut Captures) -> bool {
    let Some((first, parts)) = parts.split_first() else { return text.is_empty() };
    match first {
        Part::Text(own) => text.strip_prefix(own.as_str()).is_some_and(|rest| rest_fits(parts, rest, found)),
        Part::Any => match parts.first() {
            None => true,
            // What stands behind it begins at a text of its own.
            Some(Part::Text(own)) => {
                let starts = text.match_indices(own.as_str()).take(MOST_STARTS).map(|(at, _)| at);
                starts.into_iter().any(|at| rest_fits(parts, &text[at..], found))
            }
            Some(_) => {
                let starts = text.match_indices(' ').take(MOST_STARTS).map(|(at, _)| at + 1);
                std::iter::once(0).chain(starts).any(|at| rest_fits(parts, &text[at..], found))
            }
        },
        Part::Gap { name, of: GapKind::Text } => {
            let ends = match parts.first() {
                Some(Part::Text(own)) => text.find(own.as_str()),
                _ => Some(text.len()),
            };
            let Some(end) = ends.filter(|end| *end > 0) else { return false };
            found.texts.insert(name.clone(), text[..end].trim().to_owned());
            rest_fits(parts, &text[end..], found)
        }
        Part::Gap { name, of: GapKind::Word } => {
            let end = word_end(text, parts.first());
            found.texts.insert(name.clone(), text[..end].to_owned());
            end > 0 && rest_fits(parts, &text[end..], found)
        }
        Part::Gap { name, of } => {
            // Programs that align numbers leave a blank: `avg= 4.2`.
            let text = text.strip_prefix(' ').unwrap_or(text);
            let (sign, bare) = match text.strip_prefix('-').filter(|_| *of == GapKind::Dbm) {
                Some(bare) => ("-", bare),
                None => ("", text),
            };
            let (own, rest) = bare.split_at(number_end(bare));
            let Some(value) = thousandths(own) else { return false };
            found.texts.insert(name.clone(), format!("{sign}{own}"));
            found.numbers.insert(name.clone(), if *of == GapKind::Dbm && sign.is_empty() { 0 } else { value });
            rest_fits(parts, rest, found)
        }
    }
}

/// A word may end in what stands behind it in the pattern: `ens5:`.
fn word_end(text: &str, next: Option<&Part>) -> usize {
    let end = text.find(' ').unwrap_or(text.len());
    let Some(Part::Text(own)) = next else { return end };
    let own = own.split(' ').next().unwrap_or_default();
    if own.is_empty() { end } else { text[..end].rfind(own).filter(|at| *at > 0).unwrap_or(end) }
}

/// Of a line that is long and says one word again and again.
const MOST_STARTS: usize = 16;

fn number_end(text: &str) -> usize {
    let digits =
        text.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ',')).unwrap_or(text.len());
    let own = text[..digits].trim_end_matches(['.', ',']).len();
    // `812.2K` of a program that rounds.
    let is_short = text[own..].starts_with(['K', 'M', 'G', 'T']) && !text[own + 1..].starts_with(char::is_alphabetic);
    if own > 0 && is_short { own + 1 } else { own }
}

/// `1,204.5`, `812K`, in thousandths.
pub(super) fn thousandths(text: &str) -> Option<u64> {
    let (text, unit) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1_000),
        (at, 'M') => (&text[..at], 1_000_000),
        (at, 'G') => (&text[..at], 1_000_000_000),
        (at, 'T') => (&text[..at], 1_000_000_000_000),
        _ => (text, 1_u64),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: u64 = whole.replace(',', "").parse().ok()?;
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    whole.checked_mul(1_000)?.checked_add(digits.parse().ok()?)?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, line: &str) -> Option<Vec<(String, String)>> {
        let found = Pattern::parse(pattern).expect("a pattern").find(line)?;
        Some(found.texts.into_iter().collect())
    }

    #[test]
    fn gaps_hold_numbers_and_words() {
        let one = find("Coalesce parameters for {device:word}:", "Coalesce parameters for eth0:").expect("a title");
        assert_eq!(one, [("device".to_owned(), "eth0".to_owned())]);
        assert!(find("rx-usecs: {rx}", "  rx-usecs:    1000").is_some());
        assert!(find("rx-usecs: {rx}", "rx-usecs: n/a").is_none());
        assert!(find("rx-usecs: {rx}", "rx-usecs: 3 us").is_none(), "the line goes on");
    }

    #[test]
    fn any_text_may_stand_between() {
        let line = "latest handshake: 9 days, 3 hours, 12 minutes ago";
        assert_eq!(find("latest handshake: {days} days...", line).map(|all| all[0].1.clone()).as_deref(), Some("9"));
        assert!(find("... neighbor table overflow!", "neighbour: arp_cache: neighbor table overflow!").is_some());
        assert!(find("...{lost}% loss", "a 3% loss").is_some());
    }

    #[test]
    fn numbers_are_kept_in_thousandths() {
        let of = |text: &str| Pattern::parse("{n}").and_then(|one| one.find(text)).map(|found| found.numbers["n"]);
        assert_eq!(of("1,204.5"), Some(1_204_500));
        assert_eq!(of("812.2K"), Some(812_200_000));
        assert_eq!(of("-3"), None);
        assert_eq!(of("99999999999999999999"), None);
    }
}
