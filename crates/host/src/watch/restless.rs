//! Settings that change all the time: entering each change would fill the log with one line.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use audit::settings::Key;

/// How often each setting changed of late.
#[derive(Debug, Default)]
pub(super) struct Restless {
    since: BTreeMap<Key, (Instant, u32)>,
}

impl Restless {
    /// Whether the setting has changed so often that only comparisons shall tell of it; counts this change.
    pub(super) fn is_too_often(&mut self, key: &Key, now: Instant) -> bool {
        self.since.retain(|_, (began, _)| now.duration_since(*began) < WINDOW);
        let (_, count) = self.since.entry(key.clone()).or_insert((now, 0));
        *count = count.saturating_add(1);
        *count > MOST
    }
}

/// More changes of one setting than this in an hour are left to the comparison.
const MOST: u32 = 20;
const WINDOW: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_that_never_rests_is_left_to_the_comparison_for_an_hour() {
        let (mut restless, start) = (Restless::default(), Instant::now());
        let (one, other) = (Key::host("a"), Key::host("b"));
        let told = (0..100).filter(|_| !restless.is_too_often(&one, start)).count();
        assert_eq!(told, usize::try_from(MOST).unwrap());
        assert!(!restless.is_too_often(&other, start));
        assert!(!restless.is_too_often(&one, start + WINDOW));
    }
}
