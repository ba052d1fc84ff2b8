//! Packet captures: files, what they are compressed with, single packets of any link layer, the segments of a connection, two files of one connection.

use std::io::Read;
use std::net::SocketAddrV4;

use capture::decode::{Content, Segment, decode};
use capture::ends::{Clocks, Recorder, View, join, overlay};
use capture::file::decompressed;
use capture::index::{IndexSpacing, IndexWriter, TraceIndex};
use capture::write::{WrittenSegment, file_header, segment};
use capture::{TraceOptions, Zoom};

/// A capture, in pieces whose size the first byte says: the same report as all at once, and time that has one owner.
pub fn capture_file(bytes: &[u8]) {
    let Some((&size, file)) = bytes.split_first() else { return };
    let report = |size: usize| {
        let mut trace = capture::Trace::new(capture::TraceOptions { columns: Some(64), ..Default::default() });
        let mut rest = Vec::new();
        for piece in file.chunks(size) {
            rest.extend(piece);
            let Ok(used) = trace.read(&rest) else { break };
            rest.drain(..used);
        }
        trace.end(&rest)
    };
    let (whole, pieces) = (report(file.len().max(1)), report(usize::from(size).max(1)));
    assert_eq!(whole.packets, pieces.packets, "pieces of {size} bytes have other packets");
    assert_eq!(whole.counts, pieces.counts, "pieces of {size} bytes have other segments");
    for transfer in whole.connections.iter().flat_map(|connection| &connection.transfers) {
        assert!(transfer.budget.iter().all(|share| share.time_ns >= 0), "an owner has less than no time");
        let columns = transfer.series.as_ref().map_or(0, |series| series.columns.len());
        assert!(columns <= 64, "{columns} columns are more than were asked for");
    }
    assert_part(file);
}

/// The middle of the first transfer is the same by an index as by reading all of a capture that has one.
fn assert_part(file: &[u8]) {
    let read = |zoom: Option<Zoom>| {
        let options = TraceOptions { columns: Some(64), zoom, has_index: true, ..TraceOptions::default() };
        let mut trace = capture::Trace::new(options);
        let mut index = IndexWriter::new(IndexSpacing { file_bytes: file.len() as u64, least_bytes: 256 });
        let (mut used, mut end) = (0, 0);
        while end < file.len() {
            end = file.len().min(end + 256);
            let Ok(more) = trace.read(&file[used..end]) else { break };
            used += more;
            index.offer(&mut trace);
        }
        let report = trace.end(&file[used..]);
        let index = index.finish(&report, "").map(|pieces| pieces.concat());
        (report, index)
    };
    let Some(bytes) = read(None).1 else { return };
    let index = TraceIndex::read(&bytes, "");
    assert!(index.is_some(), "an index cannot be read");
    let Some(index) = index else { return };
    let Some(connection) = index.report().connections.iter().find(|of| !of.transfers.is_empty()) else { return };
    let transfer = &connection.transfers[0];
    let third_ns = transfer.duration_ns / 3;
    let zoom = Zoom { from_ns: third_ns, to_ns: Some(2 * third_ns) };
    let part = index.part(connection, transfer, 64, zoom);
    assert!(part.is_some(), "there is no part");
    let Some(mut part) = part else { return };
    while let Some(span) = part.next_span() {
        let [start, end] = [span.start, span.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX).min(file.len()));
        let used = part.read(&file[start..end]);
        assert_eq!(used, Ok(end - start), "a part ends within a record");
    }
    let part = part.end().map(|series| format!("{:?}", series.columns));
    let all = read(Some(zoom)).0;
    let mut transfers = all.connections.iter().filter(|of| of.first_frame == connection.first_frame);
    let all = transfers.next().and_then(|of| of.transfers.iter().find(|of| of.from == transfer.from));
    let all = all.and_then(|of| of.series.as_ref()).map(|series| format!("{:?}", series.columns));
    assert_eq!(part, all, "a part by the index is another");
}

/// A file that may be compressed, in pieces whose size the first byte says: as many bytes come out as all at once, and of a few no more than a
/// capture could become.
pub fn captured_compressed(bytes: &[u8]) {
    let Some((&size, file)) = bytes.split_first() else { return };
    let whole = Drained::of(file, 1 << 16);
    let most = MOST_OF_ANY + MOST_OF_A_BYTE * file.len() as u64;
    assert!(whole.bytes <= most, "{} bytes became {}", file.len(), whole.bytes);
    if whole.is_sound && whole.bytes < COMPARED {
        assert_eq!(Drained::of(file, usize::from(size).max(1)), whole, "pieces of {size} bytes");
    }
}

/// What the reader allows, and a piece.
const MOST_OF_ANY: u64 = (1 << 28) + (1 << 16);
const MOST_OF_A_BYTE: u64 = 4_096;
/// Longer ones are read once.
const COMPARED: u64 = 1 << 20;

/// What comes out of a compressed file.
#[derive(Debug, PartialEq, Eq)]
struct Drained {
    bytes: u64,
    digest: u64,
    is_sound: bool,
}

impl Drained {
    fn of(file: &[u8], piece: usize) -> Self {
        let mut drained = Self { bytes: 0, digest: 0, is_sound: false };
        let Ok(mut input) = decompressed(file) else { return drained };
        let mut buffer = vec![0; piece];
        while let Ok(read) = input.read(&mut buffer) {
            if read == 0 {
                drained.is_sound = true;
                break;
            }
            if drained.bytes < COMPARED {
                let mix = |digest: u64, byte: &u8| digest.rotate_left(5) ^ u64::from(*byte);
                drained.digest = buffer[..read].iter().fold(drained.digest, mix);
            }
            drained.bytes += read as u64;
        }
        drained
    }
}

/// Link layers that are read, and one that is not.
const LINKS: [u16; 12] = [0, 1, 9, 12, 14, 101, 108, 113, 228, 229, 276, 147];

/// A packet: the first byte says its link layer, the second how much longer it was on the wire than it is here. No layer makes
/// more of it than was there.
pub fn captured_packet(bytes: &[u8]) {
    let [link, beyond, packet @ ..] = bytes else { return };
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let wire = u32::try_from(packet.len()).unwrap_or(u32::MAX).saturating_add(u32::from(*beyond) * 64);
    let mut segment = Segment::default();
    let content = decode(link, packet, wire, &mut segment);
    if content == Content::Tcp {
        let fits = segment.payload <= u32::from(u16::MAX).max(wire);
        assert!(fits, "{} bytes of payload in a packet of {wire}", segment.payload);
        assert!(segment.options.sack.as_slice().len() <= 4, "a header has room for four SACK blocks");
    }
    let mut again = Segment::default();
    assert_eq!(decode(link, packet, wire, &mut again), content, "what was read before changes what is read");
    assert_eq!(again.endpoints, segment.endpoints, "what was read before changes whose packet it is");
}

/// The segments of one connection, of 16 bytes each: direction and options, flags, time since the one before, numbers, window,
/// payload. Whatever they say, each moment has one owner and each verdict a probability.
pub fn captured_segments(bytes: &[u8]) {
    let (client, server) =
        (SocketAddrV4::new([192, 0, 2, 1].into(), 40_000), SocketAddrV4::new([192, 0, 2, 2].into(), 5_201));
    let mut file = Vec::new();
    file_header(&mut file);
    let (mut time_ns, mut ip_id) = (1_700_000_000_000_000_000_u64, 0_u16);
    for record in bytes.as_chunks::<16>().0 {
        let [kind, flags, times @ .., _, _, _, _, _, _, _, _, w0, w1, p0, p1] = *record;
        let [_, _, _, _, s0, s1, s2, s3, a0, a1, a2, a3, ..] = *record;
        // Microseconds, or with a bit of the first byte milliseconds.
        let unit_ns = if kind & 2 == 0 { 1_000 } else { 1_000_000 };
        time_ns += u64::from(u16::from_be_bytes(times)) * unit_ns;
        ip_id = ip_id.wrapping_add(1);
        let (seq, ack) = (u32::from_be_bytes([s0, s1, s2, s3]), u32::from_be_bytes([a0, a1, a2, a3]));
        let (window, payload) = (u16::from_be_bytes([w0, w1]), u16::from_be_bytes([p0, p1]));
        let mut options = Vec::new();
        if kind & 4 != 0 {
            options.extend([1, 1, 8, 10]);
            options.extend(((time_ns & 0xffff_ffff) as u32).to_be_bytes());
            options.extend(seq.to_be_bytes());
        }
        if kind & 8 != 0 {
            options.extend([1, 1, 5, 10]);
            options.extend(ack.wrapping_add(u32::from(window)).to_be_bytes());
            options.extend(ack.wrapping_add(u32::from(window)).wrapping_add(u32::from(payload)).to_be_bytes());
        }
        let (from, to) = if kind & 1 == 0 { (client, server) } else { (server, client) };
        let payload = if kind & 16 == 0 { u32::from(payload) } else { 0 };
        let ecn = kind >> 6;
        let written =
            WrittenSegment { time_ns, from, to, seq, ack, flags, window, payload, options: &options, ip_id, ecn };
        segment(&written, &mut file);
    }
    let mut trace = capture::Trace::new(capture::TraceOptions { columns: Some(64), ..Default::default() });
    let used = trace.read(&file).unwrap_or(file.len());
    for transfer in trace.end(&file[used..]).connections.iter().flat_map(|connection| &connection.transfers) {
        assert!(transfer.budget.iter().all(|share| share.time_ns >= 0), "an owner has less than no time");
        assert!(transfer.counts.spurious <= transfer.counts.retransmits, "more copies were needless than there are");
        for verdict in &transfer.verdicts {
            assert!((0.0..=1.0).contains(&verdict.confidence), "{verdict:?}");
            assert!(verdict.time_share.is_none_or(|share| share.is_finite() && share >= 0.0), "{verdict:?}");
        }
    }
}

/// Two captures of one connection: the first two bytes say where the second begins.
pub fn captured_ends(bytes: &[u8]) {
    let [high, low, files @ ..] = bytes else { return };
    let at = usize::from(u16::from_be_bytes([*high, *low])).min(files.len());
    let (near, far) = files.split_at(at);
    let recorded = |file: &[u8]| {
        let mut recorder = Recorder::default();
        let used = recorder.read(file).unwrap_or(file.len());
        recorder.end(&file[used..])
    };
    let (near, far) = (recorded(near), recorded(far));
    for clocks in [Clocks::Own, Clocks::Same] {
        for connection in join(&near, &far, clocks).connections {
            for crossing in [connection.directions.to_server, connection.directions.to_client] {
                let counts = crossing.segments;
                assert!(counts.lost <= counts.sent, "more are lost than were sent");
            }
        }
        let columns = overlay(&near, &far, clocks, View { columns: 64, zoom: None }).map(|drawn| drawn.columns.len());
        assert!(columns.is_none_or(|columns| columns <= 64), "{columns:?} columns are more than were asked for");
    }
}
