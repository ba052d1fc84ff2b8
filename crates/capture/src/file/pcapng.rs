//! pcapng (draft-ietf-opsawg-pcapng): blocks in sections; packets name an interface, and that says what their times mean.

use super::field::ByteOrder;
use super::record::{DropCounts, FileError, MAX_RECORD_BYTES, Packet, Position, Step};
use crate::index::Saved;

/// The first bytes of a section, in either byte order.
pub(super) const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Interfaces of a section; real files have a few dozen.
const MAX_INTERFACES: usize = 4_096;
/// Options of one block that are looked at.
const MAX_OPTIONS: usize = 64;
/// Type and length at the front, length at the end.
const FRAMING_BYTES: usize = 12;

mod block {
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const OLD_PACKET: u32 = 2;
    pub(super) const SIMPLE_PACKET: u32 = 3;
    pub(super) const STATISTICS: u32 = 5;
    pub(super) const ENHANCED_PACKET: u32 = 6;
}

/// The section that is being read.
#[derive(Debug, Default)]
pub(super) struct Pcapng {
    order: ByteOrder,
    interfaces: Vec<Interface>,
}

#[derive(Debug, Clone, Copy)]
struct Interface {
    link: u16,
    snap_bytes: u32,
    clock: Clock,
    /// Seconds that are added to each time (`if_tsoffset`).
    offset_s: i64,
    /// Drops as its last statistics stated them.
    drops: (u64, u64),
}

/// What a unit of time is (`if_tsresol`).
#[derive(Debug, Clone, Copy)]
enum Clock {
    /// A unit is so many nanoseconds.
    Nanoseconds(i64),
    /// A second has so many units.
    PerSecond(u128),
}

impl Clock {
    fn new(resolution: u8) -> Self {
        let exponent = u32::from(resolution & 0x7f);
        if resolution & 0x80 != 0 {
            return Self::PerSecond(1_u128 << exponent.min(63));
        }
        match 9_u32.checked_sub(exponent) {
            Some(zeros) => Self::Nanoseconds(10_i64.pow(zeros)),
            None => Self::PerSecond(10_u128.pow(exponent.min(19))),
        }
    }

    #[inline]
    fn nanoseconds(self, units: u64) -> i64 {
        match self {
            Self::Nanoseconds(each) => i64::try_from(units).unwrap_or(i64::MAX).saturating_mul(each),
            Self::PerSecond(per_second) => {
                i64::try_from(u128::from(units).saturating_mul(1_000_000_000) / per_second).unwrap_or(i64::MAX)
            }
        }
    }
}

impl Pcapng {
    /// The next block.
    pub(super) fn block<'a>(
        &mut self,
        bytes: &'a [u8],
        position: &mut Position,
        drops: &mut DropCounts,
    ) -> Result<Step<'a>, FileError> {
        if bytes.len() < FRAMING_BYTES {
            return Ok(Step::More);
        }
        if bytes.starts_with(&SECTION_HEADER) {
            self.order = match ByteOrder::Little.u32(bytes, 8) {
                Some(BYTE_ORDER_MAGIC) => ByteOrder::Little,
                _ => ByteOrder::Big,
            };
            if self.order.u32(bytes, 8) != Some(BYTE_ORDER_MAGIC) {
                let found = *bytes.first_chunk::<4>().unwrap_or(&SECTION_HEADER);
                return Err(FileError::UnknownFormat { found });
            }
            self.interfaces.clear();
        }
        let field = |at| self.order.u32(bytes, at).unwrap_or_default();
        let (block_type, length) = (field(0), field(4) as usize);
        let whole = length.next_multiple_of(4);
        let is_packet = matches!(block_type, block::OLD_PACKET | block::SIMPLE_PACKET | block::ENHANCED_PACKET);
        if length < FRAMING_BYTES || (is_packet && whole > MAX_RECORD_BYTES) {
            return Err(FileError::Length {
                offset: position.offset,
                frame: position.frame,
                what: "a block",
                found: length as u64,
                limit: MAX_RECORD_BYTES as u64,
            });
        }
        if whole > MAX_RECORD_BYTES {
            // Name resolution, decryption secrets: nothing in them is of use here.
            position.skip = whole as u64;
            return Ok(Step::Other(0));
        }
        let Some(all) = bytes.get(..whole) else { return Ok(Step::More) };
        let body = all.get(8..length - 4).unwrap_or(&[]);
        match block_type {
            block::INTERFACE => self.interface(body),
            block::STATISTICS => self.statistics(body, drops),
            block::ENHANCED_PACKET | block::OLD_PACKET => return self.packet(block_type, body, whole, position, drops),
            block::SIMPLE_PACKET => return self.simple_packet(body, whole, position),
            _ => {}
        }
        Ok(Step::Other(whole))
    }

    fn interface(&mut self, body: &[u8]) {
        let mut interface = Interface {
            link: self.order.u16(body, 0).unwrap_or_default(),
            snap_bytes: self.order.u32(body, 4).unwrap_or_default(),
            clock: Clock::Nanoseconds(1_000),
            offset_s: 0,
            drops: (0, 0),
        };
        self.options(body.get(8..).unwrap_or(&[]), |code, value| match (code, value) {
            (9, [resolution, ..]) => interface.clock = Clock::new(*resolution),
            (14, value) => interface.offset_s = self.order.u64(value, 0).unwrap_or_default().cast_signed(),
            _ => {}
        });
        if self.interfaces.len() < MAX_INTERFACES {
            self.interfaces.push(interface);
        }
    }

    fn statistics(&mut self, body: &[u8], drops: &mut DropCounts) {
        let Some(index) = self.order.u32(body, 0) else { return };
        let (mut by_interface, mut by_system) = (0, 0);
        self.options(body.get(12..).unwrap_or(&[]), |code, value| match code {
            5 => by_interface = self.order.u64(value, 0).unwrap_or_default(),
            7 => by_system = self.order.u64(value, 0).unwrap_or_default(),
            _ => {}
        });
        if let Some(interface) = self.interfaces.get_mut(index as usize) {
            // The counts of a block are those since the start of the capture.
            drops.interface = drops.interface.saturating_add(by_interface.saturating_sub(interface.drops.0));
            drops.system = drops.system.saturating_add(by_system.saturating_sub(interface.drops.1));
            interface.drops = (by_interface.max(interface.drops.0), by_system.max(interface.drops.1));
        }
    }

    fn packet<'a>(
        &self,
        block_type: u32,
        body: &'a [u8],
        whole: usize,
        position: &mut Position,
        drops: &mut DropCounts,
    ) -> Result<Step<'a>, FileError> {
        let field = |at| self.order.u32(body, at).unwrap_or_default();
        let is_old = block_type == block::OLD_PACKET;
        let index = if is_old { u32::from(self.order.u16(body, 0).unwrap_or_default()) } else { field(0) };
        let units = u64::from(field(4)) << 32 | u64::from(field(8));
        let (stored, wire_bytes) = (field(12) as usize, field(16));
        let Some(interface) = self.interfaces.get(index as usize) else {
            return Err(FileError::Interface {
                offset: position.offset,
                frame: position.frame,
                found: u64::from(index),
                limit: self.interfaces.len() as u64,
            });
        };
        let Some(bytes) = body.get(20..20_usize.saturating_add(stored)) else {
            return Err(FileError::Length {
                offset: position.offset,
                frame: position.frame,
                what: "a stored packet",
                found: stored as u64,
                limit: body.len().saturating_sub(20) as u64,
            });
        };
        if !is_old {
            self.options(body.get(20 + stored.next_multiple_of(4)..).unwrap_or(&[]), |code, value| {
                if code == 4 {
                    drops.between = drops.between.saturating_add(self.order.u64(value, 0).unwrap_or_default());
                }
            });
        }
        position.frame += 1;
        let time_ns =
            interface.clock.nanoseconds(units).saturating_add(interface.offset_s.saturating_mul(1_000_000_000));
        let packet =
            Packet { frame: position.frame, time_ns, bytes, wire_bytes, link: interface.link, interface: index };
        Ok(Step::Packet(whole, packet))
    }

    /// A packet without a time: it is only counted.
    fn simple_packet<'a>(&self, body: &'a [u8], whole: usize, position: &mut Position) -> Result<Step<'a>, FileError> {
        let wire_bytes = self.order.u32(body, 0).unwrap_or_default();
        let Some(interface) = self.interfaces.first() else {
            return Err(FileError::Interface { offset: position.offset, frame: position.frame, found: 0, limit: 0 });
        };
        let most = if interface.snap_bytes == 0 { u32::MAX } else { interface.snap_bytes };
        let stored = (wire_bytes.min(most) as usize).min(body.len().saturating_sub(4));
        position.frame += 1;
        let packet = Packet {
            frame: position.frame,
            time_ns: 0,
            bytes: body.get(4..4 + stored).unwrap_or(&[]),
            wire_bytes,
            link: interface.link,
            interface: 0,
        };
        Ok(Step::Packet(whole, packet))
    }

    /// Calls `take` with the code and the value of each option.
    fn options(&self, mut bytes: &[u8], mut take: impl FnMut(u16, &[u8])) {
        for _ in 0..MAX_OPTIONS {
            let (Some(code), Some(length)) = (self.order.u16(bytes, 0), self.order.u16(bytes, 2)) else { return };
            let Some(value) = bytes.get(4..4 + usize::from(length)) else { return };
            if code == 0 {
                return;
            }
            take(code, value);
            bytes = bytes.get(4 + usize::from(length).next_multiple_of(4)..).unwrap_or(&[]);
        }
    }
}

saved!(Pcapng { order, interfaces });
saved!(Interface { link, snap_bytes, clock, offset_s, drops });

impl Saved for Clock {
    fn save(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Nanoseconds(each) => (Some(each), 0_u128).save(out),
            Self::PerSecond(units) => (None::<i64>, units).save(out),
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        match <(Option<i64>, u128)>::load(from)? {
            (Some(each), _) => Some(Self::Nanoseconds(each)),
            (None, 0) => None,
            (None, units) => Some(Self::PerSecond(units)),
        }
    }
}
