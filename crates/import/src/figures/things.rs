//! Things that are there in one measurement and not in another, by the words that people have for them.

/// Something that traffic passes, or that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    /// TSO, GSO, or checksums that a NIC makes.
    SendOffload,
    /// GRO, LRO.
    ReceiveOffload,
    /// Offloads of a NIC, all together.
    Offload,
    /// A VPN: WireGuard, OpenVPN, IPsec, whatever carries packets in packets.
    Tunnel,
    /// The network between containers.
    Overlay,
    /// A virtual machine.
    Guest,
    /// Wi-Fi; without it, a cable.
    Wifi,
    /// A firewall, an inspecting proxy.
    Firewall,
    /// A shaper of a router.
    Shaper,
    /// Congestion control that takes no loss for congestion.
    Bbr,
    /// Frames of more than 1500 B.
    Jumbo,
    /// A limit of the segment size or of the MTU.
    SmallSegments,
    /// Pause frames.
    FlowControl,
    /// States in which hardware sleeps.
    PowerSaving,
    /// Interrupts of a NIC on several CPUs.
    InterruptSpread,
    /// Encryption.
    Encryption,
    /// Compression.
    Compression,
    /// Buffers of sockets that were raised.
    LargeBuffer,
    /// Files, rather than memory.
    Disk,
    /// SACK.
    Sack,
    /// A relay between two peers.
    Relay,
    /// IPv6.
    Ipv6,
    /// Balancing over several links.
    Bond,
    /// A sender that keeps to a rate.
    Pacing,
    /// Another server or site than the one that is complained of.
    OtherServer,
    /// Writes that wait for a disk.
    Sync,
}

/// A thing, with or without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Which.
    pub thing: Thing,
    /// Whether it was there.
    pub on: bool,
}

/// The marks that words set.
pub(super) fn marks(words: &[String]) -> Vec<Mark> {
    let mut found: Vec<Mark> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        // `tso=off`, `bbr:`, `sack=0`.
        let (name, state) = word.split_once('=').map_or((word.as_str(), None), |(name, state)| (name, Some(state)));
        let before = &words[at.saturating_sub(2)..at];
        // The device of `ethtool -K DEVICE tx off`.
        if before.last().is_some_and(|word| word == "-k") {
            continue;
        }
        let is_other = before.iter().any(|word| OTHER.contains(&word.as_str()));
        if is_other && SERVERS.contains(&word.as_str()) {
            add(&mut found, Mark { thing: Thing::OtherServer, on: true });
        }
        // `ethtool -K DEVICE tx off`.
        let is_switched_here = at >= 2 && words[at - 2] == "-k";
        for part in name.split(['+', ',', '.']) {
            let part = match part {
                "tx" | "sg" if is_switched_here => "tso",
                "rx" if is_switched_here => "gro",
                part => part,
            };
            let Some(thing) = thing(part) else { continue };
            // `tx checksum offload`: which one stands before it.
            if thing == Thing::Offload && found.iter().any(|mark| is_offload(mark.thing)) {
                continue;
            }
            let before = &words[at.saturating_sub(BEFORE)..at];
            let behind = &words[at + 1..words.len().min(at + 1 + BEHIND)];
            let state = state
                .or_else(|| behind.iter().map(String::as_str).find(|word| OFF.contains(word) || ON.contains(word)));
            let is_off = state.is_some_and(|state| OFF.contains(&state))
                || state.is_none() && before.iter().any(|word| WITHOUT.contains(&word.as_str()));
            add(&mut found, Mark { thing, on: !is_off });
        }
        for thing in opposites(word) {
            add(&mut found, Mark { thing: *thing, on: false });
        }
    }
    found
}

fn add(found: &mut Vec<Mark>, mark: Mark) {
    if found.iter().all(|other| other.thing != mark.thing) {
        found.push(mark);
    }
}

const OTHER: [&str; 6] = ["other", "another", "different", "anderer", "anderen", "autre"];
const SERVERS: [&str; 7] = ["site", "mirror", "server", "cdn", "servers", "mirrors", "website"];
const BEFORE: usize = 3;
const BEHIND: usize = 2;
const OFF: [&str; 9] = ["off", "disabled", "0", "aus", "removed", "bypassed", "unplugged", "deaktiviert", "false"];
const ON: [&str; 6] = ["on", "enabled", "1", "an", "aktiviert", "true"];
const WITHOUT: [&str; 14] = [
    "without",
    "no",
    "w/o",
    "ohne",
    "disabled",
    "disabling",
    "disable",
    "bypassing",
    "outside",
    "sin",
    "sem",
    "sans",
    "bypass",
    "off",
];

fn is_offload(thing: Thing) -> bool {
    matches!(thing, Thing::SendOffload | Thing::ReceiveOffload)
}

/// Words for its absence.
fn opposites(word: &str) -> &'static [Thing] {
    match word {
        "direct" | "directly" | "direkt" | "native" | "bare" | "underlay" | "bypassed" | "bypassing" => {
            &[Thing::Tunnel, Thing::Overlay, Thing::Guest, Thing::Firewall, Thing::Relay]
        }
        "bare-metal" | "baremetal" | "host-to-host" | "hostnetwork" | "hypervisor" | "node-to-node" | "node"
        | "hosts" | "nodes" => &[Thing::Overlay, Thing::Guest],
        "wired" | "cable" | "ethernet" | "kabel" | "lan-kabel" | "cabled" | "rj45" | "patchkabel" => &[Thing::Wifi],
        "cubic" | "reno" => &[Thing::Bbr],
        "/dev/null" | "/dev/zero" | "memory" | "ramdisk" | "tmpfs" | "/dev/shm" | "mem-to-mem" | "iperf" | "iperf3"
        | "memory-to-memory" | "nuttcp" => &[Thing::Disk],
        "ipv4" | "-4" => &[Thing::Ipv6],
        "async" => &[Thing::Sync],
        "plaintext" | "unencrypted" => &[Thing::Encryption],
        _ => &[],
    }
}

fn thing(word: &str) -> Option<Thing> {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    Some(match word {
        "tso" | "gso" | "lso" | "tx-checksum-ip-generic" | "tx-checksumming" | "checksum" | "checksumming" => {
            Thing::SendOffload
        }
        "gro" | "lro" | "rsc" | "rx-gro-hw" | "gro-hw" => Thing::ReceiveOffload,
        "offload" | "offloads" | "offloading" => Thing::Offload,
        "vpn" | "tunnel" | "wireguard" | "wg" | "wg0" | "wg1" | "ipsec" | "openvpn" | "tun0" | "gre" | "zerotier"
        | "strongswan" | "l2tp" | "anyconnect" | "globalprotect" | "forticlient" => Thing::Tunnel,
        "pod" | "pods" | "container" | "containers" | "overlay" | "vxlan" | "flannel" | "docker" | "pod-to-pod"
        | "calico" | "cilium" | "weave" | "geneve" | "ipip" => Thing::Overlay,
        "vm" | "vms" | "guest" | "guests" | "wsl" | "wsl2" | "vm-to-vm" | "lxc" => Thing::Guest,
        "wifi" | "wi-fi" | "wlan" | "wireless" | "5ghz" | "2.4ghz" => Thing::Wifi,
        "firewall" | "firewalls" | "ips" | "ids" | "snort" | "suricata" | "dpi" | "inspection" | "proxy" | "fw"
        | "antivirus" | "defender" | "utm" | "forti" | "fortigate" | "asa" | "pfsense" | "opnsense" => Thing::Firewall,
        "sqm" | "shaper" | "shaping" | "qos" | "cake" | "policer" => Thing::Shaper,
        "bbr" | "bbr2" => Thing::Bbr,
        "jumbo" | "jumboframes" => Thing::Jumbo,
        "clamp" | "clamping" | "mss-clamp" | "clamped" | "clamp-mss-to-pmtu" => Thing::SmallSegments,
        "pause" | "flow-control" | "flowcontrol" => Thing::FlowControl,
        "powersave" | "power-saving" | "power-save" | "eee" | "c-states" | "aspm" | "cstates" => Thing::PowerSaving,
        "irqbalance" | "rps" | "rss" | "multiqueue" | "multi-queue" => Thing::InterruptSpread,
        "tls" | "https" | "ssh" | "scp" | "sftp" | "encryption" | "encrypted" | "cipher" | "aes" | "chacha20" => {
            Thing::Encryption
        }
        "compression" | "zstd" | "gzip" => Thing::Compression,
        "tuned" | "rmem" | "wmem" | "tcp_rmem" | "tcp_wmem" | "buffers" => Thing::LargeBuffer,
        "disk" | "disks" | "hdd" | "file" | "files" | "rsync" | "copy" | "copying" | "nfs" | "smb" | "samba" | "cp"
        | "robocopy" | "cifs" | "usb" => Thing::Disk,
        "sack" => Thing::Sack,
        "relay" | "derp" | "turn" | "relayed" => Thing::Relay,
        "ipv6" | "v6" | "-6" => Thing::Ipv6,
        "bond" | "lacp" | "lag" | "bond0" | "ecmp" | "trunk" => Thing::Bond,
        "sync" => Thing::Sync,
        "pacing" | "paced" | "maxrate" | "fq-rate" => Thing::Pacing,
        _ => return None,
    })
}
