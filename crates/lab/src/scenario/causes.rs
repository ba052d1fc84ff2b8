//! The causes that a scenario can plant. Their names are stable: results of diagnosis are judged by them.

/// Each cause with what it is.
pub const ALL: &[(&str, &str)] = &[
    // Hosts.
    ("host-untuned", "a host has the kernel's defaults where the path needs more"),
    ("tuning-reset", "the tuning that a host once had is gone"),
    ("receive-window-small", "the receiver's largest window is less than the path holds"),
    ("send-buffer-small", "the sender's largest buffer is less than the path holds"),
    ("congestion-control", "the sender's congestion control does not suit the path"),
    ("ecn-forced", "a host asks for congestion notification on a path whose queue marks at once"),
    ("ring-small", "the rings of an adapter hold too little, so that packets are lost at the host's door"),
    ("sender-cpu", "the sending program gets too little of its processor"),
    ("receiver-slow", "the receiving program reads too slowly"),
    ("udp-sender-drops", "datagrams are lost in the sender, before the path"),
    ("receive-offload-overlay", "an adapter merges packets of an overlay into ones too big to go on"),
    ("emulated-adapter", "a virtual machine has an emulated adapter, which is slow and takes no large frames"),
    ("unknown-vlan-drops", "a host drops packets of networks that it does not know; they are nobody's"),
    // The path.
    ("random-loss", "packets vanish at random"),
    ("backup-circuit-loss", "the backup circuit loses packets, the primary does not"),
    ("dirty-fibre", "loss that grows with the size of packets"),
    ("lag-member-loss", "one member of a bundle of links loses packets"),
    ("duplex-mismatch", "a tenth of the packets is lost at any rate"),
    ("reordering", "packets overtake each other"),
    ("policer", "a policer drops what comes faster than a rate"),
    ("router-limit", "a router without its settings sends slower than its links"),
    ("shallow-queue", "a queue is too small for the bursts of the senders"),
    ("bufferbloat", "a queue is much larger than the path needs, and full"),
    ("microburst", "a short burst of others fills a queue"),
    ("cross-traffic", "others use the path"),
    ("slow-segment", "one link is slower than all others"),
    ("asymmetric-route", "the way back leads over another and worse path"),
    ("route-change", "the path changes while it is used"),
    ("firewall", "a firewall inspects one direction and is too slow for it"),
    ("mtu-mismatch", "neighbours do not agree how large packets may be"),
    ("mtu-black-hole", "packets too large for a link vanish, and nobody says so"),
    // Services.
    ("rerouted-requests", "most requests reach a host that has to pass them on"),
];

/// Whether there is such a cause.
#[must_use]
pub fn find(id: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == id).map(|(known, _)| *known)
}
