//! Where things lie and what they are called: words of a bucket, fields of `struct __sk_buff`, protocols, and what all programs use.

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

// include/uapi/linux/bpf.h of 6.18: functions
pub(super) const MAP_LOOKUP_ELEM: i32 = 1;

/// The next program at the hook decides (`TCX_NEXT`).
pub(super) const TCX_NEXT: i32 = -1;

// As the bytes of the frame lie in a number of this machine.
pub(super) const ETH_P_IP: i32 = u16::to_be(0x0800) as i32;
pub(super) const ETH_P_IPV6: i32 = u16::to_be(0x86dd) as i32;

pub(super) const IPPROTO_TCP: i32 = 6;
pub(super) const IPPROTO_UDP: i32 = 17;
/// Length of a header of Ethernet.
pub(super) const ETHERNET: i32 = 14;
