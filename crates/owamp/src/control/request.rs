//! Asking for a session, and whether it is had.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Accept, BLOCK, ControlError};
use crate::fields::Fields;
use crate::schedule::Slot;
use crate::session::SessionId;
use crate::time::{NtpInterval, NtpTime};

/// Who of the two ends is the server in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerRole {
    /// The server sends to the client.
    Sender,
    /// The client sends to the server, and asks afterwards what came.
    Receiver,
    /// The server reflects (TWAMP).
    Reflector,
}

/// One end of a session's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address; unspecified for that of the control connection.
    pub address: IpAddr,
    /// Its UDP port; 0 where the server is to choose it.
    pub port: u16,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRequest {
    /// What the server does.
    pub role: ServerRole,
    /// Where packets come from.
    pub sender: Endpoint,
    /// Where they go.
    pub receiver: Endpoint,
    /// The name, where the client receives; zero where the server gives it.
    pub session: SessionId,
    /// Packets; 0 in TWAMP, where the client knows.
    pub packets: u32,
    /// Octets behind the head of each packet.
    pub padding: u32,
    /// When the first wait begins.
    pub start: NtpTime,
    /// A packet that arrives so long after it was due is lost; in TWAMP how long the reflector reflects after the stop.
    pub timeout: NtpInterval,
    /// Type-P descriptor: DSCP or PHB.
    pub type_p: u32,
    /// Waits before packets; none in TWAMP.
    pub slots: Vec<Slot>,
}

/// Slots in a request at most. perfSONAR's tools write one.
pub const MAX_SLOTS: u32 = 64;

/// The fixed part of a request.
pub(crate) const HEAD: usize = 112;

impl SessionRequest {
    /// Octets of the whole request that begins with this head.
    ///
    /// # Errors
    /// If it has more slots than are accepted.
    pub fn length(head: &[u8; HEAD]) -> Result<usize, ControlError> {
        if head[0] == TWAMP {
            return Ok(HEAD);
        }
        let count = Fields(*head).u32(4);
        if count > MAX_SLOTS {
            return Err(ControlError::TooMany { what: "slots in a schedule", count, most: MAX_SLOTS });
        }
        Ok(HEAD + BLOCK * (count as usize + 1))
    }

    /// Reads a request of the length that [`SessionRequest::length`] gives.
    ///
    /// # Errors
    /// What it says that nobody can do.
    pub fn parse(octets: &[u8]) -> Result<Self, ControlError> {
        let (head, rest) = octets.split_first_chunk::<HEAD>().ok_or(ControlError::Length("request"))?;
        if octets.len() != Self::length(head)? {
            return Err(ControlError::Length("request"));
        }
        let fields = Fields(*head);
        let role = match (head[0], head[2], head[3]) {
            (TWAMP, 0, 0) => ServerRole::Reflector,
            (OWAMP, 1, 0) => ServerRole::Sender,
            (OWAMP, 0, 1) => ServerRole::Receiver,
            (OWAMP | TWAMP, ..) => return Err(ControlError::Roles),
            (other, ..) => return Err(ControlError::UnknownCommand(other)),
        };
        let version = head[1] & 0x0f;
        let address = |at| match version {
            4 => Ok(IpAddr::V4(Ipv4Addr::from(fields.octets::<4>(at)))),
            6 => Ok(IpAddr::V6(Ipv6Addr::from(fields.octets::<16>(at)))),
            other => Err(ControlError::IpVersion(other)),
        };
        let (slots, _) = rest.as_chunks::<BLOCK>();
        // The last block is the HMAC.
        let slots = slots.iter().take(slots.len().saturating_sub(1)).map(read_slot).collect::<Result<_, _>>()?;
        Ok(Self {
            role,
            sender: Endpoint { address: address(16)?, port: fields.u16(12) },
            receiver: Endpoint { address: address(32)?, port: fields.u16(14) },
            session: SessionId(fields.octets(48)),
            packets: fields.u32(8),
            padding: fields.u32(64),
            start: NtpTime::from_bits(fields.u64(68)),
            timeout: NtpInterval::from_bits(fields.u64(76)),
            type_p: fields.u32(84),
            slots,
        })
    }

    /// Writes the request.
    #[must_use]
    pub fn emit(&self) -> Vec<u8> {
        let (command, sends, receives) = match self.role {
            ServerRole::Sender => (OWAMP, 1, 0),
            ServerRole::Receiver => (OWAMP, 0, 1),
            ServerRole::Reflector => (TWAMP, 0, 0),
        };
        let version = if self.receiver.address.is_ipv4() { 4 } else { 6 };
        let slots = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        let head = Fields::<HEAD>::ZERO
            .with(0, &[command, version, sends, receives])
            .with(4, &slots.to_be_bytes())
            .with(8, &self.packets.to_be_bytes())
            .with(12, &self.sender.port.to_be_bytes())
            .with(14, &self.receiver.port.to_be_bytes())
            .with(16, &octets_of(self.sender.address))
            .with(32, &octets_of(self.receiver.address))
            .with(48, &self.session.0)
            .with(64, &self.padding.to_be_bytes())
            .with(68, &self.start.bits().to_be_bytes())
            .with(76, &self.timeout.bits().to_be_bytes())
            .with(84, &self.type_p.to_be_bytes());
        let mut octets = head.0.to_vec();
        if self.role != ServerRole::Reflector {
            self.slots.iter().for_each(|slot| octets.extend(write_slot(*slot)));
            octets.extend([0; BLOCK]);
        }
        octets
    }
}

/// The server's answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptSession {
    /// Whether the session is had.
    pub accept: Accept,
    /// The server's own UDP port.
    pub port: u16,
    /// The name, where the server receives or reflects.
    pub session: SessionId,
}

impl AcceptSession {
    /// Octets.
    pub const LEN: usize = 48;

    /// Reads the message.
    #[must_use]
    pub fn parse(octets: &[u8; Self::LEN]) -> Self {
        let fields = Fields(*octets);
        Self { accept: Accept::from_octet(fields.0[0]), port: fields.u16(2), session: SessionId(fields.octets(4)) }
    }

    /// Writes the message.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        Fields::ZERO.with(0, &[self.accept.octet()]).with(2, &self.port.to_be_bytes()).with(4, &self.session.0).0
    }
}

fn read_slot(octets: &[u8; BLOCK]) -> Result<Slot, ControlError> {
    let wait = NtpInterval::from_bits(Fields(*octets).u64(8));
    match octets[0] {
        0 => Ok(Slot::Exponential(wait)),
        1 => Ok(Slot::Fixed(wait)),
        other => Err(ControlError::UnknownSlot(other)),
    }
}

fn write_slot(slot: Slot) -> [u8; BLOCK] {
    let (kind, wait) = match slot {
        Slot::Exponential(mean) => (0, mean),
        Slot::Fixed(wait) => (1, wait),
    };
    Fields::ZERO.with(0, &[kind]).with(8, &wait.bits().to_be_bytes()).0
}

fn octets_of(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => Fields::ZERO.with(0, &address.octets()).0,
        IpAddr::V6(address) => address.octets(),
    }
}

/// Number of OWAMP's Request-Session.
pub(crate) const OWAMP: u8 = 1;
/// Number of TWAMP's Request-TW-Session (RFC 5357 §3.5).
pub(crate) const TWAMP: u8 = 5;
