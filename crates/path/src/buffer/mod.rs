//! A queue: trains that wait, and the discipline that says which may.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the queue: its room, and marks above a threshold |
//! | `red` | early drops and marks at random |
//! | `codel` | drops and marks of what has waited too long |
//! | `line` | the trains themselves |

mod codel;
mod line;
mod red;

use std::time::Duration;

use serde::Deserialize;
use units::{ByteCount, DataRate, MonoTime};

use crate::chain::is_exempt;
use crate::outlet::{Outlet, QueueStay};
use crate::random::Seed;
use crate::reason::{Delay, Drop, Mark};
use crate::spec::{SpecError, check_not_zero};
use crate::train::{Ecn, FrameId, Train};
use codel::CoDel;
use line::Line;
use red::Red;

pub use codel::CoDelSpec;
pub use red::RedSpec;

pub(crate) use line::Batch;

/// A queue as it is written in files. Without any limit it holds everything.
#[derive(Debug, Clone, PartialEq, Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BufferSpec {
    /// Most bytes that wait. The packet that is being sent does not count.
    #[serde(default, deserialize_with = "units::text::read_some")]
    pub bytes: Option<ByteCount>,
    /// Most packets that wait.
    #[serde(default)]
    pub packets: Option<u64>,
    /// Mark packets that understand it, instead of letting them in unmarked, while more bytes than these wait.
    #[serde(default, deserialize_with = "units::text::read_some")]
    pub mark_above: Option<ByteCount>,
    /// Drop or mark early, at random.
    #[serde(default)]
    pub red: Option<RedSpec>,
    /// Drop or mark what has waited too long.
    #[serde(default)]
    pub codel: Option<CoDelSpec>,
}

impl BufferSpec {
    /// # Errors
    /// A limit that lets nothing in, more than one discipline, or settings that a discipline cannot have.
    pub fn check(&self) -> Result<(), SpecError> {
        self.bytes.map_or(Ok(()), |bytes| check_not_zero("queue", "bytes", bytes))?;
        self.packets.map_or(Ok(()), |packets| check_not_zero("queue", "packets", packets))?;
        let disciplines = [self.mark_above.is_some(), self.red.is_some(), self.codel.is_some()];
        if disciplines.iter().filter(|given| **given).count() > 1 {
            return Err(SpecError::OnlyOne { element: "queue", keys: "`mark-above`, `red` and `codel`" });
        }
        self.red.as_ref().map_or(Ok(()), RedSpec::check)?;
        self.codel.as_ref().map_or(Ok(()), CoDelSpec::check)
    }
}

/// What a queue is a part of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Role {
    /// Why packets are dropped that find no room.
    pub(crate) full: Drop,
    /// Why packets wait.
    pub(crate) waiting: Delay,
    /// How long a usual packet takes to leave.
    pub(crate) packet_time: Duration,
}

/// A queue where nothing is said: what routers made for long paths have, 50 ms of the link, and room for a few frames.
#[must_use]
pub fn usual(rate: DataRate) -> ByteCount {
    const USUAL: Duration = Duration::from_millis(50);
    const LEAST: ByteCount = ByteCount::new(128 << 10);
    (rate * USUAL).max(LEAST)
}

/// What happens to a queue while the packets of a train come one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meanwhile {
    /// What leaves it.
    pub(crate) leave: ByteCount,
    /// What else comes to it.
    pub(crate) come: ByteCount,
    /// What else has come before, and is not told of yet: cross traffic is told of in groups.
    pub(crate) late: ByteCount,
}

/// Trains that wait.
#[derive(Debug)]
pub(crate) struct Buffer {
    spec: BufferSpec,
    role: Role,
    seed: Seed,
    line: Line,
    /// Bytes that the last train was allowed and could not use, being less than a packet.
    odd: u64,
    discipline: Discipline,
}

/// What a queue does besides dropping what finds no room. Another discipline is another file, a variant here, and its
/// place among those that judge arrivals ([`Buffer::offer`]) or departures ([`Buffer::take`]).
#[derive(Debug)]
enum Discipline {
    /// Nothing.
    TailDrop,
    /// It marks what comes while more bytes than these wait.
    Threshold(u64),
    Red(Red),
    CoDel(CoDel),
}

/// What a discipline says about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Admit,
    /// Mark it if it understands that, else drop it.
    Mark,
    Drop,
}

impl Buffer {
    /// An empty queue.
    pub(crate) fn new(spec: &BufferSpec, role: Role, seed: Seed) -> Self {
        Self { spec: spec.clone(), role, seed, line: Line::new(), odd: 0, discipline: Discipline::new(spec, seed) }
    }

    /// Goes on with other settings. What waits may be more than they allow, and stays.
    pub(crate) fn adopt(&mut self, spec: &BufferSpec, packet_time: Duration) {
        self.role.packet_time = packet_time;
        match (&mut self.discipline, &spec.red, &spec.codel) {
            (Discipline::Red(red), Some(spec), _) => red.adopt(spec.clone()),
            (Discipline::CoDel(codel), _, Some(spec)) => codel.adopt(spec.clone()),
            (discipline, ..) => *discipline = Discipline::new(spec, self.seed),
        }
        self.spec = spec.clone();
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Whether a train that comes now would leave at once, whole and unchanged.
    pub(crate) fn lets_by(&self, train: &Train, batch: Batch, out: &mut Outlet<'_>) -> bool {
        let passes = matches!(self.discipline, Discipline::TailDrop | Discipline::Threshold(_))
            && self.line.is_empty()
            && self.room_for(train) == train.count.get()
            && batch.packets_of(train) == train.count.get();
        if passes && train.frame != FrameId::PHANTOM {
            let stay = QueueStay { came: out.now(), left: out.now(), standing: ByteCount::new(0) };
            out.left_queue(train, self.role.waiting, stay);
        }
        passes
    }

    /// Whether anything but phantoms waits.
    pub(crate) fn holds_real(&self) -> bool {
        self.line.holds_real()
    }

    /// Bytes that wait, where no discipline looks at each packet that leaves.
    pub(crate) fn standing(&self) -> u64 {
        match self.discipline {
            Discipline::TailDrop | Discipline::Threshold(_) => self.line.bytes(),
            Discipline::Red(_) | Discipline::CoDel(_) => 0,
        }
    }

    /// The train at the front.
    pub(crate) fn front(&self) -> Option<&Train> {
        self.line.front()
    }

    /// Lets in as many packets of a train as there is room for and as the discipline allows, and drops the rest.
    ///
    /// Model: a train is let in at one instant. Where there is no room for all of it, it gets its part of what there is and
    /// what is made while it comes; that part is at its front, and a network would drop others in between.
    #[inline]
    pub(crate) fn offer(&mut self, train: Train, meanwhile: Meanwhile, out: &mut Outlet<'_>) {
        if is_exempt(&train) {
            return self.line.push(train);
        }
        match &mut self.discipline {
            Discipline::TailDrop | Discipline::CoDel(_) => self.admit(train, meanwhile, None, out),
            Discipline::Threshold(above) => {
                let mark = (self.line.bytes() > *above).then_some(Mark::Threshold);
                self.admit(train, meanwhile, mark, out);
            }
            Discipline::Red(_) => train.packets().for_each(|packet| self.offer_to_red(packet, out)),
        }
    }

    /// Takes packets of one train from the front.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: MonoTime, batch: Batch, out: &mut Outlet<'_>) -> Option<Train> {
        let taken = match &mut self.discipline {
            Discipline::CoDel(codel) => codel.take(&mut self.line, batch, now, out)?,
            Discipline::TailDrop | Discipline::Threshold(_) | Discipline::Red(_) => self.line.pop(batch)?,
        };
        if let Discipline::Red(red) = &mut self.discipline
            && self.line.is_empty()
        {
            red.emptied(now);
        }
        if taken.frame != FrameId::PHANTOM {
            let stay = QueueStay { came: taken.came, left: now, standing: ByteCount::new(self.line.bytes()) };
            out.left_queue(&taken, self.role.waiting, stay);
        }
        Some(taken)
    }

    fn offer_to_red(&mut self, packet: Train, out: &mut Outlet<'_>) {
        let Discipline::Red(red) = &mut self.discipline else { return };
        match red.judge(self.line.bytes(), packet.came, self.role.packet_time) {
            Verdict::Admit => self.admit(packet, Meanwhile::default(), None, out),
            Verdict::Mark if packet.ecn.may_be_marked() => {
                self.admit(packet, Meanwhile::default(), Some(Mark::Early), out);
            }
            Verdict::Mark | Verdict::Drop if packet.frame == FrameId::PHANTOM => {}
            Verdict::Mark | Verdict::Drop => out.drop(packet, Drop::Early),
        }
    }

    /// Lets in what there is room for, marked where it understands that.
    #[inline]
    fn admit(&mut self, train: Train, meanwhile: Meanwhile, mark: Option<Mark>, out: &mut Outlet<'_>) {
        let mut admitted = train;
        let mut room = self.room_for(&train);
        if room < train.count.get() && meanwhile.leave > ByteCount::ZERO {
            room = self.part_for(&train, meanwhile);
        }
        if room < train.count.get() {
            let (front, refused) = train.split_front(room);
            if let Some(refused) = refused.filter(|train| train.frame != FrameId::PHANTOM) {
                out.drop(refused, self.role.full);
            }
            let Some(front) = front else { return };
            admitted = front;
        }
        if let Some(reason) = mark.filter(|_| admitted.ecn.may_be_marked()) {
            admitted = out.mark(admitted, Ecn::Marked, reason);
        }
        self.line.push(admitted);
    }

    /// How many packets of a train get in that comes while others leave and come.
    fn part_for(&mut self, train: &Train, meanwhile: Meanwhile) -> u32 {
        let limit = self.spec.bytes.unwrap_or(ByteCount::new(u64::MAX)).get();
        let room = limit.saturating_add(meanwhile.leave.get());
        let room = room.saturating_sub(self.line.bytes()).saturating_sub(meanwhile.late.get());
        let own = train.bytes().get();
        let part = u128::from(room) * u128::from(own) / u128::from(own + meanwhile.come.get()).max(1);
        let part = u64::try_from(part).unwrap_or(u64::MAX).saturating_add(self.odd);
        let count = train.packets_within(part).min(self.room_by_packets());
        self.odd = part.saturating_sub(train.bytes_of_front(count).get()).min(u64::from(train.size));
        count
    }

    /// How many packets of a train fit.
    #[inline]
    fn room_for(&self, train: &Train) -> u32 {
        let by_bytes = match self.spec.bytes {
            Some(limit) => train.packets_within(limit.get().saturating_sub(self.line.bytes())),
            None => train.count.get(),
        };
        self.room_by_packets().min(by_bytes)
    }

    #[inline]
    fn room_by_packets(&self) -> u32 {
        let packets = self.spec.packets.map_or(u64::MAX, |limit| limit.saturating_sub(self.line.packets()));
        u32::try_from(packets).unwrap_or(u32::MAX)
    }
}

impl Discipline {
    fn new(spec: &BufferSpec, seed: Seed) -> Self {
        match (&spec.red, &spec.codel, spec.mark_above) {
            (Some(red), ..) => Self::Red(Red::new(red.clone(), seed)),
            (_, Some(codel), _) => Self::CoDel(CoDel::new(codel.clone())),
            (.., Some(above)) => Self::Threshold(above.get()),
            _ => Self::TailDrop,
        }
    }
}
