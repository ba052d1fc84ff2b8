//! What datagrams lose at which rate, as people write it: `UDP at 45M: 0% lost, at 60M: 21% lost`.

use model::spec::Protocol;
use units::DataRate;

use super::layout::{ProseLine, lower, words_of};
use super::{Aspects, Figure, FigureSource, FigureValue, LostKind};
use crate::stated_rate::rates_at;

/// Each rate of a line that speaks of datagrams, with the part that is lost at it.
pub(super) fn of(line: &ProseLine) -> Vec<Figure> {
    let words = words_of(&line.text);
    let small = lower(&words);
    let is_udp = small.iter().any(|word| matches!(word.trim_end_matches(':'), "udp" | "-u" | "datagrams"));
    if !is_udp || !line.text.contains('%') {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut offered: Option<DataRate> = None;
    for (at, word) in small.iter().enumerate() {
        if let Some(rate) = rate(&words, at) {
            offered = Some(rate);
        } else if let Some(parts) = percent(word, small.get(at + 1)) {
            let near = &small[at.saturating_sub(3)..small.len().min(at + 4)];
            let is_lost = near.iter().any(|word| LOST.iter().any(|begin| word.starts_with(begin)));
            if let Some(rate) = offered.take().filter(|_| is_lost) {
                let of = Aspects { offered: Some(rate), protocol: Some(Protocol::Udp), ..Aspects::default() };
                let value = FigureValue::Lost(LostKind::Lost, parts);
                found.push(Figure { line: line.number, value, of, source: FigureSource::Text });
            }
        }
    }
    found
}

const LOST: [&str; 6] = ["lost", "loss", "drop", "verl", "perd", "missing"];

/// `45M`, `-b 45M`, `45 Mbit/s`.
fn rate(words: &[String], at: usize) -> Option<DataRate> {
    let word = words[at].trim_end_matches([':', ',', ';']);
    let (number, factor) = match word.split_at_checked(word.len().checked_sub(1)?)? {
        (number, "M" | "m") => (number, 1_000_000),
        (number, "G" | "g") => (number, 1_000_000_000),
        _ => {
            let rest: Vec<&str> = words[at..].iter().take(3).map(|word| word.trim_end_matches([':', ','])).collect();
            return rates_at(&rest).filter(|(rates, _)| rates[0] == rates[1]).map(|(rates, _)| rates[0]);
        }
    };
    let bps = crate::quantity::decimal(number)?.times(factor)?;
    (bps > 0).then_some(DataRate::from_bps(bps))
}

/// `21%`, `0.3 %`, in parts of a million.
fn percent(word: &str, next: Option<&String>) -> Option<u32> {
    let number = match word.strip_suffix('%') {
        Some(number) => number,
        None => next.filter(|next| next.as_str() == "%").map(|_| word)?,
    };
    let parts = crate::quantity::decimal(number.trim_start_matches(['~', '<']))?.times(10_000)?;
    u32::try_from(parts).ok().filter(|parts| *parts <= 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rate_has_the_part_that_is_lost_at_it() {
        let lost = |text: &str| {
            let all = of(&ProseLine { number: 1, text: text.to_owned() });
            all.iter()
                .map(|one| {
                    (
                        one.of.offered.map_or(0, DataRate::bps),
                        match one.value {
                            FigureValue::Lost(_, parts) => parts,
                            _ => 0,
                        },
                    )
                })
                .collect::<Vec<_>>()
        };
        let both = [(45_000_000, 0), (60_000_000, 210_000)];
        assert_eq!(lost("5) UDP at 45M: 0% lost, at 60M: 21% lost after about a second"), both);
        assert_eq!(lost("udp: 45 Mbit/s 0 % loss, 60 Mbit/s 21 % loss"), both);
        assert_eq!(lost("TCP at 45M, 0% lost"), []);
        assert_eq!(lost("UDP at 45M uses 30% of a CPU"), []);
    }
}
