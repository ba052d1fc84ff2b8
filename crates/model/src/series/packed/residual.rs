//! Differences, and the planes of bytes that hold them.
//!
//! All arithmetic wraps, so that every sequence of 64-bit values comes back exactly.

/// Replaces each value by its difference to the one before, `seeds.len()` times, and keeps in `seeds` what is needed to
/// go back. The first entries of `values`, which have none before them, become zero.
pub(super) fn difference(values: &mut [i64], seeds: &mut [i64]) {
    for (done, seed) in seeds.iter_mut().enumerate() {
        // From the second time on the first entry is a zero that means nothing: its neighbour takes its place.
        if done > 0 && values.len() > 1 {
            values[0] = values[1];
        }
        *seed = values.first().copied().unwrap_or(0);
        for i in (1..values.len()).rev() {
            values[i] = values[i].wrapping_sub(values[i - 1]);
        }
        if let Some(first) = values.first_mut() {
            *first = 0;
        }
    }
}

/// Undoes [`difference`].
pub(super) fn integrate(values: &mut [i64], seeds: &[i64]) {
    for seed in seeds.iter().rev() {
        let mut sum = *seed;
        for (i, value) in values.iter_mut().enumerate() {
            if i > 0 {
                sum = sum.wrapping_add(*value);
            }
            *value = sum;
        }
    }
}

/// Bytes that the widest of `values` needs, 0 to 8, with its sign in the lowest bit.
pub(super) fn width(values: &[i64]) -> u8 {
    let all = values.iter().fold(0, |all, value| all | zigzag(*value));
    u8::try_from((u64::BITS - all.leading_zeros()).div_ceil(8)).unwrap_or(8)
}

/// Bits that all of `values` need together, each by itself.
pub(super) fn bits(values: &[i64]) -> usize {
    values.iter().map(|value| (u64::BITS - zigzag(*value).leading_zeros()) as usize).sum()
}

/// The bytes of place `place` of all `values`, the lowest being place 0.
pub(super) fn plane(values: &[i64], place: u8) -> Vec<u8> {
    values.iter().map(|value| zigzag(*value).to_le_bytes()[usize::from(place)]).collect()
}

/// Puts a plane back.
pub(super) fn add_plane(values: &mut [u64], plane: &[u8], place: u8) {
    for (value, byte) in values.iter_mut().zip(plane) {
        *value |= u64::from(*byte) << (8 * u32::from(place));
    }
}

/// Small numbers of both signs as small numbers without: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
pub(super) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Undoes [`zigzag`].
pub(super) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_straight_line_needs_no_bytes() {
        let mut values: Vec<i64> = (0..100).map(|i| 7 + 10_000 * i).collect();
        let mut seeds = [0; 2];
        difference(&mut values, &mut seeds);
        assert_eq!((width(&values), seeds), (0, [7, 10_000]));
    }

    proptest! {
        #[test]
        fn values_come_back_from_their_planes(
            values in prop::collection::vec(prop_oneof![any::<i64>(), -300_i64..300], 0..40),
            order in 0_usize..3,
        ) {
            let mut seeds = vec![0; order];
            let mut residuals = values.clone();
            difference(&mut residuals, &mut seeds);
            let mut read = vec![0; values.len()];
            for place in 0..width(&residuals) {
                add_plane(&mut read, &plane(&residuals, place), place);
            }
            let mut read: Vec<i64> = read.into_iter().map(unzigzag).collect();
            integrate(&mut read, &seeds);
            prop_assert_eq!(read, values);
        }
    }
}
