//! Instructions of classic BPF (Documentation/networking/filter.rst), for filters that the kernel runs for each packet of a socket.

use socket2::SockFilter;

/// How many instructions are skipped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ways {
    pub(crate) hit: u8,
    pub(crate) miss: u8,
}

/// Loads what the kernel knows beside the packet: one of `SKF_AD_*`.
pub(crate) fn load_beside(offset: u32) -> SockFilter {
    instruction(LD_W_ABS, SKF_AD_OFF.wrapping_add(offset))
}

/// Goes on by whether a test with `value` holds.
pub(crate) fn jump(test: u16, value: u32, ways: Ways) -> SockFilter {
    SockFilter::new(JMP | test, ways.hit, ways.miss, value)
}

/// Ends with so many bytes of the packet; 0 passes it over.
pub(crate) fn verdict(bytes: u32) -> SockFilter {
    instruction(RET, bytes)
}

pub(crate) fn instruction(code: u16, value: u32) -> SockFilter {
    SockFilter::new(code, 0, 0, value)
}

// include/uapi/linux/bpf_common.h and filter.h of 6.18
pub(crate) const LD_W_ABS: u16 = 0x20;
pub(crate) const LD_H_ABS: u16 = 0x28;
pub(crate) const LD_B_ABS: u16 = 0x30;
pub(crate) const LD_H_IND: u16 = 0x48;
pub(crate) const LDX_B_MSH: u16 = 0xb1;
pub(crate) const ALU_AND: u16 = 0x54;
pub(crate) const JMP: u16 = 0x05;
pub(crate) const JA: u16 = 0x00;
pub(crate) const JEQ: u16 = 0x10;
pub(crate) const JSET: u16 = 0x40;
const RET: u16 = 0x06;
const SKF_AD_OFF: u32 = 0xffff_f000; // -0x1000
pub(crate) const SKF_AD_PROTOCOL: u32 = 0;
pub(crate) const SKF_AD_PKTTYPE: u32 = 4;
pub(crate) const SKF_AD_IFINDEX: u32 = 8;
pub(crate) const SKF_AD_VLAN_TAG: u32 = 44;
pub(crate) const SKF_AD_VLAN_TAG_PRESENT: u32 = 48;
pub(crate) const PACKET_OUTGOING: u32 = 4; // include/uapi/linux/if_packet.h
