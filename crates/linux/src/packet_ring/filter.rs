//! The filter that runs in the kernel for each packet (classic BPF, Documentation/networking/filter.rst).

use socket2::SockFilter;

use crate::classic_bpf::{
    JEQ, JSET, LD_B_ABS, LD_H_ABS, LD_H_IND, LDX_B_MSH, PACKET_OUTGOING, SKF_AD_IFINDEX, SKF_AD_PKTTYPE,
    SKF_AD_PROTOCOL, Ways, instruction, jump, load_beside, verdict,
};

/// The program: the first `snap` bytes of TCP packets from or to a port, and nothing of others. A packet of the loopback device comes
/// twice, going out and coming in: the first is passed over.
pub(super) fn program(port: u16, snap: u32) -> Vec<SockFilter> {
    let port = u32::from(port);
    vec![
        load_beside(SKF_AD_PKTTYPE),
        jump(JEQ, PACKET_OUTGOING, Ways { hit: 0, miss: 2 }),
        load_beside(SKF_AD_IFINDEX),
        jump(JEQ, LOOPBACK, Ways { hit: 19, miss: 0 }),
        load_beside(SKF_AD_PROTOCOL),
        jump(JEQ, ETH_P_IP, Ways { hit: 0, miss: 9 }),
        // IPv4: TCP, no later fragment, and ports behind its options.
        instruction(LD_B_ABS, 9),
        jump(JEQ, IPPROTO_TCP, Ways { hit: 0, miss: 15 }),
        instruction(LD_H_ABS, 6),
        jump(JSET, FRAGMENT_OFFSET, Ways { hit: 13, miss: 0 }),
        instruction(LDX_B_MSH, 0),
        instruction(LD_H_IND, 0),
        jump(JEQ, port, Ways { hit: 9, miss: 0 }),
        instruction(LD_H_IND, 2),
        jump(JEQ, port, Ways { hit: 7, miss: 8 }),
        jump(JEQ, ETH_P_IPV6, Ways { hit: 0, miss: 7 }),
        // IPv6: TCP right behind the fixed header.
        instruction(LD_B_ABS, 6),
        jump(JEQ, IPPROTO_TCP, Ways { hit: 0, miss: 5 }),
        instruction(LD_H_ABS, 40),
        jump(JEQ, port, Ways { hit: 2, miss: 0 }),
        instruction(LD_H_ABS, 42),
        jump(JEQ, port, Ways { hit: 0, miss: 1 }),
        verdict(snap),
        verdict(0),
    ]
}

/// The same for TCP packets of any port.
pub(super) fn of_any_port(snap: u32) -> Vec<SockFilter> {
    vec![
        load_beside(SKF_AD_PKTTYPE),
        jump(JEQ, PACKET_OUTGOING, Ways { hit: 0, miss: 2 }),
        load_beside(SKF_AD_IFINDEX),
        jump(JEQ, LOOPBACK, Ways { hit: 8, miss: 0 }),
        load_beside(SKF_AD_PROTOCOL),
        jump(JEQ, ETH_P_IP, Ways { hit: 0, miss: 2 }),
        instruction(LD_B_ABS, 9),
        jump(JEQ, IPPROTO_TCP, Ways { hit: 3, miss: 4 }),
        jump(JEQ, ETH_P_IPV6, Ways { hit: 0, miss: 3 }),
        instruction(LD_B_ABS, 6),
        jump(JEQ, IPPROTO_TCP, Ways { hit: 0, miss: 1 }),
        verdict(snap),
        verdict(0),
    ]
}

/// The number of the loopback device in every network namespace (drivers/net/loopback.c).
const LOOPBACK: u32 = 1;
const ETH_P_IP: u32 = 0x0800;
const ETH_P_IPV6: u32 = 0x86dd;
const IPPROTO_TCP: u32 = 6;
/// Bits of the fragment offset in the IPv4 header.
const FRAGMENT_OFFSET: u32 = 0x1fff;
