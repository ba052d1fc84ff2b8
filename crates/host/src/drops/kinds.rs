//! Which counters say that something went wrong, and what they mean.

use model::host::drops::DropKind;

/// What a counter of a device means, by the kernel's name (`struct rtnl_link_stats64`); none for other counters. Sums
/// of others are left out, where the kernel fills in the parts.
#[must_use]
pub fn device(name: &str) -> Option<DropKind> {
    Some(match name {
        "rx_missed_errors" | "rx_fifo_errors" | "rx_over_errors" => DropKind::NoBuffer,
        "rx_crc_errors" | "rx_frame_errors" | "rx_length_errors" => DropKind::Corrupt,
        "rx_dropped" => DropKind::Mixed,
        "rx_nohandler" => DropKind::Unhandled,
        "tx_dropped" | "tx_fifo_errors" => DropKind::SendBuffer,
        "tx_carrier_errors" | "tx_aborted_errors" | "collisions" => DropKind::Carrier,
        "rx_errors" | "tx_errors" => DropKind::Other,
        _ => return None,
    })
}

/// What a counter of a driver means, by the words in its name: each driver names them as it likes.
#[must_use]
pub fn driver(name: &str) -> Option<DropKind> {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    // Times, not events.
    if has(&["duration", "_ns", "usecs"]) {
        return None;
    }
    if has(&["pause", "xon", "xoff"]) {
        return Some(DropKind::Pause);
    }
    if has(&[
        "out_of_buf",
        "no_buf",
        "nobuf",
        "no_desc",
        "no_dma",
        "missed",
        "fifo",
        "overrun",
        "alloc_fail",
        "buff_alloc_err",
    ]) {
        return Some(DropKind::NoBuffer);
    }
    if has(&["crc", "fcs", "symbol", "align", "jabber", "fragment", "undersize", "oversize", "illegal", "uncorrect"]) {
        return Some(DropKind::Corrupt);
    }
    if has(&["carrier", "collision", "tx_timeout"]) {
        return Some(DropKind::Carrier);
    }
    if has(&["drop", "discard"]) {
        let sent = name.starts_with("tx") || name.contains(".tx") || name.contains("_tx");
        // What a device discards by itself it had no room for.
        let received = if has(&["discard"]) { DropKind::NoBuffer } else { DropKind::Unhandled };
        return Some(if sent { DropKind::SendBuffer } else { received });
    }
    has(&["error", "_err"]).then_some(DropKind::Other)
}

/// What a counter of a protocol means, by group and name as `/proc/net/snmp` and `/proc/net/netstat` have them.
#[must_use]
pub fn protocol(group: &str, name: &str) -> Option<DropKind> {
    let table: &[(&str, DropKind)] = match group {
        // With disable_ipv6 each packet counts here (net/ipv6/ip6_input.c, ip6_rcv_core); with memory short as well.
        "Ip6" if name == "InDiscards" => return Some(DropKind::Disabled),
        "Ip" | "Ip6" => &IP,
        "IpExt" => &IP_EXT,
        "Tcp" => &TCP,
        "TcpExt" => &TCP_EXT,
        "Udp" | "Udp6" | "UdpLite" | "UdpLite6" => &UDP,
        _ => return None,
    };
    table.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

// net/ipv4/proc.c and net/ipv6/proc.c of 6.18
const IP: [(&str, DropKind); 12] = [
    ("InHdrErrors", DropKind::BadPacket),
    ("InTooBigErrors", DropKind::BadPacket),
    ("InAddrErrors", DropKind::BadPacket),
    ("InUnknownProtos", DropKind::Unhandled),
    ("InDiscards", DropKind::Memory),
    ("InTruncatedPkts", DropKind::BadPacket),
    ("InNoRoutes", DropKind::NoRoute),
    ("OutDiscards", DropKind::Discarded),
    ("OutNoRoutes", DropKind::NoRoute),
    ("ReasmTimeout", DropKind::BadPacket),
    ("ReasmFails", DropKind::BadPacket),
    ("FragFails", DropKind::BadPacket),
];

const IP_EXT: [(&str, DropKind); 3] = [
    ("InNoRoutes", DropKind::NoRoute),
    ("InTruncatedPkts", DropKind::BadPacket),
    ("InCsumErrors", DropKind::BadPacket),
];

const TCP: [(&str, DropKind); 3] =
    [("RetransSegs", DropKind::Retransmit), ("InErrs", DropKind::BadPacket), ("InCsumErrors", DropKind::BadPacket)];

const UDP: [(&str, DropKind); 6] = [
    ("RcvbufErrors", DropKind::ReceiveBuffer),
    ("SndbufErrors", DropKind::SendBuffer),
    ("MemErrors", DropKind::Memory),
    ("InCsumErrors", DropKind::BadPacket),
    ("NoPorts", DropKind::NoListener),
    ("InErrors", DropKind::Other),
];

const TCP_EXT: [(&str, DropKind); 18] = [
    ("ListenOverflows", DropKind::Listener),
    ("ListenDrops", DropKind::Listener),
    ("TCPDeferAcceptDrop", DropKind::Listener),
    ("TCPReqQFullDrop", DropKind::Listener),
    ("TCPBacklogDrop", DropKind::ReceiveBuffer),
    ("TCPRcvQDrop", DropKind::ReceiveBuffer),
    ("TCPZeroWindowDrop", DropKind::ReceiveBuffer),
    ("TCPOFODrop", DropKind::ReceiveBuffer),
    ("RcvPruned", DropKind::ReceiveBuffer),
    ("OfoPruned", DropKind::ReceiveBuffer),
    ("PFMemallocDrop", DropKind::Memory),
    ("TCPAbortOnMemory", DropKind::Memory),
    ("TCPMinTTLDrop", DropKind::BadPacket),
    ("IPReversePathFilter", DropKind::ReversePath),
    ("TCPWqueueTooBig", DropKind::SendBuffer),
    ("TCPRetransFail", DropKind::SendBuffer),
    ("TCPTimeouts", DropKind::Retransmit),
    ("TCPLostRetransmit", DropKind::Retransmit),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_several_drivers_are_understood() {
        // ethtool -S of mlx5, ixgbe, i40e, ice, bnxt_en, virtio_net.
        for (name, kind) in [
            ("rx_out_of_buffer", Some(DropKind::NoBuffer)),
            ("rx_no_dma_resources", Some(DropKind::NoBuffer)),
            ("rx_missed_errors", Some(DropKind::NoBuffer)),
            ("port.rx_discards", Some(DropKind::NoBuffer)),
            ("rx_discards_phy", Some(DropKind::NoBuffer)),
            ("rx_crc_errors_phy", Some(DropKind::Corrupt)),
            ("rx_fec_uncorrectable_blocks", Some(DropKind::Corrupt)),
            ("rx_prio3_pause", Some(DropKind::Pause)),
            ("tx_flow_control_xoff", Some(DropKind::Pause)),
            ("tx_pause_storm_warning_events", Some(DropKind::Pause)),
            ("rx0_drops", Some(DropKind::Unhandled)),
            ("tx_queue_0_tx_drops", Some(DropKind::SendBuffer)),
            ("rx_prio3_pause_duration", None),
            ("rx_packets", None),
            ("rx0_bytes", None),
        ] {
            assert_eq!(driver(name), kind, "{name}");
        }
    }

    #[test]
    fn groups_keep_their_names_apart() {
        assert_eq!(protocol("Udp", "RcvbufErrors"), Some(DropKind::ReceiveBuffer));
        assert_eq!(protocol("Udp6", "RcvbufErrors"), Some(DropKind::ReceiveBuffer));
        assert_eq!((protocol("Tcp", "RcvbufErrors"), protocol("Icmp", "InErrors")), (None, None));
        assert_eq!(
            (protocol("Ip", "InDiscards"), protocol("Ip6", "InDiscards")),
            (Some(DropKind::Memory), Some(DropKind::Disabled))
        );
    }
}
