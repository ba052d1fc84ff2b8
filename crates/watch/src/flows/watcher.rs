//! The loop that watches.

use std::io;
use std::time::Duration;

use linux::clock;
use linux::monitor::Heard;
use linux::netlink::NetlinkError;
use linux::netns::{self, NetnsError};
use linux::readiness::{Patience, Readiness};
use linux::sock_diag::{DestroyedSockets, Ends as SocketEnds, KnownSocket, SockDiag, SocketDetail, StateSet, TcpState};
use linux::sockets::Transport;
use model::series::RunSamples;
use model::transfer::{FlowInterval, Transfer};
use passive::flows::ClosedFirst;
use passive::flows::reading::Ends;
use passive::flows::table::{Ended, LastWords, Table, Wanted};
use units::MonoTime;

use super::interval::{LossEvents, Reporter, other_namespaces};
use super::request::Request;
use super::sighting::sighting;
use crate::tcp_events::{LossWatch, RetransmitWatch};

/// Why watching ended early.
#[derive(Debug, thiserror::Error)]
pub enum FlowWatchError {
    /// The namespace cannot be entered, or has gone.
    #[error(transparent)]
    Namespace(#[from] NetnsError),
    /// The kernel does not list its sockets.
    #[error("the kernel does not list its TCP connections")]
    Sockets(#[from] NetlinkError),
    /// The kernel refuses to wait.
    #[error("cannot wait for what the kernel tells")]
    Waiting(#[from] io::Error),
}

/// Hands every interval to `each`, with the samples of the transfers that ended in it, until `stopped`. At the end all
/// transfers that go on are handed over as well.
///
/// # Errors
/// See [`FlowWatchError`].
pub fn watch(
    request: &Request,
    stopped: impl Fn() -> bool + Send,
    each: impl FnMut(FlowInterval, Vec<(Transfer, RunSamples)>) + Send,
) -> Result<(), FlowWatchError> {
    match &request.namespace {
        Some(reference) => netns::with_netns(reference, || within(request, stopped, each))?,
        None => within(request, stopped, each),
    }
}

fn within(
    request: &Request,
    stopped: impl Fn() -> bool,
    mut each: impl FnMut(FlowInterval, Vec<(Transfer, RunSamples)>),
) -> Result<(), FlowWatchError> {
    let mut watcher = Watcher::open(request)?;
    watcher.first_walk()?;
    let mut due = clock::now();
    let mut done = 0;
    while request.intervals.is_none_or(|intervals| done < intervals) {
        due = next(due, request.interval);
        if !watcher.wait_until(due, &stopped)? {
            break;
        }
        watcher.walk();
        watcher.report(&mut each);
        done += 1;
    }
    watcher.end(&mut each);
    Ok(())
}

/// When the next interval ends. Ends that have passed already, because the machine slept, are left out.
fn next(last: MonoTime, interval: Duration) -> MonoTime {
    let behind = clock::now().since(last).as_nanos() / interval.as_nanos().max(1);
    last + interval.saturating_mul(u32::try_from(behind).unwrap_or(u32::MAX).saturating_add(1))
}

struct Watcher<'a> {
    request: &'a Request,
    diag: SockDiag,
    destroyed: Option<DestroyedSockets>,
    losses: Option<LossWatch>,
    retransmits: Option<RetransmitWatch>,
    readiness: Readiness,
    table: Table,
    reporter: Reporter,
    /// The connections that are looked at between walks.
    busiest: Vec<KnownSocket>,
    /// How often they were looked at.
    looks: u64,
    ended: Vec<Ended>,
}

impl<'a> Watcher<'a> {
    fn open(request: &'a Request) -> Result<Self, FlowWatchError> {
        let readiness = Readiness::new()?;
        let mut not_seen = Vec::new();
        // It is opened before the first walk: what dies during that has a last word.
        let destroyed = match DestroyedSockets::open(QUEUE_BYTES) {
            Ok(destroyed) => {
                readiness.add(destroyed.file(), 0)?;
                Some(destroyed)
            }
            Err(error) => {
                not_seen.push(format!(
                    "{error}: transfers end with the totals of their last sample (CAP_NET_ADMIN is missing)"
                ));
                None
            }
        };
        let losses = match LossWatch::open() {
            Ok(losses) => Some(losses),
            Err(why) => {
                not_seen.push(format!("when TCP notices losses, only how many segments it retransmits: {why}"));
                None
            }
        };
        let retransmits = match RetransmitWatch::open() {
            Ok(retransmits) => Some(retransmits),
            // Who may not have the one may not have the other: that is said once.
            Err(_) if losses.is_none() => None,
            Err(why) => {
                not_seen.push(format!("when TCP retransmits, only how many segments: {why}"));
                None
            }
        };
        let others = other_namespaces();
        if others > 0 {
            not_seen.push(format!(
                "connections of {others} other network namespaces, such as containers: --netns NAME or pid:N watches one"
            ));
        }
        let last_words = if destroyed.is_some() { LastWords::Come } else { LastWords::Denied };
        let events = if losses.is_some() { LossEvents::Read } else { LossEvents::Denied };
        let wanted = Wanted { least: request.least, spacing: request.spacing, last_words };
        Ok(Self {
            diag: SockDiag::open()?,
            destroyed,
            readiness,
            table: Table::new(wanted),
            reporter: Reporter::new(request, not_seen, events),
            losses,
            retransmits,
            busiest: Vec::new(),
            looks: 0,
            ended: Vec::new(),
            request,
        })
    }

    /// The first walk decides whether there is anything to watch with.
    fn first_walk(&mut self) -> Result<(), FlowWatchError> {
        self.table.begin_walk(clock::now());
        let table = &mut self.table;
        self.diag.each_tcp(open_states(), |record| {
            if let Some(seen) = sighting(record, clock::now()) {
                table.see(&seen);
            }
        })?;
        self.table.end_walk();
        Ok(())
    }

    fn walk(&mut self) {
        self.table.begin_walk(clock::now());
        let table = &mut self.table;
        let walked = self.diag.each_tcp(open_states(), |record| {
            if let Some(seen) = sighting(record, clock::now()) {
                table.see(&seen);
            }
        });
        match walked {
            Ok(()) => self.ended.extend(self.table.end_walk()),
            Err(_) => {
                self.table.walk_failed();
                // What is left of its answers must not be taken for those of the next request.
                if let Ok(fresh) = SockDiag::open() {
                    self.diag = fresh;
                }
            }
        }
    }

    /// Returns whether the instant has come.
    fn wait_until(&mut self, instant: MonoTime, stopped: &impl Fn() -> bool) -> io::Result<bool> {
        let mut look = clock::now() + self.request.spacing;
        loop {
            if stopped() {
                return Ok(false);
            }
            let now = clock::now();
            if now >= instant {
                return Ok(true);
            }
            if now >= look {
                self.look();
                look = next(look, self.request.spacing);
                continue;
            }
            let until = look.min(instant).since(now).min(GLANCE);
            self.readiness.wait(Patience::For(until), |_| {})?;
            self.hear()?;
        }
    }

    /// Asks for the busiest connections.
    fn look(&mut self) {
        // Congestion control hardly ever changes.
        let detail =
            if self.looks.is_multiple_of(LOOKS_OF_NUMBERS) { SocketDetail::All } else { SocketDetail::Numbers };
        self.looks = self.looks.wrapping_add(1);
        let table = &mut self.table;
        // One that has gone has its last word, or is missed by the next walk; what a look misses the next one shows.
        let _ = self.diag.look(&self.busiest, detail, |record| {
            if let Some(seen) = sighting(record, clock::now()) {
                table.see(&seen);
            }
        });
    }

    /// Takes losses since the last look; a connection that has died since still has its own.
    fn notice_losses(&mut self) {
        let (table, now) = (&mut self.table, clock::now());
        let of_states = self.losses.as_mut().map_or(0, |events| events.drain(|ends, kind| table.loss(now, ends, kind)));
        let lost = of_states
            + self.retransmits.as_mut().map_or(0, |events| events.drain(|ends, _| table.retransmitted(now, ends)));
        if lost > 0 {
            self.table.lost_events(lost);
        }
    }

    /// Takes the last words that have come.
    fn hear(&mut self) -> io::Result<()> {
        self.notice_losses();
        let Some(destroyed) = &self.destroyed else { return Ok(()) };
        let (table, diag, ended) = (&mut self.table, &mut self.diag, &mut self.ended);
        let heard = destroyed.drain(|record| {
            let Some(seen) = sighting(record, clock::now()) else { return };
            ended.extend(table.last_word(&seen, |ends| closed_first(diag, ends)));
        })?;
        if heard == Heard::NotEverything {
            self.table.overrun();
        }
        Ok(())
    }

    fn report(&mut self, each: &mut impl FnMut(FlowInterval, Vec<(Transfer, RunSamples)>)) {
        let known = |(cookie, ends): (u64, Ends)| KnownSocket { ends: ends_of_socket(&ends), cookie };
        self.busiest = self.table.busiest(self.request.busiest).into_iter().map(known).collect();
        let finished = self.reporter.transfers(std::mem::take(&mut self.ended), clock::now());
        let interval = self.reporter.interval(&mut self.table, &finished);
        each(interval, finished);
    }

    /// The last interval, which may be short, with all transfers that go on.
    fn end(mut self, each: &mut impl FnMut(FlowInterval, Vec<(Transfer, RunSamples)>)) {
        if self.hear().is_err() {
            self.table.overrun();
        }
        let mut ended = std::mem::take(&mut self.ended);
        ended.extend(self.table.end());
        if !ended.is_empty() {
            let finished = self.reporter.transfers(ended, clock::now());
            let interval = self.reporter.interval(&mut self.table, &finished);
            each(interval, finished);
        }
    }
}

/// What waits for stray segments after the end of a connection (`struct inet_timewait_sock`) says who closed it first.
fn closed_first(diag: &mut SockDiag, ends: &Ends) -> Option<ClosedFirst> {
    match diag.lookup(Transport::Tcp, ends_of_socket(ends), None).ok()? {
        None => Some(ClosedFirst::No),
        Some(record) => match record.state() {
            Some(TcpState::FinWait2) => Some(ClosedFirst::PeerStillOpen),
            Some(TcpState::TimeWait) => Some(ClosedFirst::Both),
            // A new connection has the same ends already.
            _ => None,
        },
    }
}

fn ends_of_socket(ends: &Ends) -> SocketEnds {
    SocketEnds { local: ends.local, remote: ends.peer }
}

/// States in which a connection has moved data or may do so.
fn open_states() -> StateSet {
    let states = [TcpState::FinWait1, TcpState::FinWait2, TcpState::CloseWait, TcpState::LastAck, TcpState::Closing];
    states.into_iter().fold(StateSet::of(TcpState::Established), |set, state| set | StateSet::of(state))
}

/// Room for some thousands of last words; the kernel gives what `net.core.rmem_max` allows.
const QUEUE_BYTES: usize = 4 << 20;
/// How often the end is looked for at least.
const GLANCE: Duration = Duration::from_millis(100);
/// Of so many looks one asks for all.
const LOOKS_OF_NUMBERS: u64 = 10;
