//! Where things lie: words of a bucket, fields of `struct __sk_buff`.

/// Epoch, bytes, packets, aggregates, marked, two of flows, and samples that were lost: a cache line.
pub(super) const WORDS: u32 = 8;

/// Where a word of a bucket lies.
pub(super) fn word_at(word: u32) -> i16 {
    i16::try_from(word * 8).unwrap_or(i16::MAX)
}

// include/uapi/linux/bpf.h of 6.18
pub(super) const SKB_LEN: i16 = 0;
pub(super) const SKB_PROTOCOL: i16 = 16;
pub(super) const SKB_HASH: i16 = 68;
pub(super) const SKB_DATA: i16 = 76;
pub(super) const SKB_DATA_END: i16 = 80;
pub(super) const SKB_WIRE_LEN: i16 = 160;
pub(super) const SKB_GSO_SEGS: i16 = 164;
