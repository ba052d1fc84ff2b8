//! Intervals of this host, as they pass.

use std::io;
use std::time::Duration;

use linux::netns::{self, NetnsError, NetnsRef};
use linux::packet_socket::FrameCounter;
use linux::readiness::{Patience, Readiness};
use linux::{Unavailable, clock, host};
use model::host::drops::{DropInterval, FlowDrops, Retransmits};
use model::host::fact::{Fact, Missing, Source};
use units::{MonoTime, WallTime};

use super::frames::Listeners;
use super::increase;
use super::reasons::ReasonCounter;
use super::retransmits::{self, RetransmitCounters, RetransmitEvents, SocketTotals};
use super::sockets::{self, DropsBySocket};
use super::totals::{self, Totals};
use crate::live::file::answered;

/// What to watch.
#[derive(Debug, Clone)]
pub struct Request {
    /// Network namespaces; none for that of the calling thread.
    pub namespaces: Vec<NetnsRef>,
    /// How long an interval is.
    pub interval: Duration,
    /// How many intervals; none for no end.
    pub intervals: Option<u64>,
    /// Whether frames are counted as well.
    pub frames: FrameWatch,
}

/// Whether frames are counted by VLAN and protocol. It takes `CAP_NET_RAW`, and the kernel then no longer counts
/// untagged frames that nobody handles as dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameWatch {
    /// They are.
    On,
    /// They are not.
    Off,
}

/// Why watching ended early.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// A namespace cannot be entered, or has gone.
    #[error(transparent)]
    Namespace(#[from] NetnsError),
    /// The kernel has no files to give, or refuses to wait.
    #[error("cannot wait for what the kernel tells")]
    Waiting(#[from] io::Error),
}

/// Tells `each` what was counted in every interval of every namespace, until `stopped`.
///
/// # Errors
/// See [`WatchError`].
pub fn watch(
    request: &Request,
    stopped: impl Fn() -> bool,
    mut each: impl FnMut(DropInterval),
) -> Result<(), WatchError> {
    let mut watcher = Watcher::open(request)?;
    let mut end = clock::now();
    let mut told = 0;
    while request.intervals.is_none_or(|intervals| told < intervals) {
        end = next_end(end, request.interval, clock::now());
        if !watcher.wait_until(end, &stopped)? {
            break;
        }
        watcher.intervals(&mut each)?;
        told += 1;
    }
    Ok(())
}

/// When the interval ends that follows one which ended at `last`. Ends that have passed already, because reading took
/// long or the machine slept, are left out: an interval is long then, and no burst of empty ones makes up for it.
fn next_end(last: MonoTime, interval: Duration, now: MonoTime) -> MonoTime {
    let behind = now.since(last).as_nanos() / interval.as_nanos().max(1);
    last + interval.saturating_mul(u32::try_from(behind).unwrap_or(u32::MAX).saturating_add(1))
}

/// How often events are taken out of the kernel's rings at least, and the end is looked for.
const GLANCE: Duration = Duration::from_millis(100);

struct Watcher {
    host: String,
    places: Vec<Place>,
    reasons: Result<ReasonCounter, Unavailable>,
    events: Result<RetransmitEvents, Unavailable>,
    readiness: Readiness,
}

/// One namespace that is watched.
struct Place {
    reference: Option<NetnsRef>,
    last: Reading,
    started: WallTime,
    sockets: RetransmitCounters,
    listeners: Option<Result<Listeners, Unavailable>>,
}

/// What is read in a namespace at the end of an interval.
struct Reading {
    totals: Totals,
    datagrams: Result<DropsBySocket, String>,
    sockets: Option<Result<SocketTotals, String>>,
}

/// By what retransmits are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetransmitSource {
    /// A tracepoint, one event for each.
    Events,
    /// The counters of all sockets, which end with them.
    Sockets,
}

impl RetransmitSource {
    fn of(events: &Result<RetransmitEvents, Unavailable>) -> Self {
        if events.is_ok() { Self::Events } else { Self::Sockets }
    }
}

impl Watcher {
    fn open(request: &Request) -> Result<Self, WatchError> {
        let own = request.namespaces.is_empty();
        let references: Vec<Option<NetnsRef>> =
            if own { vec![None] } else { request.namespaces.iter().cloned().map(Some).collect() };
        // Events are of the whole host, so they say nothing of one namespace that was asked for.
        let events = if own { RetransmitEvents::open() } else { Err(not_asked_for()) };
        let source = RetransmitSource::of(&events);
        let places: Result<Vec<Place>, NetnsError> =
            references.into_iter().map(|reference| Place::open(reference, request.frames, source)).collect();
        let watcher = Self {
            host: host::hostname(),
            places: places?,
            reasons: ReasonCounter::open(),
            events,
            readiness: Readiness::new()?,
        };
        watcher.register()?;
        Ok(watcher)
    }

    /// Which file it is that has something does not matter: all are emptied.
    fn register(&self) -> io::Result<()> {
        for file in self.reasons.iter().flat_map(|counter| counter.events.files()) {
            self.readiness.add(file, 0)?;
        }
        for file in self.events.iter().flat_map(|counter| counter.events.files()) {
            self.readiness.add(file, 0)?;
        }
        for listener in self.places.iter().flat_map(Place::listening) {
            self.readiness.add(listener, 0)?;
        }
        Ok(())
    }

    /// Returns whether the instant has come.
    fn wait_until(&mut self, instant: MonoTime, stopped: &impl Fn() -> bool) -> io::Result<bool> {
        loop {
            // First: where reading takes longer than an interval, there is never a moment to wait.
            if stopped() {
                return Ok(false);
            }
            let now = clock::now();
            if now >= instant {
                return Ok(true);
            }
            self.readiness.wait(Patience::For(instant.since(now).min(GLANCE)), |_| {})?;
            self.drain();
        }
    }

    fn drain(&mut self) {
        let _ = self.reasons.as_mut().map(ReasonCounter::drain);
        let _ = self.events.as_mut().map(RetransmitEvents::drain);
        for listeners in self.places.iter_mut().filter_map(|place| place.listeners.as_mut()?.as_mut().ok()) {
            listeners.drain();
        }
    }

    fn intervals(&mut self, each: &mut impl FnMut(DropInterval)) -> Result<(), WatchError> {
        let source = RetransmitSource::of(&self.events);
        for number in 0..self.places.len() {
            let mut interval = self.places[number].interval(&self.host, source)?;
            if number == 0 {
                let reasons = self.reasons.as_mut().map(ReasonCounter::take).map_err(|error| error.clone());
                interval.reasons = Some(answered(reasons, Source("tracepoint skb:kfree_skb".to_owned())));
                if let Ok(events) = &mut self.events {
                    let source = Source("tracepoint tcp:tcp_retransmit_skb".to_owned());
                    interval.retransmits = Fact::known(events.take(), source);
                }
            }
            each(interval);
        }
        Ok(())
    }
}

impl Place {
    fn open(reference: Option<NetnsRef>, frames: FrameWatch, source: RetransmitSource) -> Result<Self, NetnsError> {
        let (last, listeners) = within(reference.as_ref(), || {
            let listeners = (frames == FrameWatch::On).then(Listeners::open);
            (Reading::take(source), listeners)
        })?;
        let mut sockets = RetransmitCounters::default();
        if let Some(Ok(now)) = &last.sockets {
            sockets.advance(now);
        }
        Ok(Self { reference, last, started: clock::wall_now(), sockets, listeners })
    }

    fn listening(&self) -> impl Iterator<Item = &FrameCounter> {
        self.listeners.iter().flatten().flat_map(Listeners::counters)
    }

    fn interval(&mut self, host: &str, source: RetransmitSource) -> Result<DropInterval, NetnsError> {
        let now = within(self.reference.as_ref(), || Reading::take(source))?;
        let (counters, mut unknown) = increase::between(&self.last.totals, &now.totals);
        let frames = self.listeners.as_mut().map(|listeners| {
            let counted = listeners.as_mut().map(|listeners| listeners.take(&mut unknown));
            answered(counted.map_err(|error| error.clone()), Source("packet socket".to_owned()))
        });
        let interval = DropInterval {
            format: DropInterval::FORMAT,
            host: host.to_owned(),
            namespace: self.reference.as_ref().map(ToString::to_string),
            start: self.started,
            length: now.totals.taken.since(self.last.totals.taken),
            counters,
            unknown,
            reasons: None,
            frames,
            flows: Some(flows(&self.last, &now)),
            retransmits: self.by_sockets(&now),
        };
        (self.last, self.started) = (now, clock::wall_now());
        Ok(interval)
    }

    fn by_sockets(&mut self, now: &Reading) -> Fact<Retransmits> {
        let source = Source::netlink("SOCK_DIAG_BY_FAMILY");
        match &now.sockets {
            Some(Ok(sockets)) => Fact::known(self.sockets.advance(sockets), source),
            Some(Err(reason)) => Fact::missing(Missing::Failed { reason: reason.clone() }, source),
            // The events that replace it are put there by whoever has them.
            None => Fact::missing(Missing::Absent, source),
        }
    }
}

impl Reading {
    fn take(source: RetransmitSource) -> Self {
        let sockets =
            (source == RetransmitSource::Sockets).then(|| retransmits::sockets().map_err(|error| error.to_string()));
        let datagrams = sockets::sockets().map_err(|error| error.to_string());
        Self { totals: totals::read(), datagrams, sockets }
    }
}

fn flows(before: &Reading, now: &Reading) -> Fact<Vec<FlowDrops>> {
    let source = Source::netlink("SOCK_DIAG_BY_FAMILY");
    match (&before.datagrams, &now.datagrams) {
        (Ok(before), Ok(now)) => Fact::known(sockets::between(before, now), source),
        (Err(reason), _) | (_, Err(reason)) => Fact::missing(Missing::Failed { reason: reason.clone() }, source),
    }
}

/// Runs `work` in a namespace, the calling thread's own without a reference.
fn within<T: Send>(reference: Option<&NetnsRef>, work: impl FnOnce() -> T + Send) -> Result<T, NetnsError> {
    match reference {
        Some(reference) => netns::with_netns(reference, work),
        None => Ok(work()),
    }
}

fn not_asked_for() -> Unavailable {
    Unavailable { what: "tcp/tcp_retransmit_skb".to_owned(), reason: linux::Reason::Unsupported }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_have_passed_are_left_out() {
        let (start, second) = (MonoTime::from_nanos(5), Duration::from_secs(1));
        let after = |millis| start + Duration::from_millis(millis);
        assert_eq!(next_end(start, second, start), after(1_000));
        assert_eq!(next_end(start, second, after(999)), after(1_000));
        assert_eq!(next_end(start, second, after(1_000)), after(2_000));
        assert_eq!(next_end(start, second, after(3_600_500)), after(3_601_000), "after an hour of sleep");
    }
}
