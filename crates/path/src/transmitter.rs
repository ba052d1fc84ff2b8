//! What serves packets one behind the other: an interface that sends bits, a firewall that looks at packets.

use std::fmt::Debug;
use std::num::NonZeroU64;
use std::time::Duration;

use units::{ByteCount, DataRate, MonoTime};

use crate::buffer::{Batch, Buffer, Meanwhile};
use crate::elements::Cross;
use crate::grain::Grain;
use crate::outlet::Outlet;
use crate::reason::Delay;
use crate::train::{FrameId, Spacing, Train};

/// Queues and the one who serves them, with other people's traffic that comes to the same queues.
#[derive(Debug)]
pub(crate) struct Transmitter<Q> {
    queue: Q,
    cross: Vec<Cross>,
    pace: Pace,
    /// That of the pace, or of the grain where that is larger.
    batch: Batch,
    grain: Option<Grain>,
    sending: Option<Sending>,
}

/// The part of a queue that may come out together.
const PART_OF_QUEUE: u64 = 16;

/// Where packets wait, and which is the next.
pub(crate) trait Queueing: Debug {
    /// Takes a train, which says when it came.
    fn offer(&mut self, train: Train, meanwhile: Meanwhile, out: &mut Outlet<'_>);

    /// Takes the next packets, all of one train.
    fn take(&mut self, now: MonoTime, batch: Batch, out: &mut Outlet<'_>) -> Option<Train>;

    /// Whether a train that finds the transmitter idle need not go through the queue: it would come out at once, whole
    /// and unchanged. What this saves is a third of the cost of an idle port.
    fn lets_by(&self, train: &Train, batch: Batch, out: &mut Outlet<'_>) -> bool {
        let _ = (train, batch, out);
        false
    }

    /// Whether anything but phantoms waits.
    fn holds_real(&self) -> bool;

    /// Bytes that may come out in larger groups, the more of them there are.
    fn standing(&self) -> u64 {
        0
    }
}

/// How fast packets are served.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// Bits on the link, at this rate.
    Bits(DataRate),
    /// So many packets a second, whatever their size.
    Packets(NonZeroU64),
}

#[derive(Debug)]
struct Sending {
    /// None where the next element has been given it.
    train: Option<Train>,
    since: MonoTime,
    ends: MonoTime,
}

impl<Q: Queueing> Transmitter<Q> {
    pub(crate) fn new(queue: Q, cross: Vec<Cross>, pace: Pace) -> Self {
        Self { queue, cross, pace, batch: pace.batch(LONGEST_BATCH), grain: None, sending: None }
    }

    pub(crate) fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        self.catch_up(out);
        self.accept(train, out.now(), out);
    }

    /// Nobody need be called for what comes out nowhere, or has been let through, unless something real waits behind it.
    pub(crate) fn due(&self) -> Option<MonoTime> {
        let sending = self.sending.as_ref()?;
        (sending.train.is_some() || self.queue.holds_real()).then_some(sending.ends)
    }

    /// Ends transmissions and takes in cross traffic, each at its instant, up to now.
    pub(crate) fn catch_up(&mut self, out: &mut Outlet<'_>) {
        let now = out.now();
        loop {
            let ends = self.sending.as_ref().map(|sending| sending.ends);
            let arrives = self.cross.iter().filter_map(Cross::next).min();
            match (ends, arrives) {
                (Some(end), arrival) if end <= now && arrival.is_none_or(|at| end <= at) => self.finish(end, out),
                (_, Some(at)) if at <= now => self.take_in(at, out),
                _ => return,
            }
        }
    }

    /// What is being sent goes on at the new pace.
    pub(crate) fn change_pace(&mut self, pace: Pace, out: &mut Outlet<'_>) {
        self.catch_up(out);
        let now = out.now();
        if let Some(sending) = &mut self.sending
            && let Some(train) = &sending.train
        {
            let (before, after) = (self.pace.time_for(train), pace.time_for(train));
            let left = sending.ends.since(now).as_nanos() * after.as_nanos() / before.as_nanos().max(1);
            sending.ends = now + Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX));
        }
        self.pace = pace;
        self.note_batch();
    }

    /// See [`Grain`].
    pub(crate) fn coarsen(&mut self, grain: Grain) {
        self.grain = Some(grain);
        self.note_batch();
    }

    fn note_batch(&mut self) {
        let together = self.grain.map_or(LONGEST_BATCH, |grain| grain.together.max(LONGEST_BATCH));
        self.batch = self.pace.batch(together);
    }

    /// What comes out together now.
    #[inline]
    fn group(&self) -> Batch {
        match (self.grain, self.pace) {
            (Some(_), Pace::Bits(_)) => {
                let bytes = self.batch.bytes.max(self.queue.standing() / PART_OF_QUEUE);
                Batch { bytes, ..self.batch }
            }
            _ => self.batch,
        }
    }

    pub(crate) fn queue_mut(&mut self) -> &mut Q {
        &mut self.queue
    }

    pub(crate) fn cross_mut(&mut self) -> &mut Vec<Cross> {
        &mut self.cross
    }

    #[inline]
    fn take_in(&mut self, at: MonoTime, out: &mut Outlet<'_>) {
        if let Some(cross) = self.cross.iter_mut().find(|cross| cross.next() == Some(at)) {
            let phantom = cross.take();
            self.accept(phantom, at, out);
        }
    }

    #[inline]
    fn accept(&mut self, train: Train, now: MonoTime, out: &mut Outlet<'_>) {
        if self.sending.is_none() && self.queue.lets_by(&train, self.batch, out) {
            self.send(train, now, out);
        } else {
            self.queue.offer(Train { came: now, ..train }, self.meanwhile(&train, now), out);
            self.start(now, out);
        }
    }

    /// What leaves and what else comes until all packets of a train are there.
    fn meanwhile(&self, train: &Train, now: MonoTime) -> Meanwhile {
        let Pace::Bits(rate) = self.pace else { return Meanwhile::default() };
        if train.spacing == Spacing::NONE {
            return Meanwhile::default();
        }
        let time = train.spacing.time_of(train.count);
        let mut meanwhile = Meanwhile { leave: rate * time, ..Meanwhile::default() };
        for (come, late) in self.cross.iter().map(|cross| cross.around(now, time)) {
            meanwhile.come += come;
            meanwhile.late += late;
        }
        meanwhile
    }

    #[inline]
    fn finish(&mut self, end: MonoTime, out: &mut Outlet<'_>) {
        if let Some(Sending { train: Some(train), since, .. }) = self.sending.take() {
            out.delayed(&train, self.pace.delay(), since, end);
            out.pass(Train { spacing: Spacing::NONE, ..train });
        }
        self.start(end, out);
    }

    /// Sends what is next, if nothing is being sent.
    #[inline]
    fn start(&mut self, now: MonoTime, out: &mut Outlet<'_>) {
        if self.sending.is_none()
            && let Some(train) = self.queue.take(now, self.group(), out)
        {
            self.send(train, now, out);
        }
    }

    #[inline]
    fn send(&mut self, train: Train, now: MonoTime, out: &mut Outlet<'_>) {
        let ends = now + self.pace.time_for(&train);
        let held = if train.frame == FrameId::PHANTOM {
            None
        } else if out.is_ahead && matches!(self.pace, Pace::Bits(_)) {
            // All go through an interface, one behind the other; past a middlebox others go meanwhile.
            out.delayed(&train, self.pace.delay(), now, ends);
            out.pass_at(Train { spacing: Spacing::NONE, ..train }, ends);
            None
        } else {
            Some(train)
        };
        self.sending = Some(Sending { train: held, since: now, ends });
    }
}

impl Pace {
    /// How long a usual packet takes. Model: one of 1,514 bytes, whatever is really sent.
    pub(crate) fn packet_time(self) -> Duration {
        match self {
            Self::Bits(rate) => rate.time_for(ByteCount::new(1_514)).unwrap_or(Duration::MAX),
            Self::Packets(rate) => time_of_packets(1, rate),
        }
    }

    #[inline]
    fn time_for(self, train: &Train) -> Duration {
        match self {
            Self::Bits(rate) => rate.time_for(train.bytes()).unwrap_or(Duration::MAX),
            Self::Packets(rate) => time_of_packets(train.count.get(), rate),
        }
    }

    /// What leaves at one instant.
    ///
    /// Model: packets of one train come out together that share less than this time. A link sends them one by one.
    pub(crate) fn batch(self, together: Duration) -> Batch {
        match self {
            Self::Bits(rate) => Batch { bytes: (rate * together).get(), packets: u32::MAX },
            Self::Packets(rate) => {
                let packets = u128::from(rate.get()) * together.as_nanos() / 1_000_000_000;
                Batch { bytes: u64::MAX, packets: u32::try_from(packets).unwrap_or(u32::MAX) }
            }
        }
    }

    fn delay(self) -> Delay {
        match self {
            Self::Bits(_) => Delay::Transmission,
            Self::Packets(_) => Delay::Service,
        }
    }
}

fn time_of_packets(count: u32, rate: NonZeroU64) -> Duration {
    let nanos = (u128::from(count) * 1_000_000_000).div_ceil(u128::from(rate.get()));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// How much time packets may share that come out together.
pub(crate) const LONGEST_BATCH: Duration = Duration::from_micros(50);

impl Queueing for Buffer {
    fn offer(&mut self, train: Train, meanwhile: Meanwhile, out: &mut Outlet<'_>) {
        self.offer(train, meanwhile, out);
    }

    fn take(&mut self, now: MonoTime, batch: Batch, out: &mut Outlet<'_>) -> Option<Train> {
        self.take(now, batch, out)
    }

    fn lets_by(&self, train: &Train, batch: Batch, out: &mut Outlet<'_>) -> bool {
        self.lets_by(train, batch, out)
    }

    fn holds_real(&self) -> bool {
        self.holds_real()
    }

    fn standing(&self) -> u64 {
        self.standing()
    }
}
