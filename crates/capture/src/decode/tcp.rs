//! The TCP header and its options.

use super::layer::{Content, Layer, Walk};
use super::segment::{Segment, TcpOptions};
use crate::file::field::{be16, be32};

#[inline]
pub(super) fn header(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    let header: [u8; 20] = walk.array(0)?;
    let header_bytes = usize::from(header[12] >> 4) * 4;
    let Some(payload) = walk.wire.checked_sub(u32::from(header[12] >> 4) * 4).filter(|_| header_bytes >= 20) else {
        return Some(Layer::Done(Content::Other));
    };
    segment.endpoints.source_port = u16::from_be_bytes([header[0], header[1]]);
    segment.endpoints.destination_port = u16::from_be_bytes([header[2], header[3]]);
    segment.seq = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    segment.ack = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    segment.flags = header[13];
    segment.window = u16::from_be_bytes([header[14], header[15]]);
    segment.checksum = u16::from_be_bytes([header[16], header[17]]);
    segment.payload = payload;
    segment.options = TcpOptions::default();
    if header_bytes > 20 {
        match walk.rest.get(20..header_bytes) {
            Some(options) => read(options, &mut segment.options),
            None => {
                segment.options.is_cut = true;
                read(walk.rest.get(20..).unwrap_or(&[]), &mut segment.options);
            }
        }
    }
    Some(Layer::Done(Content::Tcp))
}

#[inline]
fn read(mut rest: &[u8], options: &mut TcpOptions) {
    // What almost every segment of a bulk transfer has: two NOPs and time stamps.
    if let Some([1, 1, 8, 10, stamps @ ..]) = rest.first_chunk::<12>() {
        options.timestamps = be32(stamps, 0).zip(be32(stamps, 4));
        rest = rest.get(12..).unwrap_or(&[]);
    }
    while let Some(number) = rest.first() {
        let length = match number {
            0 => return,
            1 => 1,
            _ => usize::from(rest.get(1).copied().unwrap_or_default()),
        };
        if *number > 1 {
            let Some(value) = rest.get(2..length) else { return };
            option(*number, value, options);
        }
        rest = rest.get(length..).unwrap_or(&[]);
    }
}

#[inline]
fn option(number: u8, value: &[u8], options: &mut TcpOptions) {
    match number {
        2 => options.mss = be16(value, 0),
        // RFC 7323 §2.3: a larger shift counts as 14.
        3 => options.window_scale = value.first().map(|scale| (*scale).min(14)),
        4 => options.sack_permitted = true,
        5 => {
            for block in value.chunks_exact(8).take(4) {
                let (Some(from), Some(to)) = (be32(block, 0), be32(block, 4)) else { return };
                if let Some(free) = options.sack.blocks.get_mut(usize::from(options.sack.count)) {
                    *free = (from, to);
                    options.sack.count += 1;
                }
            }
        }
        8 => options.timestamps = be32(value, 0).zip(be32(value, 4)),
        _ => {}
    }
}
