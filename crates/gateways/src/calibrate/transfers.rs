//! Files that were transferred: size, begin, end.

use serde::Deserialize;

use super::Read;

/// A transfer of a site's records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recorded {
    /// Bytes.
    pub bytes: f64,
    /// When it began, seconds.
    pub began_s: f64,
    /// How long it took, seconds.
    pub took_s: f64,
}

/// FTS's message of a transfer that is complete; times in milliseconds.
#[derive(Debug, Deserialize)]
struct Message {
    #[serde(alias = "file_size")]
    f_size: f64,
    #[serde(alias = "transfer_start")]
    tr_timestamp_start: f64,
    #[serde(alias = "transfer_end")]
    tr_timestamp_complete: f64,
}

/// Reads JSON lines of FTS, or CSV with a header that has `size_bytes`, `start_s` and `end_s`.
#[must_use]
pub fn read(text: &str) -> Read<Recorded> {
    let mut read = Read::default();
    let first = text.lines().next().unwrap_or_default();
    let columns = (!first.trim_start().starts_with('{')).then(|| columns(first)).flatten();
    let skip = usize::from(columns.is_some());
    for (number, line) in text.lines().enumerate().skip(skip).filter(|(_, line)| !line.trim().is_empty()) {
        let record = if let Some(columns) = &columns { of_csv(line, columns) } else { of_message(line) };
        match record {
            Some(record) if record.is_sane() => read.keep(record),
            Some(_) => read.wrong(format!("line {}: a size or time that no transfer has", number + 1)),
            None => read.wrong(format!("line {}: neither a message of FTS nor a row of the header", number + 1)),
        }
    }
    holes(&mut read);
    read
}

impl Recorded {
    fn is_sane(&self) -> bool {
        (1.0..1e15).contains(&self.bytes) && (0.001..1e7).contains(&self.took_s) && (0.0..1e11).contains(&self.began_s)
    }

    /// Bytes per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.bytes / self.took_s
    }
}

fn of_message(line: &str) -> Option<Recorded> {
    let message: Message = serde_json::from_str(line).ok()?;
    let began_s = message.tr_timestamp_start / 1000.0;
    Some(Recorded { bytes: message.f_size, began_s, took_s: message.tr_timestamp_complete / 1000.0 - began_s })
}

/// Where size, begin and end stand.
struct Columns([usize; 3]);

fn columns(header: &str) -> Option<Columns> {
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let at = |name: &str| names.iter().position(|other| *other == name);
    Some(Columns([at("size_bytes")?, at("start_s")?, at("end_s")?]))
}

fn of_csv(line: &str, columns: &Columns) -> Option<Recorded> {
    let words: Vec<&str> = line.split(',').map(str::trim).collect();
    let number = |at: usize| words.get(columns.0[at]).and_then(|word| word.parse::<f64>().ok());
    let (bytes, began_s, ended_s) = (number(0)?, number(1)?, number(2)?);
    Some(Recorded { bytes, began_s, took_s: ended_s - began_s })
}

/// Names the longest time in which nothing began, where it is no chance: more than 30 mean gaps.
fn holes(read: &mut Read<Recorded>) {
    read.records.sort_by(|one, other| one.began_s.total_cmp(&other.began_s));
    let (Some(first), Some(last)) = (read.records.first(), read.records.last()) else { return };
    let usual = (last.began_s - first.began_s) / crate::cluster::bounds::small(read.records.len());
    let gaps = read.records.windows(2).map(|pair| (pair[0].began_s, pair[1].began_s - pair[0].began_s));
    let longest = gaps.max_by(|one, other| one.1.total_cmp(&other.1));
    if let Some((from, gap)) = longest.filter(|(_, gap)| *gap > 30.0 * usual && usual > 0.0) {
        read.wrong(format!("a hole of {gap:.0} s from {from:.0} on, where a transfer began every {usual:.1} s"));
    }
}
