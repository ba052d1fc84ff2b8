//! What was not as it should be.

use std::fmt;

use super::limits::{MAX_ANOMALIES, MAX_QUOTED_CHARS};

/// Something in a file that was not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomaly {
    /// The line, from 1.
    pub line: usize,
    /// What should have been there.
    pub expected: String,
    /// What was there, shortened.
    pub found: String,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}, found `{}`", self.line, self.expected, self.found)
    }
}

/// Anomalies as they come up: the first [`MAX_ANOMALIES`] are kept, the others counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Anomalies {
    list: Vec<Anomaly>,
    more: usize,
    last_line: usize,
}

impl Anomalies {
    /// Adds one.
    pub(crate) fn add(&mut self, line: usize, expected: impl Into<String>, found: &str) {
        self.last_line = line;
        if self.list.len() < MAX_ANOMALIES {
            self.list.push(Anomaly { line, expected: expected.into(), found: shortened(found) });
        } else {
            self.more += 1;
        }
    }

    /// All of them; a last one counts those that were only counted.
    pub(crate) fn into_list(mut self) -> Vec<Anomaly> {
        if self.more > 0 {
            let found = format!("{} more", self.more);
            self.list.push(Anomaly { line: self.last_line, expected: "fewer anomalies".to_owned(), found });
        }
        self.list
    }
}

/// The start of a line, for quoting it.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_the_limit_is_counted() {
        let mut anomalies = Anomalies::default();
        for line in 1..=MAX_ANOMALIES + 7 {
            anomalies.add(line, "less", "ä".repeat(200).as_str());
        }
        let list = anomalies.into_list();
        assert_eq!(list.len(), MAX_ANOMALIES + 1);
        assert_eq!(list[MAX_ANOMALIES].to_string(), "line 107: expected fewer anomalies, found `7 more`");
        assert_eq!(list[0].found.chars().count(), MAX_QUOTED_CHARS + 1);
    }
}
