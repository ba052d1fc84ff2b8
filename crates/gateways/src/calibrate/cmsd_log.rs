//! What cmsd's manager logs of each server.

use std::collections::BTreeMap;

use super::Read;

/// A line of the manager about a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Seconds since 2000-01-01, local time of the manager.
    pub at_s: u64,
    /// Its name, and the thread that serves it where names are not unique.
    pub server: String,
    /// Its load, percent.
    pub load: i32,
    /// Opens so far, and those since the last reset, added, as cmsd logs them.
    pub references: u64,
}

/// Reads a log; other lines than those are passed over.
#[must_use]
pub fn read(text: &str) -> Read<Logged> {
    let mut read = Read::default();
    for (number, line) in text.lines().enumerate() {
        if !line.contains(" Node: ") || !line.contains(" load=") {
            continue;
        }
        match logged(line) {
            Some(record) => read.keep(record),
            None => read.wrong(format!("line {}: no line of a load as cmsd writes it", number + 1)),
        }
    }
    holes(&mut read);
    read
}

/// `261123 05:49:17 3002 Node: gw1 load=10; cpu=0 ... ref=[2 0]`.
fn logged(line: &str) -> Option<Logged> {
    let mut words = line.split_ascii_whitespace();
    let (date, time, thread) = (words.next()?, words.next()?, words.next()?);
    let name = line.split_once(" Node: ")?.1.split(' ').next()?;
    if name.len() > LONGEST_NAME || thread.len() > LONGEST_NAME {
        return None;
    }
    let load: i32 = line.split_once(" load=")?.1.split(';').next()?.parse().ok()?;
    let references = line.split_once(" ref=[")?.1.split(' ').next()?.parse().ok()?;
    let is_percent = (0..=500).contains(&load);
    is_percent.then_some(Logged { at_s: seconds([date, time])?, server: format!("{name}/{thread}"), load, references })
}

const LONGEST_NAME: usize = 256;

/// `YYMMDD` and `HH:MM:SS` as seconds since 2000.
fn seconds([date, time]: [&str; 2]) -> Option<u64> {
    let digits = |text: &str| {
        (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
    };
    let (year, month, day): (u64, u64, u64) =
        (digits(date.get(0..2)?)?, digits(date.get(2..4)?)?, digits(date.get(4..)?)?);
    let mut parts = time.split(':').map(digits);
    let (hour, minute, second): (u64, u64, u64) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Days of the civil calendar (Hinnant, days_from_civil), years from March on.
    let (shifted, from_march) = if month > 2 { (year + 4, month - 3) } else { (year + 3, month + 9) };
    let days = shifted * 365 + shifted / 4 + (153 * from_march + 2) / 5 + day;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Names servers that are silent for longer than four of their usual intervals.
fn holes(read: &mut Read<Logged>) {
    let mut times: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for record in &read.records {
        times.entry(&record.server).or_default().push(record.at_s);
    }
    let mut found = Vec::new();
    for (server, times) in &times {
        let mut gaps: Vec<u64> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        if times.windows(2).any(|pair| pair[1] < pair[0]) {
            found.push(format!("{server}: time goes backwards: more than one log, or a clock that was set"));
        }
        let longest = gaps.iter().copied().max().unwrap_or(0);
        gaps.sort_unstable();
        let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(0).max(1);
        if longest > 4 * usual {
            found.push(format!("{server}: a hole of {longest} s, where {usual} s are usual"));
        }
    }
    found.into_iter().for_each(|hole| read.wrong(hole));
}

/// The usual seconds between two lines of one server; [`None`] of fewer than two.
#[must_use]
pub fn usual_interval(records: &[Logged]) -> Option<u64> {
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    let mut gaps = Vec::new();
    for record in records {
        if let Some(before) = last.insert(&record.server, record.at_s) {
            gaps.push(record.at_s.saturating_sub(before));
        }
    }
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "261123 05:49:17 3002 Node: gw1 load=10; cpu=0 net=0 inq=10 mem=0 pag=0 dsk=73036 utl=72 shr=[100 0 0] ref=[2 0]";

    #[test]
    fn a_line_of_cmsd_5_5_3_is_read() {
        let read = read(&format!("======> other\n{LINE}\n"));
        assert_eq!(read.anomalies, [] as [String; 0]);
        assert_eq!(read.records.len(), 1);
        assert_eq!((read.records[0].load, read.records[0].references), (10, 2));
        assert_eq!(read.records[0].server, "gw1/3002");
    }

    #[test]
    fn days_follow_each_other_over_months_and_leap_years() {
        let day = |date| seconds([date, "00:00:00"]).unwrap() / 86_400;
        for (one, next) in [
            ("231231", "240101"),
            ("240228", "240229"),
            ("240229", "240301"),
            ("250228", "250301"),
            ("261130", "261201"),
        ] {
            assert_eq!(day(one) + 1, day(next), "{one}");
        }
        assert_eq!(seconds(["261340", "00:00:00"]), None);
    }

    #[test]
    fn a_hole_and_half_a_line_are_named() {
        let mut text = String::new();
        for second in [10, 16, 22, 28, 59] {
            text.push_str(&LINE.replace("05:49:17", &format!("05:49:{second}")));
            text.push('\n');
        }
        text.push_str(&LINE[..70].replace("load=10", "load=ten"));
        let read = read(&text);
        assert_eq!(usual_interval(&read.records), Some(6));
        assert!(
            read.anomalies.iter().any(|one| one.contains("a hole of 31 s, where 6 s are usual")),
            "{:?}",
            read.anomalies
        );
        assert!(read.anomalies.iter().any(|one| one.starts_with("line 6")), "{:?}", read.anomalies);
    }
}
