//! Times of day that iperf3 prints. They carry no zone except where they say GMT, and are taken as UTC.

use units::WallTime;

/// Splits `Thu Jul 6 23:43:15 2023` (`iperf3 --timestamps`, C locale) off the start of a line.
pub(crate) fn leading(line: &str) -> Option<(WallTime, &str)> {
    let mut rest = line;
    // Most lines have none.
    let first = rest.trim_start_matches([' ', '\t']);
    DAYS.iter().any(|day| first.starts_with(day)).then_some(())?;
    let mut words = [""; 5];
    for word in &mut words {
        let start = rest.trim_start_matches([' ', '\t']);
        let end = start.find([' ', '\t']).unwrap_or(start.len());
        (*word, rest) = start.split_at(end);
    }
    let [day_of_week, month, day, clock, year] = words;
    DAYS.contains(&day_of_week).then_some(())?;
    Some((instant(day, month, year, clock)?, rest))
}

/// Whether a word is the day that `--timestamps` begins with.
pub(crate) fn is_day(word: &str) -> bool {
    DAYS.contains(&word)
}

/// What follows a time that a logger, `ts` or `--timestamps=FORMAT` puts before a line of iperf3: `10:00:01 [  5] …`,
/// `2023-07-06T23:43:15.123+02:00 [  5] …`. Such a time is not understood, only passed over.
pub(crate) fn before_bracket(line: &str) -> Option<&str> {
    const LONGEST: usize = 48;
    let at = line.find('[').filter(|at| (1..=LONGEST).contains(at))?;
    let (time, rest) = line.split_at(at);
    let digits = time.bytes().filter(u8::is_ascii_digit).count();
    (digits >= 4 && time.contains(':')).then_some(rest)
}

/// Reads `Sat, 21 Nov 2026 05:21:32 GMT`; iperf3 3.20 says UTC.
pub(crate) fn gmt(text: &str) -> Option<WallTime> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, clock, "GMT" | "UTC"] = words[..] else { return None };
    instant(day, month, year, clock)
}

/// Reads `2022-08-19 11:00:03`.
pub(crate) fn calendar(text: &str) -> Option<WallTime> {
    let (date, clock) = text.trim().split_once(' ')?;
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = *parts.as_slice() else { return None };
    let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    instant(day, month, year, clock)
}

fn instant(day: &str, month: &str, year: &str, clock: &str) -> Option<WallTime> {
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let day: u64 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let year: u64 = year.parse().ok().filter(|year| (1970..=2200).contains(year))?;
    let mut seconds = 0;
    let parts: Vec<&str> = clock.split(':').collect();
    for (part, limit) in parts.iter().zip([24_u64, 60, 61]) {
        let part: u64 = part.parse().ok()?;
        seconds = seconds * 60 + Some(part).filter(|part| *part < limit)?;
    }
    (parts.len() == 3).then_some(())?;
    let whole = days_since_1970(year, u64::try_from(month).ok()?, day) * 86_400 + seconds;
    Some(WallTime::from_unix_nanos(whole.checked_mul(1_000_000_000)?))
}

/// Days of the Gregorian calendar; years start in March, so that the odd day of a leap year is their last.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let in_year = (153 * month + 2) / 5 + day - 1;
    /// From 0000-03-01 to 1970-01-01.
    const BEFORE_1970: u64 = 719_468;
    365 * year + leap_days + in_year - BEFORE_1970
}

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_split_off() {
        let (time, rest) = leading("Sat Nov 21 05:21:39 2026 [  5] local").unwrap();
        assert_eq!((time.unix_seconds(), rest), (1_795_238_499, " [  5] local"));
        assert_eq!(gmt("Sat, 21 Nov 2026 05:21:50 GMT").map(WallTime::unix_seconds), Some(1_795_238_510));
        assert_eq!(leading("Thu Jan 1 00:00:00 1970").map(|(time, _)| time.unix_seconds()), Some(0));
        assert_eq!(leading("Sat Nov 21 05:21 2026 x"), None);
        assert_eq!(leading("Sat"), None);
    }
}
