//! How a sender is told that a link carries less: "fragmentation needed" (RFC 792, RFC 1191) and "packet too big"
//! (RFC 4443 section 3.2).

use std::net::IpAddr;
use std::time::Duration;

use linux::tap::FrameHeader;
use units::{MonoTime, Mtu};

use super::checksum::{Sum, pseudo_header, renew_header};
use super::layout::{ICMP, ICMPV6, IPV4, IPV6, Ip, Layout, Version};

/// The answer to one packet, with a [`FrameHeader`] before it; `None` for a packet that is not to be answered (RFC
/// 1812 section 4.3.2.7, RFC 4443 section 2.4), and where no reporter has an address of its family.
#[must_use]
pub fn answer(frame: &[u8], layout: &Layout, mtu: Mtu, reporters: &[IpAddr]) -> Option<Vec<u8>> {
    let ip = layout.ip?;
    let reporter = reporters.iter().find(|reporter| reporter.is_ipv4() == (ip.version == Version::V4))?;
    if !may_be_answered(frame, &ip) {
        return None;
    }
    let mut answer = FrameHeader::default().emit().to_vec();
    // Back the way it came, as if the far end had sent it.
    answer.extend_from_slice(frame.get(6..12)?);
    answer.extend_from_slice(frame.get(..6)?);
    let (ether_type, quoted) = match ip.version {
        Version::V4 => (IPV4, V4_MOST),
        Version::V6 => (IPV6, V6_MOST),
    };
    answer.extend_from_slice(&ether_type.to_be_bytes());
    let quoted = frame.get(ip.start..ip.end.min(ip.start + quoted).min(frame.len()))?;
    let addresses = ip.addresses(frame);
    let sender = addresses.get(..addresses.len() / 2)?;
    match reporter {
        IpAddr::V4(reporter) => v4(&mut answer, &reporter.octets(), sender, mtu, quoted),
        IpAddr::V6(reporter) => v6(&mut answer, &reporter.octets(), sender, mtu, quoted),
    }
    Some(answer)
}

fn v4(answer: &mut Vec<u8>, reporter: &[u8], sender: &[u8], mtu: Mtu, quoted: &[u8]) {
    let ip = answer.len();
    let len = Version::V4.header_len() + ICMP_HEADER + quoted.len();
    // Class of service "internetwork control", as routers answer (RFC 1812 section 4.3.2.5).
    answer.extend_from_slice(&[0x45, 0xc0]);
    answer.extend_from_slice(&short(len).to_be_bytes());
    answer.extend_from_slice(&[0, 0, 0, 0, HOPS, ICMP, 0, 0]);
    answer.extend_from_slice(reporter);
    answer.extend_from_slice(sender);
    let icmp = answer.len();
    answer.extend_from_slice(&[UNREACHABLE, FRAGMENTATION_NEEDED, 0, 0, 0, 0]);
    answer.extend_from_slice(&short(mtu.get() as usize).to_be_bytes());
    answer.extend_from_slice(quoted);
    let sum = Sum::default().of(&answer[icmp..]).checksum();
    answer[icmp + 2..icmp + 4].copy_from_slice(&sum.to_be_bytes());
    let written = layout_of(Version::V4, ip, icmp, answer.len(), ICMP);
    renew_header(answer, &written);
}

fn v6(answer: &mut Vec<u8>, reporter: &[u8], sender: &[u8], mtu: Mtu, quoted: &[u8]) {
    let ip = answer.len();
    answer.extend_from_slice(&[0x60, 0, 0, 0]);
    answer.extend_from_slice(&short(ICMP_HEADER + quoted.len()).to_be_bytes());
    answer.extend_from_slice(&[ICMPV6, HOPS]);
    answer.extend_from_slice(reporter);
    answer.extend_from_slice(sender);
    let icmp = answer.len();
    answer.extend_from_slice(&[PACKET_TOO_BIG, 0, 0, 0]);
    answer.extend_from_slice(&mtu.get().to_be_bytes());
    answer.extend_from_slice(quoted);
    let written = layout_of(Version::V6, ip, icmp, answer.len(), ICMPV6);
    let sum = pseudo_header(answer, &written, answer.len() - icmp).of(&answer[icmp..]).checksum();
    answer[icmp + 2..icmp + 4].copy_from_slice(&sum.to_be_bytes());
}

fn layout_of(version: Version, start: usize, payload: usize, end: usize, protocol: u8) -> Ip {
    Ip { version, start, payload, end, protocol, fragment: false }
}

/// Nobody is told about errors, about fragments, and about what nobody in particular has sent.
fn may_be_answered(frame: &[u8], ip: &Ip) -> bool {
    let kind = frame.get(ip.payload).copied().unwrap_or_default();
    let is_error = match ip.protocol {
        ICMP => !matches!(kind, 0 | 8 | 13 | 14),
        ICMPV6 => kind < 128,
        _ => false,
    };
    let addresses = ip.addresses(frame);
    let (sender, _) = addresses.split_at(addresses.len() / 2);
    let is_host = match ip.version {
        Version::V4 => sender.first().is_some_and(|first| (1..224).contains(first)),
        Version::V6 => sender.iter().any(|byte| *byte != 0) && sender.first() != Some(&0xff),
    };
    !is_error && is_host && !ip.fragment
}

/// How many answers are given: a bucket that fills at 1,000 a second and holds 50.
///
/// Routers are to limit what they answer (RFC 1812 section 4.3.2.8, RFC 4443 section 2.4 f). These are the numbers of
/// Linux for all answers together (net/ipv4/icmp.c `icmp_msgs_per_sec` and `icmp_msgs_burst`, 6.1), though Linux
/// itself lets every word about packets that are too big pass by its limits.
#[derive(Debug, Clone)]
pub struct Allowance {
    tokens: u64,
    filled: MonoTime,
}

impl Allowance {
    /// A full one.
    #[must_use]
    pub fn new(now: MonoTime) -> Self {
        Self { tokens: BURST, filled: now }
    }

    /// Whether one more may be given.
    pub fn take(&mut self, now: MonoTime) -> bool {
        let earned = u64::try_from(now.since(self.filled).as_nanos() / INTERVAL.as_nanos()).unwrap_or(BURST);
        if earned > 0 {
            self.tokens = (self.tokens + earned.min(BURST)).min(BURST);
            self.filled = now;
        }
        let given = self.tokens > 0;
        self.tokens -= u64::from(given);
        given
    }
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// An answer is no longer than 576 bytes (RFC 1812 section 4.3.2.3), and than 1,280 (RFC 4443 section 3.2).
const V4_MOST: usize = 576 - 20 - ICMP_HEADER;
const V6_MOST: usize = 1_280 - 40 - ICMP_HEADER;
const ICMP_HEADER: usize = 8;
const HOPS: u8 = 64;
const UNREACHABLE: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
const PACKET_TOO_BIG: u8 = 2;
const INTERVAL: Duration = Duration::from_millis(1);
const BURST: u64 = 50;
