//! Light tests: several at a time on each host.

use std::time::Duration;

use super::slot::Slot;

/// Places light tests as early as their hosts have room, and says when the last one ends.
pub(super) fn schedule(mut slots: Vec<Slot>, hosts: usize) -> (Vec<Slot>, Duration) {
    // Of each host, when each of its places is free.
    let mut free = vec![[Duration::ZERO; AT_ONCE]; hosts];
    let mut end = Duration::ZERO;
    // Neighbours in number first, then those at distance two, and so on: so nobody's tests are all at the end.
    slots.sort_by_key(|slot| (slot.test, slot.pair.from.abs_diff(slot.pair.to)));
    for slot in &mut slots {
        let (from, to) = (earliest(&free[slot.pair.from]), earliest(&free[slot.pair.to]));
        slot.begins = free[slot.pair.from][from].max(free[slot.pair.to][to]);
        let over = slot.begins + slot.lasts;
        free[slot.pair.from][from] = over;
        free[slot.pair.to][to] = over;
        end = end.max(over);
    }
    (slots, end)
}

fn earliest(free: &[Duration; AT_ONCE]) -> usize {
    (0..AT_ONCE).min_by_key(|place| free[*place]).unwrap_or(0)
}

/// How many light tests a host may have at once: eight echoes of ten a second are less than a hundred packets a second,
/// which no host and no path feels.
pub const AT_ONCE: usize = 8;
