//! The filter that runs in the kernel for each frame (classic BPF, Documentation/networking/filter.rst).

use socket2::SockFilter;

use super::{VLAN_MASK, Wanted};

/// The program: passes a frame with one byte of it, or passes it over.
pub(super) fn program(wanted: &Wanted) -> Vec<SockFilter> {
    let mut program = vec![load(SKF_AD_PKTTYPE)];
    program.extend(pass_over(PACKET_OUTGOING));
    let untagged: Vec<SockFilter> =
        wanted.except_untagged.iter().take(MOST_EXCEPTIONS).flat_map(|&protocol| pass_over(protocol.into())).collect();
    program.push(load(SKF_AD_VLAN_TAG_PRESENT));
    // Over the load, the exceptions and the verdict of untagged frames.
    let length = u32::try_from(untagged.len() + 2).unwrap_or(0);
    program.push(jump(BPF_JEQ, 0, Ways { hit: 1, miss: 0 }));
    program.push(instruction(BPF_JMP | BPF_JA, length));
    program.push(load(SKF_AD_PROTOCOL));
    program.extend(untagged);
    program.push(verdict(TAKE));
    program.push(load(SKF_AD_VLAN_TAG));
    program.push(instruction(BPF_ALU_AND, VLAN_MASK.into()));
    program.extend(wanted.except_vlans.iter().take(MOST_EXCEPTIONS).flat_map(|&vlan| pass_over(vlan.into())));
    program.push(verdict(TAKE));
    program
}

/// Passes over what equals `value`.
fn pass_over(value: u32) -> [SockFilter; 2] {
    [jump(BPF_JEQ, value, Ways { hit: 0, miss: 1 }), verdict(LEAVE)]
}

/// How many instructions are skipped.
#[derive(Clone, Copy)]
struct Ways {
    hit: u8,
    miss: u8,
}

fn load(offset: u32) -> SockFilter {
    instruction(BPF_LD_W_ABS, SKF_AD_OFF.wrapping_add(offset))
}

fn jump(test: u16, value: u32, ways: Ways) -> SockFilter {
    SockFilter::new(BPF_JMP | test, ways.hit, ways.miss, value)
}

fn verdict(length: u32) -> SockFilter {
    instruction(BPF_RET, length)
}

fn instruction(code: u16, value: u32) -> SockFilter {
    SockFilter::new(code, 0, 0, value)
}

/// The whole VLAN space is 4094; the kernel takes 4096 instructions (`BPF_MAXINSNS`).
const MOST_EXCEPTIONS: usize = 900;
const TAKE: u32 = 1;
const LEAVE: u32 = 0;

// include/uapi/linux/bpf_common.h and filter.h of 6.18
const BPF_LD_W_ABS: u16 = 0x20;
const BPF_ALU_AND: u16 = 0x54;
const BPF_JMP: u16 = 0x05;
const BPF_JA: u16 = 0x00;
const BPF_JEQ: u16 = 0x10;
const BPF_RET: u16 = 0x06;
const SKF_AD_OFF: u32 = 0xffff_f000; // -0x1000
const SKF_AD_PROTOCOL: u32 = 0;
const SKF_AD_PKTTYPE: u32 = 4;
const SKF_AD_VLAN_TAG: u32 = 44;
const SKF_AD_VLAN_TAG_PRESENT: u32 = 48;
const PACKET_OUTGOING: u32 = 4; // include/uapi/linux/if_packet.h
