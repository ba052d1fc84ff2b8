//! How many clients are heard at once, and how many of them from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The clients that are heard now.
#[derive(Debug)]
pub(super) struct Sessions {
    room: usize,
    from: Mutex<HashMap<IpAddr, usize>>,
}

/// A client that is heard. Dropping it makes room.
#[derive(Debug)]
pub(super) struct ServerSession<'a> {
    visits: &'a Sessions,
    from: IpAddr,
}

/// Why a client is not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Crowded {
    /// Too many are, of all.
    #[error("came while {0} others were heard")]
    All(usize),
    /// Too many of its own address are.
    #[error("came while {0} others of its address were heard")]
    Address(usize),
}

impl Sessions {
    /// Room for so many. Half of it is the most that one address gets: somebody who holds connections open without a
    /// word does not keep the others out, and a site behind one address can still queue.
    pub(super) fn new(room: usize) -> Self {
        Self { room, from: Mutex::default() }
    }

    /// Hears one more.
    pub(super) fn begin(&self, from: IpAddr) -> Result<ServerSession<'_>, Crowded> {
        let mut counts = self.counts();
        let all: usize = counts.values().sum();
        if all >= self.room {
            return Err(Crowded::All(all));
        }
        let count = counts.entry(from.to_canonical()).or_default();
        if *count >= self.room.div_ceil(2) {
            return Err(Crowded::Address(*count));
        }
        *count += 1;
        Ok(ServerSession { visits: self, from: from.to_canonical() })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.from.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ServerSession<'_> {
    fn drop(&mut self) {
        let mut counts = self.visits.counts();
        if let Some(count) = counts.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_gets_half_of_the_room_and_gives_it_back() {
        let visits = Sessions::new(4);
        let (loud, quiet) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let held: Vec<_> = (0..2).map(|_| visits.begin(loud).unwrap()).collect();
        assert_eq!(visits.begin(loud).unwrap_err(), Crowded::Address(2));
        let others: Vec<_> = (0..2).map(|_| visits.begin(quiet).unwrap()).collect();
        assert_eq!(visits.begin(IpAddr::from([192, 0, 2, 3])).unwrap_err(), Crowded::All(4));
        drop((held, others));
        assert!(visits.begin(loud).is_ok());
        assert!(visits.counts().is_empty(), "no address is remembered");
    }

    #[test]
    fn an_address_is_the_same_in_both_families() {
        let visits = Sessions::new(2);
        let _held = visits.begin("::ffff:192.0.2.1".parse().unwrap()).unwrap();
        assert_eq!(visits.begin(IpAddr::from([192, 0, 2, 1])).unwrap_err(), Crowded::Address(1));
    }
}
