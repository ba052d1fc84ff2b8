//! The filter that runs in the kernel for each packet (classic BPF, Documentation/networking/filter.rst).

use socket2::SockFilter;

/// The program: the first `snap` bytes of TCP packets from or to a port, and nothing of others. A packet of the loopback device comes
/// twice, going out and coming in: the first is passed over.
pub(super) fn program(port: u16, snap: u32) -> Vec<SockFilter> {
    let port = u32::from(port);
    vec![
        load_word(SKF_AD_PKTTYPE),
        jump(BPF_JEQ, PACKET_OUTGOING, Ways { hit: 0, miss: 2 }),
        load_word(SKF_AD_IFINDEX),
        jump(BPF_JEQ, LOOPBACK, Ways { hit: 19, miss: 0 }),
        load_word(SKF_AD_PROTOCOL),
        jump(BPF_JEQ, ETH_P_IP, Ways { hit: 0, miss: 9 }),
        // IPv4: TCP, no later fragment, and ports behind its options.
        instruction(BPF_LD_B_ABS, 9),
        jump(BPF_JEQ, IPPROTO_TCP, Ways { hit: 0, miss: 15 }),
        instruction(BPF_LD_H_ABS, 6),
        jump(BPF_JSET, FRAGMENT_OFFSET, Ways { hit: 13, miss: 0 }),
        instruction(BPF_LDX_B_MSH, 0),
        instruction(BPF_LD_H_IND, 0),
        jump(BPF_JEQ, port, Ways { hit: 9, miss: 0 }),
        instruction(BPF_LD_H_IND, 2),
        jump(BPF_JEQ, port, Ways { hit: 7, miss: 8 }),
        jump(BPF_JEQ, ETH_P_IPV6, Ways { hit: 0, miss: 7 }),
        // IPv6: TCP right behind the fixed header.
        instruction(BPF_LD_B_ABS, 6),
        jump(BPF_JEQ, IPPROTO_TCP, Ways { hit: 0, miss: 5 }),
        instruction(BPF_LD_H_ABS, 40),
        jump(BPF_JEQ, port, Ways { hit: 2, miss: 0 }),
        instruction(BPF_LD_H_ABS, 42),
        jump(BPF_JEQ, port, Ways { hit: 0, miss: 1 }),
        instruction(BPF_RET, snap),
        instruction(BPF_RET, 0),
    ]
}

/// How many instructions are skipped.
#[derive(Clone, Copy)]
struct Ways {
    hit: u8,
    miss: u8,
}

fn load_word(offset: u32) -> SockFilter {
    instruction(BPF_LD_W_ABS, SKF_AD_OFF.wrapping_add(offset))
}

fn jump(test: u16, value: u32, ways: Ways) -> SockFilter {
    SockFilter::new(BPF_JMP | test, ways.hit, ways.miss, value)
}

fn instruction(code: u16, value: u32) -> SockFilter {
    SockFilter::new(code, 0, 0, value)
}

/// The number of the loopback device in every network namespace (drivers/net/loopback.c).
const LOOPBACK: u32 = 1;
const ETH_P_IP: u32 = 0x0800;
const ETH_P_IPV6: u32 = 0x86dd;
const IPPROTO_TCP: u32 = 6;
/// Bits of the fragment offset in the IPv4 header.
const FRAGMENT_OFFSET: u32 = 0x1fff;

// include/uapi/linux/bpf_common.h and filter.h of 6.18
const BPF_LD_W_ABS: u16 = 0x20;
const BPF_LD_H_ABS: u16 = 0x28;
const BPF_LD_B_ABS: u16 = 0x30;
const BPF_LD_H_IND: u16 = 0x48;
const BPF_LDX_B_MSH: u16 = 0xb1;
const BPF_JMP: u16 = 0x05;
const BPF_JEQ: u16 = 0x10;
const BPF_JSET: u16 = 0x40;
const BPF_RET: u16 = 0x06;
const SKF_AD_OFF: u32 = 0xffff_f000; // -0x1000
const SKF_AD_PROTOCOL: u32 = 0;
const SKF_AD_PKTTYPE: u32 = 4;
const SKF_AD_IFINDEX: u32 = 8;
const PACKET_OUTGOING: u32 = 4; // include/uapi/linux/if_packet.h
