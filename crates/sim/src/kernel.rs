//! Releases of Linux, as far as a transfer differs by them.
//!
//! Kernels 6.1 and 6.12 were run on the same 67 cases in virtual time (testdata/oracle): without small buffers 41 of 42 transfers are
//! within 1 %, with a small send buffer 15 of 16 within 5 %. What differs is the memory of a frame in the send buffer, and how much of the
//! receive buffer is window. Before 5.14 a recovery sends less; that is by the sources alone, as no such kernel was run.
//!
//! What long transfers go by otherwise is the same in 5.10, 6.1, 6.6 and 6.12: window scaling, RACK, pacing (200 % and 120 %), BBR
//! version 1 and `HyStart`, whose corrections of 5.16 went to the stable releases of 5.10 as well.
//! Model: frames of paths below 4 ms are larger since 5.18 (`tcp_tso_rtt_log`); limits that only 6.15 and later have
//! (`tcp_limit_output_bytes` of 4 MiB, `tcp_rmem` up to 32 MiB) are for the caller to set.

use std::str::FromStr;

use units::{ByteCount, Percent};

/// A release, or the first of several that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Kernel {
    /// 5.13 and before.
    V5_10,
    /// 5.14 to 6.5.
    #[default]
    V6_1,
    /// 6.6 and later: the receiver measures what segments take of its memory (`scaling_ratio`, net/ipv4/tcp_input.c).
    V6_6,
}

/// A text that names no release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kernel release; write 5.10, 6.1, 6.6, or as `uname -r` prints it")]
pub struct UnknownRelease(String);

impl Kernel {
    /// How much of a receive buffer is offered as window: half (`tcp_adv_win_scale` = 1), and since 6.6 as much as segments
    /// leave of the memory that they take.
    ///
    /// Model: that is three quarters, as of full segments that the NIC or GRO merges: with 512 KiB over 24 and 80 ms a kernel 6.18
    /// had 0.74 to 0.76 in flight. Segments of 1448 bytes that nothing merges leave 0.60 (6.12).
    #[must_use]
    pub const fn window_percent(self) -> Percent {
        match self {
            Self::V5_10 | Self::V6_1 => Percent::of::<50>(),
            Self::V6_6 => Percent::of::<75>(),
        }
    }
}

impl Kernel {
    /// Memory that a frame in a send buffer takes besides its payload: `truesize` of an empty `sk_buff` of TCP
    /// (`tcp_stream_alloc_skb`). That is the structure, 256 bytes, and its head: one of 1,024 bytes by `kmalloc`, and since 6.3 one of
    /// 640 from a cache of its own (`skb_small_head_cache`). Measured on 6.1: a writer was woken with 46 segments of 1,448 bytes
    /// in frames of three, which are two thirds of 128 KiB with this, and 47 are not.
    #[must_use]
    pub const fn frame_overhead(self) -> ByteCount {
        match self {
            Self::V5_10 | Self::V6_1 => ByteCount::new(1_024 + 256),
            Self::V6_6 => ByteCount::new(640 + 256),
        }
    }
}

impl Kernel {
    /// Whether a recovery that is below ssthresh makes up for what it was allowed to send and did not, at any acknowledgement.
    pub(crate) const fn banks_in_recovery(self) -> bool {
        !matches!(self, Self::V5_10)
    }
}

impl FromStr for Kernel {
    type Err = UnknownRelease;

    /// Reads `6.6`, and a release such as `6.12.107+deb13-amd64`.
    fn from_str(text: &str) -> Result<Self, UnknownRelease> {
        let mut numbers = text.trim_end_matches('+').split(|letter: char| !letter.is_ascii_digit());
        let mut number = || numbers.next().and_then(|digits| digits.parse::<u32>().ok());
        let (major, minor) = number().zip(number()).ok_or_else(|| UnknownRelease(text.to_owned()))?;
        Ok(match (major, minor) {
            (6, 6..) | (7.., _) => Self::V6_6,
            (..5, _) | (5, ..=13) => Self::V5_10,
            _ => Self::V6_1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_as_uname_prints_them() {
        let of = |text: &str| text.parse::<Kernel>();
        for text in ["6.6", "6.6+", "6.12.107+deb13-amd64", "6.18.44-fc", "7.0"] {
            assert_eq!(of(text), Ok(Kernel::V6_6), "{text}");
        }
        assert_eq!([of("5.10"), of("4.18.0-553.el8")], [Ok(Kernel::V5_10), Ok(Kernel::V5_10)]);
        assert_eq!([of("5.11.0-49-generic"), of("5.13")], [Ok(Kernel::V5_10), Ok(Kernel::V5_10)]);
        assert_eq!([of("5.14.0-427.el9"), of("6.1")], [Ok(Kernel::V6_1), Ok(Kernel::V6_1)]);
        for text in ["", "6", "new", "6.x"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
