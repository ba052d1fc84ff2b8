//! What a thing does that one measurement has and another has not.

use import::figures::Thing;

/// What it is called, and what it means where the slower one has it, or where the faster one has it.
pub(in crate::statements) struct Mechanism {
    thing: Thing,
    pub(in crate::statements) name: &'static str,
    pub(in crate::statements) slower_with: &'static str,
    pub(in crate::statements) faster_with: &'static str,
}

/// Of a thing.
pub(in crate::statements) fn of(thing: Thing) -> &'static Mechanism {
    MECHANISMS.iter().find(|mechanism| mechanism.thing == thing).unwrap_or(&MECHANISMS[0])
}

const MECHANISMS: [Mechanism; 26] = [
    Mechanism {
        thing: Thing::SendOffload,
        name: "segmentation offload (TSO, GSO)",
        slower_with: "that offload is broken there, or does not suit what is forwarded or encapsulated: leave it off, and look for a newer driver",
        faster_with: "without it the CPU cuts every segment",
    },
    Mechanism {
        thing: Thing::ReceiveOffload,
        name: "receive offload (GRO, LRO)",
        slower_with: "that offload is broken there, or merges what is to be forwarded: leave it off, and look for a newer driver",
        faster_with: "without it the receiving CPU handles every packet",
    },
    Mechanism {
        thing: Thing::Offload,
        name: "a NIC's offloads",
        slower_with: "an offload is broken there, or does not suit what is forwarded: leave it off, and look for a newer driver",
        faster_with: "without them the CPU handles every packet",
    },
    Mechanism {
        thing: Thing::Tunnel,
        name: "a tunnel (VPN)",
        slower_with: "the tunnel takes it: the CPU that encrypts (`top` while it runs), packets too large for its MTU (`ping -M do`), or the way to its far \
             end, and neither the line nor the hosts outside it",
        faster_with: "the way outside the tunnel is the slow one: another route, or a device that treats it otherwise",
    },
    Mechanism {
        thing: Thing::Overlay,
        name: "an overlay or a container's network",
        slower_with: "what the network between containers adds takes it: encapsulation in a program or on one CPU, an MTU without room for its headers, or \
             offloads that do not suit it (checksums of what is encapsulated: `ethtool -K DEVICE tx-checksum-ip-generic off` of the overlay's device tells \
             at once); the hosts and the network below carry more",
        faster_with: "the hosts' own way is the slow one",
    },
    Mechanism {
        thing: Thing::Guest,
        name: "a virtual machine",
        slower_with: "the virtual NIC or its switch takes it (its model, its offloads, one CPU of the host): the machine below carries more",
        faster_with: "the machine below is the slow one",
    },
    Mechanism {
        thing: Thing::Wifi,
        name: "Wi-Fi",
        slower_with: "Wi-Fi is the slow part (signal, channel, an old standard, others on the air), and not the line",
        faster_with: "the cable, its port or its NIC is the slow part",
    },
    Mechanism {
        thing: Thing::Firewall,
        name: "a firewall or a proxy",
        slower_with: "that device takes it: its CPU, its inspection, or how it changes TCP; large transfers need a way around it",
        faster_with: "the other way is the slow one",
    },
    Mechanism {
        thing: Thing::Shaper,
        name: "a shaper",
        slower_with: "the shaper is the limit: its rate, or the CPU of the router that shapes",
        faster_with: "without it a queue grows, or a policer drops",
    },
    Mechanism {
        thing: Thing::Bbr,
        name: "BBR",
        slower_with: "BBR does worse there: its model of the path is wrong (a policer, a shaper that bursts)",
        faster_with: "losses that are no congestion (random loss, a policer, a short queue) keep a control that takes loss for congestion down: find where \
             packets are lost; the path itself carries the faster rate",
    },
    Mechanism {
        thing: Thing::Jumbo,
        name: "large frames",
        slower_with: "large frames do not pass everywhere, or are dropped: one MTU at all devices of the path",
        faster_with: "packets a second are the limit (a CPU, a NIC, a virtual switch), and not bytes",
    },
    Mechanism {
        thing: Thing::SmallSegments,
        name: "a smaller segment size",
        slower_with: "packets a second are the limit",
        faster_with: "larger packets do not pass (a path MTU that nobody reports): keep the smaller size, or let ICMP `fragmentation needed` pass",
    },
    Mechanism {
        thing: Thing::FlowControl,
        name: "pause frames",
        slower_with: "a slow receiver stops the switch port, and all behind it",
        faster_with: "without them a receiver or a switch drops what comes in bursts (rings, buffers)",
    },
    Mechanism {
        thing: Thing::PowerSaving,
        name: "power saving",
        slower_with: "hardware that sleeps is late: switch that state off",
        faster_with: "it is not power saving that takes it",
    },
    Mechanism {
        thing: Thing::InterruptSpread,
        name: "interrupts on several CPUs",
        slower_with: "packets are spread over CPUs that do not suit (far from the NIC, or out of order)",
        faster_with: "one CPU handled all packets and was the limit",
    },
    Mechanism {
        thing: Thing::Encryption,
        name: "encryption",
        slower_with: "the CPU that encrypts is the limit (a cipher that it has instructions for, several processes)",
        faster_with: "the program without it is the slow one",
    },
    Mechanism {
        thing: Thing::Compression,
        name: "compression",
        slower_with: "the CPU that compresses is the limit",
        faster_with: "the line is the limit",
    },
    Mechanism {
        thing: Thing::Disk,
        name: "files",
        slower_with: "the network carries the faster rate; disks, many small files, or the program that copies (its requests, its CPU) are the limit",
        faster_with: "the test without files is the slow one: its own settings (window, one stream, its version) or its CPU",
    },
    Mechanism {
        thing: Thing::Sack,
        name: "SACK",
        slower_with: "a device changes SACK's options",
        faster_with: "without SACK each lost packet takes an RTT",
    },
    Mechanism {
        thing: Thing::Relay,
        name: "a relay",
        slower_with: "the relay is the limit: find why the two do not reach each other directly (NAT, a firewall)",
        faster_with: "the direct way is the slow one",
    },
    Mechanism {
        thing: Thing::Ipv6,
        name: "IPv6",
        slower_with: "the way of IPv6 is the slow one (another route, a tunnel, a device that handles it in software)",
        faster_with: "the way of IPv4 is the slow one (NAT, another route, a device that handles it in software)",
    },
    Mechanism {
        thing: Thing::Bond,
        name: "several links together",
        slower_with: "packets of one flow overtake each other, or one of the links is bad: balance by flow, and test each link alone",
        faster_with: "one link is the limit",
    },
    Mechanism {
        thing: Thing::Pacing,
        name: "a sender that keeps to a rate",
        slower_with: "the rate that it keeps to is the limit",
        faster_with: "bursts overflow a short queue where the path becomes slower (a fast NIC or port before a slow one), and the path itself loses next to \
             nothing: pace the sender, or give that device more buffer",
    },
    Mechanism {
        thing: Thing::OtherServer,
        name: "another server",
        slower_with: "the other server, or the route to it, is the slow one",
        faster_with: "the line and this host carry the faster rate: the server, its limit for each connection, or the route to it is the suspect",
    },
    Mechanism {
        thing: Thing::Sync,
        name: "writes that wait for the disk",
        slower_with: "every write waits for the disk or the server, and not for the network",
        faster_with: "the other way is the slow one",
    },
    Mechanism {
        thing: Thing::LargeBuffer,
        name: "larger buffers",
        slower_with: "larger buffers make a queue that loses",
        faster_with: "a window or a buffer was the limit",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_a_mechanism_of_its_own() {
        for mechanism in &MECHANISMS {
            assert_eq!(of(mechanism.thing).name, mechanism.name);
        }
        assert_eq!(of(Thing::Pacing).name, "a sender that keeps to a rate");
    }
}
