//! Sequence numbers: 32 bits on the wire, 64 where they are counted. At 10 Gbit/s the field of the header wraps every 3.4 s.

/// The 64-bit number nearest to `near` whose low half is a number of the wire.
#[inline]
pub(crate) fn nearest(near: u64, number: u32) -> u64 {
    let distance = number.wrapping_sub((near & 0xffff_ffff) as u32).cast_signed();
    near.saturating_add_signed(i64::from(distance))
}
