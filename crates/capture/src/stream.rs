//! Bytes of a capture file in, TCP segments in the order of their times out.

use crate::decode::{Content, Endpoints, Segment, decode};
use crate::file::{DropCounts, FileError, FileReader, Packet};
use crate::fragments::Fragments;
use crate::order::{OrderFaults, SortWindow};
use crate::report::{ConnectionReport, PacketCounts};
use crate::tags::{TagNames, TagPairs};

/// Packets that stand behind others in a file, and are earlier by less than this, are put before them.
pub(crate) const SORT_WINDOW_NS: i64 = 100_000_000;

/// One file, as far as it has been read.
#[derive(Debug)]
pub(crate) struct Stream {
    file: FileReader,
    packets: PacketOrder,
}

/// Packets in whatever order they come, and the segments in them in the order of their times.
#[derive(Debug)]
pub(crate) struct PacketOrder {
    order: SortWindow,
    fragments: Fragments,
    tags: TagPairs,
    names: TagNames,
    counts: PacketCounts,
    segment: Segment,
}

impl Stream {
    pub(crate) fn new(sort_window_ns: i64) -> Self {
        Self { file: FileReader::default(), packets: PacketOrder::new(sort_window_ns) }
    }

    /// Reads on. Returns how many of `bytes` are used up; the caller hands over the others again, with what follows them.
    ///
    /// # Errors
    /// Where the file is damaged, and how. What came before has been handed on.
    #[inline]
    pub(crate) fn read(&mut self, bytes: &[u8], mut next: impl FnMut(&Segment)) -> Result<usize, FileError> {
        let Self { file, packets } = self;
        file.read(bytes, |packet| packets.take(packet, &mut next))
    }

    /// The end of the file, of which `rest` was not used up: hands on what still waited, and says what is wrong with the file.
    pub(crate) fn end(&mut self, rest: &[u8], next: impl FnMut(&Segment)) -> Option<FileError> {
        self.packets.end(next);
        self.file.end(rest)
    }

    /// Bytes of the file that are used up.
    pub(crate) fn offset(&self) -> u64 {
        self.file.offset()
    }

    /// The time of the last segment that was handed on; later ones wait.
    pub(crate) fn handed_on_ns(&self) -> Option<i64> {
        self.packets.order.handed_on_ns()
    }

    pub(crate) fn frames(&self) -> u64 {
        self.file.frames()
    }

    pub(crate) fn drops(&self) -> DropCounts {
        self.file.drops()
    }

    pub(crate) fn counts(&self) -> PacketCounts {
        self.packets.counts
    }

    pub(crate) fn faults(&self) -> OrderFaults {
        self.packets.order.faults
    }

    /// Says of each connection what is around its packets.
    pub(crate) fn name_tags(&self, connections: &mut [ConnectionReport]) {
        self.packets.name_tags(connections);
    }
}

impl PacketOrder {
    pub(crate) fn new(sort_window_ns: i64) -> Self {
        Self {
            order: SortWindow::new(sort_window_ns),
            fragments: Fragments::default(),
            tags: TagPairs::default(),
            names: TagNames::default(),
            counts: PacketCounts::default(),
            segment: Segment::default(),
        }
    }

    /// Takes one packet, and hands on the segments before which none is expected any more.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet<'_>, mut next: impl FnMut(&Segment)) {
        let Self { order, fragments, tags, names, counts, segment } = self;
        match decode(packet.link, packet.bytes, packet.wire_bytes, segment) {
            Content::Tcp => {
                counts.tcp += 1;
                names.note(segment.endpoints.outer, packet);
                (segment.time_ns, segment.frame) = (packet.time_ns, packet.frame);
                segment.interface = packet.interface;
                order.take(segment, |segment| named(tags, segment, &mut next));
                if segment.first_fragment.is_some() {
                    fragments.first(segment);
                }
            }
            Content::Other => counts.other += 1,
            Content::Fragment(part) => {
                counts.fragments += 1;
                let frame = fragments.later(segment, part);
                let is_joined = frame.is_some_and(|frame| order.lengthen(frame, part.bytes));
                counts.fragments_apart += u64::from(!is_joined);
            }
            Content::CutShort => counts.cut_short += 1,
            Content::UnknownLink => {
                counts.unknown_link += 1;
                counts.first_unknown_link.get_or_insert(packet.link);
            }
        }
    }

    /// Says of each connection what is around its packets.
    pub(crate) fn name_tags(&self, connections: &mut [ConnectionReport]) {
        for connection in connections.iter_mut().filter(|connection| connection.outer != 0) {
            connection.tags = self.names.of(connection.outer);
        }
    }

    /// The time of the latest segment.
    pub(crate) fn newest_ns(&self) -> Option<i64> {
        self.order.newest_ns()
    }

    /// Hands on what was captured before a moment.
    pub(crate) fn release(&mut self, until_ns: i64, mut next: impl FnMut(&Segment)) {
        let Self { order, tags, .. } = self;
        order.release(until_ns, |segment| named(tags, segment, &mut next));
    }

    /// Hands on all that still waits.
    pub(crate) fn end(&mut self, mut next: impl FnMut(&Segment)) {
        let Self { order, tags, .. } = self;
        order.end(|segment| named(tags, segment, &mut next));
    }

    pub(crate) fn counts(&self) -> PacketCounts {
        self.counts
    }

    pub(crate) fn faults(&self) -> OrderFaults {
        self.order.faults
    }
}

/// Hands on a segment by the tag of its connection.
#[inline]
fn named(tags: &mut TagPairs, segment: &Segment, next: &mut impl FnMut(&Segment)) {
    let outer = tags.name(segment);
    if outer == segment.endpoints.outer {
        next(segment);
    } else {
        next(&Segment { endpoints: Endpoints { outer, ..segment.endpoints }, ..*segment });
    }
}

saved!(Stream { file, packets });
saved!(PacketOrder { order, fragments, tags } without names, counts, segment);
