//! Telemetry Report v2.0 and INT v2.1 (P4.org, 2020).

use super::bytes::{Bytes, Malformed};
use super::inner::{Inner, Outermost, StackReader, packet};
use super::report::{IntHop, IntReport, ReportSender, Sequence, Stamp, Why};
use super::version1::{MOST_HOPS, byte, known, ports, queue};

/// The reports of a datagram.
pub(super) fn reports(mut bytes: Bytes<'_>, each: &mut impl FnMut(IntReport)) -> Result<(), Malformed> {
    let cut = "a group header that is cut short";
    let first = bytes.u32(cut)?;
    let sender = ReportSender { version: 2, hardware: byte(first >> 22 & 63), node: bytes.u32(cut)? };
    let sequence = Sequence { number: first & 0x003f_ffff, bits: 22 };
    if bytes.is_empty() {
        return Err(Malformed { at: bytes.at(), what: "a group without a report" });
    }
    while !bytes.is_empty() {
        each(individual(&mut bytes, &Group { sender, sequence })?);
    }
    Ok(())
}

/// What all reports of a datagram share.
struct Group {
    sender: ReportSender,
    sequence: Sequence,
}

fn individual(bytes: &mut Bytes<'_>, group: &Group) -> Result<IntReport, Malformed> {
    let Group { sender, sequence } = *group;
    let cut = "a report that is cut short";
    let start = bytes.at();
    let first = bytes.u32(cut)?;
    let length = (first >> 16 & 255) as usize;
    let length = if length == TO_THE_END { bytes.rest().len() } else { length * 4 };
    let mut body = bytes.part(length, "a report longer than the datagram")?;
    let flag = |bit: u32| first >> bit & 1 == 1;
    let why = Why { dropped: flag(7), congested: flag(6), tracked: flag(5), intermediate: flag(4) };
    let mut report = IntReport { sender, sequence, why, ..IntReport::default() };
    match first >> 28 {
        0 => {}
        1 => {
            let own = main(&mut body, (first >> 8 & 255) as usize, sender)?;
            report.hops.extend(own);
        }
        // IOAM (RFC 9197) has another form, which is not read here: what is known of the packet is.
        2 => return Ok(report),
        _ => return Err(Malformed { at: start, what: "a report of an unknown kind" }),
    }
    let outermost = match first >> 24 & 15 {
        3 => Outermost::Ethernet,
        4 => Outermost::Ipv4,
        5 => Outermost::Ipv6,
        // No packet, TLVs, or an extension of a domain: nothing more is read.
        _ => return Ok(report),
    };
    let embedded = why.tracked.then_some(stack as StackReader);
    let inner = packet(body, outermost, embedded)?;
    report.flow = inner.flow;
    report.is_incomplete = inner.is_incomplete;
    // What the sink says of itself stands behind the hops that the packet brought.
    let own = std::mem::replace(&mut report.hops, inner.hops);
    report.hops.extend(own);
    Ok(report)
}

/// What the sender says of itself; none where it says nothing.
fn main(bytes: &mut Bytes<'_>, words: usize, sender: ReportSender) -> Result<Option<IntHop>, Malformed> {
    let cut = "report metadata that is cut short";
    let bits = bytes.u16(cut)?;
    bytes.u16(cut)?;
    bytes.u32(cut)?;
    let mut metadata = bytes.part(words * 4, cut)?;
    if bits == 0 {
        return Ok(None);
    }
    let mut hop = IntHop { node: Some(sender.node), ..IntHop::default() };
    for bit in 1..16 {
        if bits >> (15 - bit) & 1 == 1 {
            value(&mut metadata, bit, &mut hop)?;
        }
    }
    if bits & 1 == 1 {
        hop.occupancy = None;
    }
    Ok(Some(hop))
}

/// The INT headers behind the transport header, if that is what follows.
pub(super) fn stack(mut bytes: Bytes<'_>, inner: &mut Inner) -> Result<(), Malformed> {
    let cut = "INT headers that are cut short";
    let start = bytes.at();
    let Some(first) = bytes.rest().first() else { return Ok(()) };
    // Metadata (1) and MX (3) have this form.
    if !matches!(first >> 4, 1 | 3) {
        return Ok(());
    }
    let shim = bytes.u32(cut)?;
    let words = (shim >> 16 & 255) as usize;
    let body = words.checked_sub(3).ok_or(Malformed { at: start, what: "INT headers shorter than they can be" })?;
    let header = bytes.u32(cut)?;
    if header >> 28 != 2 {
        return Err(Malformed { at: start + 4, what: "no INT of version 2" });
    }
    inner.is_incomplete = header >> 26 & 1 == 1 || header >> 25 & 1 == 1;
    let hop_words = (header >> 8 & 31) as usize;
    let instructions = bytes.u16(cut)?;
    bytes.u16(cut)?;
    bytes.u32(cut)?;
    if hop_words == 0 || body == 0 {
        return Ok(());
    }
    for _ in 0..(body / hop_words).min(MOST_HOPS) {
        let mut part = bytes.part(hop_words * 4, cut)?;
        inner.hops.push(hop(&mut part, instructions)?);
    }
    // The newest stands first.
    inner.hops.reverse();
    Ok(())
}

fn hop(bytes: &mut Bytes<'_>, instructions: u16) -> Result<IntHop, Malformed> {
    let mut hop = IntHop::default();
    for bit in 0..16 {
        if instructions >> (15 - bit) & 1 == 0 {
            continue;
        }
        match bit {
            0 => hop.node = known(bytes.u32(CUT)?),
            // The checksum complement.
            15 => drop(bytes.u32(CUT)?),
            _ => value(bytes, bit, &mut hop)?,
        }
    }
    Ok(hop)
}

/// One value by its bit, the highest first: the same in reports and in hops, but for the first and the last.
fn value(bytes: &mut Bytes<'_>, bit: u32, hop: &mut IntHop) -> Result<(), Malformed> {
    let long = |value: u64| (value != u64::MAX).then_some(Stamp::Long(value));
    match bit {
        1 => ports(hop, bytes.u32(CUT)?),
        2 => hop.latency_ns = known(bytes.u32(CUT)?),
        3 => queue(hop, bytes.u32(CUT)?),
        4 => hop.ingress_ns = long(bytes.u64(CUT)?),
        5 => hop.egress_ns = long(bytes.u64(CUT)?),
        6 => drop(bytes.u64(CUT)?),
        7 => hop.utilisation = known(bytes.u32(CUT)?),
        15 => {
            let word = bytes.u32(CUT)?;
            hop.queue = Some(byte(word >> 24));
            hop.drop_reason = Some(byte(word >> 16));
        }
        // Buffer occupancy (8), and what is reserved: a word each.
        _ => drop(bytes.u32(CUT)?),
    }
    Ok(())
}

const CUT: &str = "a hop shorter than its instructions";
/// A length of all ones: the report goes on to the end of the datagram.
const TO_THE_END: usize = 255;
