//! Queueing disciplines of all devices, and what they have counted (`RTM_GETQDISC`).

use rustix::net::netdevice;

use crate::netlink::{Attribute, Netlink, NetlinkError, attributes};
use crate::sockets::{self, Family, Transport};

/// One queueing discipline (include/uapi/linux/rtnetlink.h `struct tcmsg`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// Index of its device.
    pub interface: u32,
    /// Name of its device, `None` where the device has gone meanwhile.
    pub device: Option<String>,
    /// Its own number; `tc` shows the upper half, 0 stands for one the kernel has put in by default.
    pub handle: u32,
    /// Number of the class it hangs on; [`ROOT`] for the device itself.
    pub parent: u32,
    /// What it is: `fq`, `fq_codel`, `pfifo_fast`, `mq`, `noqueue`...
    pub kind: String,
    /// What it has counted.
    pub statistics: QdiscStatistics,
    /// Its options, as its kind has them (`TCA_OPTIONS`).
    pub options: Vec<u8>,
    /// What its kind counts besides (`TCA_STATS_APP`).
    pub application: Vec<u8>,
}

/// Parent of the qdisc of a whole device (`TC_H_ROOT`).
pub const ROOT: u32 = 0xffff_ffff;

/// Parent of the qdisc for what is received (`TC_H_INGRESS`).
pub const INGRESS: u32 = 0xffff_fff1;

/// What a qdisc has counted (include/uapi/linux/gen_stats.h). Zero for one that counts nothing, as `noqueue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QdiscStatistics {
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent. 32 bits that wrap, up to Linux 5.4.
    pub packets: u64,
    /// Packets dropped; 32 bits that wrap.
    pub drops: u32,
    /// How often sending was put off because of a rate limit; 32 bits that wrap.
    pub overlimits: u32,
    /// How often a packet was put back, because the device was busy; 32 bits that wrap.
    pub requeues: u32,
    /// Packets in the queue.
    pub qlen: u32,
    /// Bytes in the queue.
    pub backlog: u32,
}

/// All qdiscs in the network namespace of the calling thread. Needs no privilege.
///
/// # Errors
/// Why the kernel gave no answer, or one that cannot be read.
pub fn dump() -> Result<Vec<Qdisc>, NetlinkError> {
    let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?;
    let mut qdiscs = netlink.dump(RTM_GETQDISC, &[0; TCMSG_LEN], parse)?;
    if let Ok(socket) = sockets::open(Family::V4, Transport::Udp) {
        for qdisc in &mut qdiscs {
            qdisc.device = netdevice::index_to_name(&socket, qdisc.interface).ok();
        }
    }
    Ok(qdiscs)
}

/// The classes of all qdiscs of one device (`RTM_GETTCLASS`), those that a kind makes by itself among them. A class is
/// told as a qdisc is: its kind is that of its qdisc, its handle its own number.
///
/// # Errors
/// As [`dump`].
pub fn classes(interface: u32) -> Result<Vec<Qdisc>, NetlinkError> {
    let mut request = [0; TCMSG_LEN];
    request[4..8].copy_from_slice(&interface.to_ne_bytes());
    let mut classes = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?.dump(RTM_GETTCLASS, &request, parse)?;
    // A kernel that does not heed the number tells of all devices.
    classes.retain(|class| class.interface == interface);
    Ok(classes)
}

/// Reads the message behind its netlink header.
fn parse(message: &[u8]) -> Result<Qdisc, NetlinkError> {
    let mut qdisc = Qdisc {
        interface: word(message, 4)?,
        device: None,
        handle: word(message, 8)?,
        parent: word(message, 12)?,
        kind: String::new(),
        statistics: QdiscStatistics::default(),
        options: Vec::new(),
        application: Vec::new(),
    };
    for attribute in attributes(message, TCMSG_LEN) {
        let attribute = attribute?;
        match attribute.kind {
            TCA_KIND => {
                let name = attribute.value.split(|&byte| byte == 0).next().unwrap_or_default();
                qdisc.kind = String::from_utf8_lossy(name).into_owned();
            }
            TCA_OPTIONS => qdisc.options = attribute.value.to_vec(),
            TCA_STATS2 => {
                qdisc.statistics = parse_statistics(&attribute)?;
                let mut parts = attribute.nested().filter_map(Result::ok);
                let application = parts.find(|part| part.kind == TCA_STATS_APP);
                qdisc.application = application.map(|part| part.value.to_vec()).unwrap_or_default();
            }
            _ => {}
        }
    }
    Ok(qdisc)
}

fn parse_statistics(attribute: &Attribute<'_>) -> Result<QdiscStatistics, NetlinkError> {
    let mut statistics = QdiscStatistics::default();
    let mut wide_packets = None;
    for part in attribute.nested() {
        let part = part?;
        let misplaced = |error| shifted(error, part.offset);
        match part.kind {
            TCA_STATS_BASIC => {
                statistics.bytes = long(part.value, 0).map_err(misplaced)?;
                statistics.packets = word(part.value, 8).map_err(misplaced)?.into();
            }
            TCA_STATS_QUEUE => {
                statistics.qlen = word(part.value, 0).map_err(misplaced)?;
                statistics.backlog = word(part.value, 4).map_err(misplaced)?;
                statistics.drops = word(part.value, 8).map_err(misplaced)?;
                statistics.requeues = word(part.value, 12).map_err(misplaced)?;
                statistics.overlimits = word(part.value, 16).map_err(misplaced)?;
            }
            TCA_STATS_PKT64 => wide_packets = Some(long(part.value, 0).map_err(misplaced)?),
            _ => {}
        }
    }
    // The kernel adds the wide count only once the narrow one does not hold it.
    statistics.packets = wide_packets.unwrap_or(statistics.packets);
    Ok(statistics)
}

fn word(bytes: &[u8], offset: usize) -> Result<u32, NetlinkError> {
    let word = bytes.get(offset..offset + 4).and_then(|word| word.try_into().ok());
    word.map(u32::from_ne_bytes).ok_or(NetlinkError::Malformed { offset, reason: "a number that is cut short" })
}

fn long(bytes: &[u8], offset: usize) -> Result<u64, NetlinkError> {
    let long = bytes.get(offset..offset + 8).and_then(|long| long.try_into().ok());
    long.map(u64::from_ne_bytes).ok_or(NetlinkError::Malformed { offset, reason: "a number that is cut short" })
}

/// Names the place within the message instead of that within an attribute.
fn shifted(error: NetlinkError, start: usize) -> NetlinkError {
    match error {
        NetlinkError::Malformed { offset, reason } => NetlinkError::Malformed { offset: start + offset, reason },
        other => other,
    }
}

// include/uapi/linux/rtnetlink.h and gen_stats.h of 6.18
const RTM_GETQDISC: u16 = 38;
const RTM_GETTCLASS: u16 = 42;
const TCMSG_LEN: usize = 20;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_APP: u16 = 4;
const TCA_STATS_PKT64: u16 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18.44, a fresh network namespace, `tc qdisc add dev lo root handle 7: tbf rate 1mbit burst 3000 limit
    /// 3000`, ten datagrams of 1000 bytes to a closed port. Then `RTM_GETQDISC`, and of the answer the message for `lo`
    /// behind its netlink header. `tc -s qdisc`: sent 3180 bytes 4 pkt (dropped 6, overlimits 10 requeues 0),
    /// backlog 2000b 2p.
    const TBF: &str = "
        000000000100000000000700ffffffff0200000008000100746266002c000200
        28000100000100000000000048e80100000000000000000000000000b80b0000
        d8b805000000000005000c000000000030000700140001006c0c000000000000
        04000000000000001800030002000000d007000006000000000000000a000000
        2c0003006c0c00000000000004000000060000000a0000000000000000000000
        02000000d007000000000000";

    #[test]
    fn recorded_qdisc_reads_as_tc_shows_it() {
        let qdisc = parse(&crate::recorded::bytes(TBF)).unwrap();
        let statistics =
            QdiscStatistics { bytes: 3180, packets: 4, drops: 6, overlimits: 10, requeues: 0, qlen: 2, backlog: 2000 };
        assert_eq!((qdisc.interface, qdisc.device, qdisc.handle, qdisc.parent), (1, None, 7 << 16, ROOT));
        assert_eq!((qdisc.kind.as_str(), qdisc.options.len(), qdisc.statistics), ("tbf", 40, statistics));
    }

    #[test]
    fn wide_packet_count_replaces_the_narrow_one() {
        let mut message = vec![0; TCMSG_LEN];
        message.extend([36, 0, 7, 0]);
        message.extend([20, 0, 1, 0]);
        message.extend([0; 8].iter().chain(&7u32.to_ne_bytes()).chain(&[0; 4]));
        message.extend([12, 0, 8, 0]);
        message.extend((1u64 << 40).to_ne_bytes());
        assert_eq!(parse(&message).unwrap().statistics.packets, 1 << 40);
    }

    #[test]
    fn message_cut_anywhere_is_read_or_an_error_within_it() {
        let message = crate::recorded::bytes(TBF);
        for length in 0..message.len() {
            if let Err(error) = parse(&message[..length]) {
                assert!(
                    matches!(error, NetlinkError::Malformed { offset, .. } if offset <= length.max(TCMSG_LEN)),
                    "{error} at {length}"
                );
            }
        }
    }

    #[test]
    fn every_device_that_is_up_here_has_a_qdisc_with_a_kind() {
        let qdiscs = dump().unwrap();
        assert!(qdiscs.iter().any(|qdisc| qdisc.device.is_some()), "{qdiscs:?}");
        assert!(qdiscs.iter().all(|qdisc| !qdisc.kind.is_empty()));
    }
}
