//! The limit on the rate at which the kernel paces a socket.

use std::io;
use std::os::fd::AsFd;

use units::DataRate;

use super::option::{self, SocketOption};

/// A limit on pacing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacingLimit {
    /// No limit of this socket.
    Unlimited,
    /// Not faster than this. The kernel keeps whole bytes each second.
    Limited(DataRate),
}

/// Limits pacing (`SO_MAX_PACING_RATE`) and returns what the kernel has taken.
///
/// TCP obeys it with any qdisc, UDP only with a qdisc that knows of pacing (`fq`). Kernels before 4.20 hold 32 bits:
/// with those a rate of 34.3 Gbit/s and more becomes unlimited, and the result says so.
///
/// # Errors
/// What `setsockopt` and `getsockopt` give.
pub fn set_pacing_limit(fd: impl AsFd, limit: PacingLimit) -> io::Result<PacingLimit> {
    let bytes_per_second = match limit {
        PacingLimit::Unlimited => u64::MAX,
        PacingLimit::Limited(rate) => rate.bytes_per_second(),
    };
    option::write(fd.as_fd(), OPTION, &bytes_per_second.to_ne_bytes())?;
    let mut value = [0; 8];
    if option::read(fd.as_fd(), OPTION, &mut value)? < value.len() {
        // Such a kernel has taken the first four bytes of the eight for the whole number.
        let narrow = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
        option::write(fd.as_fd(), OPTION, &narrow.to_ne_bytes())?;
    }
    pacing_limit(fd)
}

/// The limit on pacing.
///
/// # Errors
/// What `getsockopt` gives.
pub fn pacing_limit(fd: impl AsFd) -> io::Result<PacingLimit> {
    let mut value = [0; 8];
    let len = option::read(fd.as_fd(), OPTION, &mut value)?;
    Ok(from_kernel(&value[..len]))
}

fn from_kernel(value: &[u8]) -> PacingLimit {
    let bytes_per_second = match (<[u8; 8]>::try_from(value), <[u8; 4]>::try_from(value)) {
        (Ok(wide), _) => Some(u64::from_ne_bytes(wide)).filter(|&rate| rate != u64::MAX),
        (_, Ok(narrow)) => Some(u32::from_ne_bytes(narrow)).filter(|&rate| rate != u32::MAX).map(u64::from),
        _ => None,
    };
    bytes_per_second.map_or(PacingLimit::Unlimited, |rate| PacingLimit::Limited(DataRate::from_bytes_per_second(rate)))
}

const OPTION: SocketOption = SocketOption::socket(libc::SO_MAX_PACING_RATE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_of_an_old_kernel_is_read_as_32_bits() {
        assert_eq!(from_kernel(&[0xff; 4]), PacingLimit::Unlimited);
        assert_eq!(from_kernel(&125_000_000u32.to_ne_bytes()), PacingLimit::Limited(DataRate::from_bps(1_000_000_000)));
        assert_eq!(from_kernel(&[0xff; 8]), PacingLimit::Unlimited);
    }
}
