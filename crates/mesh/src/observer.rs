//! Which leases are over.
//!
//! A hub counts a lease from the moment at which it saw it first, by its own monotonic clock; its agent counts from before
//! that, the moment at which it asked for it. So the agent has always ended first, whatever calendars say, and a hub that
//! starts anew only waits for longer.

use std::collections::BTreeMap;
use std::time::Duration;

use units::MonoTime;

use crate::run::{LeaseName, LeaseVersion};

/// The leases that a hub has seen.
#[derive(Debug, Clone)]
pub struct LeaseObserver {
    margin: Duration,
    seen: BTreeMap<LeaseName, (u32, MonoTime)>,
}

impl LeaseObserver {
    /// One that waits for `margin` more than a lease lasts: clocks of two machines that drift by 1 in 1,000 need 1 s of 1,000 s.
    #[must_use]
    pub const fn new(margin: Duration) -> Self {
        Self { margin, seen: BTreeMap::new() }
    }

    /// Takes all leases that there are now; those that have been the same for as long as they last.
    pub fn seen(&mut self, leases: &[LeaseVersion], now: MonoTime) -> Vec<LeaseVersion> {
        let before = std::mem::take(&mut self.seen);
        let mut over = Vec::new();
        for version in leases {
            let first = match before.get(&version.lease) {
                Some((renewals, first)) if *renewals == version.renewals => *first,
                _ => now,
            };
            self.seen.insert(version.lease.clone(), (version.renewals, first));
            if now.since(first) >= version.ttl + self.margin {
                over.push(version.clone());
            }
        }
        over
    }
}
