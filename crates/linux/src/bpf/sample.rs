//! Packets of which a program keeps the beginning: the first few of each bucket, and one of sixteen behind them by chance, since flows
//! that take turns would hide from every sixteenth.

use std::time::Duration;

use super::assemble::{Alu, Assembler, At, Reg, When, Width};
use super::layout::{SKB_LEN, word_at};

/// A packet as the kernel held it, of those that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Number of the bucket that it was seen in, as the counts of buckets have it.
    pub epoch: u64,
    /// Bytes on the wire that it stands for: its own, as often as packets like it are not looked at.
    pub bytes: u64,
    /// Its first bytes, 80 at most, from the Ethernet header on.
    pub head: &'a [u8],
}

impl<'a> Sample<'a> {
    /// None where a record is no sample.
    pub(super) fn read(record: &'a [u8]) -> Option<Self> {
        let (epoch, rest) = record.split_first_chunk::<8>()?;
        let (bytes, rest) = rest.split_first_chunk::<4>()?;
        let (weight, rest) = rest.split_first_chunk::<4>()?;
        let (length, head) = rest.split_first_chunk::<8>()?;
        let bytes = u64::from(u32::from_ne_bytes(*bytes)) * u64::from(u32::from_ne_bytes(*weight));
        let head = head.get(..usize::try_from(u64::from_ne_bytes(*length)).ok()?)?;
        Some(Self { epoch: u64::from_ne_bytes(*epoch), bytes, head })
    }
}

/// How a program takes samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    ring: i32,
    /// Packets of each bucket and CPU of which every one is looked at.
    first: i32,
}

impl Sampling {
    /// Into a ring, by the number of its file.
    pub(super) fn new(ring: i32, tick: Duration) -> Self {
        let first = FIRST_OF_MS.saturating_mul(tick.as_micros()) / 1_000;
        Self { ring, first: i32::try_from(first).unwrap_or(i32::MAX).clamp(1, MOST_FIRST) }
    }

    /// The instructions. `R6` is the packet, `R9` the bucket, which has counted it, `R7` its bytes on the wire; what follows is at
    /// the label `next`.
    pub(super) fn write(self, program: &mut Assembler, next: &'static str) {
        use Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};
        use Width::{Double, Word};
        program.load(Double, R1, At(R9, word_at(3))).mov(R8, 1).jump_if(R1, When::Greater, self.first, "few");
        program.jump("take").label("few").mov(R8, ONE_OF).call(GET_PRANDOM_U32).alu(Alu::And, R0, ONE_OF - 1);
        program.jump_if(R0, When::NotEqual, 0, next).label("take");
        // The verifier wants every byte of a record written.
        for word in 0..RECORD / 8 {
            program.clear(At(R10, word * 8 - RECORD));
        }
        program.load(Double, R1, At(R9, 0)).store(Double, At(R10, -RECORD), R1);
        program.store(Word, At(R10, 8 - RECORD), R7).store(Word, At(R10, 12 - RECORD), R8);
        program.load(Word, R4, At(R6, SKB_LEN)).jump_if(R4, When::Greater, i32::from(HEAD), "long");
        program.jump_if(R4, When::Greater, 0, "head").jump(next);
        program.label("long").mov(R4, i32::from(HEAD)).label("head").store(Double, At(R10, 16 - RECORD), R4);
        program.mov(R1, R6).mov(R2, 0).mov(R3, R10).alu(Alu::Add, R3, -i32::from(HEAD)).call(SKB_LOAD_BYTES);
        program.map(R1, self.ring).mov(R2, R10).alu(Alu::Add, R2, -i32::from(RECORD)).mov(R3, i32::from(RECORD));
        program.mov(R4, NO_WAKEUP).call(RINGBUF_OUTPUT);
        program.jump_if(R0, When::Equal, 0, next).add_to(At(R9, word_at(7)), 1);
    }
}

/// Of a direction: 37,000 samples, which are read ten times a second.
pub(super) const RING_BYTES: u32 = 4 << 20;
/// Packets of a millisecond and CPU of which every one is looked at.
const FIRST_OF_MS: u128 = 16;
const MOST_FIRST: i32 = 256;
/// Of those behind them.
const ONE_OF: i32 = 16;
/// Ethernet with a tag, IPv6, and TCP without options.
const HEAD: i16 = 80;
/// Epoch, bytes, weight, length of the head, head.
const RECORD: i16 = 24 + HEAD;

// include/uapi/linux/bpf.h of 6.18: functions, and the flag `BPF_RB_NO_WAKEUP`
const GET_PRANDOM_U32: i32 = 7;
const SKB_LOAD_BYTES: i32 = 26;
const RINGBUF_OUTPUT: i32 = 130;
const NO_WAKEUP: i32 = 1;
