//! The program that counts packets: what it does with each.

use std::time::Duration;

use super::assemble::{Alu, AssembleError, Assembler, At, Reg, When, Width};
use super::flow_bit;
use super::layout::{
    ETH_P_IP, ETH_P_IPV6, ETHERNET, IPPROTO_TCP, IPPROTO_UDP, MAP_LOOKUP_ELEM, SKB_DATA, SKB_DATA_END, SKB_GSO_SEGS,
    SKB_LEN, SKB_PROTOCOL, SKB_WIRE_LEN, TCX_NEXT, WORDS, word_at,
};
use super::program::Hook;
use super::sample::Sampling;

/// What the program depends on.
pub(super) struct Shape {
    pub(super) hook: Hook,
    pub(super) map: i32,
    pub(super) sampling: Sampling,
    pub(super) tick: Duration,
    pub(super) buckets: u32,
}

/// The program. `R6` is the packet, `R9` the bucket, `R8` the packets on the wire, `R7` their bytes.
pub(super) fn instructions(shape: &Shape) -> Result<Vec<u8>, AssembleError> {
    use Reg::{R1, R6, R7, R8, R9};
    use Width::Word;
    let mut program = Assembler::new();
    program.mov(R6, R1);
    open_bucket(&mut program, shape);
    program.load(Word, R8, At(R6, SKB_GSO_SEGS)).jump_if(R8, When::NotEqual, 0, "counted").mov(R8, 1);
    let length = if shape.hook == Hook::Egress { SKB_WIRE_LEN } else { SKB_LEN };
    program.label("counted").load(Word, R7, At(R6, length));
    read_headers(&mut program, shape.hook);
    program.label("add").add_to(At(R9, word_at(1)), R7).add_to(At(R9, word_at(2)), R8).add_to(At(R9, word_at(3)), 1);
    flow_bit::write(&mut program);
    shape.sampling.write(&mut program, "pass");
    program.label("pass").end_with(TCX_NEXT);
    program.bytes()
}

/// The bucket of this CPU and this tick in `R9`.
fn open_bucket(program: &mut Assembler, shape: &Shape) {
    use Reg::{R0, R1, R2, R7, R8, R9, R10};
    use Width::{Double, Word};
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    let tick = i32::try_from(shape.tick.as_nanos()).unwrap_or(i32::MAX);
    program.call(GET_SMP_PROCESSOR_ID).mov(R8, R0).alu(Alu::Mul, R8, number(shape.buckets));
    program.call(KTIME_GET_NS).mov(R7, R0).alu(Alu::Div, R7, tick);
    program.mov(R1, R7).alu(Alu::And, R1, number(shape.buckets - 1)).alu(Alu::Add, R1, R8);
    program.store(Word, At(R10, -4), R1).mov(R2, R10).alu(Alu::Add, R2, -4);
    program.map(R1, shape.map).call(MAP_LOOKUP_ELEM).jump_if(R0, When::Equal, 0, "pass").mov(R9, R0);
    // It is taken anew when its time has come: the epoch first, so that who reads meanwhile sees that.
    program.load(Double, R1, At(R9, 0)).jump_if(R1, When::Equal, R7, "open").store(Double, At(R9, 0), R7);
    for word in 1..WORDS {
        program.clear(At(R9, word_at(word)));
    }
    program.label("open");
}

/// Reads the headers, where they lie in one piece from `R2` to `R3`: CE is counted, `R7` has the headers of each packet on the wire,
/// `R0` is the protocol of IP and `R5` the length of its header. Otherwise `R0` is zero, and it goes to `add`.
fn read_headers(program: &mut Assembler, hook: Hook) {
    use Reg::{R0, R1, R2, R3, R4, R5, R6, R7, R8, R9};
    use Width::{Byte, Word};
    program.load(Word, R2, At(R6, SKB_DATA)).load(Word, R3, At(R6, SKB_DATA_END)).mov(R0, 0);
    program.mov(R1, R2).alu(Alu::Add, R1, ETHERNET + IPV4).jump_if(R1, When::Greater, R3, "add");
    program.load(Word, R4, At(R6, SKB_PROTOCOL)).jump_if(R4, When::Equal, ETH_P_IP, "ipv4");
    program.jump_if(R4, When::NotEqual, ETH_P_IPV6, "add");
    program.load(Byte, R1, At(R2, 15)).alu(Alu::Rsh, R1, 4).alu(Alu::And, R1, 3);
    program.mov(R5, IPV6).load(Byte, R0, At(R2, 20)).jump("ecn");
    program.label("ipv4").load(Byte, R1, At(R2, 15)).alu(Alu::And, R1, 3);
    program.load(Byte, R5, At(R2, 14)).alu(Alu::And, R5, 15).alu(Alu::Lsh, R5, 2).load(Byte, R0, At(R2, 23));
    program.label("ecn").jump_if(R1, When::NotEqual, CE, "headers").add_to(At(R9, word_at(4)), R8);
    program.label("headers");
    if hook == Hook::Ingress {
        // Of what was put together, each part had headers of its own.
        program.jump_if(R8, When::Equal, 1, "add").mov(R1, UDP).jump_if(R0, When::Equal, IPPROTO_UDP, "extend");
        program.jump_if(R0, When::NotEqual, IPPROTO_TCP, "add");
        program.mov(R4, R2).alu(Alu::Add, R4, ETHERNET).alu(Alu::Add, R4, R5);
        program.mov(R1, R4).alu(Alu::Add, R1, TCP).jump_if(R1, When::Greater, R3, "add");
        program.load(Byte, R1, At(R4, 12)).alu(Alu::Rsh, R1, 4).alu(Alu::Lsh, R1, 2);
        program.label("extend").alu(Alu::Add, R1, ETHERNET).alu(Alu::Add, R1, R5);
        program.mov(R4, R8).alu(Alu::Add, R4, -1).alu(Alu::Mul, R1, R4).alu(Alu::Add, R7, R1);
    }
}

// include/uapi/linux/bpf.h of 6.18: functions
const KTIME_GET_NS: i32 = 5;
const GET_SMP_PROCESSOR_ID: i32 = 8;

/// Congestion experienced (RFC 3168 section 5).
const CE: i32 = 3;
// Header lengths without options.
const IPV4: i32 = 20;
const IPV6: i32 = 40;
const TCP: i32 = 20;
const UDP: i32 = 8;
