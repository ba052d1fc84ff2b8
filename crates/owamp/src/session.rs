//! Names of sessions.

use std::net::IpAddr;

use crate::fields::Fields;
use crate::time::NtpTime;

/// The name of a session, given by whoever receives its packets. It is the key of the exponential waits too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SessionId(pub [u8; 16]);

impl SessionId {
    /// A name: an IPv4 address of the receiver, or the end of its IPv6 address, the time, and random bits (RFC 4656 §3.5).
    #[must_use]
    pub fn new(receiver: IpAddr, now: NtpTime, random: [u8; 4]) -> Self {
        let address = match receiver {
            IpAddr::V4(address) => address.octets(),
            IpAddr::V6(address) => Fields(address.octets()).octets(12),
        };
        Self(Fields::ZERO.with(0, &address).with(4, &now.bits().to_be_bytes()).with(12, &random).0)
    }
}
