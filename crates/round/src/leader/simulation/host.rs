//! Hosts of a simulation, and what is wrong with them.

use std::collections::BTreeSet;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use path::random::SeededRng;
use units::MonoTime;

use super::clock::VirtualClock;

/// What is wrong with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    Honest,
    /// From then on nothing that runs there says anything or ends, nor does what is started.
    Hangs(MonoTime),
    /// What it says is beyond what is real.
    Lies,
    /// From then on its programs say more than anybody wants, without an end.
    Floods(MonoTime),
    /// From then on the connection to it is cut.
    Cut(MonoTime),
    /// Its clock is so far ahead, or behind.
    Clock(Offset),
    /// All takes it so much longer.
    Slow(u32),
    /// Something else has its CPUs while it first sends to each host.
    Busy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offset {
    Ahead(Duration),
    Behind(Duration),
}

/// Whether a host answers others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    Gone,
}

/// Whether a flow had a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contention {
    Free,
    Starved,
}

/// Hosts that are simulated together.
#[derive(Debug)]
pub(super) struct Hosts {
    pub(super) natures: Vec<Nature>,
    pub(super) clock: VirtualClock,
    /// Programs that run.
    pub(super) alive: AtomicUsize,
    /// From when to when each flow loaded which hosts.
    pub(super) loads: Mutex<Vec<Load>>,
    /// Pairs of which a flow was asked for.
    sent: Mutex<BTreeSet<[usize; 2]>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) hosts: [usize; 2],
    pub(super) from: MonoTime,
    pub(super) until: MonoTime,
}

impl Hosts {
    pub(super) fn new(natures: Vec<Nature>, clock: VirtualClock) -> Arc<Self> {
        Arc::new(Self { natures, clock, alive: AtomicUsize::new(0), loads: Mutex::default(), sent: Mutex::default() })
    }

    /// What a flow that is asked for now meets at its sender.
    pub(super) fn flow(&self, pair: [usize; 2]) -> Contention {
        let is_first = self.sent.lock().unwrap().insert(pair);
        if is_first && self.natures[pair[0]] == Nature::Busy { Contention::Starved } else { Contention::Free }
    }

    /// Whether a host can still be asked by another one.
    pub(super) fn presence(&self, host: usize, now: MonoTime) -> Presence {
        match self.natures[host] {
            Nature::Hangs(since) | Nature::Cut(since) if now >= since => Presence::Gone,
            _ => Presence::There,
        }
    }
}

/// The name of a host, which is its address as well.
pub(super) fn name(host: usize) -> String {
    format!("h{host}")
}

pub(super) fn number(name: &str) -> usize {
    name.trim_start_matches('h').parse().unwrap()
}

/// What is wrong with each of so many hosts; most are well.
pub(super) fn natures(count: usize, rng: &mut SeededRng) -> Vec<Nature> {
    (0..count).map(|_| if rng.hits(0.55) { Nature::Honest } else { nature(rng) }).collect()
}

fn nature(rng: &mut SeededRng) -> Nature {
    // From the first question to after the last test.
    let since = MonoTime::from_nanos(rng.below(240) * 1_000_000_000);
    let seconds = Duration::from_secs(2 + rng.below(86_400));
    match rng.below(8) {
        0 => Nature::Hangs(since),
        1 => Nature::Lies,
        2 => Nature::Floods(since),
        3 => Nature::Cut(since),
        4 => Nature::Clock(Offset::Ahead(seconds)),
        5 => Nature::Clock(Offset::Behind(seconds)),
        6 => Nature::Busy,
        _ => Nature::Slow(2 + u32::try_from(rng.below(40)).unwrap()),
    }
}

pub(super) fn code(code: i32) -> ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(code << 8)
}
