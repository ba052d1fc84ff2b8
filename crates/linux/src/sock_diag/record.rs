//! Answers: `struct inet_diag_msg` and its attributes.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::time::Duration;

use super::TcpState;
use super::numbers::{
    AF_INET, AF_INET6, INET_DIAG_BBRINFO, INET_DIAG_CONG, INET_DIAG_INFO, INET_DIAG_SHUTDOWN, INET_DIAG_SKMEMINFO,
};
use crate::netlink::{Attribute, NetlinkError, attributes};
use crate::sockets::{Family, SocketMemory};
use crate::tcp_info::TcpInfo;

/// One socket as the kernel lists it. What the kernel or the state of the socket does not have is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketRecord {
    /// The family of the socket. One of IPv6 that carries IPv4 has mapped addresses (`::ffff:192.0.2.1`).
    pub family: Family,
    /// The number of its state (`idiag_state`); [`SocketRecord::state`] is the same as a type.
    pub state_code: u8,
    /// Its own address.
    pub local: SocketAddr,
    /// The address of the other end; unspecified where it is not connected.
    pub remote: SocketAddr,
    /// Index of the device it is bound to, 0 for none (`idiag_if`).
    pub interface: u32,
    /// The number that names this socket and no other until the next boot, as `SO_COOKIE` gives it.
    pub cookie: u64,
    /// Which timer runs (`idiag_timer`): 0 none, 1 retransmission, 2 keepalive, 3 time-wait, 4 window probe.
    pub timer: u8,
    /// How often what the timer waits for was tried again (`idiag_retrans`).
    pub retransmits: u8,
    /// When the timer runs out (`idiag_expires`).
    pub timer_expires: Duration,
    /// Bytes received and not read; of a listener the connections that wait (`idiag_rqueue`).
    pub receive_queue: u32,
    /// Bytes not acknowledged, unsent ones included; of a listener the limit on waiting ones (`idiag_wqueue`).
    pub send_queue: u32,
    /// Whose it is (`idiag_uid`).
    pub uid: u32,
    /// Number of its file, which `/proc/PID/fd` shows; 0 where no process has it any more.
    pub inode: u32,
    /// `struct tcp_info` (`INET_DIAG_INFO`).
    pub tcp_info: Option<TcpInfo>,
    /// The memory it holds, and its drops (`INET_DIAG_SKMEMINFO`).
    pub memory: Option<SocketMemory>,
    /// Congestion control (`INET_DIAG_CONG`).
    pub congestion_control: Option<String>,
    /// What BBR has found out (`INET_DIAG_BBRINFO`).
    pub bbr: Option<BbrInfo>,
    /// Which directions are shut down: 1 receiving, 2 sending, 3 both (`INET_DIAG_SHUTDOWN`).
    pub shutdown: Option<u8>,
}

/// What BBR has found out about a path (`struct tcp_bbr_info`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BbrInfo {
    /// Bandwidth in bytes each second, the maximum of late (`bbr_bw_lo`, `bbr_bw_hi`).
    pub bbr_bw: u64,
    /// Least round-trip time of late, in microseconds.
    pub bbr_min_rtt: u32,
    /// Factor from bandwidth to pacing rate, in 256ths.
    pub bbr_pacing_gain: u32,
    /// Factor from bandwidth-delay product to congestion window, in 256ths.
    pub bbr_cwnd_gain: u32,
}

impl SocketRecord {
    /// Its state, `None` for a number not known here.
    #[must_use]
    pub fn state(&self) -> Option<TcpState> {
        TcpState::from_code(self.state_code)
    }

    /// Reads the message behind its netlink header. Attributes not known here are passed over.
    ///
    /// # Errors
    /// [`NetlinkError::Malformed`] for a message or an attribute that is cut short, with the place.
    pub fn parse(message: &[u8]) -> Result<Self, NetlinkError> {
        let header: &[u8; HEADER_LEN] = message
            .first_chunk()
            .ok_or(NetlinkError::Malformed { offset: message.len(), reason: "a socket that is cut short" })?;
        let mut record = Self::from_header(header)?;
        for attribute in attributes(message, HEADER_LEN) {
            record.add(&attribute?)?;
        }
        Ok(record)
    }

    fn from_header(header: &[u8; HEADER_LEN]) -> Result<Self, NetlinkError> {
        let word = |offset: usize| u32::from_ne_bytes(part(header, offset));
        let family = match header[0] {
            AF_INET => Family::V4,
            AF_INET6 => Family::V6,
            _ => return Err(NetlinkError::Malformed { offset: 0, reason: "neither IPv4 nor IPv6" }),
        };
        Ok(Self {
            family,
            state_code: header[1],
            timer: header[2],
            retransmits: header[3],
            local: address(family, part(header, 4), part(header, 8)),
            remote: address(family, part(header, 6), part(header, 24)),
            interface: word(40),
            cookie: u64::from_le_bytes(part(header, 44)),
            timer_expires: Duration::from_millis(word(52).into()),
            receive_queue: word(56),
            send_queue: word(60),
            uid: word(64),
            inode: word(68),
            tcp_info: None,
            memory: None,
            congestion_control: None,
            bbr: None,
            shutdown: None,
        })
    }

    fn add(&mut self, attribute: &Attribute<'_>) -> Result<(), NetlinkError> {
        let value = attribute.value;
        match attribute.kind {
            INET_DIAG_INFO => self.tcp_info = Some(TcpInfo::from_bytes(value)),
            INET_DIAG_SKMEMINFO => self.memory = Some(SocketMemory::from_bytes(value)),
            INET_DIAG_CONG => {
                let name = value.split(|&byte| byte == 0).next().unwrap_or_default();
                self.congestion_control = Some(String::from_utf8_lossy(name).into_owned());
            }
            INET_DIAG_BBRINFO => {
                let info: &[u8; 20] = value.first_chunk().ok_or(NetlinkError::Malformed {
                    offset: attribute.offset,
                    reason: "the information of BBR is cut short",
                })?;
                self.bbr = Some(BbrInfo {
                    bbr_bw: u64::from_le_bytes(part(info, 0)),
                    bbr_min_rtt: u32::from_ne_bytes(part(info, 8)),
                    bbr_pacing_gain: u32::from_ne_bytes(part(info, 12)),
                    bbr_cwnd_gain: u32::from_ne_bytes(part(info, 16)),
                });
            }
            INET_DIAG_SHUTDOWN => self.shutdown = value.first().copied(),
            _ => {}
        }
        Ok(())
    }
}

/// `N` bytes from `offset` on; zeros where the array is shorter, which its fixed length rules out.
fn part<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    bytes.get(offset..offset + N).and_then(|part| part.try_into().ok()).unwrap_or([0; N])
}

fn address(family: Family, port: [u8; 2], ip: [u8; 16]) -> SocketAddr {
    let port = u16::from_be_bytes(port);
    match family {
        Family::V4 => SocketAddrV4::new(Ipv4Addr::from(part(&ip, 0)), port).into(),
        Family::V6 => SocketAddrV6::new(Ipv6Addr::from(ip), port, 0, 0).into(),
    }
}

const HEADER_LEN: usize = 72;
