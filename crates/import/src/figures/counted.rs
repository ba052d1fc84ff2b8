//! Counters that a text says went up: `pause frames received go from 812233 to 912233`, `rx_missed_errors: 18200431 -> 18311027`.

use super::FigureValue;
use super::layout::{Part, lower};
use crate::counter_kinds::{all, plain};

/// What went up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountedKind {
    /// Pause frames that were received.
    Paused,
    /// Pause frames that were sent.
    PausesPeer,
    /// Frames that arrived damaged.
    Damaged,
    /// Packets for which a NIC or a port had no room when they came.
    NoRoom,
    /// Packets that were to leave, and were dropped.
    NotSent,
    /// Collisions.
    Collisions,
}

/// The counter of a part of a line, where it has two numbers of which the second is larger.
pub(super) fn of(part: &Part) -> Option<FigureValue> {
    let is_joint = |word: &String| JOINTS.contains(&word.as_str()) || FORMERLY.contains(&word.as_str());
    part.words.iter().any(is_joint).then_some(())?;
    let words = lower(&part.words);
    let (at, [before, after]) = pair(&words).or_else(|| now_and_formerly(&words))?;
    let by = after.checked_sub(before).filter(|by| *by >= FEWEST)?;
    let first = at.saturating_sub(WORDS_BEFORE);
    let near = &words[first..at];
    let kind = kind_of(near).or_else(|| kind_of(&part.beside))?;
    Some(FigureValue::Counted(kind, by))
}

/// Fewer are chance, or numbers of something else.
const FEWEST: u64 = 20;
const WORDS_BEFORE: usize = 9;

/// `812233 to 912233`, `812233 -> 912233`, and where the first of them stands.
fn pair(words: &[String]) -> Option<(usize, [u64; 2])> {
    words.windows(3).enumerate().find_map(|(at, words)| {
        let [first, joint, second] = words else { return None };
        let is_joint = JOINTS.contains(&joint.as_str());
        Some((at, [number(first).filter(|_| is_joint)?, number(second)?]))
    })
}

/// `41882, it was 40481`, `41882 (was 40481)`: the later one first, with where it stands.
fn now_and_formerly(words: &[String]) -> Option<(usize, [u64; 2])> {
    let at = words.iter().position(|word| FORMERLY.contains(&word.as_str()))?;
    let before = words.get(at + 1..)?.iter().take(2).find_map(|word| number(word))?;
    let near = at.saturating_sub(BETWEEN)..at;
    let (now, after) = near.rev().find_map(|at| Some((at, number(&words[at])?)))?;
    Some((now, [before, after]))
}

/// Words between the two, `it`, `and`.
const BETWEEN: usize = 3;
const FORMERLY: [&str; 7] = ["was", "were", "formerly", "previously", "war", "waren", "vorher"];

/// What stands between two readings.
const JOINTS: [&str; 9] = ["to", "->", "\u{2192}", "=>", "-->", "auf", "bis", "a", "\u{e0}"];

fn number(word: &str) -> Option<u64> {
    let groups: Vec<&str> = word.split([',', '\'']).collect();
    let is_grouped = groups.len() == 1 || groups[1..].iter().all(|group| group.len() == 3);
    let digits = groups.concat();
    (is_grouped && digits.bytes().all(|digit| digit.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// By a counter's own name, or by the words that people have for it.
fn kind_of(words: &[String]) -> Option<CountedKind> {
    let by_name = words.iter().rev().filter(|word| word.contains(['_', '-']) || word.starts_with(['r', 't']));
    let by_name = by_name.filter_map(|word| {
        let name = plain(word);
        all().iter().find(|kind| kind.has(&name)).and_then(|kind| of_table(&kind.id))
    });
    by_name.into_iter().next().or_else(|| by_words(words))
}

fn of_table(id: &str) -> Option<CountedKind> {
    Some(match id {
        "paused" => CountedKind::Paused,
        "pauses-the-peer" => CountedKind::PausesPeer,
        "damage" => CountedKind::Damaged,
        "full-ring" => CountedKind::NoRoom,
        "not-sent" => CountedKind::NotSent,
        "half-duplex" => CountedKind::Collisions,
        _ => return None,
    })
}

fn by_words(words: &[String]) -> Option<CountedKind> {
    let has = |known: &[&str]| {
        words.iter().any(|word| known.contains(&word.trim_matches(|letter: char| !letter.is_alphanumeric())))
    };
    let (received, sent) = (has(&RECEIVED), has(&SENT));
    if has(&["pause", "pauses", "xoff", "pfc"]) {
        return (received != sent).then_some(if received { CountedKind::Paused } else { CountedKind::PausesPeer });
    }
    if has(&["crc", "fcs", "crcs", "checksum"]) {
        return Some(CountedKind::Damaged);
    }
    if has(&["collisions", "collision"]) {
        return Some(CountedKind::Collisions);
    }
    if has(&["overruns", "overrun", "missed"]) {
        return Some(CountedKind::NoRoom);
    }
    let drops = has(&["drops", "drop", "dropped", "discards", "discard", "discarded"]);
    if drops && !sent && has(&["ingress", "rx", "received"]) {
        return Some(CountedKind::NoRoom);
    }
    (drops && (sent || has(&["tail", "queue", "egress"]))).then_some(CountedKind::NotSent)
}

const RECEIVED: [&str; 6] = ["received", "rx", "receive", "in", "input", "empfangen"];
const SENT: [&str; 8] = ["sent", "tx", "transmitted", "out", "output", "outgoing", "send", "gesendet"];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<FigureValue> {
        of(&Part { words: text.split_whitespace().map(str::to_owned).collect(), ..Part::default() })
    }

    #[test]
    fn what_people_say_of_counters_is_read() {
        for (text, kind, by) in [
            ("pause frames received go from 812233 to 912233", CountedKind::Paused, 100_000),
            ("rx_missed_errors 18200431 -> 18311027", CountedKind::NoRoom, 110_596),
            ("CRC errors on the port went from 1,204 to 5,204", CountedKind::Damaged, 4_000),
            ("output drops climb from 100 to 9100", CountedKind::NotSent, 9_000),
            ("ETH ingress discards 41882 it was 40481", CountedKind::NoRoom, 1_401),
        ] {
            assert_eq!(found(text), Some(FigureValue::Counted(kind, by)), "{text}");
        }
        for text in [
            "the RTT went from 20 to 80",
            "drops from 900 to 400 Mbit/s",
            "pause frames from 1 to 900",
            "CRC from 4 to 5",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
