//! Captures that hold nothing, or were made to take memory: a thousand million bytes without TCP, a million connections of one packet each, a
//! few bytes that decompress to many. They come through standard input.

use std::io::{self, BufWriter, Write};
use std::net::SocketAddrV4;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::Context;
use capture::write::{WrittenSegment, file_header, segment};
use linux::clock::ended_children_cpu_times;

use super::snapshot::most_resident_of;
use crate::actors::Actors;
use crate::outcome::{Row, Target};

pub(super) fn rows(actors: &Actors) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for written in [Written::NoTcp, Written::Connections, Written::Bomb] {
        let before = ended_children_cpu_times()?.total();
        let resident_mb = resident_mb(actors, written)?;
        let cpu_s = ended_children_cpu_times()?.total().saturating_sub(before).as_secs_f64();
        let name = written.name();
        rows.push(
            Row::new(format!("resident memory for {name}, at most"), resident_mb, "MB").target(Target::AtMost(64.0)),
        );
        rows.push(Row::new(format!("CPU time for {name}"), cpu_s, "s"));
    }
    Ok(rows)
}

/// What is written.
#[derive(Debug, Clone, Copy)]
enum Written {
    NoTcp,
    Connections,
    Bomb,
}

fn resident_mb(actors: &Actors, written: Written) -> anyhow::Result<f64> {
    let mut command = Command::new(actors.linerate());
    command.args(["trace", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("linerate cannot be started")?;
    let input = child.stdin.take().context("linerate reads nothing")?;
    thread::scope(|scope| {
        // A bomb is refused before it is written to its end.
        scope.spawn(move || written.write(BufWriter::with_capacity(1 << 20, input)));
        most_resident_of(child)
    })
}

/// Bytes of the first, and connections of the second.
const BYTES: usize = 1_000_000_000;
const CONNECTIONS: u32 = 1_000_000;
/// Blocks of the third, of 128 KiB each.
const BLOCKS: usize = 16_384;

impl Written {
    const fn name(self) -> &'static str {
        match self {
            Self::NoTcp => "1 GB without TCP",
            Self::Connections => "a million connections of one packet",
            Self::Bomb => "64 kB that decompress to 2 GB",
        }
    }

    fn write(self, mut to: impl Write) -> io::Result<()> {
        let mut header = Vec::new();
        file_header(&mut header);
        match self {
            Self::NoTcp => {
                to.write_all(&header)?;
                let packets = datagram().repeat(10_000);
                for _ in 0..BYTES.div_ceil(packets.len()) {
                    to.write_all(&packets)?;
                }
            }
            Self::Connections => {
                to.write_all(&header)?;
                let mut packet = Vec::new();
                for number in 0..CONNECTIONS {
                    packet.clear();
                    syn(number, &mut packet);
                    to.write_all(&packet)?;
                }
            }
            Self::Bomb => {
                // RFC 8878: a frame with a window of 128 KiB, a block with the header of a capture, and blocks that repeat one byte: records
                // of packets of which nothing was stored.
                to.write_all(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38])?;
                let raw = u32::try_from(header.len()).unwrap_or_default() << 3;
                to.write_all(&raw.to_le_bytes()[..3])?;
                to.write_all(&header)?;
                to.write_all(&[0x02, 0x00, 0x10, 0x00].repeat(BLOCKS))?;
            }
        }
        to.flush()
    }
}

/// The first packet of a connection.
fn syn(number: u32, to: &mut Vec<u8>) {
    let [_, high, middle, low] = number.to_be_bytes();
    let segment_of = WrittenSegment {
        time_ns: 1_700_000_000_000_000_000 + u64::from(number) * 1_000,
        from: SocketAddrV4::new([10, high, middle, low].into(), 40_000),
        to: SocketAddrV4::new([192, 0, 2, 1].into(), 5_201),
        seq: number,
        ack: 0,
        flags: 2,
        window: 0xffff,
        payload: 0,
        options: &[],
        ip_id: 0,
        ecn: 0,
    };
    segment(&segment_of, to);
}

/// A record with a packet of UDP.
fn datagram() -> Vec<u8> {
    const RECORD_HEADER: usize = 16;
    const ETHERNET_HEADER: usize = 14;
    const PROTOCOL: usize = RECORD_HEADER + ETHERNET_HEADER + 9;
    let mut record = Vec::new();
    syn(1, &mut record);
    if let Some(protocol) = record.get_mut(PROTOCOL) {
        *protocol = 17;
    }
    record
}
