//! What the hub says while it runs: a line for what a person should see, and never more than so many a second. Whoever is
//! attacked must not be filled up by its own log. No line has a token: what is logged is who, what and why.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use units::WallTime;

/// Where lines go. Copies share one budget.
#[derive(Clone)]
pub struct Log(Arc<Lines>);

struct Lines {
    sink: Box<dyn Fn(&str) + Send + Sync>,
    budget: Mutex<Budget>,
}

#[derive(Debug, Default)]
struct Budget {
    second: u64,
    lines: u32,
    suppressed: u64,
}

impl Log {
    /// Lines go to `sink`, without a line end.
    #[must_use]
    pub fn to(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Lines { sink: Box::new(sink), budget: Mutex::default() }))
    }

    /// Says something, unless too much was said this second; how much was left out is said in the next.
    pub fn say(&self, now: WallTime, line: fmt::Arguments<'_>) {
        let mut budget = self.0.budget.lock().unwrap_or_else(PoisonError::into_inner);
        let second = now.unix_nanos() / 1_000_000_000;
        if budget.second != second {
            let suppressed = budget.suppressed;
            *budget = Budget { second, ..Budget::default() };
            if suppressed > 0 {
                (self.0.sink)(&format!("{suppressed} lines left out"));
            }
        }
        budget.lines += 1;
        if budget.lines > MOST_LINES {
            budget.suppressed += 1;
        } else {
            // A name in it may be a stranger's.
            let line = line.to_string();
            (self.0.sink)(&line.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect::<String>());
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// Lines in a second.
const MOST_LINES: u32 = 20;
/// Letters of a line.
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn flood_of_lines_is_counted_and_not_written() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = Log::to(move |line| kept.lock().unwrap().push(line.to_owned()));
        for _ in 0..1000 {
            log.say(WallTime::from_unix_nanos(1), format_args!("one\x1b[2J"));
        }
        log.say(WallTime::from_unix_nanos(2_000_000_000), format_args!("two"));
        let lines = lines.lock().unwrap();
        assert_eq!((lines.len(), lines[0].as_str()), (22, "one[2J"));
        assert_eq!(&lines[20..], ["980 lines left out", "two"]);
    }
}
