//! RTT that the text around a log states: `Baseline for 209 ms RTT`, `over a ~190ms path`.

use std::time::Duration;

use super::quantity::milliseconds;

/// An RTT that a line of prose states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedRtt {
    /// The line, from 1.
    pub line: usize,
    /// 10 µs to 3 s; numbers outside are not taken for an RTT.
    pub rtt: Duration,
}

/// The RTT that a line of prose states; `None` where it states none, or two.
pub(crate) fn stated(line: usize, text: &str) -> Option<StatedRtt> {
    let lower = text.to_lowercase();
    let speaks_of_paths =
        ["rtt", "round trip", "round-trip", "latency", " path"].iter().any(|word| lower.contains(word));
    (speaks_of_paths && lower.contains("ms") && text.len() < LONGEST).then_some(())?;
    if let Some(times) = of_ping(&lower) {
        return times.map(|rtt| StatedRtt { line, rtt });
    }
    let mut found: Option<Duration> = None;
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.').collect();
    for (at, word) in words.iter().enumerate() {
        let number = match word.trim_end_matches('.').strip_suffix("ms") {
            Some("") => at.checked_sub(1).and_then(|before| words.get(before)).copied(),
            Some(number) => Some(number),
            None => None,
        };
        let Some(rtt) = number.and_then(milliseconds).filter(|rtt| (LEAST..=MOST).contains(rtt)) else { continue };
        if found.is_some_and(|found| found != rtt) {
            return None;
        }
        found = Some(rtt);
    }
    found.map(|rtt| StatedRtt { line, rtt })
}

/// The least of `rtt min/avg/max/mdev = 9.018/9.061/9.377/0.040 ms` and of `round-trip min/avg/max = 9.0/9.1/9.4 ms`, whatever the
/// language; `None` where the line is no such line, and none within where it is one that cannot be read.
fn of_ping(lower: &str) -> Option<Option<Duration>> {
    let (titles, times) = lower.rsplit_once(" = ")?;
    titles.contains('/').then_some(())?;
    let (times, unit) = times.trim().split_once(' ')?;
    let times: Vec<Option<Duration>> = times.split('/').map(milliseconds).collect();
    let is_one = (3..=4).contains(&times.len()) && unit.starts_with("ms");
    let least = times.first().copied().flatten().filter(|_| is_one && times.iter().all(Option::is_some));
    Some(least.filter(|rtt| (LEAST..=MOST).contains(rtt)))
}

/// The RTT that is meant for a test at `line`: the nearest above it, or the only one of the text.
pub(crate) fn of_test(stated: &[StatedRtt], line: usize) -> Option<StatedRtt> {
    /// A heading, some bullets and a command stand between.
    const NEAR: usize = 15;
    let near = stated.iter().rev().find(|known| known.line < line && known.line + NEAR >= line);
    let only = stated.first().filter(|first| stated.iter().all(|other| other.rtt == first.rtt));
    near.or(only).copied()
}

/// A paragraph without breaks.
const LONGEST: usize = 1_000;
/// Below it a LAN is meant, and the number says nothing.
const LEAST: Duration = Duration::from_micros(10);
/// A satellite with a queue before it.
const MOST: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_states_an_rtt_and_rows_do_not() {
        let rtt = |text: &str| stated(1, text).map(|stated| stated.rtt.as_millis());
        assert_eq!(rtt("a Linux host with default parameters over a ~190ms path.  The value"), Some(190));
        assert_eq!(rtt("- Baseline for 209 ms RTT"), Some(209));
        assert_eq!(rtt("- High RTT from the Summit to USDF: ~220ms (see below)"), Some(220));
        assert_eq!(rtt("We will use two RTTs for experimentation: 209ms and 301ms."), None);
        assert_eq!(rtt("A 25ms microburst happening at different moments"), None);
        assert_eq!(rtt("[  5] 0.00-1.00 sec"), None);
    }

    #[test]
    fn the_least_of_the_times_of_ping_is_meant_and_not_its_deviation() {
        let rtt = |text: &str| stated(1, text).map(|stated| stated.rtt.as_micros());
        assert_eq!(rtt("rtt min/avg/max/mdev = 9.018/9.061/9.377/0.040 ms"), Some(9_018));
        assert_eq!(rtt("rtt min/moy/max/mdev = 9,018/9,061/9,377/0,040 ms, pipe 2"), Some(9_018));
        assert_eq!(rtt("round-trip min/avg/max = 12.5/13.0/13.9 ms"), Some(12_500));
        assert_eq!(rtt("round-trip min/avg/max/stddev = 12.5/13.0/13.9/0.3 ms"), Some(12_500));
        assert_eq!(rtt("rtt min/avg/max/mdev = 9.018/?/9.377/0.040 ms"), None);
    }

    #[test]
    fn the_nearest_above_is_meant_and_else_the_only_one() {
        let at = |line, millis| StatedRtt { line, rtt: Duration::from_millis(millis) };
        let both = [at(10, 1), at(40, 209)];
        assert_eq!(of_test(&both, 45), Some(at(40, 209)));
        assert_eq!(of_test(&both, 12), Some(at(10, 1)));
        assert_eq!(of_test(&both, 90), None);
        assert_eq!(of_test(&both[..1], 90), Some(at(10, 1)));
    }
}
