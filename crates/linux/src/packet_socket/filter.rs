//! The filter that runs in the kernel for each frame (classic BPF, Documentation/networking/filter.rst).

use socket2::SockFilter;

use crate::classic_bpf::{
    ALU_AND, JA, JEQ, JMP, PACKET_OUTGOING, SKF_AD_PKTTYPE, SKF_AD_PROTOCOL, SKF_AD_VLAN_TAG, SKF_AD_VLAN_TAG_PRESENT,
    Ways, instruction, jump, load_beside, verdict,
};

/// Which frames of a device to count. Those that the host sends are never counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// VLANs whose frames are passed over.
    pub except_vlans: Vec<u16>,
    /// Protocols whose frames are passed over where they bear no tag: those that the host handles.
    pub except_untagged: Vec<u16>,
}

/// The program: passes a frame with one byte of it, or passes it over.
pub(super) fn program(wanted: &Wanted) -> Vec<SockFilter> {
    let mut program = vec![load_beside(SKF_AD_PKTTYPE)];
    program.extend(pass_over(PACKET_OUTGOING));
    let untagged: Vec<SockFilter> =
        wanted.except_untagged.iter().take(MOST_EXCEPTIONS).flat_map(|&protocol| pass_over(protocol.into())).collect();
    program.push(load_beside(SKF_AD_VLAN_TAG_PRESENT));
    // Over the load, the exceptions and the verdict of untagged frames.
    let length = u32::try_from(untagged.len() + 2).unwrap_or(0);
    program.push(jump(JEQ, 0, Ways { hit: 1, miss: 0 }));
    program.push(instruction(JMP | JA, length));
    program.push(load_beside(SKF_AD_PROTOCOL));
    program.extend(untagged);
    program.push(verdict(TAKE));
    program.push(load_beside(SKF_AD_VLAN_TAG));
    program.push(instruction(ALU_AND, VLAN_MASK.into()));
    program.extend(wanted.except_vlans.iter().take(MOST_EXCEPTIONS).flat_map(|&vlan| pass_over(vlan.into())));
    program.push(verdict(TAKE));
    program
}

/// Passes over what equals `value`.
fn pass_over(value: u32) -> [SockFilter; 2] {
    [jump(JEQ, value, Ways { hit: 0, miss: 1 }), verdict(LEAVE)]
}

/// The whole VLAN space is 4094; the kernel takes 4096 instructions (`BPF_MAXINSNS`).
const MOST_EXCEPTIONS: usize = 900;
/// The number of a VLAN in its tag (`VLAN_VID_MASK`, include/linux/if_vlan.h).
pub(super) const VLAN_MASK: u16 = 0xfff;
const TAKE: u32 = 1;
const LEAVE: u32 = 0;
