//! The name of a test: 36 characters and a zero byte, first on every connection that belongs to it.

use std::fmt;

/// Length on the wire, the closing zero included.
pub const COOKIE_LEN: usize = 37;

/// The name of a test. Old iperf3 clients put host name and time in it, so any bytes are accepted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cookie([u8; COOKIE_LEN]);

impl Cookie {
    /// A cookie of the alphabet that iperf3 uses, from 36 random bytes.
    #[must_use]
    pub fn from_random(random: [u8; COOKIE_LEN - 1]) -> Self {
        const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let mut bytes = [0; COOKIE_LEN];
        for (byte, random) in bytes.iter_mut().zip(random) {
            *byte = ALPHABET[usize::from(random % 32)];
        }
        Self(bytes)
    }

    /// The cookie with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; COOKIE_LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes on the wire.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; COOKIE_LEN] {
        &self.0
    }
}

/// The readable part, for logs; foreign bytes are escaped.
impl fmt::Display for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(COOKIE_LEN);
        write!(f, "{}", self.0[..end].escape_ascii())
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cookie({self})")
    }
}
