//! One bit of a bucket's sketch for the flow of a packet.
//!
//! The bit follows from the hash that the NIC or the socket has given the packet, or from its addresses and ports: the kernel's own
//! hash of headers takes as long as all the rest of the program. It remains for what is neither TCP nor UDP in one piece.

use super::assemble::{Alu, Assembler, At, Reg, When, Width};
use super::layout::{ETH_P_IPV6, ETHERNET, IPPROTO_TCP, IPPROTO_UDP, SKB_HASH, SKB_PROTOCOL, word_at};

/// The instructions. `R6` is the packet, `R9` the bucket, `R2` and `R3` the beginning and the end of the headers, of which 34 bytes
/// are there; `R0` is the protocol of IP and `R5` the length of its header, or `R0` is zero where that was not read.
pub(super) fn write(program: &mut Assembler) {
    use Reg::{R0, R1, R2, R3, R6, R9};
    use Width::{Double, Word};
    program.load(Word, R1, At(R6, SKB_HASH)).jump_if(R1, When::NotEqual, 0, "hashed");
    program.jump_if(R0, When::Equal, IPPROTO_UDP, "ends").jump_if(R0, When::NotEqual, IPPROTO_TCP, "unhashed");
    of_ends(program);
    program.label("unhashed").mov(R1, R6).call(GET_HASH_RECALC).mov(R1, R0);
    program.label("hashed").mov(R2, 1).mov(R3, R1).alu(Alu::And, R3, 63).alu(Alu::Lsh, R2, R3);
    program.alu(Alu::And, R1, 64).jump_if(R1, When::Equal, 0, "low");
    for (label, word) in [("high", 6), ("low", 5)] {
        program.label(label).load(Double, R1, At(R9, word_at(word))).alu(Alu::Or, R1, R2);
        program.store(Double, At(R9, word_at(word)), R1).jump("sketched");
    }
    program.label("sketched");
}

/// The hash of addresses and ports in `R1`, and on to `hashed`; or to `unhashed`.
fn of_ends(program: &mut Assembler) {
    use Reg::{R0, R1, R2, R3, R4, R5, R6};
    use Width::{Double, Half, Word};
    program.label("ends").load(Word, R4, At(R6, SKB_PROTOCOL)).jump_if(
        R4,
        When::Equal,
        ETH_P_IPV6,
        "addresses of IPv6",
    );
    // Only the first fragment has ports.
    program.load(Half, R4, At(R2, 20)).alu(Alu::And, R4, FRAGMENT).jump_if(R4, When::NotEqual, 0, "unhashed");
    program.load(Double, R1, At(R2, 26)).number(R4, MIX).alu(Alu::Mul, R1, R4).jump("ports");
    program.label("addresses of IPv6").mov(R1, R2).alu(Alu::Add, R1, ETHERNET + 40);
    program.jump_if(R1, When::Greater, R3, "unhashed").mov(R1, 0).number(R4, MIX);
    for at in [22, 30, 38, 46] {
        program.load(Double, R0, At(R2, at)).alu(Alu::Add, R1, R0).alu(Alu::Mul, R1, R4);
    }
    program.label("ports").alu(Alu::Add, R2, ETHERNET).alu(Alu::Add, R2, R5).mov(R0, R2).alu(Alu::Add, R0, 4);
    program.jump_if(R0, When::Greater, R3, "unhashed");
    // Neighbouring ports must not lie evenly: the number of flows is estimated as of bits that are drawn.
    scramble(program, R1);
    program.load(Word, R0, At(R2, 0)).alu(Alu::Add, R1, R0).number(R4, MIX).alu(Alu::Mul, R1, R4);
    scramble(program, R1);
    program.alu(Alu::Rsh, R1, 64 - 7).jump("hashed");
}

/// Lets every bit of a register have a part in its upper ones. `R4` is lost.
pub(super) fn scramble(program: &mut Assembler, register: Reg) {
    program.mov(Reg::R4, register).alu(Alu::Rsh, Reg::R4, 32).alu(Alu::Xor, register, Reg::R4);
    program.number(Reg::R4, MIX).alu(Alu::Mul, register, Reg::R4);
}

/// The golden ratio of 2^64, odd: a product has the bits of its factor mixed at the top (Knuth, vol. 3, section 6.4).
pub(super) const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// More fragments, or an offset (RFC 791 section 3.1), as the bytes of the frame lie in a number of this machine.
const FRAGMENT: i32 = u16::to_be(0x3fff) as i32;

// include/uapi/linux/bpf.h of 6.18: functions
const GET_HASH_RECALC: i32 = 34;
