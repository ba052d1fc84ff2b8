//! What carries frames through chains in real time.
//!
//! A wire is two TAP devices, one in each host's namespace, and a [`path::Chain`] for each direction. The relay reads a
//! frame from one device, offers it to the chain at the instant at which it has read it, and writes to the other device
//! what comes out, at the instant at which it comes out or as soon after as it can. How much later that was is measured
//! ([`Lateness`]), and a run in which the relay was the limit says so ([`Report::limited`]).
//!
//! * [`Relay`], [`Wire`], [`Options`]: starting and stopping
//! * [`emulated_clock`]: the time of the paths, which stands still while the relay does not run
//! * [`conditions`]: how well it kept its times while a test ran
//! * [`report`]: what it did, and the rule by which it was the limit
//! * [`log`]: what happened to which packets
//! * [`telemetry`]: what queues report to a collector of INT
//! * [`probe`]: what this machine's relay can carry
//! * [`frame`]: frames, and how they are cut and changed
//!
//! A direction belongs to one thread, which never sleeps when the next deadline is near: it looks at its devices and the
//! clock in turn. Frames lie where they were read until their last packet has ended; those that come out as they came
//! are written as they lie, and of others only the headers are made anew.
//!
//! Model: a frame comes when the relay reads it. What it waited for before that is part of no delay.

pub mod conditions;
mod direction;
pub mod emulated_clock;
pub mod frame;
mod lateness;
pub mod log;
pub mod probe;
pub mod report;
mod store;
pub mod telemetry;
mod worker;

use std::io;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use linux::readiness::{Bell, Readiness};
use linux::tap::Tap;
use linux::{affinity, clock};
use path::{Chain, PathElement, Seed, SpecError};
use units::{ByteCount, MonoTime};

use direction::{Direction, Shared, Turn};
use emulated_clock::ThreadClock;
use log::{Events, Log};
use store::Store;
use telemetry::IntReporter;
use worker::{Ask, Part, Usage, Worker};

pub use direction::Becomes;
pub use emulated_clock::{EmulatedClock, Pace};
pub use lateness::Lateness;
use report::Kept;
pub use report::{DirectionReport, Limit, Limited, Report, ThreadReport, WireReport};

/// A cable between two hosts.
#[derive(Debug)]
pub struct Wire {
    /// Name of the link in the scenario.
    pub name: String,
    /// TAP devices of the two hosts.
    pub taps: [Tap; 2],
    /// What happens to packets from end 0 to end 1, and back.
    pub stages: [Vec<PathElement>; 2],
    /// Who says that a packet is too big, in each direction.
    pub reporters: [Vec<IpAddr>; 2],
    /// Where its chance comes from.
    pub seed: Seed,
}

/// How a relay works.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many threads; by default as many as there are processors but one, and never more than directions.
    pub threads: Option<NonZeroUsize>,
    /// The most memory for frames under way, of all threads together.
    pub memory: ByteCount,
    /// How many events are kept until somebody asks for them.
    pub events: usize,
    /// How long before a deadline a thread stops sleeping. It wakes about so late from sleep.
    pub spin: Duration,
    /// Packets of one frame that come out within this time are written as one frame again; each by itself where it is
    /// [`None`].
    ///
    /// Model: so does an adapter that merges what it receives, and waits about so long before it tells of it (`gro`,
    /// `rx-usecs`).
    pub together: Option<Duration>,
    /// How fast the clock of the paths goes while the relay runs.
    pub pace: Pace,
    /// Where queues report to, as switches do.
    pub telemetry: Option<telemetry::IntTarget>,
    /// How late one train in a hundred may be before the relay says that it was the limit.
    pub late: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: None,
            memory: ByteCount::new(2 << 30),
            events: 1 << 20,
            spin: Duration::from_micros(20),
            together: Some(Duration::from_micros(50)),
            pace: Pace::REAL,
            telemetry: None,
            late: Duration::from_millis(1),
        }
    }
}

/// Why a relay cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// A chain that cannot be.
    #[error("wire {wire}, direction {direction}")]
    Chain {
        /// Name of the link.
        wire: String,
        /// Which direction.
        direction: usize,
        /// What is wrong with it.
        source: SpecError,
    },
    /// The kernel refused something.
    #[error("the relay cannot {step}")]
    System {
        /// What it tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Threads that carry frames. They end with this, if not before.
#[derive(Debug)]
pub struct Relay {
    names: Vec<String>,
    threads: Vec<Thread>,
    clock: Arc<EmulatedClock>,
    began: MonoTime,
    late: Duration,
}

#[derive(Debug)]
struct Thread {
    asks: Sender<Ask>,
    bell: Bell,
    handle: JoinHandle<(Part, Events)>,
}

impl Relay {
    /// Starts to carry frames. The clock of all chains starts at `start`, which may be before now or after.
    ///
    /// # Errors
    /// See [`RelayError`]; nothing runs then.
    pub fn start(wires: Vec<Wire>, start: MonoTime, options: &Options) -> Result<Self, RelayError> {
        let names: Vec<String> = wires.iter().map(|wire| wire.name.clone()).collect();
        let allowed = affinity::allowed_cpus().map_err(system("see which CPUs it may use"))?;
        let wanted = options.threads.map_or(allowed.len().saturating_sub(1), NonZeroUsize::get);
        let count = wanted.clamp(1, (2 * wires.len()).max(1));
        let mut groups: Vec<Vec<Direction>> = (0..count).map(|_| Vec::new()).collect();
        for (number, wire) in wires.into_iter().enumerate() {
            for (way, direction) in directions(number, wire, (start, options.together))?.into_iter().enumerate() {
                groups[(number + way) % count].push(direction);
            }
        }
        let clock = Arc::new(EmulatedClock::new(start, options.pace));
        let mut relay =
            Self { names, threads: Vec::new(), clock: Arc::clone(&clock), began: clock::now(), late: options.late };
        for (number, group) in groups.into_iter().enumerate() {
            // The last processors, since interrupts and most programs prefer the first.
            let spare = allowed.len() >= count + CPUS_FOR_HOSTS;
            let processor = spare.then(|| allowed[allowed.len() - 1 - number]);
            relay.threads.push(Thread::start(number, group, (count, &clock), processor, options)?);
        }
        Ok(relay)
    }

    /// What it did so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let (answer, answers) = channel();
        self.ask(|| Ask::Report(answer.clone()));
        drop(answer);
        self.assemble(answers.iter().collect())
    }

    /// What happened since this was last asked.
    #[must_use]
    pub fn events(&self) -> Events {
        let (answer, answers) = channel();
        self.ask(|| Ask::Events(answer.clone()));
        drop(answer);
        Events::join(answers.iter())
    }

    /// Has an element of a wire's direction become something else, and returns once it has.
    pub fn turn(&self, direction: (usize, usize), place: usize, becomes: &Becomes) {
        let (answer, answers) = channel();
        let turn = || Turn { direction, place, becomes: becomes.clone() };
        self.ask(|| Ask::Turn(turn(), answer.clone()));
        drop(answer);
        // Nobody answers for a direction that is not there, nor from a thread that has ended.
        let _ = answers.recv();
    }

    /// The clock of its paths.
    #[must_use]
    pub fn clock(&self) -> &Arc<EmulatedClock> {
        &self.clock
    }

    /// The names of its wires, in the order in which events number them.
    #[must_use]
    pub fn wires(&self) -> &[String] {
        &self.names
    }

    /// Stops it. What is under way is gone, and so are the devices. Returns what it did, and what happened since it
    /// was last asked for events.
    #[must_use]
    pub fn stop(mut self) -> (Report, Events) {
        let (parts, events): (Vec<Part>, Vec<Events>) = self.end().into_iter().unzip();
        (self.assemble(parts), Events::join(events))
    }

    fn ask(&self, ask: impl Fn() -> Ask) {
        for thread in &self.threads {
            // A thread that has ended gives no answer.
            let _ = thread.asks.send(ask());
            thread.bell.ring();
        }
    }

    fn end(&mut self) -> Vec<(Part, Events)> {
        self.ask(|| Ask::Stop);
        let ended = self.threads.drain(..).map(|thread| thread.handle.join());
        ended.map(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    }

    fn assemble(&self, parts: Vec<Part>) -> Report {
        let named = |name: &String| WireReport { name: name.clone(), directions: Default::default() };
        let mut wires: Vec<WireReport> = self.names.iter().map(named).collect();
        let mut threads = Vec::new();
        for part in parts {
            for ((wire, direction), report) in part.directions {
                wires[wire].directions[direction] = report;
            }
            threads.push(part.thread);
        }
        let elapsed = clock::now().since(self.began);
        let kept = Kept { elapsed, stopped: self.clock.stopped() };
        let limited = report::judge(&wires, &threads, kept, self.late);
        Report { elapsed, stopped: kept.stopped, wires, threads, limited }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ask(|| Ask::Stop);
        for thread in self.threads.drain(..) {
            // A panic of a thread was printed by it, and dropping must not panic once more.
            let _ = thread.handle.join();
        }
    }
}

impl Thread {
    fn start(
        number: usize,
        directions: Vec<Direction>,
        (of, clock): (usize, &Arc<EmulatedClock>),
        processor: Option<usize>,
        options: &Options,
    ) -> Result<Self, RelayError> {
        let readiness = Readiness::new().map_err(system("wait for devices"))?;
        for (place, direction) in (0..).zip(&directions) {
            readiness.add(&**direction.source(), place).map_err(system("wait for a device"))?;
        }
        let bell = readiness.bell();
        let unread_before = directions.iter().map(|direction| direction.source().unread().unwrap_or(0)).collect();
        let memory = ByteCount::new(options.memory.get() / of as u64);
        let (asks, receiver) = channel();
        let clock = ThreadClock::new(Arc::clone(clock));
        let telemetry =
            options.telemetry.map(IntReporter::open).transpose().map_err(system("report to the collector"))?;
        let shared = Shared { store: Store::new(memory), log: Log::new(options.events / of), clock, telemetry };
        let worker = Worker {
            directions,
            unread_before,
            shared,
            readiness,
            asks: receiver,
            processor,
            spin: options.spin,
            usage: Usage::new(linux::clock::now()),
        };
        let named = std::thread::Builder::new().name(format!("relay-{number}"));
        let handle = named.spawn(|| worker.run()).map_err(system("start a thread"))?;
        Ok(Self { asks, bell, handle })
    }
}

fn directions(number: usize, wire: Wire, manner: (MonoTime, Option<Duration>)) -> Result<[Direction; 2], RelayError> {
    let Wire { name, taps, stages, reporters, seed } = wire;
    let [near, far] = taps.map(Arc::new);
    let [there, back] = stages;
    let [of_there, of_back] = reporters;
    let chain = |direction: usize, stages: &[PathElement]| {
        Chain::new(stages, seed.part(direction as u64), manner.0).map_err(|source| RelayError::Chain {
            wire: name.clone(),
            direction,
            source,
        })
    };
    let ends = [Arc::clone(&near), Arc::clone(&far)];
    Ok([
        Direction::new(chain(0, &there)?, (number, 0), ends, of_there, manner),
        Direction::new(chain(1, &back)?, (number, 1), [far, near], of_back, manner),
    ])
}

fn system(step: &'static str) -> impl Fn(io::Error) -> RelayError {
    move |source| RelayError::System { step, source }
}

/// How many processors are left to the hosts before a thread of the relay gets one to itself.
const CPUS_FOR_HOSTS: usize = 2;
