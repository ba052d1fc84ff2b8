//! Series from CSV files: a header, a column of values, and where there is one a column of moments.
//!
//! Columns are parted by comma, semicolon or tab, whichever the header has; quotes as in RFC 4180, without line breaks inside.

use crate::series::Sample;

/// A series of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The header of the values.
    pub name: String,
    /// Whether moments are of the file; without, samples are numbered an hour apart, and times of day mean nothing.
    pub has_times: bool,
    /// In the order of the file; cells without a number are NaN.
    pub samples: Vec<Sample>,
}

/// Why a file is no series.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsvError {
    /// The header is all there is.
    #[error("line 1: expected a header and at least one row")]
    Empty,
    /// A column was asked for by a name that the header lacks.
    #[error("line 1: no column `{name}`; the header has {known}")]
    NoColumn {
        /// As it was asked for.
        name: String,
        /// All names of the header.
        known: String,
    },
    /// No column holds a number in the first row.
    #[error("line 2: no column holds a number")]
    NoNumbers,
    /// Several columns hold numbers, and none was asked for.
    #[error("line 1: several columns hold numbers ({known}); name one")]
    Ambiguous {
        /// Their names.
        known: String,
    },
    /// A moment that is neither seconds since 1970 nor a date and time with a zone.
    #[error("line {line}: expected seconds since 1970 or a time such as 2026-11-21T04:41:07Z, found `{found}`")]
    Time {
        /// Counted from 1.
        line: usize,
        /// At most 40 characters of the cell.
        found: String,
    },
    /// More rows than are read.
    #[error("line {0}: more than 1000000 rows; name fewer, for instance the last 10000")]
    TooLong(usize),
}

/// Reads a column of a file. Without `value`, the only column of numbers; without `time`, one that is called `time`, `timestamp`,
/// `date`, `datetime`, `ts` or `at`, if there is one.
///
/// # Errors
/// See [`CsvError`].
pub fn read(text: &str, value: Option<&str>, time: Option<&str>) -> Result<Column, CsvError> {
    let text = text.trim_start_matches('\u{feff}');
    let header = text.lines().next().ok_or(CsvError::Empty)?;
    let separator = [',', ';', '\t'].into_iter().max_by_key(|one| header.matches(*one).count()).unwrap_or(',');
    let names = cells(header, separator);
    let rows = || (2..).zip(text.lines().skip(1)).filter(|(_, line)| !line.trim().is_empty());
    let first = rows().next().ok_or(CsvError::Empty)?.1;
    let find = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
    let asked = |name: &str| {
        let missing = || CsvError::NoColumn { name: name.chars().take(40).collect(), known: names.join(", ") };
        find(name).ok_or_else(missing)
    };
    let time = match time {
        Some(name) => Some(asked(name)?),
        None => TIME_NAMES.into_iter().find_map(find),
    };
    let value = match value {
        Some(name) => asked(name)?,
        None => only_number(&names, &cells(first, separator), time)?,
    };
    let mut samples = Vec::new();
    for (line, row) in rows() {
        if samples.len() == MOST_ROWS {
            return Err(CsvError::TooLong(line));
        }
        let row = cells(row, separator);
        let at_s = match time {
            Some(column) => moment(row.get(column).map_or("", String::as_str), line)?,
            None => i64::try_from(samples.len()).unwrap_or(i64::MAX).saturating_mul(3600),
        };
        let value = row.get(value).and_then(|cell| cell.trim().parse().ok()).unwrap_or(f64::NAN);
        samples.push(Sample { at_s, value });
    }
    Ok(Column { name: names[value].clone(), has_times: time.is_some(), samples })
}

fn only_number(names: &[String], first: &[String], time: Option<usize>) -> Result<usize, CsvError> {
    let is_number = |column: &usize| first.get(*column).is_some_and(|cell| cell.trim().parse::<f64>().is_ok());
    let found: Vec<usize> = (0..names.len()).filter(|column| Some(*column) != time && is_number(column)).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(CsvError::NoNumbers),
        several => {
            let known: Vec<&str> = several.iter().map(|column| names[*column].as_str()).collect();
            Err(CsvError::Ambiguous { known: known.join(", ") })
        }
    }
}

fn moment(cell: &str, line: usize) -> Result<i64, CsvError> {
    let cell = cell.trim();
    let wrong = || CsvError::Time { line, found: cell.chars().take(40).collect() };
    if let Ok(seconds) = cell.parse::<f64>() {
        return if seconds.abs() <= FARTHEST_S { Ok(seconds as i64) } else { Err(wrong()) };
    }
    cell.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_second).map_err(|_| wrong())
}

/// The cells of a line, without the quotes around them.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = cells.len() - 1;
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cells[last].push('"');
            }
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => cells.push(String::new()),
            _ => cells[last].push(character),
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Headers of moments.
const TIME_NAMES: [&str; 6] = ["time", "timestamp", "date", "datetime", "ts", "at"];
/// Rows that are read.
const MOST_ROWS: usize = 1_000_000;
/// The year 9999: later moments are in another unit than seconds.
const FARTHEST_S: f64 = 253_402_300_799.0;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_and_values_are_found_by_name_and_by_form() {
        let text = "when;time;\"rate, bit/s\"\nx;2026-11-21T00:00:10Z;1e9\ny;1795219220;\n";
        let found = read(text, None, None).unwrap();
        assert_eq!((found.name.as_str(), found.has_times, found.samples.len()), ("rate, bit/s", true, 2));
        assert_eq!((found.samples[0].at_s, found.samples[1].at_s), (1_795_219_210, 1_795_219_220));
        assert!(found.samples[1].value.is_nan());
        assert!(!read("a\n1\n2\n", None, None).unwrap().has_times);
    }

    #[test]
    fn errors_name_line_and_expectation() {
        let error = |text, value, time| read(text, value, time).unwrap_err().to_string();
        assert!(error("", None, None).starts_with("line 1: expected a header"));
        assert!(error("a,b\n1,2\n", None, None).contains("several columns hold numbers (a, b)"));
        assert!(error("root:x:0\nbin:x:2\n", None, None).contains("no column holds a number"));
        assert!(error("a,b\n1,2\n", Some("c"), None).contains("no column `c`; the header has a, b"));
        assert!(error("t,b\n1,2\nsoon,2\n", Some("b"), Some("t")).starts_with("line 3: expected seconds"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[a-z0-9,;\"\n\t .:-]{0,200}") {
            if let Ok(found) = read(&text, None, None) {
                prop_assert!(found.samples.len() < text.lines().count());
            }
        }
    }
}
