//! Lines that only iperf2 prints (2.0.5 to 2.2.1, src/Reporter.c and src/Locale.c).

use model::spec::Protocol;
use units::ByteCount;

use crate::iperf3::text::address;
use crate::parsed::{Connection, Row};
use crate::quantity::iperf3_bytes;

use super::csv;

/// A line of iperf2.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// `Client connecting to dtn2, TCP port 5001`.
    Client { host: String, protocol: Protocol },
    /// `Server listening on UDP port 5001`.
    Server(Protocol),
    /// A stream's two addresses, with the segment size where it is told.
    Connected(Connection, Option<u32>),
    /// The same, whose addresses somebody took out: `[  5] local port 5001 connected with port 55185`.
    ConnectedUnnamed,
    /// `[  3] MSS size 1448 bytes (MTU 1500 bytes, ethernet)`.
    SegmentSize(u32),
    /// `TCP window size:  128 KByte (WARNING: requested 64.0 KByte)`: what was asked for.
    Window(Option<ByteCount>),
    /// `Sending 1470 byte datagrams`.
    Length(ByteCount),
    /// `[  3] Server Report:`: what follows the receiver has counted.
    ServerReport,
    /// A row of `-y C`.
    Csv(Option<Connection>, Box<Row>),
    /// `connect failed: Connection refused`.
    Error(String),
    /// `WARNING: did not receive ack of last datagram after 10 tries.`
    Warning(String),
    /// Known, and of no use here.
    Ornament,
}

/// The line, where it is one that only iperf2 prints.
pub(crate) fn read(line: &str) -> Option<Line> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix('[') {
        return bracketed(rest);
    }
    if let Some(rest) = line.strip_prefix("Client connecting to ") {
        let (host, rest) = rest.split_once(", ")?;
        return Some(Line::Client { host: host.to_owned(), protocol: protocol(rest)? });
    }
    if let Some(rest) = line.strip_prefix("Server listening on ") {
        return protocol(rest).map(Line::Server);
    }
    if let Some(rest) = line.strip_prefix("TCP window size:") {
        return window(rest);
    }
    if let Some(rest) = line.strip_prefix("Sending ").or_else(|| line.strip_prefix("Receiving ")) {
        let (bytes, _) = rest.split_once(" byte datagrams")?;
        return bytes.parse().ok().map(|bytes| Line::Length(ByteCount::new(bytes)));
    }
    if FAILURES.iter().any(|start| line.starts_with(start)) {
        return Some(Line::Error(line.to_owned()));
    }
    if ORNAMENTS.iter().any(|start| line.starts_with(start)) {
        return Some(Line::Ornament);
    }
    csv::read(line).map(|(connection, row)| Line::Csv(connection, Box::new(row)))
}

/// Whether a line of iperf 2 may begin with a word.
pub(crate) fn begins_with(word: &str) -> bool {
    ["Client", "Server", "TCP", "Sending", "Receiving"].contains(&word)
        || FAILURES.iter().chain(&ORNAMENTS).any(|start| start.split(' ').next() == Some(word))
}

const FAILURES: [&str; 6] =
    ["connect failed: ", "tcp connect failed: ", "write failed: ", "read failed: ", "bind failed: ", "error: "];

const ORNAMENTS: [&str; 11] = [
    "getsockopt TCP_MAXSEG failed",
    "UDP buffer size:",
    "Write buffer size:",
    "Read buffer size:",
    "TOS set to ",
    "TOS will be set to ",
    "TOS defaults to ",
    "Binding to local address",
    "TCP congestion control ",
    "Waiting for server threads to complete.",
    "MSS req size ",
];

/// `TCP port 5001 with pid 12 (1 flows)`.
fn protocol(rest: &str) -> Option<Protocol> {
    let (name, rest) = rest.split_once(" port ")?;
    rest.split(' ').next()?.trim_end_matches([',', '.']).parse::<u16>().ok()?;
    match name {
        "TCP" => Some(Protocol::Tcp),
        "UDP" => Some(Protocol::Udp),
        _ => None,
    }
}

/// The kernel doubles what was asked for, and says so by a warning.
fn window(rest: &str) -> Option<Line> {
    rest.trim().starts_with(|first: char| first.is_ascii_digit()).then_some(())?;
    let requested = rest.split_once("requested ").and_then(|(_, asked)| {
        let words: Vec<&str> = asked.split([' ', ')']).collect();
        let [number, unit, ..] = *words.as_slice() else { return None };
        Some(iperf3_bytes(number, &format!("{unit}s").replace("ss", "s"))?.bytes)
    });
    Some(Line::Window(requested))
}

fn bracketed(rest: &str) -> Option<Line> {
    let (inside, rest) = rest.split_once(']')?;
    let inside = inside.trim();
    // A row of numbers, as most lines are, is no line of iperf 2 alone.
    if inside != "CT" && rest.trim_start().starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if inside == "CT" {
        return Some(Line::Ornament);
    }
    // `*8` is the other direction of a test on one socket.
    let stream: u32 = inside.trim_start_matches('*').parse().ok()?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        ["local", local, "port", local_port, "connected", "with", peer, "port", peer_port, more @ ..] => {
            // The device of a link-local address, or of any with -e.
            let local = local.split('%').next()?;
            let (local, peer) = (address(local, local_port)?, address(peer, peer_port)?);
            // `(icwnd/mss/irtt=14/1448/90211)`.
            let told = more.iter().find_map(|word| word.strip_prefix("(icwnd/mss/irtt="));
            let mss = told.and_then(|told| told.split('/').nth(1)?.parse().ok());
            Some(Line::Connected(Connection { stream, local, peer }, mss))
        }
        ["local", "port", local_port, "connected", "with", "port", peer_port, ..] => {
            local_port.parse::<u16>().ok()?;
            peer_port.parse::<u16>().ok().map(|_| Line::ConnectedUnnamed)
        }
        ["MSS", "size", bytes, "bytes", ..] => bytes.parse().ok().map(Line::SegmentSize),
        ["MSS", "and", "MTU", "size", "unknown", ..] => Some(Line::Ornament),
        ["Server", "Report:"] => Some(Line::ServerReport),
        ["WARNING:", ..] => Some(Line::Warning(words[1..].join(" "))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kinds_are_known() {
        for line in [
            "Client connecting to dtn2, TCP port 5001",
            "Client connecting to 127.0.0.1, UDP port 5003 with pid 26613 (1 flows)",
            "Server listening on TCP port 5001",
            "[  3] local 192.0.2.10 port 41294 connected with 198.51.100.20 port 5001",
            "[  1] local 127.0.0.1%lo port 49771 connected with 127.0.0.1 port 5003 (sock=3) on 2026-11-24 11:59:51 (UTC)",
            "[  1] Server Report:",
            "[  5] local port 5001 connected with port 55185",
            "[  3] MSS size 1448 bytes (MTU 1500 bytes, ethernet)",
            "[  3] MSS and MTU size unknown (TCP_MAXSEG not supported by OS?)",
            "[ CT] final connect times (min/avg/max/stdev) = 0.140/0.159/0.178/26.870 ms (tot/err) = 2/0",
            "[  3] WARNING: did not receive ack of last datagram after 10 tries.",
            "TCP window size:  128 KByte (WARNING: requested 64.0 KByte)",
            "20240212100000,192.0.2.10,41294,198.51.100.20,5001,3,0.0-10.0,12800000,10240000",
        ] {
            assert!(read(line).is_some(), "{line}");
        }
        let Some(Line::Window(Some(asked))) = read("TCP window size:  128 KByte (WARNING: requested 64.0 KByte)")
        else {
            panic!("no window");
        };
        assert_eq!(asked, ByteCount::new(65_536));
        let connected = "[  1] local 10.0.0.1 port 3 connected with 10.0.0.2 port 5001 (icwnd/mss/irtt=14/1448/90211)";
        let Some(Line::Connected(_, mss)) = read(connected) else { panic!("not connected") };
        assert_eq!(mss, Some(1448));
        for line in ["Server listening on 5201", "Client of the month", "[  5]   0.00-1.00   sec  1.13 GBytes", "a,b,c"]
        {
            assert!(read(line).is_none(), "{line}");
        }
    }
}
