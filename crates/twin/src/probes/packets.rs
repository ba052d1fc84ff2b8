//! Single packets over a path: what arrives when, and what becomes of the others.

use std::num::NonZeroU32;
use std::time::Duration;

use path::reason::Drop;
use path::{
    Chain, Ecn, Edits, ElementIndex, FlowHash, FrameId, PacketKind, PathElement, Seed, Spacing, SpecError, Train,
    Watcher,
};
use units::{MonoTime, Mtu};

/// A packet, or several that follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packets {
    /// When they are sent, from the start of the path's clock.
    pub(crate) at: Duration,
    pub(crate) count: u32,
    /// Bytes of each IP packet.
    pub(crate) ip_bytes: u32,
    /// Whether routers may cut them.
    pub(crate) whole: bool,
    /// The time in which a sender hands them out.
    pub(crate) over: Duration,
}

/// What became of packets. Each is named by its number in the list of what was sent.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    /// In order of arrival: when, number, the first of its packets, how many.
    pub(crate) arrived: Vec<(Duration, u32, u32, u32)>,
    /// At which stage, why, number, how many.
    pub(crate) dropped: Vec<(usize, Drop, u32, u32)>,
    /// At which stage, what fits, number.
    pub(crate) refused: Vec<(usize, Mtu, u32)>,
    /// Packets of which it is known what became of them.
    known: u64,
}

impl Fates {
    /// What became of the packets of each of several streams that took turns; they are numbered within their stream then.
    pub(crate) fn by_stream(self, streams: u32) -> Vec<Self> {
        let streams = streams.max(1);
        let mut each: Vec<Self> = (0..streams).map(|_| Self::default()).collect();
        let of = |number: u32| ((number % streams) as usize, number / streams);
        for (at, number, first, count) in self.arrived {
            let (stream, number) = of(number);
            each[stream].arrived.push((at, number, first, count));
        }
        for (place, why, number, count) in self.dropped {
            let (stream, number) = of(number);
            each[stream].dropped.push((place, why, number, count));
        }
        for (place, fits, number) in self.refused {
            let (stream, number) = of(number);
            each[stream].refused.push((place, fits, number));
        }
        each
    }
}

/// Bytes of Ethernet's header.
pub(crate) const LINK_HEADER: u32 = 14;

/// Sends packets over the elements of a path, in order of time. Streams, of which there is one at least, take turns: the first packets
/// are the first stream's, the next ones the second's, and so on.
///
/// # Errors
/// An element that cannot be.
pub(crate) fn send(stages: &[PathElement], seed: Seed, streams: u32, sent: &[Packets]) -> Result<Fates, SpecError> {
    let start = MonoTime::default();
    let mut chain = Chain::new(stages, seed, start)?;
    let mut fates = Fates::default();
    let mut last = start;
    for (number, packets) in (0_u32..).zip(sent) {
        let now = start + packets.at;
        let Some(count) = NonZeroU32::new(packets.count) else { continue };
        let size = packets.ip_bytes + LINK_HEADER;
        let train = Train {
            frame: FrameId(number),
            first: 0,
            count,
            size,
            last_size: size,
            flow: FlowHash(number % streams.max(1)),
            kind: PacketKind::Other,
            dscp: 0,
            ecn: Ecn::NotCapable,
            whole: packets.whole,
            edits: Edits::default(),
            spacing: Spacing::of(packets.over, count),
            came: now,
        };
        chain.advance(now, &mut fates);
        chain.offer(now, train, &mut fates);
        last = now;
    }
    // What is under way comes out. Cross traffic would go on for ever, and nobody waits for it.
    let all: u64 = sent.iter().map(|packets| u64::from(packets.count)).sum();
    while fates.known < all
        && let Some(due) = chain.due().filter(|due| *due <= last + PATIENCE)
    {
        chain.advance(due, &mut fates);
    }
    fates.arrived.sort_by_key(|(at, ..)| *at);
    Ok(fates)
}

/// For how long packets may be under way.
const PATIENCE: Duration = Duration::from_secs(20);

impl Watcher for Fates {
    fn delivered(&mut self, at: MonoTime, train: Train) {
        self.known += u64::from(train.count.get());
        if !train.edits.corrupted {
            self.arrived.push((at.since(MonoTime::default()), train.frame.0, train.first, train.count.get()));
        }
    }

    fn dropped(&mut self, _at: MonoTime, place: ElementIndex, reason: Drop, train: Train) {
        self.known += u64::from(train.count.get());
        self.dropped.push((place.index(), reason, train.frame.0, train.count.get()));
    }

    fn duplicated(&mut self, _at: MonoTime, _place: ElementIndex, _train: Train) {}

    fn refused(&mut self, _at: MonoTime, place: ElementIndex, mtu: Mtu, train: Train) {
        self.known += u64::from(train.count.get());
        self.refused.push((place.index(), mtu, train.frame.0));
    }
}
