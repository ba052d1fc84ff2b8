//! Packet captures: files, single packets of any link layer, two files of one connection.

use capture::decode::{Content, Segment, decode};
use capture::ends::{Clocks, Recorder, View, join, overlay};

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
