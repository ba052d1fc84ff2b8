//! Who tries passwords has to wait: after five wrong ones of an account from one address twice as long for each more, up to a
//! quarter of an hour. Somebody at another address is not locked out by that.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mesh::clock;
use units::WallTime;

/// Wrong passwords of late, and how many are being looked at.
#[derive(Debug, Default)]
pub struct Attempts {
    failures: Mutex<BTreeMap<Origin, Failures>>,
    hashing: AtomicUsize,
}

/// Who tries: an account from an address, or an address whatever the account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    from: Option<IpAddr>,
    account: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: WallTime,
}

/// A place among the passwords that are being looked at, free again when this is dropped.
#[derive(Debug)]
pub(super) struct Hashing<'a>(&'a AtomicUsize);

impl Drop for Hashing<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Somebody who tries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) from: Option<IpAddr>,
    pub(super) account: &'a str,
    pub(super) at: WallTime,
}

impl Attempts {
    /// A place to look at a password, which takes 19 MiB; [`None`] where all are taken.
    pub(super) fn place(&self) -> Option<Hashing<'_>> {
        let taken = self.hashing.fetch_add(1, Ordering::Relaxed);
        let place = Hashing(&self.hashing);
        (taken < MOST_HASHING).then_some(place)
    }

    /// How long somebody has to wait still; [`None`] who may try.
    pub(super) fn wait(&self, attempt: Attempt<'_>) -> Option<Duration> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = origins(attempt).into_iter().filter_map(|(origin, free)| {
            let Failures { count, last } = failures.get(&origin)?;
            let ends = clock::later(*last, pause(count.saturating_sub(free)));
            (ends > attempt.at).then(|| clock::between(attempt.at, ends))
        });
        waits.max()
    }

    /// A password was wrong.
    pub(super) fn failed(&self, attempt: Attempt<'_>) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|_, one| clock::later(one.last, REMEMBERED) > attempt.at);
        for (origin, _) in origins(attempt) {
            if failures.len() >= MOST_REMEMBERED
                && !failures.contains_key(&origin)
                && let Some(oldest) = failures.iter().min_by_key(|(_, one)| one.last).map(|(origin, _)| origin.clone())
            {
                failures.remove(&oldest);
            }
            let one = failures.entry(origin).or_insert(Failures { count: 0, last: attempt.at });
            *one = Failures { count: one.count.saturating_add(1), last: attempt.at };
        }
    }

    /// A password was right.
    pub(super) fn succeeded(&self, attempt: Attempt<'_>) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.remove(&Origin { from: attempt.from, account: Some(attempt.account.to_owned()) });
    }
}

/// What an attempt counts for, and how many of it are free.
fn origins(attempt: Attempt<'_>) -> [(Origin, u32); 2] {
    let from = attempt.from;
    [(Origin { from, account: Some(attempt.account.to_owned()) }, FREE), (Origin { from, account: None }, 10 * FREE)]
}

fn pause(excess: u32) -> Duration {
    match excess {
        0 => Duration::ZERO,
        _ => LONGEST_PAUSE.min(Duration::from_secs(1) * 2_u32.saturating_pow(excess.min(20))),
    }
}

const FREE: u32 = 5;
const LONGEST_PAUSE: Duration = Duration::from_secs(900);
const REMEMBERED: Duration = Duration::from_secs(3_600);
const MOST_REMEMBERED: usize = 10_000;
/// 76 MiB at most.
const MOST_HASHING: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(account: &str, seconds: u64) -> Attempt<'_> {
        let at = WallTime::from_unix_nanos((1_000_000 + seconds) * 1_000_000_000);
        Attempt { from: Some(IpAddr::from([192, 0, 2, 1])), account, at }
    }

    #[test]
    fn the_sixth_wrong_password_and_each_after_it_waits_twice_as_long() {
        let attempts = Attempts::default();
        for _ in 0..5 {
            attempts.failed(attempt("ada", 0));
            assert_eq!(attempts.wait(attempt("ada", 0)), None);
        }
        for seconds in [2, 4, 8] {
            attempts.failed(attempt("ada", 0));
            assert_eq!(attempts.wait(attempt("ada", 0)), Some(Duration::from_secs(seconds)));
            assert_eq!(attempts.wait(attempt("ada", seconds)), None);
        }
        assert_eq!(attempts.wait(attempt("eve", 0)), None, "another account from there");
        let elsewhere = Attempt { from: Some(IpAddr::from([192, 0, 2, 2])), ..attempt("ada", 0) };
        assert_eq!(attempts.wait(elsewhere), None, "nobody is locked out of an account by others");
        attempts.succeeded(attempt("ada", 8));
        attempts.failed(attempt("ada", 9));
        assert_eq!(attempts.wait(attempt("ada", 9)), None);
    }

    #[test]
    fn an_address_that_tries_many_accounts_waits_and_memory_is_bounded() {
        let attempts = Attempts::default();
        for number in 0..60 {
            attempts.failed(attempt(&format!("a{number}"), 0));
        }
        assert!(attempts.wait(attempt("another", 0)).unwrap() > Duration::from_secs(500));
        for number in 0..20_000_u32 {
            attempts.failed(Attempt { from: Some(IpAddr::from(number.to_be_bytes())), ..attempt("ada", 1) });
        }
        assert!(attempts.failures.lock().unwrap().len() <= MOST_REMEMBERED);
    }

    #[test]
    fn few_passwords_are_looked_at_at_once() {
        let attempts = Attempts::default();
        let places: Vec<_> = (0..MOST_HASHING).map(|_| attempts.place().unwrap()).collect();
        assert!(attempts.place().is_none());
        drop(places);
        assert!(attempts.place().is_some());
    }
}
