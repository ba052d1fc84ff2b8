//! The sum of the internet protocols (RFC 1071).

use super::layout::{Ip, Version};

/// A sum that is being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum(u64);

impl Sum {
    /// With these bytes too, which begin at an even place.
    #[must_use]
    pub fn of(self, bytes: &[u8]) -> Self {
        // Sums of longer words fold to those of shorter ones (RFC 1071 section 2): four bytes at a time.
        let (words, rest) = bytes.as_chunks::<4>();
        let mut sum = words.iter().fold(self.0, |sum, word| sum + u64::from(u32::from_be_bytes(*word)));
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        sum += u64::from(u32::from_be_bytes(last));
        Self(sum)
    }

    /// With a number of 16 bits too.
    #[must_use]
    pub fn and(self, number: u16) -> Self {
        Self(self.0 + u64::from(number))
    }

    /// The sum, not inverted: what a checksum field holds whose sum is not made yet.
    #[must_use]
    pub fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        u16::try_from(sum).unwrap_or(u16::MAX)
    }

    /// The ones' complement of the sum (RFC 1071).
    #[must_use]
    pub fn checksum(self) -> u16 {
        !self.folded()
    }
}

/// The sum over what IP adds to the checksum of what it carries (RFC 9293 section 3.1, RFC 8200 section 8.1), for a
/// segment of `len` bytes.
#[must_use]
pub fn pseudo_header(frame: &[u8], ip: &Ip, len: usize) -> Sum {
    let len = u16::try_from(len).unwrap_or(u16::MAX);
    Sum::default().of(ip.addresses(frame)).and(u16::from(ip.protocol)).and(len)
}

/// Makes the sum of an IPv4 header anew; that of IPv6 has none.
pub fn renew_header(frame: &mut [u8], ip: &Ip) {
    if ip.version == Version::V6 {
        return;
    }
    let header_len = usize::from(frame[ip.start] & 0x0f) * 4;
    let Some(header) = frame.get_mut(ip.start..ip.start + header_len) else { return };
    header[10..12].fill(0);
    let sum = Sum::default().of(header).checksum();
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_is_that_of_the_example_of_the_standard() {
        // RFC 1071 section 3.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().of(&bytes).folded(), 0xddf2);
        assert_eq!(Sum::default().of(&bytes[..3]).folded(), 0xf201);
        assert_eq!(Sum::default().of(&bytes[..4]).of(&bytes[4..]).checksum(), !0xddf2);
    }
}
