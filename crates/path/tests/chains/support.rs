//! A driver in virtual time, which writes down what becomes of each packet.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)] // Helpers of tests fail like tests, and no test uses all.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use path::reason::{Drop, Mark};
use path::{
    Chain, Ecn, Edits, ElementIndex, ElementSpec, FlowHash, FrameId, PacketKind, PathElement, Seed, Spacing, Train,
    Watcher,
};
use units::{MonoTime, Mtu};

/// The instant `us` microseconds after the chain's start.
pub(crate) const fn at(us: u64) -> MonoTime {
    MonoTime::from_nanos(us * 1_000)
}

/// `count` TCP segments of `size` bytes on the link.
pub(crate) fn segments(frame: u32, count: u32, size: u32) -> Train {
    Train {
        frame: FrameId(frame),
        first: 0,
        count: NonZeroU32::new(count).unwrap(),
        size,
        last_size: size,
        flow: FlowHash(1),
        kind: PacketKind::TcpData,
        dscp: 0,
        ecn: Ecn::NotCapable,
        whole: true,
        edits: Edits::default(),
        spacing: Spacing::NONE,
        came: at(0),
    }
}

/// What became of packets.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub(crate) delivered: Vec<(MonoTime, Train)>,
    pub(crate) dropped: Vec<(MonoTime, ElementIndex, Drop, Train)>,
    pub(crate) marked: Vec<(MonoTime, ElementIndex, Mark, Train)>,
    pub(crate) duplicated: Vec<(MonoTime, ElementIndex, Train)>,
    pub(crate) refused: Vec<(MonoTime, ElementIndex, Mtu, Train)>,
}

impl Log {
    /// Packets delivered.
    pub(crate) fn delivered_packets(&self) -> u64 {
        self.delivered.iter().map(|(_, train)| u64::from(train.count.get())).sum()
    }

    /// The packets, by frame and number, that were delivered or dropped.
    pub(crate) fn ends(&self) -> BTreeSet<(u32, u32)> {
        let ended = self.delivered.iter().map(|(_, train)| train).chain(self.dropped.iter().map(|(.., train)| train));
        ended.flat_map(|train| (0..train.count.get()).map(|packet| (train.frame.0, train.first + packet))).collect()
    }

    /// Packets dropped for a reason.
    pub(crate) fn dropped_packets(&self, wanted: Drop) -> u64 {
        let dropped = self.dropped.iter().filter(|(_, _, reason, _)| *reason == wanted);
        dropped.map(|(.., train)| u64::from(train.count.get())).sum()
    }
}

impl Watcher for Log {
    fn delivered(&mut self, at: MonoTime, train: Train) {
        self.delivered.push((at, train));
    }

    fn dropped(&mut self, at: MonoTime, place: ElementIndex, reason: Drop, train: Train) {
        self.dropped.push((at, place, reason, train));
    }

    fn marked(&mut self, at: MonoTime, place: ElementIndex, reason: Mark, train: Train) {
        self.marked.push((at, place, reason, train));
    }

    fn duplicated(&mut self, at: MonoTime, place: ElementIndex, train: Train) {
        self.duplicated.push((at, place, train));
    }

    fn refused(&mut self, at: MonoTime, place: ElementIndex, mtu: Mtu, train: Train) {
        self.refused.push((at, place, mtu, train));
    }
}

/// Elements from their text: a TOML array named `chain`.
pub(crate) fn stages(text: &str) -> Vec<PathElement> {
    #[derive(serde::Deserialize)]
    struct File {
        chain: Vec<ElementSpec>,
    }
    let file: File = toml::from_str(text).unwrap();
    file.chain.into_iter().map(PathElement::from).collect()
}

/// A chain from the text of its elements.
pub(crate) fn chain(text: &str, seed: u64) -> Chain {
    Chain::new(&stages(text), Seed(seed), at(0)).unwrap()
}

/// Offers trains at their instants, in order, and waits for what the chain holds then.
pub(crate) fn drive(chain: &mut Chain, trains: impl IntoIterator<Item = (MonoTime, Train)>) -> Log {
    let mut log = Log::default();
    let mut now = at(0);
    for (when, train) in trains {
        now = when;
        chain.offer(when, train, &mut log);
    }
    while let Some(due) = chain.due().filter(|due| due.since(now) < PATIENCE) {
        now = due;
        chain.advance(due, &mut log);
    }
    log
}

/// For how long a chain may hold a packet, or a schedule may do nothing.
const PATIENCE: Duration = Duration::from_secs(100);
