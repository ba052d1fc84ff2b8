//! Telemetry Report v1.0 and INT v1.0 (P4.org, 2018). AmLight's switches send it, with INT between the header of TCP and its
//! options, and at least one VLAN tag before IP.

use super::bytes::{Bytes, Malformed};
use super::inner::{Inner, Outermost, StackReader, packet};
use super::report::{IntHop, IntReport, ReportSender, Sequence, Stamp, Why};

/// The one report of a datagram.
pub(super) fn report(mut bytes: Bytes<'_>) -> Result<IntReport, Malformed> {
    let cut = "a report header that is cut short";
    let whole = bytes;
    let first = bytes.u32(cut)?;
    let header_words = (first >> 24 & 15) as usize;
    let next = first >> 21 & 7;
    let metadata = first >> 15 & 63;
    let why = Why {
        dropped: first >> 8 & 1 == 1,
        congested: first >> 7 & 1 == 1,
        tracked: first >> 6 & 1 == 1,
        intermediate: false,
    };
    let node = bytes.u32(cut)?;
    let number = bytes.u32(cut)?;
    let ingress = bytes.u32(cut)?;
    let mut own = IntHop { node: Some(node), ingress_ns: Some(Stamp::Short(ingress)), ..IntHop::default() };
    let has_own = metadata != 0;
    optional(&mut bytes, metadata, &mut own)?;
    // A header that is longer than is known here holds something new.
    let known = bytes.at() / 4;
    let mut rest = if header_words > known { whole } else { bytes };
    if header_words > known {
        rest.take(header_words * 4, cut)?;
    }
    let outermost = match next {
        0 => Outermost::Ethernet,
        1 => Outermost::Ipv4,
        2 => Outermost::Ipv6,
        _ => return Err(Malformed { at: 0, what: "a report of an unknown kind of packet" }),
    };
    // A dropped packet is reported by the switch that dropped it, which embeds nothing of its own.
    let embedded = why.tracked.then_some(stack as StackReader);
    let inner = packet(rest, outermost, embedded)?;
    let mut hops = inner.hops;
    if has_own {
        hops.push(own);
    }
    Ok(IntReport {
        sender: ReportSender { version: 1, node, hardware: byte(first & 63) },
        sequence: Sequence { number, bits: 32 },
        why,
        flow: inner.flow,
        hops,
        is_incomplete: inner.is_incomplete,
    })
}

/// What the sender says of itself: a word for each bit, the highest first.
fn optional(bytes: &mut Bytes<'_>, bits: u32, hop: &mut IntHop) -> Result<(), Malformed> {
    let cut = "report metadata that is cut short";
    for number in 0..6 {
        if bits >> (5 - number) & 1 == 0 {
            continue;
        }
        let word = bytes.u32(cut)?;
        match number {
            0 => ports(hop, word),
            1 => hop.latency_ns = known(word),
            2 => queue(hop, word),
            3 => hop.egress_ns = known(word).map(Stamp::Short),
            4 => {
                hop.queue = Some(byte(word >> 24));
                hop.drop_reason = Some(byte(word >> 16));
            }
            _ => hop.utilisation = known(word),
        }
    }
    Ok(())
}

/// The INT headers behind the transport header, if that is what follows.
pub(super) fn stack(mut bytes: Bytes<'_>, inner: &mut Inner) -> Result<(), Malformed> {
    let cut = "INT headers that are cut short";
    let start = bytes.at();
    let shim = bytes.u32(cut)?;
    if !matches!(shim >> 24, 1 | 2) {
        return Ok(());
    }
    let words = (shim >> 8 & 255) as usize;
    let body = words.checked_sub(3).ok_or(Malformed { at: start, what: "INT headers shorter than they can be" })?;
    let header = bytes.u32(cut)?;
    if header >> 28 != 1 {
        return Err(Malformed { at: start + 4, what: "no INT of version 1" });
    }
    inner.is_incomplete = header >> 24 & 1 == 1 || header >> 23 & 1 == 1;
    let hop_words = (header >> 8 & 31) as usize;
    let instructions = bytes.u16(cut)?;
    bytes.u16(cut)?;
    if hop_words == 0 || !body.is_multiple_of(hop_words) {
        return if body == 0 { Ok(()) } else { Err(Malformed { at: start, what: "hops of uneven length" }) };
    }
    for _ in 0..(body / hop_words).min(MOST_HOPS) {
        let mut part = bytes.part(hop_words * 4, cut)?;
        inner.hops.push(hop(&mut part, instructions)?);
    }
    // The newest stands first.
    inner.hops.reverse();
    Ok(())
}

/// One hop: a value for each instruction, the highest bit first.
fn hop(bytes: &mut Bytes<'_>, instructions: u16) -> Result<IntHop, Malformed> {
    let cut = "a hop shorter than its instructions";
    let mut hop = IntHop::default();
    for bit in 0..16 {
        if instructions >> (15 - bit) & 1 == 0 {
            continue;
        }
        match bit {
            0 => hop.node = known(bytes.u32(cut)?),
            1 => ports(&mut hop, bytes.u32(cut)?),
            2 => hop.latency_ns = known(bytes.u32(cut)?),
            3 => queue(&mut hop, bytes.u32(cut)?),
            4 => hop.ingress_ns = known(bytes.u32(cut)?).map(Stamp::Short),
            5 => hop.egress_ns = known(bytes.u32(cut)?).map(Stamp::Short),
            6 => drop(bytes.u64(cut)?),
            7 => hop.utilisation = known(bytes.u32(cut)?),
            // The checksum complement, and what is reserved: a word each.
            _ => drop(bytes.u32(cut)?),
        }
    }
    Ok(hop)
}

/// The lowest eight bits.
pub(super) fn byte(word: u32) -> u8 {
    word.to_be_bytes()[3]
}

/// A word, unless it stands for none.
pub(super) fn known(word: u32) -> Option<u32> {
    (word != u32::MAX).then_some(word)
}

pub(super) fn ports(hop: &mut IntHop, word: u32) {
    let known = |port: u32| u16::try_from(port & 0xffff).ok().filter(|port| *port != u16::MAX);
    (hop.ingress_port, hop.egress_port) = (known(word >> 16), known(word));
}

pub(super) fn queue(hop: &mut IntHop, word: u32) {
    if word == u32::MAX {
        return;
    }
    hop.queue = Some(byte(word >> 24));
    hop.occupancy = Some(word & 0x00ff_ffff).filter(|occupancy| *occupancy != 0x00ff_ffff);
}

/// More hops than any path has; lengths of 8 bits allow no more than these anyway.
pub(super) const MOST_HOPS: usize = 255;
