//! What stands beside the logs of tests: `ping` (also of Windows and Cisco's IOS), `tracepath`, `traceroute`, `mtr`, `ss -ti`, `ethtool -S`, `nstat`, `netstat -s`,
//! `ip -s link`, the files of `/sys/class/net`, `wget`, `curl`, `scp`, `rsync`, `xrdcp`, Globus; and what they say of a host:
//! `owping` and `twping`, tests of RouterOS and of access lines;
//! Ookla's test of access lines; `netstat -i`, `sar -n DEV`, `/proc/net/sockstat`, marks of FTS;
//! `ethtool`, `mii-tool`, `show interface` of IOS and of Junos, TCP of Windows, the kernel's log, `softnet_stat`, `tc -s`, `sar`, `mpstat`, `vmstat`, `top`, handshakes
//! in `tcpdump`.
//!
//! Each reader is given the lines from one on, says at once whether its output begins there, and how many lines it is.

mod access;
mod access_lines;
mod access_rates;
mod cisco_ping;
mod complaints;
mod conntrack;
mod counted;
mod counters;
mod cpu;
mod curl;
mod curl_times;
mod dd;
mod disk_use;
mod dump;
mod fts;
mod handshake;
mod host_fact;
mod ifconfig;
mod interrupts;
mod junos;
mod kernel;
mod lspci;
pub(crate) mod mtr;
mod named_values;
mod ndt7;
mod netperf;
mod netstat_devices;
mod nic;
mod ookla;
mod owping;
mod ping;
mod policed;
mod proc_net_dev;
mod processes;
mod progress;
mod prompt;
mod qdisc;
mod radio;
mod rclone;
mod robocopy;
mod routed;
mod sar_dev;
mod show;
mod shown;
mod socket;
mod sockstat;
mod softnet;
mod ss;
mod summed;
mod switch_port;
mod tailscale;
mod tcp_settings;
mod tracepath;
mod traceroute;
mod transfer;
mod tshark;
mod watched;
mod wget;
mod windows;

mod windows_nic;
mod windows_ping;
mod windows_tcp;

use super::anomaly::Anomalies;
use super::command::after_prompt;
use super::signatures::{self, SignatureFact};
use super::source::unquoted;

pub use access::{AccessRates, AccessStreams, LoadedLatency};
pub(crate) use cisco_ping::search;
pub use counted::{
    AllowanceExceeded, BusyProgram, DeviceRate, DiskUse, FailedConnection, OutgoingDevice, PacketRates, PolicedTraffic,
    RadioLink, RelayedPeer, RemovedScale, SmallWindow, SocketMemory, Switch, TcpSettings, TransferMarks, UnreadSocket,
};
pub use host_fact::{
    BusRate, ClosedWindow, ComplaintKind, CpuShares, DiskRate, Duplex, ErrorsOfKind, HostFact, KernelComplaint,
    LateCollisions, LinkState, LossKind, LostSoFar, LroState, OneWayDelays, PacketsAsked, PartOf, PortErrors,
    QdiscState, ReceivingCpus, RetransmittedSoFar, RingSizes, SocketBetween, StoodStill, TrackedConnections,
    WindowScales, WindowTuning, WindowsTcp,
};
pub(crate) use owping::TEST_PACKET;
use prompt::router_of_prompt;
use shown::Found;
pub use shown::{CounterKind, DeviceCounters, Evidence, FileTransfer, OneWaySeries, RouterTest, Shown};
pub use socket::Socket;
pub use summed::SummedTest;
pub use watched::{DeviceBursts, DropsOfBurst, HostDrops, LargestBurst, LostByCounter, SwitchQueue};

/// A host whose name nobody printed.
pub(crate) const THIS_HOST: &str = "this host";

/// Reads an output that begins at the first of `lines`; `before` are those above it.
type Reader = fn(lines: &[&str], before: &[&str], anomalies: &mut Vec<String>) -> Option<Found>;

const READERS: [Reader; 85] = [
    ping::read,
    ping::answers,
    tracepath::read,
    traceroute::read,
    mtr::read_text,
    mtr::read_csv,
    ss::read,
    ss::fields_alone,
    ss::unread,
    counters::read,
    counters::table,
    wget::read,
    wget::last,
    curl::read,
    cisco_ping::read,
    windows_ping::read,
    windows_ping::answers,
    windows_ping::statistics,
    windows::tracert,
    kernel::nstat,
    kernel::netstat,
    kernel::netstat_of_bsd,
    kernel::netstat_lines,
    kernel::link,
    ifconfig::read,
    complaints::read,
    dd::read,
    kernel::statistics,
    transfer::read,
    nic::settings,
    nic::rings,
    nic::features,
    nic::kernel_log,
    conntrack::table_full,
    conntrack::table_size,
    qdisc::read,
    cpu::sar,
    cpu::vmstat,
    cpu::top,
    handshake::read,
    softnet::read,
    switch_port::mii_tool,
    switch_port::ios,
    owping::read,
    owping::latency,
    windows_tcp::read,
    access_rates::read,
    access_rates::router,
    proc_net_dev::read,
    junos::read,
    junos::matched,
    dump::read,
    tshark::read,
    ookla::read,
    netstat_devices::read,
    sockstat::read,
    sockstat::limit,
    sar_dev::read,
    fts::read,
    ping::statistics,
    access_lines::read,
    access_lines::network_quality,
    ndt7::read,
    netperf::read,
    robocopy::read,
    curl_times::read,
    tcp_settings::read,
    radio::read,
    curl_times::by_format,
    disk_use::read,
    rclone::read,
    tailscale::read,
    tailscale::status,
    windows_nic::read,
    progress::read,
    switch_port::ios_part,
    processes::read,
    kernel::snmp,
    tshark::windows,
    lspci::read,
    policed::read,
    routed::read,
    interrupts::read,
    named_values::read,
    by_table,
];

/// What the table of lines knows of the lines of an output.
fn within(lines: &[&str]) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match signatures::read(&lines[at..]) {
            Some(one) => {
                found.extend(shown(one.facts));
                at += one.lines.max(1);
            }
            None => at += 1,
        }
    }
    found
}

fn shown(facts: Vec<SignatureFact>) -> Vec<Shown> {
    facts.into_iter().map(|fact| Shown::Host(HostFact::Signature(fact))).collect()
}

/// What the table of lines knows of a row that others read as well.
pub(crate) fn of_signature(line: usize, fact: SignatureFact) -> Evidence {
    Evidence { line, host: None, shows: Shown::Host(HostFact::Signature(fact)) }
}

/// What the table of lines knows, where no reader of a whole output does.
fn by_table(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    signatures::read(lines).map(|found| Found { shows: shown(found.facts), lines: found.lines })
}

/// All such outputs of a text, and the text with their lines empty; `None` where there are none.
pub(crate) fn extract(text: &str, outside: &mut Anomalies) -> (Vec<Evidence>, Option<String>) {
    // Most files are logs of tests only.
    let may_hold = |line: &str| {
        MARKS.iter().any(|mark| line.contains(mark)) || signatures::may_know(line) || named_values::may_begin(line)
    };
    if !text.lines().any(|line| may_begin(line) && may_hold(line)) {
        return (Vec::new(), None);
    }
    let lines: Vec<&str> = text.lines().map(unquoted).collect();
    let (mut found, mut rest) = (Vec::new(), String::with_capacity(text.len()));
    let mut host = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some(name) = host_of_prompt(line) {
            host = Some(name);
        } else if prompt::is_of_zsh(line) {
            host = prompt::of_zsh(line);
        } else if prompt::is_of_windows(line) {
            host = None;
        }
        let mut complaints = Vec::new();
        let readers = if may_begin(line) { READERS.as_slice() } else { &[] };
        let output = readers.iter().find_map(|read| read(&lines[at..], &lines[..at], &mut complaints));
        complaints.into_iter().for_each(|expected| outside.add(at + 1, expected, line));
        let Some(output) = output.filter(|output| output.lines > 0) else {
            rest.push_str(line);
            rest.push('\n');
            at += 1;
            continue;
        };
        rest.extend(std::iter::repeat_n('\n', output.lines));
        let end = lines.len().min(at + output.lines);
        // Of an output that says nothing by itself, a line may.
        let inside = if output.shows.is_empty() { within(&lines[at..end]) } else { Vec::new() };
        for shows in output.shows.into_iter().chain(inside) {
            found.push(Evidence { line: at + 1, host: named(&shows).or_else(|| host.clone()), shows });
        }
        at += output.lines;
    }
    if found.is_empty() { (found, None) } else { (found, Some(rest)) }
}

/// The host that an output names itself.
fn named(shows: &Shown) -> Option<String> {
    match shows {
        Shown::Host(HostFact::Cpu(shares)) => shares.host.clone(),
        Shown::Host(HostFact::TcpSettings(settings)) => settings.host.clone(),
        _ => None,
    }
}

/// Whether an output may begin with a line: with a label in brackets begin the rows of iperf, which most lines are, and of
/// these outputs only the progress of xrdcp, which has several of them, prompts, and lines of the
/// kernel's log with their stamp.
fn may_begin(line: &str) -> bool {
    let Some(inside) = line.trim_start().strip_prefix('[') else { return true };
    // A queue of a NIC: `[0]: rx_ucast_packets: 42`.
    let is_queue = inside.split_once("]: ").is_some_and(|(queue, rest)| {
        queue.bytes().all(|digit| digit.is_ascii_digit())
            && rest.rsplit_once(": ").is_some_and(|(_, count)| count.trim().parse::<u64>().is_ok())
    });
    let is_prompt = inside.starts_with(|first: char| first.is_ascii_lowercase()) && inside.contains('@');
    is_prompt
        || is_queue
        || inside.starts_with('#')
        || line.contains(", total ")
        || line.contains("][")
        || line.contains("nf_conntrack: ")
        || nic::uptime(line).is_some()
}

/// A text without any of these has none of these outputs.
const MARKS: [&str; 133] = [
    " CPU1",
    "TcpExt",
    "Udp: ",
    "route to: ",
    "LnkCap:",
    "police:",
    "police cir ",
    "[ACK]",
    "OutSegs",
    ", ETA ",
    "PID ",
    "rx-pause:",
    "(data used: ",
    " MiB, total ",
    " GiB, total ",
    "rastrear a rota",
    "uplex, 1",
    "Transferred:",
    "pong from ",
    "; relay \"",
    "LinkSpeed",
    "%{",
    "%util",
    "Recv-Q",
    "Ping statistics",
    "Received = ",
    "Framing errors: ",
    "Ping: ",
    " capacity: ",
    "Client: ",
    " TEST from ",
    "ROBOCOPY ",
    "Mismatch ",
    "FEHLER ",
    "time_total",
    "net.ipv4.tcp_",
    "net.core.",
    "/proc/sys/net/",
    " dBm",
    "agrCtlRSSI",
    "Receive rate (",
    "Bit Rate",
    "ping-Statistik",
    " by Ookla",
    "Idle Latency:",
    " Ipkts ",
    " RX-OK ",
    "sockets: used ",
    "rxpck/s",
    ", inst KB/sec:",
    ": link up",
    ": link down",
    "consider tuning tcp_mem",
    "too many orphaned sockets",
    ")|",
    "[TCP ZeroWindow]",
    ") ack ",
    "], seq ",
    "ping statistics from [",
    "Packet Statistics",
    "Auto-Tuning Level",
    "Abstimmungsgrad",
    "steuerungsanbieter",
    "ongestion Control Provider",
    "CongestionProvider",
    "AutoTuningLevelLocal",
    "Hosted by ",
    "-total-average: ",
    "Inter-|   Receive",
    ", Physical link is ",
    "rwnd_limited:",
    " 00000000 00000000",
    ", link ok",
    ", line protocol is ",
    "nf_conntrack: table full",
    " Unit Hang",
    ": tx hang ",
    "NETDEV WATCHDOG: ",
    "nfs: server ",
    "SYN flooding on port",
    "neighbor table overflow",
    "Link encap:",
    "flags=",
    " copied, ",
    "nf_conntrack_count = ",
    " bytes from ",
    "-byte ICMP Echos to ",
    "Resume: pmtu",
    "PING ",
    "[LOCALHOST]",
    "traceroute to ",
    "Loss%",
    " cwnd:",
    "NIC statistics:",
    "saved [",
    "% Total",
    "ping statistics",
    "Connection closed at byte",
    "Pinging ",
    "Tracing route to ",
    "#kernel",
    "TcpExt:",
    "segments retrans",
    " link/",
    "B/s",
    "bytes/sec",
    "Bytes/sec",
    "Bytes Per Second:",
    "MB/sec avg",
    "segments sen",
    "packets sent",
    "rx_packets:",
    "RetransSegs",
    "TTL=",
    "ink is ",
    "available PCIe",
    "while LRO is",
    "entered forwarding",
    "Ring parameters",
    "Duplex:",
    "Speed: ",
    "large-receive-offload",
    "qdisc ",
    "class ",
    "Flags [S]",
    "%idle",
    "% idle",
    " id,",
    "%id,",
    "us sy id",
    "ethtool -S",
    "netstat -s",
    " rtt:",
];

/// `[user@host dir]$ …`, `user@host:~$ …`.
pub(crate) fn host_of_prompt(line: &str) -> Option<String> {
    if let Some(router) = router_of_prompt(line) {
        return Some(router);
    }
    after_prompt(line.trim_start())?;
    let (_, after) = line.split_once('@')?;
    let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '.' | '_'))?;
    let name = &after[..end];
    (!name.is_empty() && name.len() <= 253).then(|| name.to_owned())
}
