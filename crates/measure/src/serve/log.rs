//! Where what happens at a server is said, and what is too often the same is only counted.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use linux::clock;
use units::MonoTime;

use super::Event;

/// Where events go.
pub(super) struct Log<'env> {
    nuisances: Mutex<Nuisances>,
    pub(super) report: &'env (dyn Fn(Event) + Sync),
}

impl<'env> Log<'env> {
    pub(super) fn new(report: &'env (dyn Fn(Event) + Sync)) -> Self {
        Self { nuisances: Mutex::default(), report }
    }

    pub(super) fn nuisance(&self, peer: SocketAddr, what: String) {
        let mut nuisances = self.nuisances.lock().unwrap_or_else(PoisonError::into_inner);
        for event in nuisances.note(clock::now(), peer, what) {
            (self.report)(event);
        }
    }
}

/// Keeps the log readable while somebody makes a nuisance of himself.
#[derive(Debug, Default)]
struct Nuisances {
    since: MonoTime,
    reported: u32,
    suppressed: u64,
}

impl Nuisances {
    const PERIOD: Duration = Duration::from_secs(60);
    const LINES: u32 = 10;

    fn note(&mut self, now: MonoTime, peer: SocketAddr, what: String) -> Vec<Event> {
        let mut events = Vec::new();
        if now.since(self.since) > Self::PERIOD {
            if self.suppressed > 0 {
                events.push(Event::Suppressed { count: self.suppressed });
            }
            *self = Self { since: now, ..Self::default() };
        }
        if self.reported < Self::LINES {
            self.reported += 1;
            events.push(Event::Nuisance { peer, what });
        } else {
            self.suppressed += 1;
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_nuisances_are_a_few_lines_and_a_count() {
        let mut nuisances = Nuisances { since: MonoTime::from_nanos(1), ..Nuisances::default() };
        let peer = SocketAddr::from(([192, 0, 2, 1], 7));
        let mut note = |second: u64| nuisances.note(MonoTime::from_nanos(second * 1_000_000_000), peer, String::new());
        let lines: usize = (0..1_000).map(|_| note(1).len()).sum();
        assert_eq!(lines, 10);
        assert!(matches!(note(62)[..], [Event::Suppressed { count: 990 }, Event::Nuisance { .. }]));
    }
}
