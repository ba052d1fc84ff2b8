//! A line of `iperf -y C`: `20240212100000,192.0.2.10,41294,198.51.100.20,5001,3,0.0-10.0,12800000,10240000`.

use units::{ByteCount, DataRate};

use crate::iperf3::text::address;
use crate::parsed::{Connection, Datagrams, Label, Row};
use crate::quantity::{milliseconds, seconds};

/// A stream's addresses and its row; a sum of streams has no ports.
pub(crate) fn read(line: &str) -> Option<(Option<Connection>, Row)> {
    line.starts_with(|first: char| first.is_ascii_digit()).then_some(())?;
    let words: Vec<&str> = line.trim().split(',').collect();
    let [time, local, local_port, peer, peer_port, stream, span, bytes, rate, more @ ..] = words.as_slice() else {
        return None;
    };
    (time.len() >= 14 && time.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':')))
        .then_some(())?;
    let (from, to) = span.split_once('-')?;
    let (start, end) = (seconds(from)?, seconds(to)?);
    (end >= start).then_some(())?;
    let stream = stream.parse::<i64>().ok()?;
    let label = u32::try_from(stream).map_or(Label::Sum, Label::Stream);
    let mut row = Row::new(label, start, end, ByteCount::new(bytes.parse().ok()?));
    row.rate = Some(DataRate::from_bps(rate.parse().ok()?));
    if let [jitter, lost, total, ..] = more {
        row.jitter = milliseconds(jitter);
        row.datagrams = Some(Datagrams { lost: lost.parse().ok(), total: total.parse().ok()? });
    }
    let connection = match label {
        Label::Stream(stream) => {
            Some(Connection { stream, local: address(local, local_port)?, peer: address(peer, peer_port)? })
        }
        Label::Sum => None,
    };
    Some((connection, row))
}
