//! One direction of a wire: a chain between two devices.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use linux::tap::{FrameHeader, Tap};
use path::{Chain, ElementIndex, ElementSpec, Presence, QueueStay, Train, Watcher};
use units::{MonoTime, Mtu, PacketCount};

use super::emulated_clock::ThreadClock;
use super::frame::cut::Cut;
use super::frame::{Frame, edit, too_big};
use super::log::{Event, Log, Lost, What};
use super::report::{Carried, DirectionReport};
use super::store::Store;
use super::telemetry::{IntReporter, Leaving, QueueOf};

/// An element of a direction and what becomes of it.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// The wire and which of its directions.
    pub(super) direction: (usize, usize),
    /// The number of the element in its chain.
    pub(super) place: usize,
    pub(super) becomes: Becomes,
}

/// What becomes of an element while packets flow.
#[derive(Debug, Clone)]
pub enum Becomes {
    /// It comes or goes.
    Presence(Presence),
    /// It goes on with these settings, of the same kind.
    Settings(ElementSpec),
}

/// One direction of a wire.
#[derive(Debug)]
pub(super) struct Direction {
    chain: Chain,
    /// When the chain does something by itself.
    due: Option<MonoTime>,
    end: End,
    /// Whether frames may wait in the sending device.
    pub(super) readable: bool,
}

/// What is behind the end of a chain, and what is counted there.
#[derive(Debug)]
struct End {
    /// Wire and direction.
    name: (usize, usize),
    from: Arc<Tap>,
    to: Arc<Tap>,
    reporters: Vec<IpAddr>,
    allowance: too_big::Allowance,
    /// What is to be written, once it is clear that what comes next does not belong to it.
    pending: Option<Pending>,
    /// Within which time packets of one frame are written together.
    together: Option<Duration>,
    /// Where packets are put together that do not go out as they lie.
    scratch: Vec<u8>,
    /// How many packets were made wrong: what says which of their bits.
    corrupted: u64,
    books: DirectionReport,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    due: MonoTime,
    train: Train,
}

/// What all directions of a thread share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) log: Log,
    pub(super) clock: ThreadClock,
    pub(super) telemetry: Option<IntReporter>,
}

/// What became of an attempt to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// A frame of so many bytes.
    Frame(usize),
    /// There is none.
    Nothing,
}

impl Direction {
    pub(super) fn new(
        chain: Chain,
        name: (usize, usize),
        [from, to]: [Arc<Tap>; 2],
        reporters: Vec<IpAddr>,
        (start, together): (MonoTime, Option<Duration>),
    ) -> Self {
        let end = End {
            name,
            from,
            to,
            reporters,
            allowance: too_big::Allowance::new(start),
            pending: None,
            together,
            scratch: Vec::with_capacity(linux::tap::LONGEST),
            corrupted: 0,
            books: DirectionReport::default(),
        };
        let due = chain.due();
        Self { chain, due, end, readable: true }
    }

    /// The device it reads from.
    pub(super) fn source(&self) -> &Arc<Tap> {
        &self.end.from
    }

    /// Which it is: the wire, and which of its directions.
    pub(super) fn name(&self) -> (usize, usize) {
        self.end.name
    }

    /// When it has to be called next, if nothing comes.
    pub(super) fn due(&self) -> Option<MonoTime> {
        self.due
    }

    /// Takes a frame from the sending device to the chain.
    pub(super) fn take(&mut self, shared: &mut Shared) -> Taken {
        let Ok(len) = self.end.from.read(shared.store.incoming()) else {
            // Empty, or gone with its namespace: it says when it can be read again.
            self.readable = false;
            return Taken::Nothing;
        };
        let now = shared.clock.resume(self.due);
        let bytes = &shared.store.incoming()[..len];
        let Some(frame) = Frame::read(bytes) else { return Taken::Nothing };
        // The number is given when the frame is kept.
        let train = frame.train(&bytes[FrameHeader::LEN..], path::FrameId(0), now);
        count(&mut self.end.books.taken, &train);
        match shared.store.keep(len, frame, self.end.name) {
            Some(id) => {
                self.chain.offer(now, Train { frame: id, ..train }, &mut self.end.watch(shared));
                self.due = self.chain.due();
            }
            None => self.end.lost(&mut shared.log, now, &train, Lost::NoRoom),
        }
        Taken::Frame(len)
    }

    /// Has the chain do what is due by now.
    pub(super) fn advance(&mut self, now: MonoTime, shared: &mut Shared) {
        self.chain.advance(now, &mut self.end.watch(shared));
        self.due = self.chain.due();
    }

    /// Has one of the chain's elements become what it is told to. Its settings are of its kind: [`crate::blueprint::Part`].
    pub(super) fn turn(&mut self, now: MonoTime, turn: &Turn, shared: &mut Shared) {
        let mut watch = self.end.watch(shared);
        match &turn.becomes {
            Becomes::Presence(presence) => self.chain.put(now, turn.place, *presence, &mut watch),
            // Whoever has read the settings has checked them; what cannot be does not change anything.
            Becomes::Settings(settings) => drop(self.chain.set(now, turn.place, settings, &mut watch)),
        }
        self.due = self.chain.due();
    }

    /// Writes what has been held back so that what follows can go out with it.
    pub(super) fn flush(&mut self, shared: &mut Shared) {
        self.end.flush(shared);
    }

    /// What it did; `unread_before` is what its device had dropped before the relay began.
    pub(super) fn report(&self, unread_before: u64, store: &Store) -> DirectionReport {
        let mut report = self.end.books.clone();
        report.elements = self.chain.tallies().cloned().collect();
        report.held = store.held_for(self.end.name);
        // A device that is gone with its namespace has no count any more.
        report.lost.unread_frames = self.end.from.unread().unwrap_or(unread_before).saturating_sub(unread_before);
        report
    }
}

/// The side of a chain that is told what becomes of packets.
struct Watch<'a> {
    end: &'a mut End,
    shared: &'a mut Shared,
}

impl End {
    fn watch<'a>(&'a mut self, shared: &'a mut Shared) -> Watch<'a> {
        Watch { end: self, shared }
    }

    /// Writes what was held back.
    fn flush(&mut self, shared: &mut Shared) {
        let Some(Pending { due, train }) = self.pending.take() else { return };
        let begun = shared.clock.resume(Some(due));
        let Shared { store, log, .. } = shared;
        let (frame, bytes) = store.frame(train.frame);
        self.books.lateness.record(begun.since(due));
        if train.edits.corrupted {
            log.add(Event::of(begun, self.name, None, What::Corrupted, &train));
        }
        match self.write(&frame, bytes, &train) {
            Ok(()) => count(&mut self.books.given, &train),
            Err(error) => {
                let down = error.raw_os_error() == Some(IS_DOWN);
                self.lost(log, begun, &train, if down { Lost::Down } else { Lost::Refused });
            }
        }
        store.end(train.frame, train.count.get());
    }

    fn write(&mut self, frame: &Frame, bytes: &[u8], train: &Train) -> io::Result<()> {
        if frame.is_whole(train) && train.edits == path::Edits::default() {
            return self.to.write(&[IoSlice::new(bytes)]);
        }
        let payload = &bytes[FrameHeader::LEN..];
        if !train.edits.corrupted {
            let cut = edited(frame, payload, train);
            return self.to.write(&[IoSlice::new(cut.head()), IoSlice::new(&payload[cut.payload.clone()])]);
        }
        for packet in train.packets() {
            self.assemble(frame, payload, &packet);
            self.corrupted += 1;
            // Numbers behind each other fall on bits far from each other.
            let chance = path::Seed(u64::from(train.flow.0)).part(self.corrupted).0;
            edit::corrupt(&mut self.scratch[FrameHeader::LEN..], &frame.layout, chance);
            self.to.write(&[IoSlice::new(&self.scratch)])?;
        }
        Ok(())
    }

    /// Puts one packet together, with all its sums made.
    fn assemble(&mut self, frame: &Frame, payload: &[u8], packet: &Train) {
        let cut = edited(frame, payload, packet);
        cut.assemble(payload, &mut self.scratch);
        edit::finish(&mut self.scratch, &cut.header);
    }

    fn lost(&mut self, log: &mut Log, at: MonoTime, train: &Train, lost: Lost) {
        let counter = match lost {
            Lost::NoRoom => &mut self.books.lost.no_room,
            Lost::Down => &mut self.books.lost.down,
            Lost::Refused => &mut self.books.lost.refused,
        };
        *counter = *counter + PacketCount::new(u64::from(train.count.get()));
        log.add(Event::of(at, self.name, None, What::Lost(lost), train));
    }

    /// Tells the sender that a packet is too big, if one is to be told at all.
    ///
    /// Model: the answer is there at once, and takes no part in what happens on the way back. One answer is given to
    /// the packets that a sender's offload cut from one frame, since a sender needs no more.
    fn answer(&mut self, at: MonoTime, mtu: Mtu, train: Train, store: &Store) -> bool {
        let (Some(packet), _) = train.split_front(1) else { return false };
        let (frame, bytes) = store.frame(train.frame);
        self.assemble(&frame, &bytes[FrameHeader::LEN..], &packet);
        let quoted = &self.scratch[FrameHeader::LEN..];
        // The headers of a packet may be shorter than those of its frame say.
        let layout = super::frame::layout::Layout::read(quoted);
        let Some(answer) = too_big::answer(quoted, &layout, mtu, &self.reporters) else { return false };
        self.allowance.take(at) && self.from.write(&[IoSlice::new(&answer)]).is_ok()
    }
}

/// The headers of packets as elements have changed them.
fn edited(frame: &Frame, payload: &[u8], train: &Train) -> Cut {
    let mut cut = frame.cut(payload, train);
    let header = cut.header;
    if let Some(ip) = frame.layout.ip.filter(|_| train.edits.ecn_rewritten) {
        edit::set_ecn(cut.packet_headers(), &ip, train.ecn);
    }
    if train.edits.window_scale_stripped {
        edit::strip_window_scale(cut.packet_headers(), &frame.layout, &header);
    }
    cut
}

impl Watcher for Watch<'_> {
    fn delivered(&mut self, at: MonoTime, train: Train) {
        if let Some(pending) = &mut self.end.pending
            && self.end.together.is_some_and(|together| at.since(pending.due) <= together)
            && let Some(joined) = pending.train.joined(&Train { came: pending.train.came, ..train })
        {
            pending.train = joined;
            return;
        }
        self.end.flush(self.shared);
        self.end.pending = Some(Pending { due: at, train });
    }

    fn dropped(&mut self, at: MonoTime, place: ElementIndex, reason: path::reason::Drop, train: Train) {
        self.note(at, place, What::Dropped(reason), &train);
        self.shared.store.end(train.frame, train.count.get());
    }

    fn marked(&mut self, at: MonoTime, place: ElementIndex, reason: path::reason::Mark, train: Train) {
        self.note(at, place, What::Marked(reason), &train);
    }

    fn left_queue(&mut self, place: ElementIndex, stay: QueueStay, train: &Train) {
        let Shared { store, telemetry, .. } = &mut *self.shared;
        if let Some(telemetry) = telemetry {
            let (_, bytes) = store.frame(train.frame);
            let leaving = Leaving { train, frame: &bytes[FrameHeader::LEN..] };
            telemetry.report(QueueOf { direction: self.end.name, place }, stay, leaving);
        }
    }

    fn duplicated(&mut self, at: MonoTime, place: ElementIndex, train: Train) {
        self.note(at, place, What::Duplicated, &train);
        self.shared.store.add(train.frame, train.count.get());
    }

    fn refused(&mut self, at: MonoTime, place: ElementIndex, mtu: Mtu, train: Train) {
        self.note(at, place, What::Refused(mtu), &train);
        let given = self.end.answer(at, mtu, train, &self.shared.store);
        let answers = &mut self.end.books.answers;
        *(if given { &mut answers.given } else { &mut answers.withheld }) += 1;
    }
}

impl Watch<'_> {
    fn note(&mut self, at: MonoTime, place: ElementIndex, what: What, train: &Train) {
        self.shared.log.add(Event::of(at, self.end.name, Some(place), what, train));
    }
}

fn count(carried: &mut Carried, train: &Train) {
    carried.frames += 1;
    carried.packets = carried.packets + PacketCount::new(u64::from(train.count.get()));
    carried.bytes += train.bytes();
}

/// `EIO` (include/uapi/asm-generic/errno-base.h): what drivers/net/tun.c says of a device that is down.
const IS_DOWN: i32 = 5;
