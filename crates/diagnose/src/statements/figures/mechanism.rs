//! What a thing does that one measurement has and another has not.

use import::figures::Thing;

/// What it is called, and what it means where the slower one has it, or where the faster one has it.
pub(super) struct Mechanism {
    pub(super) name: &'static str,
    pub(super) slower_with: &'static str,
    pub(super) faster_with: &'static str,
}

/// Of a thing.
pub(super) fn of(thing: Thing) -> Mechanism {
    let (name, slower_with, faster_with) = match thing {
        Thing::SendOffload => (
            "segmentation offload (TSO, GSO)",
            "that offload is broken there, or does not suit what is forwarded or encapsulated: leave it off, and look for a newer driver",
            "without it the CPU cuts every segment",
        ),
        Thing::ReceiveOffload => (
            "receive offload (GRO, LRO)",
            "that offload is broken there, or merges what is to be forwarded: leave it off, and look for a newer driver",
            "without it the receiving CPU handles every packet",
        ),
        Thing::Offload => (
            "a NIC's offloads",
            "an offload is broken there, or does not suit what is forwarded: leave it off, and look for a newer driver",
            "without them the CPU handles every packet",
        ),
        Thing::Tunnel => (
            "a tunnel (VPN)",
            "the tunnel takes it: the CPU that encrypts (`top` while it runs), packets too large for its MTU (`ping -M do`), or the way to its far \
             end, and neither the line nor the hosts outside it",
            "the way outside the tunnel is the slow one: another route, or a device that treats it otherwise",
        ),
        Thing::Overlay => (
            "an overlay or a container's network",
            "what the network between containers adds takes it: encapsulation in a program or on one CPU, an MTU without room for its headers, or \
             offloads that do not suit it; the hosts and the network below carry more",
            "the hosts' own way is the slow one",
        ),
        Thing::Guest => (
            "a virtual machine",
            "the virtual NIC or its switch takes it (its model, its offloads, one CPU of the host): the machine below carries more",
            "the machine below is the slow one",
        ),
        Thing::Wifi => (
            "Wi-Fi",
            "Wi-Fi is the slow part (signal, channel, an old standard, others on the air), and not the line",
            "the cable, its port or its NIC is the slow part",
        ),
        Thing::Firewall => (
            "a firewall or a proxy",
            "that device takes it: its CPU, its inspection, or how it changes TCP; large transfers need a way around it",
            "the other way is the slow one",
        ),
        Thing::Shaper => (
            "a shaper",
            "the shaper is the limit: its rate, or the CPU of the router that shapes",
            "without it a queue grows, or a policer drops",
        ),
        Thing::Bbr => (
            "BBR",
            "BBR does worse there: its model of the path is wrong (a policer, a shaper that bursts)",
            "losses that are no congestion (random loss, a policer, a short queue) keep a control that takes loss for congestion down: find where \
             packets are lost; the path itself carries the faster rate",
        ),
        Thing::Jumbo => (
            "large frames",
            "large frames do not pass everywhere, or are dropped: one MTU at all devices of the path",
            "packets a second are the limit (a CPU, a NIC, a virtual switch), and not bytes",
        ),
        Thing::SmallSegments => (
            "a smaller segment size",
            "packets a second are the limit",
            "larger packets do not pass (a path MTU that nobody reports): keep the smaller size, or let ICMP `fragmentation needed` pass",
        ),
        Thing::FlowControl => (
            "pause frames",
            "a slow receiver stops the switch port, and all behind it",
            "without them a receiver or a switch drops what comes in bursts (rings, buffers)",
        ),
        Thing::PowerSaving => (
            "power saving",
            "hardware that sleeps is late: switch that state off",
            "it is not power saving that takes it",
        ),
        Thing::InterruptSpread => (
            "interrupts on several CPUs",
            "packets are spread over CPUs that do not suit (far from the NIC, or out of order)",
            "one CPU handled all packets and was the limit",
        ),
        Thing::Encryption => (
            "encryption",
            "the CPU that encrypts is the limit (a cipher that it has instructions for, several processes)",
            "the program without it is the slow one",
        ),
        Thing::Compression => ("compression", "the CPU that compresses is the limit", "the line is the limit"),
        Thing::LargeBuffer => {
            ("larger buffers", "larger buffers make a queue that loses", "a window or a buffer was the limit")
        }
        Thing::Disk => (
            "files",
            "the network carries the faster rate; disks, many small files, or the program that copies (its requests, its CPU) are the limit",
            "the test without files is the slow one: its own settings (window, one stream, its version) or its CPU",
        ),
        Thing::Sack => ("SACK", "a device changes SACK's options", "without SACK each lost packet takes an RTT"),
        Thing::Relay => (
            "a relay",
            "the relay is the limit: find why the two do not reach each other directly (NAT, a firewall)",
            "the direct way is the slow one",
        ),
        Thing::Ipv6 => (
            "IPv6",
            "the way of IPv6 is the slow one (another route, a tunnel, a device that handles it in software)",
            "the way of IPv4 is the slow one (NAT, another route, a device that handles it in software)",
        ),
        Thing::Bond => (
            "several links together",
            "packets of one flow overtake each other, or one of the links is bad: balance by flow, and test each link alone",
            "one link is the limit",
        ),
        Thing::OtherServer => (
            "another server",
            "the other server, or the route to it, is the slow one",
            "the line and this host carry the faster rate: the server, its limit for each connection, or the route to it is the suspect",
        ),
        Thing::Sync => (
            "writes that wait for the disk",
            "every write waits for the disk or the server, and not for the network",
            "the other way is the slow one",
        ),
    };
    Mechanism { name, slower_with, faster_with }
}
