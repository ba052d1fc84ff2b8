//! Subjects of commits: one line of a log that somebody reads in a terminal.

/// The last commit before subjects were checked.
pub const SINCE: &str = "b5404d1";

/// A subject may have so many characters, so that `git log --oneline` fits 80 columns.
pub const LONGEST: usize = 72;

/// How many of the last commits are looked at.
pub const LOOKED_AT: usize = 100;

/// The wrong ones of commits, newest first, each `HASH SUBJECT`, up to the first that is not checked.
#[must_use]
pub fn check(log: &str) -> Vec<String> {
    let checked = log.lines().take(LOOKED_AT).take_while(|line| !line.starts_with(SINCE));
    checked.filter_map(|line| Some(format!("{line}: {}", wrong(line.split_once(' ')?.1)?))).collect()
}

/// What is wrong with a subject, if anything.
#[must_use]
pub fn wrong(subject: &str) -> Option<&'static str> {
    if subject.starts_with("Merge ") || subject.starts_with("Revert ") {
        return None;
    }
    let area = subject.split_once(": ");
    if subject.chars().count() > LONGEST {
        Some("more than 72 characters: say why in the body")
    } else if subject.contains(';') {
        Some("two changes: make two commits")
    } else if area.is_none_or(|(area, rest)| area.is_empty() || rest.is_empty()) {
        Some("write `area: what it does`, the area being a crate, docs or house")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_short_has_an_area_and_says_one_thing() {
        assert_eq!(wrong("sim: count bytes in flight as tcp_packets_in_flight() does"), None);
        assert!(wrong("count bytes").is_some());
        assert!(wrong("sim: count bytes; docs: say so").is_some());
        assert!(wrong(&format!("sim: {}", "x".repeat(70))).is_some());
    }

    #[test]
    fn what_is_older_than_the_rule_is_not_looked_at() {
        assert_eq!(check("abc1234 a subject without area\nb5404d1 old\n123 older").len(), 1);
    }
}
