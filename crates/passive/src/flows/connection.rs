//! One connection.

use std::time::Duration;

use model::measurement::Heading;
use model::series::field::Field;
use model::transfer::{LossCounts, LossEventKind, ReceivedCount};
use units::MonoTime;

use super::loss::{self, TimedLoss, TimedRun};
use super::reading::{Ends, FinSeen, Sighting};
use super::series::{Sample, Series};
use super::span::{Ending, Span};

/// A connection from when it was first seen.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    pub(super) ends: Ends,
    pub(super) uid: u32,
    pub(super) inode: u32,
    /// The walk that saw it last.
    pub(super) walk: u64,
    /// When it began, as far as that is known.
    start: MonoTime,
    /// How much later than the true start that may be; none where it was there before the watcher.
    start_within: Option<Duration>,
    fin: FinSeen,
    /// Whether `bytes_acked` counts our SYN.
    syn: Option<bool>,
    before: Moved,
    last: Moved,
    mark: Moved,
    last_moved: MonoTime,
    bulk: Option<Box<Bulk>>,
    /// Losses since [`mark`](Self::mark) was called last.
    losses: LossCounts,
    loss_events: Vec<TimedLoss>,
    retransmit_runs: Vec<TimedRun>,
}

/// What is kept of a connection that moves much.
#[derive(Debug, Clone)]
struct Bulk {
    series: Series,
    congestion_control: Option<String>,
}

/// Totals of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Moved {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) retransmits: u32,
}

impl Moved {
    fn of(sighting: &Sighting) -> Self {
        let reading = &sighting.reading;
        let fin = u64::from(sighting.fin == FinSeen::Yes);
        let received = reading.received().saturating_sub(fin);
        Self { sent: reading.sent(), received, retransmits: reading.retransmits() }
    }

    /// What was moved since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            sent: self.sent.saturating_sub(earlier.sent),
            received: self.received.saturating_sub(earlier.received),
            retransmits: self.retransmits.wrapping_sub(earlier.retransmits),
        }
    }

    pub(super) fn all(self) -> u64 {
        self.sent.saturating_add(self.received)
    }

    pub(super) fn heading(self) -> Heading {
        if self.sent >= self.received { Heading::Outbound } else { Heading::Inbound }
    }
}

/// What was known of the watch when a connection was first seen.
#[derive(Debug, Clone, Copy)]
pub(super) enum FirstSeen {
    /// The first walk saw it.
    BeforeWatch,
    /// The walk before that which saw it began then, and did not see it.
    After(MonoTime),
}

impl Connection {
    pub(super) fn new(sighting: &Sighting, seen: FirstSeen, walk: u64) -> Self {
        let at = sighting.reading.at;
        let moved = Moved::of(sighting);
        let (start, start_within, before) = match seen {
            FirstSeen::BeforeWatch => (at, None, moved),
            FirstSeen::After(last) => {
                let unseen = at.since(last);
                // With data outstanding all the time since its start, the kernel's clock says when that was.
                let busy = sighting.reading.get(Field::BusyTime).map(Duration::from_micros);
                let age = match moved.heading() {
                    Heading::Outbound => busy.filter(|busy| !busy.is_zero()).unwrap_or(unseen).min(unseen),
                    Heading::Inbound => unseen,
                };
                (MonoTime::from_nanos(at.as_nanos() - units::duration::nanos(age)), Some(unseen), Moved::default())
            }
        };
        Self {
            ends: sighting.ends,
            uid: sighting.uid,
            inode: sighting.inode,
            walk,
            start,
            start_within,
            fin: sighting.fin,
            syn: None,
            before,
            last: moved,
            mark: before,
            last_moved: at,
            bulk: None,
            losses: LossCounts::default(),
            loss_events: Vec::new(),
            retransmit_runs: Vec::new(),
        }
    }

    /// What it has moved since the watch began.
    pub(super) fn watched(&self) -> Moved {
        self.last.since(self.before)
    }

    /// What it has moved since [`mark`](Self::mark) was called last.
    pub(super) fn since_mark(&self) -> Moved {
        self.last.since(self.mark)
    }

    pub(super) fn mark(&mut self) {
        self.mark = self.last;
        self.losses = LossCounts::default();
    }

    /// Losses since [`mark`](Self::mark) was called last.
    pub(super) fn losses(&self) -> LossCounts {
        self.losses
    }

    /// The sender took segments for lost.
    pub(super) fn lose(&mut self, loss: TimedLoss) {
        match loss.kind {
            LossEventKind::Recovery => self.losses.recoveries += 1,
            LossEventKind::Timeout => self.losses.timeouts += 1,
        }
        if self.loss_events.len() < MOST_LOSSES {
            self.loss_events.push(loss);
        }
    }

    /// It retransmitted something.
    pub(super) fn retransmit(&mut self, at: MonoTime) {
        loss::retransmitted(&mut self.retransmit_runs, at);
    }

    pub(super) fn is_bulk(&self) -> bool {
        self.bulk.is_some()
    }

    /// Keeps readings of it from here on.
    pub(super) fn keep_readings(&mut self, sighting: &Sighting, spacing: Duration) {
        if self.bulk.is_none() {
            let mut series = Series::new(spacing);
            series.push(Sample { reading: sighting.reading, unread: sighting.unread });
            let congestion_control = sighting.congestion_control.clone();
            self.bulk = Some(Box::new(Bulk { series, congestion_control }));
        }
    }

    /// Gives up its readings, to stay within the memory of all.
    pub(super) fn forget_readings(&mut self) {
        self.bulk = None;
    }

    /// Takes one more look at it.
    pub(super) fn see(&mut self, sighting: &Sighting) {
        self.inode = if sighting.inode == 0 { self.inode } else { sighting.inode };
        self.fin = sighting.fin;
        self.learn_syn(sighting);
        self.take(sighting, Moved::of(sighting));
    }

    fn take(&mut self, sighting: &Sighting, moved: Moved) {
        let at = sighting.reading.at;
        if moved.since(self.last).all() > 0 {
            self.last_moved = at;
        }
        self.last = moved;
        if let Some(bulk) = &mut self.bulk {
            bulk.series.push(Sample { reading: sighting.reading, unread: sighting.unread });
            if let Some(name) = &sighting.congestion_control {
                bulk.congestion_control = Some(name.clone());
            }
        }
    }

    /// With nothing outstanding and the connection open, what was acknowledged beyond the payload is our SYN.
    fn learn_syn(&mut self, sighting: &Sighting) {
        let reading = &sighting.reading;
        let quiet = reading.get(Field::Unacked) == Some(0) && reading.get(Field::Notsent) == Some(0);
        if self.syn.is_none() && quiet && sighting.fin == FinSeen::No {
            self.syn = reading.get(Field::BytesAcked).map(|acked| acked > reading.sent());
        }
    }

    /// The kernel's last word on it. `closed_first` says whether this host closed it first, where somebody asked.
    pub(super) fn end(&mut self, sighting: &Sighting, closed_first: Option<ClosedFirst>) -> ReceivedCount {
        let reading = &sighting.reading;
        let (fin, count) = self.fin_of(sighting, closed_first);
        let mut moved = Moved::of(sighting);
        moved.received = reading.received().saturating_sub(u64::from(fin));
        let grew = moved.since(self.last);
        self.take(sighting, moved);
        if grew.all() > 0
            && let Some(quiet) = sighting.quiet(moved.heading())
        {
            let quiet = units::duration::nanos(quiet);
            self.last_moved = MonoTime::from_nanos(reading.at.as_nanos().saturating_sub(quiet)).max(self.start);
        }
        count
    }

    /// Whether the last count of received bytes has a FIN in it.
    fn fin_of(&self, sighting: &Sighting, closed_first: Option<ClosedFirst>) -> (bool, ReceivedCount) {
        let reading = &sighting.reading;
        if self.fin == FinSeen::Yes {
            // A walk reads the state before the counters: the FIN may have come between.
            return (true, ReceivedCount::OneByteMore);
        }
        if reading.received() == 0 {
            return (false, ReceivedCount::Exact);
        }
        let beyond = reading.get(Field::BytesAcked).map(|acked| acked.saturating_sub(reading.sent()));
        let own_fin_acked = beyond.map(|beyond| beyond > u64::from(self.syn.unwrap_or(false)));
        match (own_fin_acked, closed_first) {
            // Our FIN was acknowledged, and nobody waits for stray segments: the peer had closed before us.
            (Some(true) | None, Some(ClosedFirst::No)) => (true, ReceivedCount::OneByteMore),
            // A reset, or a close by this host: the peer's FIN may have come since the last walk.
            _ => (false, ReceivedCount::OneByteMore),
        }
    }

    /// Its whole life, as far as it was watched.
    pub(super) fn whole(&self, ending: Ending) -> Span {
        let samples = self.bulk.as_ref().map(|bulk| &bulk.series);
        let spacing = samples.map_or(Duration::ZERO, Series::spacing);
        self.span(samples.map(Series::whole).unwrap_or_default(), spacing, ending)
    }

    /// The last seconds of it; none where there are too few readings.
    pub(super) fn recent(&self, spacing: Duration) -> Option<Span> {
        let bulk = self.bulk.as_ref()?;
        let samples = bulk.series.recent();
        let (first, last) = (samples.front()?, samples.back()?);
        if samples.len() < FEWEST || first.reading.at == last.reading.at {
            return None;
        }
        let steps = u32::try_from(samples.len() - 1).unwrap_or(u32::MAX);
        let achieved = last.reading.at.since(first.reading.at) / steps.max(1);
        let mut span = self.span(samples.iter().copied().collect(), spacing.max(achieved), Ending::OPEN);
        span.start = first.reading.at;
        span.start_within = None;
        span.end = last.reading.at;
        span.before = first.reading.moved(span.heading);
        Some(span)
    }

    fn span(&self, samples: Vec<Sample>, spacing: Duration, ending: Ending) -> Span {
        let heading = self.watched().heading();
        let before = match heading {
            Heading::Outbound => self.before.sent,
            Heading::Inbound => self.before.received,
        };
        Span {
            ends: self.ends,
            heading,
            sent: self.last.sent,
            received: self.last.received,
            before,
            start: self.start,
            start_within: self.start_within,
            end: self.last_moved.max(self.start),
            ending,
            retransmits: self.last.since(self.before).retransmits.into(),
            congestion_control: self.bulk.as_ref().and_then(|bulk| bulk.congestion_control.clone()),
            spacing,
            samples,
            losses: self.loss_events.clone(),
            runs: self.retransmit_runs.clone(),
        }
    }

    pub(super) fn last_reading(&self) -> Option<&Sample> {
        self.bulk.as_ref()?.series.last()
    }

    pub(super) fn moved(&self) -> Moved {
        self.last
    }
}

/// Whether this host closed a connection first, by what waits for stray segments after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosedFirst {
    /// Nothing waits: the peer closed first.
    No,
    /// It waits for the peer's FIN (`FIN_WAIT2`).
    PeerStillOpen,
    /// Both have closed (`TIME_WAIT`): whether the socket or what waits took the peer's FIN is not known.
    Both,
}

/// More would say the same: it loses again and again.
const MOST_LOSSES: usize = 64;
/// Fewer readings say nothing.
const FEWEST: usize = 3;
