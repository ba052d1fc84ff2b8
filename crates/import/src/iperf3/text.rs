//! Lines for people.

use std::time::Duration;

use model::measurement::CpuUse;
use model::spec::{Limit, Protocol};
use units::{ByteCount, WallTime};

use super::row::{Columns, Labelled, Numbers};
use crate::parsed::{Connection, Label};
use crate::stamp;

/// A line that iperf3 prints.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// `iperf 3.12`, with `-V`.
    Version(String),
    /// `Linux host 6.18 …`, with `-V`.
    System { host: String, kernel: String },
    /// `Time: …`, with `-V`.
    Time(WallTime),
    /// `Connecting to host …`.
    Calling(String),
    /// `Accepted connection from …`.
    Called(String),
    /// `Server listening on …`: a server's next test.
    Listening,
    /// `Reverse mode, remote host … is sending`, or on a server with `-V` nothing at all.
    Reverse,
    /// A stream's two addresses.
    Connected(Connection),
    /// `Starting Test: …`, with `-V`.
    Starting(Box<Starting>),
    /// `TCP MSS: 1400`, with `-V` and `-M`.
    Mss(u32),
    /// `tcpi_snd_cwnd 50 tcpi_snd_mss 1326 tcpi_rtt 93887`, with `-d`: the state after the interval above.
    TcpInfo { mss: u32, rtt: Duration },
    /// `[ ID] Interval …`.
    Headings(Columns),
    /// A line with numbers.
    Numbers(Box<Numbers>),
    /// `[  4] Sent 840532 datagrams`, up to 3.1.
    Sent { datagrams: u64 },
    /// `… datagrams received out-of-order`.
    OutOfOrder { label: Label, datagrams: u64 },
    /// `CPU Utilization: local/sender …, remote/receiver …`, with `-V`.
    Cpu { local: CpuUse, remote: CpuUse },
    /// `snd_tcp_congestion cubic`, with `-V`.
    CongestionControl(String),
    /// `Server output:`: what follows is the peer's, up to `iperf Done.`
    ServerOutput,
    /// `iperf3: error - …` or `iperf3: interrupt - …`.
    Error(String),
    /// `warning: …`.
    Warning(String),
    /// `iperf Done.`
    Done,
    /// `Test Complete. Summary Results:`, with `-V`.
    Summary,
    /// Known, and of no use here.
    Ornament,
}

/// What `Starting Test: …` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Starting {
    pub(crate) protocol: Protocol,
    pub(crate) streams: u16,
    pub(crate) length: ByteCount,
    pub(crate) omit: Duration,
    pub(crate) limit: Option<Limit>,
}

/// The line, where it is one of iperf3's. `columns` are those of the headings above.
pub(crate) fn read(line: &str, columns: Columns) -> Option<Line> {
    let line = line.trim();
    if line.starts_with('[') {
        return bracketed(line, columns);
    }
    if line.starts_with("- - -") && line.bytes().all(|byte| matches!(byte, b'-' | b' ' | b'\t')) {
        return Some(Line::Ornament);
    }
    if line.len() >= 20 && line.bytes().all(|byte| byte == b'-') {
        return Some(Line::Ornament);
    }
    for (start, line_of) in STARTS {
        if let Some(rest) = line.strip_prefix(start) {
            return line_of(rest.trim());
        }
    }
    None
}

/// Whether a line of iperf3 may begin with a word.
pub(crate) fn begins_with(word: &str) -> bool {
    STARTS.iter().any(|(start, _)| start.split(' ').next() == Some(word))
}

/// Reads what follows the beginning of a line.
type Reader = fn(&str) -> Option<Line>;

/// Beginnings of lines, with what makes a line of the rest.
const STARTS: [(&str, Reader); 31] = [
    ("Connecting to host ", |rest| Some(Line::Calling(host(rest)?))),
    ("Accepted connection from ", |rest| Some(Line::Called(host(rest)?))),
    ("Server listening on ", |_| Some(Line::Listening)),
    ("Reverse mode, remote host ", |_| Some(Line::Reverse)),
    ("iperf Done.", |_| Some(Line::Done)),
    ("iperf 3.", |rest| version(rest)),
    ("Linux ", system),
    ("Darwin ", system),
    ("FreeBSD ", system),
    ("tcpi_snd_cwnd ", tcp_info),
    ("SO_SNDBUF is ", |_| Some(Line::Ornament)),
    ("send_parameters:", |_| Some(Line::Ornament)),
    ("\"reverse\":", |rest| rest.starts_with("true").then_some(Line::Reverse)),
    ("iperf Interrupted.", |_| Some(Line::Error("interrupted".to_owned()))),
    ("Time: ", |rest| stamp::gmt(rest).map(Line::Time)),
    ("Starting Test: ", |rest| starting(rest).map(|starting| Line::Starting(Box::new(starting)))),
    ("TCP MSS: ", mss),
    ("Control connection MSS ", |_| Some(Line::Ornament)),
    ("Cookie: ", |_| Some(Line::Ornament)),
    ("Target Bitrate: ", |_| Some(Line::Ornament)),
    ("Test Complete. Summary Results:", |_| Some(Line::Summary)),
    ("Lost/Total Datagrams", |rest| rest.is_empty().then_some(Line::Headings(Columns::Datagrams))),
    ("CPU Utilization: ", cpu),
    ("snd_tcp_congestion ", |rest| Some(Line::CongestionControl(rest.to_owned()))),
    ("rcv_tcp_congestion ", |_| Some(Line::Ornament)),
    ("Server output:", |_| Some(Line::ServerOutput)),
    ("iperf3: error - ", |rest| Some(Line::Error(rest.to_owned()))),
    ("iperf3: interrupt - ", |rest| Some(Line::Error(format!("interrupt - {rest}")))),
    ("iperf3: ", |rest| Some(Line::Warning(rest.to_owned()))),
    ("warning: ", |rest| Some(Line::Warning(rest.to_owned()))),
    ("WARNING: ", |rest| Some(Line::Warning(rest.to_owned()))),
];

fn bracketed(line: &str, columns: Columns) -> Option<Line> {
    if let Some(rest) = line.strip_prefix("[ ID]") {
        let titles: Vec<&str> = rest.trim_start_matches("[Role]").split_whitespace().collect();
        return Columns::of(&titles).map(Line::Headings);
    }
    let line = Labelled::of(line)?;
    match (line.label, line.words.as_slice()) {
        (Label::Stream(stream), ["local", local, "port", local_port, "connected", "to", peer, "port", peer_port]) => {
            let (local, peer) = (address(local, local_port)?, address(peer, peer_port)?);
            Some(Line::Connected(Connection { stream, local, peer }))
        }
        (_, ["Sent", datagrams, "datagrams"]) => Some(Line::Sent { datagrams: datagrams.parse().ok()? }),
        // iperf 2 sets both times to one width: ` 0.0- 2.0 sec`.
        (
            label,
            [_, "sec", datagrams, "datagrams", "received", "out-of-order"]
            | [_, _, "sec", datagrams, "datagrams", "received", "out-of-order"],
        ) => Some(Line::OutOfOrder { label, datagrams: datagrams.parse().ok()? }),
        _ => line.numbers(columns).map(|numbers| Line::Numbers(Box::new(numbers))),
    }
}

/// `192.0.2.1:5201`, `[2001:db8::1]:5201`.
pub(crate) fn address(host: &str, port: &str) -> Option<String> {
    let port: u16 = port.parse().ok()?;
    Some(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
}

fn host(rest: &str) -> Option<String> {
    let (host, port) = rest.split_once(", port ")?;
    port.parse::<u16>().ok()?;
    Some(host.to_owned())
}

/// `32768 (default)` is the control connection's, and on loopback half of what the streams use.
fn mss(rest: &str) -> Option<Line> {
    match rest.split_once(' ') {
        Some((number, "(default)")) => number.parse::<u32>().ok().map(|_| Line::Ornament),
        _ => rest.parse().ok().map(Line::Mss),
    }
}

/// What follows `tcpi_snd_cwnd`; the RTT is in microseconds.
fn tcp_info(rest: &str) -> Option<Line> {
    let [_, "tcpi_snd_mss", mss, "tcpi_rtt", rtt] = *rest.split_whitespace().collect::<Vec<_>>().as_slice() else {
        return None;
    };
    let rtt = rtt.parse::<u32>().ok().filter(|micros| *micros > 0)?;
    Some(Line::TcpInfo { mss: mss.parse().ok()?, rtt: Duration::from_micros(u64::from(rtt)) })
}

fn version(rest: &str) -> Option<Line> {
    let number = rest.split(' ').next().filter(|number| number.starts_with(|letter: char| letter.is_ascii_digit()))?;
    Some(Line::Version(format!("3.{number}")))
}

fn system(rest: &str) -> Option<Line> {
    let mut words = rest.split(' ');
    Some(Line::System { host: words.next()?.to_owned(), kernel: words.next()?.to_owned() })
}

/// `protocol: TCP, 3 streams, 131072 byte blocks, omitting 0 seconds, 2 second test, tos 0`.
fn starting(rest: &str) -> Option<Starting> {
    let mut parts = rest.split(", ");
    let protocol = match parts.next()?.strip_prefix("protocol: ")? {
        "TCP" => Protocol::Tcp,
        "UDP" => Protocol::Udp,
        _ => return None,
    };
    let mut number = |end: &str| parts.next()?.strip_suffix(end)?.rsplit(' ').next()?.parse::<u64>().ok();
    let streams = u16::try_from(number(" streams")?).ok()?;
    let length = ByteCount::new(number(" byte blocks")?);
    let omit = Duration::from_secs(number(" seconds")?);
    let limit = match parts.next()?.split_once(' ')? {
        (seconds, "second test") => Limit::Time(Duration::from_secs(seconds.parse().ok()?)),
        (bytes, "bytes to send") => Limit::Bytes(ByteCount::new(bytes.parse().ok()?)),
        (blocks, "blocks to send") => Limit::Blocks(blocks.parse().ok()?),
        _ => return None,
    };
    // Zero where another limit holds.
    let limit = Some(limit).filter(|limit| *limit != Limit::Time(Duration::ZERO));
    Some(Starting { protocol, streams, length, omit, limit })
}

/// `local/sender 7.5% (0.0%u/7.5%s), remote/receiver 8.6% (0.1%u/8.5%s)`.
fn cpu(rest: &str) -> Option<Line> {
    let (local, remote) = rest.split_once(", remote/")?;
    Some(Line::Cpu { local: shares(local)?, remote: shares(remote)? })
}

fn shares(text: &str) -> Option<CpuUse> {
    let (_, inside) = text.split_once('(')?;
    let (user, system) = inside.strip_suffix("%s)")?.split_once("%u/")?;
    let share = |text: &str| text.parse::<f64>().ok().filter(|share| share.is_finite()).map(|share| share / 100.0);
    Some(CpuUse { user: share(user)?, system: share(system)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kinds_are_known() {
        for line in [
            "Connecting to host 127.0.0.1, port 15301",
            "[  5] local ::1 port 36420 connected to ::1 port 15301",
            "[ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd",
            "- - - - - - - - - - - - - - - - - - - - - - - - -",
            "- - - - -\t- - - - -\t- - - - -",
            "[  4] Sent 840532 datagrams",
            "[  5] 0.00-1.00 sec  12 datagrams received out-of-order",
            "CPU Utilization: local/sender 7.5% (0.0%u/7.5%s), remote/receiver 8.6% (0.1%u/8.5%s)",
            "iperf3: error - the server is busy running a test. try again later",
            "Starting Test: protocol: UDP, 1 streams, 1448 byte blocks, omitting 0 seconds, 10 second test, tos 0",
        ] {
            assert!(read(line, Columns::Segments).is_some(), "{line}");
        }
        for line in ["Connecting to host there", "- - 5 - -", "hello", "[ ID] Column", "CPU Utilization: none"] {
            assert!(read(line, Columns::Segments).is_none(), "{line}");
        }
    }
}
