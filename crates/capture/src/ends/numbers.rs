//! Sequence numbers that count alike at both ends of a path.

use crate::sequence;

/// Numbers of one direction, unwrapped to 64 bits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbers {
    /// The number of the SYN, where it was captured: from there on both ends count alike, whatever a firewall adds on the way.
    pub(super) syn: Option<u64>,
    last: Option<u64>,
}

/// Where numbers begin: so far from zero that however often they go back, and whatever is added to make them those of the other end, they are
/// still numbers. A packet goes back by 2^31 at most, and 2^21 of them are kept.
const START: u64 = 1 << 62;

impl Numbers {
    /// The 64-bit number nearest to the last one.
    #[inline]
    pub(super) fn unwrap(&mut self, number: u32) -> u64 {
        let near = match self.last {
            None => START + u64::from(number),
            Some(last) => sequence::nearest(last, number),
        };
        self.last = Some(near);
        near
    }

    pub(super) fn take_syn(&mut self, number: u32) {
        if self.syn.is_none() {
            self.syn = Some(self.unwrap(number));
        }
    }

    /// What is added to numbers of the other end so that they are those of this one.
    pub(super) fn shift_from(self, other: Self) -> i64 {
        const WRAP: i64 = 1 << 32;
        if let (Some(own), Some(theirs)) = (self.syn, other.syn) {
            return own.wrapping_sub(theirs).cast_signed();
        }
        // The same numbers, perhaps on either side of a wrap.
        let (Some(own), Some(theirs)) = (self.last, other.last) else { return 0 };
        let apart = own.wrapping_sub(theirs).cast_signed();
        (apart + apart.signum() * WRAP / 2) / WRAP * WRAP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[u32]) -> Numbers {
        let mut all = Numbers::default();
        for number in numbers {
            all.unwrap(*number);
        }
        all
    }

    #[test]
    fn captures_that_begin_on_either_side_of_a_wrap_count_alike() {
        let before = of(&[u32::MAX - 1_000, 500]);
        let after = of(&[100, 500]);
        assert_eq!(before.shift_from(after), 1 << 32);
        assert_eq!(after.shift_from(before), -(1 << 32));
        assert_eq!(of(&[7, 9_000]).shift_from(of(&[8])), 0);
    }

    #[test]
    fn numbers_that_go_back_are_still_numbers_as_those_of_the_other_end() {
        let mut inside = Numbers::default();
        inside.take_syn(0);
        let mut outside = Numbers::default();
        outside.take_syn(u32::MAX);
        let back = [0x8000_0000, 1, 0x8000_0002, 3].map(|number| outside.unwrap(number));
        let own = back.map(|number| number.checked_add_signed(inside.shift_from(outside)));
        assert!(own.is_sorted_by(|one, next| one > next) && own.iter().all(Option::is_some), "{own:?}");
    }

    #[test]
    fn a_firewall_that_rewrites_numbers_is_seen_through() {
        let mut inside = Numbers::default();
        inside.take_syn(1_000);
        let mut outside = Numbers::default();
        outside.take_syn(4_000_000_000);
        let byte = outside.unwrap(4_000_000_101);
        assert_eq!(byte.wrapping_add_signed(inside.shift_from(outside)), inside.unwrap(1_101));
    }
}
