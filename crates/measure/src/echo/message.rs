//! Echo messages as bytes: what is sent, what is heard, and what errors quote.

use linux::sockets::Family;
use model::probe::ReportKind;

/// The identity of an echo: its sender's identifier and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoId {
    /// Whose.
    pub identifier: u16,
    /// Which.
    pub sequence: u16,
}

/// An echo reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Which request it answers.
    pub id: EchoId,
    /// What the request carried.
    pub payload: &'a [u8],
}

/// Whether a message has its IP header before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// It has, as on a raw IPv4 socket.
    Present,
    /// It has not.
    Absent,
}

/// Writes an echo request with so many bytes of payload, which repeat `pattern`. The checksum is IPv4's; in IPv6 the
/// kernel writes its own.
pub fn write_request(message: &mut Vec<u8>, family: Family, id: EchoId, pattern: [u8; 8], payload_bytes: usize) {
    message.clear();
    message.extend([request_type(family), 0, 0, 0]);
    message.extend(id.identifier.to_be_bytes());
    message.extend(id.sequence.to_be_bytes());
    message.extend(pattern.iter().cycle().take(payload_bytes));
    let checksum = checksum(message).to_be_bytes();
    message[2..4].copy_from_slice(&checksum);
}

/// Whether a payload is what [`write_request`] has written.
#[must_use]
pub fn is_repetition(payload: &[u8], pattern: [u8; 8]) -> bool {
    payload.chunks(pattern.len()).all(|chunk| pattern.starts_with(chunk))
}

/// Reads an echo reply; [`None`] for anything else.
#[must_use]
pub fn read_reply(family: Family, header: Header, bytes: &[u8]) -> Option<Reply<'_>> {
    let message = match header {
        Header::Absent => bytes,
        Header::Present => bytes.get(usize::from(bytes.first()? & 0x0f) * 4..)?,
    };
    let expected = match family {
        Family::V4 => 0,
        Family::V6 => 129,
    };
    let id = read_id(message, expected)?;
    Some(Reply { id, payload: message.get(HEADER..)? })
}

/// Reads which echo request an ICMP error quotes; [`None`] where it quotes anything else.
#[must_use]
pub fn read_quoted(family: Family, message: &[u8]) -> Option<EchoId> {
    read_id(message, request_type(family))
}

/// What an ICMP error says.
#[must_use]
pub fn report_kind(family: Family, icmp_type: u8, code: u8, info: u32) -> ReportKind {
    let mtu_bytes = (info > 0).then_some(info);
    match (family, icmp_type, code) {
        (Family::V4, 3, 4) | (Family::V6, 2, _) => ReportKind::TooBig { mtu_bytes },
        (Family::V4, 11, _) | (Family::V6, 3, _) => ReportKind::TimeExceeded,
        (Family::V4, 3, _) | (Family::V6, 1, _) => ReportKind::Unreachable { code },
        _ => ReportKind::Other { icmp_type, code },
    }
}

fn request_type(family: Family) -> u8 {
    match family {
        Family::V4 => 8,
        Family::V6 => 128,
    }
}

fn read_id(message: &[u8], expected: u8) -> Option<EchoId> {
    let &[kind, 0, _, _, i0, i1, s0, s1, ..] = message else { return None };
    (kind == expected)
        .then(|| EchoId { identifier: u16::from_be_bytes([i0, i1]), sequence: u16::from_be_bytes([s0, s1]) })
}

/// The Internet checksum (RFC 1071).
fn checksum(message: &[u8]) -> u16 {
    let word = |pair: &[u8]| match *pair {
        [high, low] => u64::from(u16::from_be_bytes([high, low])),
        [high] => u64::from(u16::from_be_bytes([high, 0])),
        _ => 0,
    };
    let mut sum: u64 = message.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(0)
}

/// Bytes before the payload: type, code, checksum, identifier, sequence number.
pub const HEADER: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    const ID: EchoId = EchoId { identifier: 0x1234, sequence: 0xff01 };

    #[test]
    fn checksum_of_a_request_makes_the_sum_of_all_words_minus_zero() {
        for payload in [0, 1, 7, 1472, 65_507] {
            let mut message = Vec::new();
            write_request(&mut message, Family::V4, ID, *b"linerate", payload);
            assert_eq!((message.len(), checksum(&message)), (HEADER + payload, 0));
            assert!(is_repetition(&message[HEADER..], *b"linerate"));
        }
    }

    #[test]
    fn reply_is_read_with_and_without_ip_header_and_options() {
        let mut reply = Vec::new();
        write_request(&mut reply, Family::V4, ID, *b"linerate", 3);
        reply[0] = 0;
        assert_eq!(read_reply(Family::V4, Header::Absent, &reply), Some(Reply { id: ID, payload: b"lin" }));
        for words in [5_u8, 15] {
            let mut packet = vec![0x40 | words; usize::from(words) * 4];
            packet.extend(&reply);
            assert_eq!(read_reply(Family::V4, Header::Present, &packet).unwrap().id, ID);
        }
    }

    #[test]
    fn what_is_no_reply_is_left_alone() {
        let mut request = Vec::new();
        write_request(&mut request, Family::V6, ID, *b"linerate", 3);
        assert_eq!(read_reply(Family::V6, Header::Absent, &request), None);
        assert_eq!(read_quoted(Family::V6, &request), Some(ID));
        assert_eq!(read_quoted(Family::V6, &request[..7]), None);
        assert_eq!(read_quoted(Family::V4, &request), None);
        assert_eq!(read_reply(Family::V4, Header::Present, &[0x4f; 30]), None);
        assert!(!is_repetition(b"linerates", *b"linerate"));
    }

    #[test]
    fn errors_of_both_families_say_the_same() {
        assert_eq!(report_kind(Family::V4, 3, 4, 1400), ReportKind::TooBig { mtu_bytes: Some(1400) });
        assert_eq!(report_kind(Family::V4, 3, 4, 0), ReportKind::TooBig { mtu_bytes: None });
        assert_eq!(report_kind(Family::V6, 2, 0, 1280), ReportKind::TooBig { mtu_bytes: Some(1280) });
        assert_eq!(report_kind(Family::V4, 11, 0, 0), report_kind(Family::V6, 3, 0, 0));
        assert_eq!(report_kind(Family::V4, 3, 1, 0), ReportKind::Unreachable { code: 1 });
        assert_eq!(report_kind(Family::V6, 4, 2, 0), ReportKind::Other { icmp_type: 4, code: 2 });
    }
}
