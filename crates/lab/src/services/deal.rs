//! Who gets which request: in turn, and a fixed share to somebody else.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use path::Seed;
use path::random::SeededRng;

/// A part of all requests, 0 to 1, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(u32);

impl Share {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// This part; [`None`] outside 0 to 1.
    #[must_use]
    pub fn new(part: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a million")]
        (0.0..=1.0).contains(&part).then(|| Self((part * f64::from(WHOLE)).round() as u32))
    }
}

/// A share of requests that is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reroute {
    /// How many of all.
    pub share: Share,
    /// To whom, in turn.
    pub to: Vec<SocketAddr>,
}

/// Deals requests out.
#[derive(Debug)]
pub struct Dealer {
    over: Vec<SocketAddr>,
    reroute: Option<Reroute>,
    /// Where in the rhythm of passing on it begins.
    phase: u32,
    dealt: AtomicU64,
    returned: AtomicU64,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dealt {
    /// To whom.
    pub to: SocketAddr,
    /// Whether it is passed on.
    pub rerouted: bool,
}

impl Dealer {
    /// Deals to `over` in turn. The seed decides at which requests the share is passed on, not how many they are.
    #[must_use]
    pub fn new(over: Vec<SocketAddr>, reroute: Option<Reroute>, seed: Seed) -> Self {
        let phase = u32::try_from(SeededRng::new(seed).below(u64::from(WHOLE))).unwrap_or(0);
        let reroute = reroute.filter(|reroute| !reroute.to.is_empty());
        Self { over, reroute, phase, dealt: AtomicU64::new(0), returned: AtomicU64::new(0) }
    }

    /// Where the next request goes; [`None`] where nobody is there.
    ///
    /// Of any `n` requests in a row the share is passed on, rounded up or down.
    #[must_use]
    pub fn deal(&self) -> Option<Dealt> {
        let number = self.dealt.fetch_add(1, Ordering::Relaxed);
        if let Some(reroute) = &self.reroute {
            let before = passed_on(number, reroute.share, self.phase);
            if passed_on(number + 1, reroute.share, self.phase) > before {
                return Some(Dealt { to: in_turn(&reroute.to, before)?, rerouted: true });
            }
            // Those that stay are dealt in turn among themselves.
            return Some(Dealt { to: in_turn(&self.over, number - before)?, rerouted: false });
        }
        Some(Dealt { to: in_turn(&self.over, number)?, rerouted: false })
    }

    /// Where a request goes that another has passed on already: never to a third.
    #[must_use]
    pub fn deal_returned(&self) -> Option<Dealt> {
        let number = self.returned.fetch_add(1, Ordering::Relaxed);
        Some(Dealt { to: in_turn(&self.over, number)?, rerouted: false })
    }
}

/// How many of the first `requests` are passed on.
fn passed_on(requests: u64, share: Share, phase: u32) -> u64 {
    let millionths = u128::from(requests) * u128::from(share.0) + u128::from(phase);
    u64::try_from(millionths / u128::from(WHOLE)).unwrap_or(u64::MAX)
}

fn in_turn(all: &[SocketAddr], number: u64) -> Option<SocketAddr> {
    let count = u64::try_from(all.len()).ok().filter(|count| *count > 0)?;
    all.get(usize::try_from(number % count).ok()?).copied()
}

/// All of something, in millionths.
const WHOLE: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(count: u16) -> Vec<SocketAddr> {
        (1..=count).map(|port| SocketAddr::from(([10, 0, 0, 1], port))).collect()
    }

    #[test]
    fn of_any_hundred_in_a_row_eighty_are_passed_on_whatever_the_seed() {
        for seed in 0..50 {
            let to = addresses(4);
            let reroute = Reroute { share: Share::new(0.8).unwrap(), to };
            let dealer = Dealer::new(addresses(1), Some(reroute), Seed(seed));
            let dealt: Vec<bool> = (0..1000).map(|_| dealer.deal().unwrap().rerouted).collect();
            for row in dealt.windows(100) {
                assert_eq!(row.iter().filter(|rerouted| **rerouted).count(), 80, "seed {seed}");
            }
        }
    }

    #[test]
    fn everybody_gets_as_many_as_the_next() {
        let reroute = Reroute { share: Share::new(0.75).unwrap(), to: addresses(3) };
        let dealer = Dealer::new(addresses(5), Some(reroute), Seed(7));
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..1200 {
            let Dealt { to, rerouted } = dealer.deal().unwrap();
            *counts.entry((rerouted, to)).or_insert(0) += 1;
        }
        let of = |rerouted| counts.iter().filter(|((r, _), _)| *r == rerouted).map(|(_, n)| *n).collect::<Vec<i32>>();
        assert_eq!((of(true), of(false)), (vec![300; 3], vec![60; 5]));
    }

    #[test]
    fn the_same_seed_deals_the_same_and_another_differently() {
        let deal = |seed| {
            let reroute = Reroute { share: Share::new(0.3).unwrap(), to: addresses(3) };
            let dealer = Dealer::new(addresses(5), Some(reroute), Seed(seed));
            (0..50).map(|_| dealer.deal().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(deal(1), deal(1));
        assert_ne!(deal(1), deal(2));
    }

    #[test]
    fn shares_outside_nought_to_one_and_dealing_to_nobody_are_not_possible() {
        assert_eq!((Share::new(-0.1), Share::new(1.1), Share::new(f64::NAN)), (None, None, None));
        assert_eq!(Share::new(0.0), Some(Share::NONE));
        assert_eq!(Dealer::new(Vec::new(), None, Seed(1)).deal(), None);
        let reroute = Reroute { share: Share::new(1.0).unwrap(), to: Vec::new() };
        assert!(!Dealer::new(addresses(1), Some(reroute), Seed(1)).deal().unwrap().rerouted);
    }
}
