//! Packets of which a program keeps the beginning: the first few of each bucket, and by chance one of each sixteen behind them, since
//! flows that take turns would hide from every sixteenth.

use std::time::Duration;

use super::assemble::{Alu, Assembler, At, Reg, When, Width};
use super::flow_bit::{MIX, scramble};
use super::layout::{ETH_P_IP, SKB_DATA, SKB_DATA_END, SKB_LEN, SKB_PROTOCOL, word_at};
use super::ring::{Claim, RECORD, RECORD_BYTES, RingWriter};

/// A packet as the kernel held it, of those that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Number of the bucket that it was seen in, as the counts of buckets have it.
    pub epoch: u64,
    /// Bytes on the wire that it stands for: its own, as often as packets like it are not looked at.
    pub bytes: u64,
    /// Its first bytes, from the Ethernet header on: 80, or all of it, or the 54 that hold the headers of IPv4 and TCP.
    pub head: &'a [u8],
}

impl<'a> Sample<'a> {
    /// None where a record is no sample.
    pub(super) fn read(record: &'a [u8]) -> Option<Self> {
        let (epoch, rest) = record.split_first_chunk::<8>()?;
        let (bytes, rest) = rest.split_first_chunk::<4>()?;
        let (weight, rest) = rest.split_first_chunk::<2>()?;
        let (length, head) = rest.split_first_chunk::<2>()?;
        let bytes = u64::from(u32::from_ne_bytes(*bytes)) * u64::from(u16::from_ne_bytes(*weight));
        let head = head.get(..usize::from(u16::from_ne_bytes(*length)))?;
        Some(Self { epoch: u64::from_ne_bytes(*epoch), bytes, head })
    }
}

/// How a program takes samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    ring: RingWriter,
    /// Packets of each bucket and CPU of which every one is looked at.
    first: i32,
}

impl Sampling {
    /// Into a ring.
    pub(super) fn new(ring: RingWriter, tick: Duration) -> Self {
        let first = FIRST_OF_MS.saturating_mul(tick.as_micros()) / 1_000;
        Self { ring, first: i32::try_from(first).unwrap_or(i32::MAX).clamp(1, MOST_FIRST) }
    }

    /// The instructions. `R6` is the packet, `R9` the bucket, which has counted it, `R7` its bytes on the wire; what follows is at
    /// the label `next`.
    pub(super) fn write(self, program: &mut Assembler, next: &'static str) {
        use Reg::{R0, R1, R7, R8, R9};
        use Width::{Double, Half, Word};
        self.choose(program, next);
        self.ring.claim(program, Claim { lost: "lost", never: next });
        program.load(Double, R1, At(R9, 0)).store(Double, At(R0, RECORD), R1);
        program.store(Word, At(R0, BYTES), R7).store(Half, At(R0, WEIGHT), R8).mov(R8, R0);
        copy_head(program);
        program.label("publish");
        self.ring.publish(program, R8);
        program.jump(next).label("lost").add_to(At(R9, word_at(7)), 1);
    }

    /// Goes to `next` with a packet that is not looked at. `R8` is what one that is stands for.
    fn choose(self, program: &mut Assembler, next: &'static str) {
        use Reg::{R0, R1, R2, R8, R9};
        use Width::Double;
        program.load(Double, R2, At(R9, word_at(3))).mov(R8, 1).jump_if(R2, When::Greater, self.first, "few");
        program.jump("take").label("few").mov(R8, ONE_OF).alu(Alu::Add, R2, -1);
        // Which of these sixteen follows from the bucket and the count of sixteens in it: a draw from the kernel's generator for each
        // packet costs 5 ns.
        program.mov(R1, R2).alu(Alu::Rsh, R1, ONE_OF_BITS);
        program.load(Double, R0, At(R9, 0)).alu(Alu::Lsh, R0, 32).alu(Alu::Add, R0, R1).number(R1, MIX);
        program.alu(Alu::Mul, R0, R1);
        scramble(program, R0);
        program.alu(Alu::Rsh, R0, 64 - ONE_OF_BITS).alu(Alu::And, R2, ONE_OF - 1);
        program.jump_if(R0, When::NotEqual, R2, next).label("take");
    }
}

/// Writes length and beginning of a packet into the entry at `R8`. `R6` is the packet.
fn copy_head(program: &mut Assembler) {
    use Reg::{R1, R2, R3, R4, R6, R8};
    use Width::{Byte, Double, Half, Word};
    // Where it lies in one piece it is copied by this program: a call costs more, and what follows the headers of a large packet is in
    // no cache.
    program.load(Word, R2, At(R6, SKB_DATA)).load(Word, R3, At(R6, SKB_DATA_END));
    program.mov(R1, R2).alu(Alu::Add, R1, i32::from(HEAD)).jump_if(R1, When::Greater, R3, "short");
    for at in (0..HEAD).step_by(8) {
        program.load(Double, R1, At(R2, at)).store(Double, At(R8, START + at), R1);
    }
    program.mov(R4, i32::from(HEAD)).store(Half, At(R8, LENGTH), R4).jump("publish");
    program.label("short").mov(R1, R2).alu(Alu::Add, R1, i32::from(IPV4_HEAD)).jump_if(R1, When::Greater, R3, "call");
    program.load(Word, R4, At(R6, SKB_PROTOCOL)).jump_if(R4, When::NotEqual, ETH_P_IP, "call");
    program.load(Byte, R4, At(R2, 14)).jump_if(R4, When::NotEqual, WITHOUT_OPTIONS, "call");
    for at in (0..IPV4_HEAD - 8).step_by(8).chain([IPV4_HEAD - 8]) {
        program.load(Double, R1, At(R2, at)).store(Double, At(R8, START + at), R1);
    }
    program.mov(R4, i32::from(IPV4_HEAD)).store(Half, At(R8, LENGTH), R4).jump("publish");
    program.label("call").load(Word, R4, At(R6, SKB_LEN)).jump_if(R4, When::Greater, i32::from(HEAD), "long");
    // An empty packet fails, and leaves zeros.
    program.jump_if(R4, When::Greater, 0, "head").mov(R4, 1).jump("head");
    program.label("long").mov(R4, i32::from(HEAD)).label("head").store(Half, At(R8, LENGTH), R4);
    program.mov(R1, R6).mov(R2, 0).mov(R3, R8).alu(Alu::Add, R3, i32::from(START)).call(SKB_LOAD_BYTES);
}

/// Packets of a millisecond and CPU of which every one is looked at.
const FIRST_OF_MS: u128 = 16;
const MOST_FIRST: i32 = 256;
/// Of those behind them.
const ONE_OF: i32 = 1 << ONE_OF_BITS;
const ONE_OF_BITS: i32 = 4;
/// Ethernet with a tag, IPv6, and TCP without options.
const HEAD: i16 = 80;
/// Ethernet, IPv4 and TCP without options.
const IPV4_HEAD: i16 = 54;
/// The first byte of a header of IPv4 without options.
const WITHOUT_OPTIONS: i32 = 0x45;
// Places in the entry of a record: its bucket, the bytes, what it stands for, the length of the head, and the head.
const BYTES: i16 = RECORD + 8;
const WEIGHT: i16 = RECORD + 12;
const LENGTH: i16 = RECORD + 14;
const START: i16 = RECORD + 16;
const _: () = assert!(16 + HEAD == RECORD_BYTES);

// include/uapi/linux/bpf.h of 6.18: functions
const SKB_LOAD_BYTES: i32 = 26;
