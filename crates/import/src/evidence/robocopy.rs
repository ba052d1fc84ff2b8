//! `robocopy` of Windows: the table of its summary, in any language, and the rate below it.

use std::time::Duration;

use model::measurement::Heading;
use units::{ByteCount, DataRate};

use super::shown::{FileTransfer, Found, Shown};
use crate::proof::{Claim, half_digit};
use crate::quantity::clock;

/// Reads from the title, or where that was cut off from the headings of the summary, to the line of `Bytes/sec.`
pub(crate) fn read(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    (first.starts_with("ROBOCOPY ") && first.contains("::") || is_headings(first)).then_some(())?;
    let own = &lines[..lines.len().min(MAX_LINES)];
    let (at, rate) = own.iter().enumerate().find_map(|(at, line)| Some((at, bytes_per_second(line)?)))?;
    let above = &own[..at];
    let value =
        |names: &[&'static str]| above.iter().find_map(|line| names.iter().find_map(|name| title([*line, *name])));
    let amount = value(&["Bytes", "Byte", "Octets"]).and_then(|row| amount(&columns(row)))?;
    let elapsed =
        value(&["Times", "Zeiten", "Tiempo", "Durée", "Hora"]).and_then(|row| spent(row.split_whitespace().nth(1)?))?;
    let claim = Claim {
        bytes: amount.bytes,
        bytes_within: amount.within,
        elapsed,
        elapsed_within: Duration::from_secs(1),
        rate,
        rate_within: 4.0,
    };
    if !claim.holds() {
        complaints.push("a copy whose bytes over its time are its rate".to_owned());
        return None;
    }
    let [source, target] =
        [value(&["Source", "Quelle", "Origen"]), value(&["Dest", "Ziel", "Destino"])].map(|path| path.and_then(server));
    let failed =
        value(&["Files", "Dateien", "Archivos"]).and_then(|row| row.split_whitespace().nth(FAILED)?.parse().ok());
    let heading = if source.is_some() && target.is_none() { Heading::Inbound } else { Heading::Outbound };
    let transfer = FileTransfer {
        tool: "robocopy",
        target: target.or(source),
        moved: amount.bytes,
        elapsed,
        rate,
        is_whole: true,
        heading,
        retransmits: None,
        faults: failed.unwrap_or(0),
        files: value(&["Files", "Dateien", "Archivos"]).and_then(|row| row.split_whitespace().nth(1)?.parse().ok()),
        local: None,
    };
    // The same rate in other units follows.
    let more = lines[at + 1..]
        .iter()
        .take(1)
        .filter(|line| line.contains("MegaBytes/") || line.contains("Megabytes/"))
        .count();
    (amount.bytes > ByteCount::ZERO).then_some(Found { shows: vec![Shown::Transfer(transfer)], lines: at + 1 + more })
}

/// A list of all files may stand between the title and the summary.
const MAX_LINES: usize = 100_000;
/// The column of what failed.
const FAILED: usize = 4;

/// `Total    Copied   Skipped  Mismatch    FAILED    Extras`: six words, as in each language.
fn is_headings(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [first, .., failed, last] = words.as_slice() else { return false };
    let known = [("Total", "FAILED", "Extras"), ("Insgesamt", "FEHLER", "Extras"), ("Total", "ERROR", "Extras")];
    words.len() == 6 && known.contains(&(first, failed, last))
}

/// What stands behind `Bytes :`.
fn title([line, name]: [&str; 2]) -> Option<&str> {
    line.trim().strip_prefix(name)?.trim_start().strip_prefix(':').map(str::trim)
}

/// `Speed :            11702432 Bytes/sec.`, with groups of thousands in newer ones.
fn bytes_per_second(line: &str) -> Option<DataRate> {
    let (_, value) = line.split_once(':')?;
    let mut words: Vec<&str> = value.split_whitespace().collect();
    let unit = words.pop()?;
    matches!(unit, "Bytes/sec." | "Bytes/Sek." | "Bytes/seg." | "octets/s").then_some(())?;
    let digits: String = words.concat().chars().filter(|letter| !matches!(letter, ',' | '.' | '\u{a0}')).collect();
    digits.parse().ok().map(DataRate::from_bytes_per_second).filter(|rate| !rate.is_zero())
}

struct Amount {
    bytes: ByteCount,
    within: f64,
}

/// Numbers with their units: `40.000 g`, `0`.
fn columns(row: &str) -> Vec<(&str, Option<&str>)> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let is_unit = |word: &&&str| matches!(**word, "k" | "m" | "g" | "t");
    words
        .iter()
        .enumerate()
        .filter(|(_, word)| word.starts_with(|first: char| first.is_ascii_digit()))
        .map(|(at, word)| (*word, words.get(at + 1).filter(is_unit).copied()))
        .collect()
}

/// The second column: what was copied.
fn amount(columns: &[(&str, Option<&str>)]) -> Option<Amount> {
    let (number, unit) = *columns.get(1)?;
    let step: f64 = match unit {
        None => 1.0,
        Some("k") => 1024.0,
        Some("m") => 1_048_576.0,
        Some("g") => 1_073_741_824.0,
        Some(_) => 1_099_511_627_776.0,
    };
    let value = number.replace(',', ".").parse::<f64>().ok().filter(|value| (0.0..1e15).contains(value))? * step;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    let bytes = ByteCount::new(value as u64);
    Some(Amount { bytes, within: half_digit(number) * step })
}

/// `1:01:10`.
fn spent(text: &str) -> Option<Duration> {
    clock(text, 3..=3).filter(|time| !time.is_zero() && time.as_secs() <= crate::limits::MAX_SECONDS)
}

/// `fs02` of `\\fs02\share\`.
fn server(path: &str) -> Option<String> {
    let host = path.strip_prefix("\\\\")?.split('\\').next().filter(|host| !host.is_empty())?;
    Some(host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "   ROBOCOPY     ::     Robust File Copy for Windows\n\n   Source : D:\\export\\\n     Dest : \\\\fs02\\ingest\\\n\n    \
                        Files : big.vhdx\n\n               Total    Copied   Skipped  Mismatch    FAILED    Extras\n    Dirs :         1         \
                        0         1         0         0         0\n   Files :         1         1         0         0         0         0\n   \
                        Bytes :  40.000 g  40.000 g         0         0         0         0\n   Times :   1:01:10   1:01:10                       \
                        0:00:00   0:00:00\n\n   Speed :            11702432 Bytes/sec.\n   Speed :             669.618 MegaBytes/min.\n   Ended";

    fn transfer(text: &str) -> Option<(FileTransfer, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new())?;
        match found.shows.as_slice() {
            [Shown::Transfer(transfer)] => Some((transfer.clone(), found.lines)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_summary_proves_its_rate() {
        let (found, lines) = transfer(TEXT).expect("a copy");
        assert_eq!((found.target.as_deref(), found.heading, lines), (Some("fs02"), Heading::Outbound, 15));
        assert_eq!((found.rate.bps(), found.elapsed.as_secs(), found.faults), (93_619_456, 3_670, 0));
        assert_eq!(transfer(&TEXT.replace("11702432", "1170243")), None, "a rate that lost a digit");
    }
}
