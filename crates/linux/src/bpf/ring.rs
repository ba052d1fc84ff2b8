//! Records that programs on all CPUs write into an array and this process takes, without a call and without a lock.
//!
//! A program claims the number of a record and writes it into the entry of that number, the number last. The kernel's own ring
//! (`BPF_MAP_TYPE_RINGBUF`) takes a lock for each record, and a sample costs half as much again
//! (docs/decisions/0015-watching.md).

use std::io;

use super::assemble::{Alu, Assembler, At, Reg, When, Width};
use super::layout::{MAP_LOOKUP_ELEM, word_at};
use super::map::{Extent, SharedArray, WordAt};

/// A ring of records of one length. What has no room is lost, and the program that wrote it knows.
#[derive(Debug)]
pub(super) struct RecordRing {
    array: SharedArray,
    taken: u64,
}

/// What a program needs to know of a ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct RingWriter {
    map: i32,
    /// Records that may be claimed and not taken.
    room: i32,
}

/// Where a program goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    /// Where there is no room.
    pub(super) lost: &'static str,
    /// Where the kernel has no such entry, which it always has.
    pub(super) never: &'static str,
}

impl RecordRing {
    /// For programs that run on so many CPUs.
    pub(super) fn new(cpus: usize) -> io::Result<(Self, RingWriter)> {
        let array = SharedArray::writable(Extent { entries: FIRST_ENTRY + RECORDS, words: ENTRY_WORDS })?;
        let cpus = u32::try_from(cpus).map_err(io::Error::other)?;
        // Each CPU may claim a record between the moment that another one sees room and its claim.
        let room = i32::try_from(RECORDS.saturating_sub(cpus)).map_err(io::Error::other)?;
        let writer = RingWriter { map: array.number(), room };
        Ok((Self { array, taken: 0 }, writer))
    }

    /// Hands each record that is complete to `each`, in order, and makes room for others.
    pub(super) fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        let mut free = self.taken;
        loop {
            let entry = usize::try_from(u64::from(FIRST_ENTRY) + self.taken % u64::from(RECORDS)).unwrap_or(0);
            if self.array.word(WordAt { entry, word: 0 }) != self.taken + 1 {
                break;
            }
            // SAFETY: it is complete, and no program claims its entry again before it was taken.
            if let Some(record) = unsafe { self.array.entry(entry) }.and_then(|record| record.get(8..)) {
                each(record);
            }
            self.taken += 1;
            // Programs look at it for each record: it changes seldom, so that CPUs keep it.
            if self.taken - free >= OFTEN {
                free = self.taken;
                self.array.set(TAKEN, free);
            }
        }
        self.array.set(TAKEN, self.taken);
    }
}

impl RingWriter {
    /// The instructions that claim a record: its entry is in `R0`, where the record begins at [`RECORD`]. `R1` to `R5` are lost, and
    /// the 16 bytes below the frame pointer are in use until the record is published.
    pub(super) fn claim(self, program: &mut Assembler, claim: Claim) {
        use Reg::{R0, R1, R2, R3, R10};
        use Width::{Double, Word};
        program.mov(R2, 0).store(Word, At(R10, ENTRY), R2).mov(R2, R10).alu(Alu::Add, R2, i32::from(ENTRY));
        program.map(R1, self.map).call(MAP_LOOKUP_ELEM).jump_if(R0, When::Equal, 0, claim.never);
        program.load(Double, R3, At(R0, 0)).load(Double, R1, At(R0, word_at(TAKEN_WORD))).alu(Alu::Sub, R3, R1);
        program.jump_if(R3, When::Greater, self.room - 1, claim.lost);
        program.mov(R2, 1).fetch_add(At(R0, 0), R2).store(Double, At(R10, NUMBER), R2);
        program.alu(Alu::And, R2, RECORDS_LESS_ONE).alu(Alu::Add, R2, FIRST_ENTRY_VALUE);
        program.store(Word, At(R10, ENTRY), R2).mov(R2, R10).alu(Alu::Add, R2, i32::from(ENTRY));
        program.map(R1, self.map).call(MAP_LOOKUP_ELEM).jump_if(R0, When::Equal, 0, claim.never);
    }

    /// The instructions that hand over the record in the entry at `entry`; `R1` is lost.
    pub(super) fn publish(self, program: &mut Assembler, entry: Reg) {
        program.load(Width::Double, Reg::R1, At(Reg::R10, NUMBER)).alu(Alu::Add, Reg::R1, 1);
        program.publish(At(entry, 0), Reg::R1);
    }
}

/// Where a record begins in its entry, behind its number.
pub(super) const RECORD: i16 = 8;
/// Bytes of a record.
pub(super) const RECORD_BYTES: i16 = 96;
const ENTRY_WORDS: u32 = 13;
/// A power of two.
const RECORDS: u32 = 1 << 15;
const RECORDS_LESS_ONE: i32 = (1 << 15) - 1;
/// The entries before it hold how many were claimed, and, in another cache line, how many were taken.
const FIRST_ENTRY: u32 = 2;
const FIRST_ENTRY_VALUE: i32 = 2;
const TAKEN_WORD: u32 = 8;
const TAKEN: WordAt = WordAt { entry: 0, word: 8 };
/// Records after which there is room again at the latest.
const OFTEN: u64 = 1_024;
// Below the frame pointer.
const ENTRY: i16 = -4;
const NUMBER: i16 = -16;
