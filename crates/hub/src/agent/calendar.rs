//! The hub's calendar, as an agent knows it.
//!
//! Tickets are judged by it, light tests begin by it and results are dated by it: a host whose own clock is an hour off works
//! like any other. What the hub says comes over TLS that both ends are known by.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use linux::clock as machine;
use mesh::clock;
use units::{MonoTime, WallTime};

/// What time it is at the hub, counted on by the monotonic clock of this host.
#[derive(Debug, Default)]
pub struct Calendar(Mutex<Option<Heard>>);

#[derive(Debug, Clone, Copy)]
struct Heard {
    hub: WallTime,
    at: MonoTime,
}

/// How far the clock of this host is from the hub's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// It shows a later time.
    Ahead(Duration),
    /// It shows an earlier time.
    Behind(Duration),
}

impl Calendar {
    /// The hub has said what time it is.
    pub fn hear(&self, hub: WallTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Heard { hub, at: machine::now() });
    }

    /// What time it is at the hub; before it has said so, what this host takes it to be.
    #[must_use]
    pub fn now(&self) -> WallTime {
        let heard = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.map_or_else(machine::wall_now, |Heard { hub, at }| clock::later(hub, machine::now().since(at)))
    }

    /// How far this host's clock is from the hub's, where that is more than a second: below it may be the network.
    #[must_use]
    pub fn apart(&self) -> Option<Apart> {
        let (own, hub) = (machine::wall_now(), self.now());
        let apart =
            if own > hub { Apart::Ahead(clock::between(hub, own)) } else { Apart::Behind(clock::between(own, hub)) };
        let (Apart::Ahead(by) | Apart::Behind(by)) = apart;
        (by > Duration::from_secs(1)).then_some(apart)
    }
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (by, side) = match self {
            Self::Ahead(by) => (by, "ahead of"),
            Self::Behind(by) => (by, "behind"),
        };
        write!(f, "{} {side}", units::duration::show(Duration::from_secs(by.as_secs())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hubs_time_counts_on_from_what_it_said_and_its_distance_is_shown() {
        let calendar = Calendar::default();
        assert_eq!(calendar.apart(), None);
        let said = clock::later(machine::wall_now(), Duration::from_secs(3_605));
        calendar.hear(said);
        assert!(calendar.now() >= said);
        let apart = calendar.apart().unwrap();
        assert!(matches!(apart, Apart::Behind(by) if by > Duration::from_secs(3_600)), "{apart:?}");
        assert_eq!(Apart::Ahead(Duration::from_millis(3_600_200)).to_string(), "3600 s ahead of");
        calendar.hear(WallTime::from_unix_nanos(1));
        assert!(matches!(calendar.apart(), Some(Apart::Ahead(_))));
    }
}
