//! Who gets which rate of a shared NIC.

/// The level of water filling: who wants less than it gets what it wants, all others get the level, and together they
/// get the capacity. Infinite where everybody gets what it wants.
///
/// `caps` rise, and `sum` is their sum.
#[must_use]
pub fn level(caps: impl ExactSizeIterator<Item = f64>, wanted: Wanted) -> f64 {
    if wanted.sum <= wanted.capacity {
        return f64::INFINITY;
    }
    let mut left = wanted.capacity;
    let mut others = caps.len();
    for cap in caps {
        let share = left / super::bounds::small(others);
        if cap >= share {
            return share;
        }
        left -= cap;
        others -= 1;
    }
    f64::INFINITY
}

/// What is wanted of a NIC, bytes per second.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// By all together.
    pub sum: f64,
    /// What there is.
    pub capacity: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_ones_get_what_they_want_and_the_others_share_the_rest() {
        let caps = [1.0, 2.0, 30.0, 40.0];
        assert!((level(caps.into_iter(), Wanted { sum: 73.0, capacity: 23.0 }) - 10.0).abs() < 1e-12);
        assert!(level(caps.into_iter(), Wanted { sum: 73.0, capacity: 73.0 }).is_infinite());
        assert!((level(caps.into_iter(), Wanted { sum: 73.0, capacity: 4.0 }) - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn what_is_given_is_the_capacity_or_what_is_wanted(
            mut caps in proptest::collection::vec(0.001_f64..100.0, 0..50), capacity in 0.01_f64..500.0,
        ) {
            caps.sort_by(f64::total_cmp);
            let sum: f64 = caps.iter().sum();
            let level = level(caps.iter().copied(), Wanted { sum, capacity });
            let given: f64 = caps.iter().map(|cap| cap.min(level)).sum();
            prop_assert!((given - sum.min(capacity)).abs() < 1e-6 * capacity.max(sum));
        }
    }
}
