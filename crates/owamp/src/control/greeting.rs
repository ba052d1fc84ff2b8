//! The first three messages: what the server offers, what the client chooses, when the server started.

use super::Accept;
use crate::fields::Fields;
use crate::time::NtpTime;

/// Ways to secure a session, as bits (RFC 4656 §3.1, RFC 5618).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes(pub u32);

impl Modes {
    /// Nothing is authenticated.
    pub const OPEN: Self = Self(1);

    /// Whether open mode is among them.
    #[must_use]
    pub const fn has_open(self) -> bool {
        self.0 & Self::OPEN.0 != 0
    }
}

/// What a server says first. Without modes it refuses to talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting {
    /// What it offers.
    pub modes: Modes,
    /// Random octets for the modes with a key.
    pub challenge: [u8; 16],
    /// Random in a server; of no meaning in open mode.
    pub salt: [u8; 16],
    /// Rounds of key derivation, a power of 2 from 1024.
    pub count: u32,
}

impl Greeting {
    /// Octets.
    pub const LEN: usize = 64;

    /// Reads the message.
    #[must_use]
    pub fn parse(octets: &[u8; Self::LEN]) -> Self {
        let fields = Fields(*octets);
        Self {
            modes: Modes(fields.u32(12)),
            challenge: fields.octets(16),
            salt: fields.octets(32),
            count: fields.u32(48),
        }
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        Fields::ZERO
            .with(12, &self.modes.0.to_be_bytes())
            .with(16, &self.challenge)
            .with(32, &self.salt)
            .with(48, &self.count.to_be_bytes())
            .0
    }
}

/// What a client answers. In open mode key, token and initialisation vector are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetUpResponse {
    /// The one mode it chose; none where it goes.
    pub mode: Modes,
}

impl SetUpResponse {
    /// Octets.
    pub const LEN: usize = 164;

    /// Reads the message.
    #[must_use]
    pub fn parse(octets: &[u8; Self::LEN]) -> Self {
        Self { mode: Modes(Fields(*octets).u32(0)) }
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        Fields::ZERO.with(0, &self.mode.0.to_be_bytes()).0
    }
}

/// Whether the server goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerStart {
    /// Whether.
    pub accept: Accept,
    /// When the server was started, by its clock.
    pub started: NtpTime,
}

impl ServerStart {
    /// Octets.
    pub const LEN: usize = 48;

    /// Reads the message.
    #[must_use]
    pub fn parse(octets: &[u8; Self::LEN]) -> Self {
        let fields = Fields(*octets);
        Self { accept: Accept::from_octet(fields.0[15]), started: NtpTime::from_bits(fields.u64(32)) }
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        Fields::ZERO.with(15, &[self.accept.octet()]).with(32, &self.started.bits().to_be_bytes()).0
    }
}
