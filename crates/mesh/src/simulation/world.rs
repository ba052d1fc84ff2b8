//! Events in order of time.

use std::collections::BTreeMap;
use std::time::Duration;

use path::Seed;
use path::random::SeededRng;
use plan::{Plan, PlanError};
use units::ByteCount;

use super::database::{Database, Reads, Tools};
use super::faults::{self, Fault, pick};
use super::hub::{Clocks, Hub};
use super::ledger::Ledger;
use super::machine::{Machine, Survival};
use super::network::{Link, Message, Network};
use super::settings::{Settings, SimulationError, Summary};
use crate::board::{Present, Rows};
use crate::clock;
use crate::rules::Rules;
use crate::run::{Expiry, LeaseName, Outcome, Priority, RunRow, RunState, Verdict};
use crate::timetable::{HostPair, OrderKey, Timetable, Wish, agents_of};

/// What happens at a moment.
#[derive(Debug)]
enum Event {
    Poll { agent: usize, life: u64 },
    TestEnds { agent: usize, life: u64, lease: LeaseName, outcome: Outcome },
    LeaseOver { agent: usize, life: u64 },
    AtHub(Link, Box<Message>),
    AtAgent(Link, Box<Message>),
    HubTick { hub: usize },
    Asked { agent: usize },
    Strikes(Fault),
    AgentStarts { agent: usize },
    HubStarts { hub: usize },
    DatabaseStarts,
    Heals { agent: usize },
    DiskFreed { agent: usize },
    AllHeal,
}

/// A mesh and its faults.
pub(super) struct World {
    settings: Settings,
    rng: SeededRng,
    now: Duration,
    events: BTreeMap<(Duration, u64), Event>,
    next_event: u64,
    timetable: Timetable,
    database: Database,
    hubs: Vec<Hub>,
    machines: Vec<Machine>,
    network: Network,
    ledger: Ledger,
    summary: Summary,
}

impl World {
    pub(super) fn new(settings: Settings, seed: Seed) -> Result<Self, SimulationError> {
        let mut rng = SeededRng::new(seed);
        let plan = plan_of(settings.agents)?;
        let timetable = Timetable::new(&plan, &agents_of(&plan), seed)?;
        let clocks = |rng: &mut SeededRng| Clocks {
            calendar_s: i64::try_from(rng.below(4)).unwrap_or(0) - 2,
            drift_ppm: i64::try_from(rng.below(400)).unwrap_or(0) - 200,
        };
        let hubs = (0..settings.hubs).map(|_| Hub::new(clocks(&mut rng))).collect();
        let machines = plan.hosts.iter().filter(|host| host.address.is_some());
        let machines = machines.map(|host| Machine::new(host.name.clone(), clocks(&mut rng))).collect();
        let mut world = Self {
            settings,
            now: Duration::ZERO,
            events: BTreeMap::new(),
            next_event: 0,
            timetable,
            database: Database::new(Rules::of(&plan)),
            hubs,
            machines,
            network: Network::new(settings.agents),
            ledger: Ledger::default(),
            summary: Summary::default(),
            rng,
        };
        world.begin();
        Ok(world)
    }

    fn begin(&mut self) {
        for (at, fault) in faults::plan(self.settings, &mut self.rng) {
            self.at(at, Event::Strikes(fault));
        }
        (0..self.settings.agents).for_each(|agent| self.at(Duration::ZERO, Event::Poll { agent, life: 0 }));
        (0..self.settings.hubs).for_each(|hub| self.at(Duration::ZERO, Event::HubTick { hub }));
        for _ in 0..self.rng.below(6) {
            let (at, agent) =
                (self.rng.below(self.settings.minutes * 60_000), pick(self.settings.agents, &mut self.rng));
            self.at(Duration::from_millis(at), Event::Asked { agent });
        }
        self.at(Duration::from_secs(self.settings.minutes * 60), Event::AllHeal);
    }

    pub(super) fn run(mut self) -> Summary {
        let end = Duration::from_secs((self.settings.minutes + HEALING_MINUTES) * 60);
        while let Some(((at, _), event)) = self.events.pop_first() {
            if at > end {
                break;
            }
            self.now = at;
            self.happens(event);
        }
        self.close_all();
        self.ledger.settle(self.database.runs.values());
        let closed = |run: &&RunRow| matches!(run.state, RunState::Closed { .. });
        Summary {
            violations: self.ledger.violations.clone(),
            planned: self.database.runs.len(),
            carried_out: self.ledger.carried_out(),
            stored: self.ledger.stored(),
            closed: self.database.runs.values().filter(closed).count(),
            ..self.summary
        }
    }

    /// A day and some later, hubs close what nobody has reported.
    fn close_all(&mut self) {
        let long_after = clock::later(self.hubs[0].clocks.calendar(self.now), Duration::from_secs(3 * 86_400));
        let mut board = crate::board::Board::new(Rules::default());
        let open = self.database.runs.values().filter(|run| !run.is_over()).cloned().collect();
        board.load(Rows { runs: open, ..Rows::default() });
        board.close(long_after);
        for run in board.take_changes().runs {
            self.database.runs.insert(run.id.clone(), run);
        }
    }

    fn at(&mut self, at: Duration, event: Event) {
        self.events.insert((at, self.next_event), event);
        self.next_event += 1;
    }

    fn after(&mut self, span: Duration, event: Event) {
        self.at(self.now + span, event);
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Poll { agent, life } => self.poll(agent, life),
            Event::TestEnds { agent, life, lease, outcome } => {
                if self.machines[agent].life == life {
                    self.machines[agent].end(&lease, outcome, &mut self.ledger);
                    self.step(agent);
                }
            }
            Event::LeaseOver { agent, life } => self.lease_over(agent, life),
            Event::AtHub(link, message) => self.at_hub(link, *message),
            Event::AtAgent(link, message) => self.at_agent(link.agent, *message),
            Event::HubTick { hub } => self.tick(hub),
            Event::Asked { agent } => self.asked(agent),
            Event::Strikes(fault) => self.strikes(fault),
            Event::AgentStarts { agent } => self.start_agent(agent),
            Event::HubStarts { hub } => self.hubs[hub].start(),
            Event::DatabaseStarts => self.database.is_up = true,
            Event::Heals { agent } => self.network.cut[agent] = 0,
            Event::DiskFreed { agent } => self.machines[agent].is_full = false,
            Event::AllHeal => self.heal(),
        }
    }

    fn send(&mut self, link: Link, message: &Message) {
        for delay in self.network.delays(link, &mut self.rng) {
            let event = match message {
                Message::Request(_) | Message::Delivery(_) => Event::AtHub(link, Box::new(message.clone())),
                Message::Reply(_) | Message::Acknowledgement(..) => Event::AtAgent(link, Box::new(message.clone())),
            };
            self.after(delay, event);
        }
    }

    // ----- agents -----

    fn poll(&mut self, agent: usize, life: u64) {
        if self.machines[agent].life != life || self.machines[agent].journal.is_none() {
            return;
        }
        let pause = Duration::from_millis(3_000 + self.rng.below(4_000));
        self.after(pause, Event::Poll { agent, life });
        let hub = pick(self.settings.hubs, &mut self.rng);
        let machine = &mut self.machines[agent];
        let now = machine.clocks.monotonic(self.now);
        let is_old = machine.is_old;
        let Some(journal) = &mut machine.journal else { return };
        let mut request = journal.request(journal.room(), now);
        if is_old {
            request.inventory = None;
        }
        let spool = journal.spool();
        self.send(Link { agent, hub }, &Message::Request(request));
        spool.into_iter().for_each(|delivery| self.send(Link { agent, hub }, &Message::Delivery(delivery)));
        self.step(agent);
    }

    fn at_agent(&mut self, agent: usize, message: Message) {
        let Some(journal) = &mut self.machines[agent].journal else { return };
        match message {
            Message::Reply(reply) => journal.reply(reply),
            Message::Acknowledgement(lease, verdict) if verdict != Verdict::Unknown => journal.acknowledged(&lease),
            _ => {}
        }
        self.step(agent);
    }

    /// Writes to disk, then begins what is to begin.
    fn step(&mut self, agent: usize) {
        if self.write(agent) != Survival::Alive {
            return;
        }
        loop {
            let machine = &mut self.machines[agent];
            let now = machine.clocks.monotonic(self.now);
            let Some(lease) = machine.journal.as_mut().and_then(|journal| journal.next(now)) else { break };
            match self.write(agent) {
                Survival::Alive => self.begin_test(agent, &lease.run),
                Survival::Unwritten => {
                    if let Some(journal) = &mut self.machines[agent].journal {
                        journal.not_begun(&lease.name());
                    }
                    return;
                }
                Survival::Killed => return,
            }
        }
        self.write(agent);
    }

    fn begin_test(&mut self, agent: usize, run: &RunRow) {
        self.ledger.begins(run);
        let (name, life) = (run.lease_name(), self.machines[agent].life);
        self.machines[agent].begin(name.clone());
        let bytes = ByteCount::new(1_000_000);
        let outcome = if self.rng.hits(0.9) {
            Outcome::Measured { bytes }
        } else {
            Outcome::Failed { reason: "the other end did not answer".to_owned() }
        };
        // Some tests hang, and are ended with their lease.
        let lasts = run.keep.mul_f64(0.5 + self.rng.unit() / 2.0) * if self.rng.hits(0.05) { 1_000 } else { 1 };
        self.after(lasts, Event::TestEnds { agent, life, lease: name, outcome });
        let machine = &self.machines[agent];
        if let Some(until) = machine.journal.as_ref().and_then(crate::agent::AgentJournal::ends_at) {
            let at = machine.clocks.truth(until).max(self.now);
            self.at(at, Event::LeaseOver { agent, life });
        }
    }

    fn lease_over(&mut self, agent: usize, life: u64) {
        let machine = &mut self.machines[agent];
        let Some(journal) = machine.journal.as_ref().filter(|_| machine.life == life) else { return };
        for name in journal.overdue(machine.clocks.monotonic(self.now)) {
            let reason = "it did not end in its time".to_owned();
            machine.end(&name, Outcome::Failed { reason }, &mut self.ledger);
        }
        self.step(agent);
    }

    fn write(&mut self, agent: usize) -> Survival {
        let survival = self.machines[agent].write(&mut self.ledger, &mut self.rng);
        if survival == Survival::Killed {
            let pause = Duration::from_millis(500 + self.rng.below(60_000));
            self.after(pause, Event::AgentStarts { agent });
        }
        survival
    }

    fn start_agent(&mut self, agent: usize) {
        if self.machines[agent].is_full {
            // It cannot count its start, and whoever starts it tries again.
            self.after(Duration::from_secs(5), Event::AgentStarts { agent });
        } else if self.machines[agent].journal.is_none() {
            self.machines[agent].start();
            let life = self.machines[agent].life;
            self.after(Duration::from_millis(100), Event::Poll { agent, life });
        }
    }

    // ----- hubs -----

    fn at_hub(&mut self, link: Link, message: Message) {
        let hub = &self.hubs[link.hub];
        if !hub.is_up {
            return;
        }
        let now = hub.clocks.calendar(self.now);
        let tools = &mut Tools { rng: &mut self.rng, ledger: &mut self.ledger };
        let answer = match message {
            Message::Request(request) => {
                let reads = Reads { now, run: None };
                let reply = self.database.transact(&reads, tools, |board| board.request(&request, &Present::All, now));
                reply.map(Message::Reply)
            }
            Message::Delivery(delivery) => {
                let reads = Reads { now, run: Some(delivery.lease.run.clone()) };
                let verdict = self.database.transact(&reads, tools, |board| board.deliver(&delivery, now));
                verdict.map(|verdict| Message::Acknowledgement(delivery.lease, verdict))
            }
            Message::Reply(_) | Message::Acknowledgement(..) => None,
        };
        if let Some(answer) = answer {
            self.send(link, &answer);
        }
    }

    /// Plans ahead, gives up leases that are over, closes windows.
    fn tick(&mut self, number: usize) {
        let pause = Duration::from_millis(3_000 + self.rng.below(3_000));
        self.after(pause, Event::HubTick { hub: number });
        let hub = &mut self.hubs[number];
        if !hub.is_up {
            return;
        }
        let (now, monotonic) = (hub.clocks.calendar(self.now), hub.clocks.monotonic(self.now));
        if self.now < Duration::from_secs(self.settings.minutes * 60) {
            let ahead = self.timetable.between(now, clock::later(now, Duration::from_secs(30)));
            self.database.insert(ahead);
        }
        let observer = &mut hub.observer;
        let reads = Reads { now, run: None };
        let expired =
            self.database.transact(&reads, &mut Tools { rng: &mut self.rng, ledger: &mut self.ledger }, |board| {
                board.close(now);
                let over = observer.seen(&board.leases(), monotonic);
                over.iter().filter(|version| board.expire(version) == Expiry::Expired).count()
            });
        self.summary.expired += expired.unwrap_or(0);
    }

    fn asked(&mut self, agent: usize) {
        let (from, to) =
            (self.machines[agent].name.clone(), self.machines[(agent + 1) % self.machines.len()].name.clone());
        let order = OrderKey { test: "tcp".to_owned(), group: "all".to_owned(), pair: HostPair { from, to } };
        let now = self.hubs[0].clocks.calendar(self.now);
        let run = self.timetable.out_of_turn(&Wish { order, priority: Priority::OnDemand }, now);
        self.database.insert(run.into_iter().collect());
    }

    // ----- faults -----

    fn strikes(&mut self, fault: Fault) {
        self.summary.faults += 1;
        match fault {
            Fault::AgentKilled { agent, for_ } => {
                self.machines[agent].kill(&mut self.ledger);
                self.after(for_, Event::AgentStarts { agent });
            }
            Fault::HubKilled { hub, for_ } => {
                self.hubs[hub].is_up = false;
                self.after(for_, Event::HubStarts { hub });
            }
            Fault::DatabaseDown { for_ } => {
                self.database.is_up = false;
                self.after(for_, Event::DatabaseStarts);
            }
            Fault::Partition { agent, hubs, for_ } => {
                self.network.cut[agent] |= hubs;
                self.after(for_, Event::Heals { agent });
            }
            Fault::CalendarSet { hub, seconds } => self.hubs[hub].clocks.calendar_s += seconds,
            Fault::DiskFull { agent, for_ } => {
                self.machines[agent].is_full = true;
                self.after(for_, Event::DiskFreed { agent });
            }
            Fault::OldProgram { agent } => self.machines[agent].is_old = true,
        }
    }

    fn heal(&mut self) {
        self.network.is_healed = true;
        self.database.is_up = true;
        for number in 0..self.hubs.len() {
            if !self.hubs[number].is_up {
                self.hubs[number].start();
            }
        }
        self.machines.iter_mut().for_each(|machine| machine.is_full = false);
        (0..self.machines.len()).for_each(|agent| self.start_agent(agent));
    }
}

/// A full mesh with a shared segment between its halves, tests of two periods, and a budget.
fn plan_of(hosts: usize) -> Result<Plan, PlanError> {
    use std::fmt::Write;
    let mut text = "title = \"simulated\"\n[times]\nevery = \"10min\"\ngap = \"2s\"\n".to_owned();
    let names: Vec<String> = (0..hosts).map(|host| format!("\"h{host}\"")).collect();
    // Writing to a string cannot fail.
    for host in 0..hosts {
        let router = if host % 2 == 0 { "left" } else { "right" };
        let _ = write!(text, "[hosts.h{host}]\naddress = \"192.0.2.{host}\"\n");
        let _ = write!(text, "[[segments]]\nname = \"access-{host}\"\nbetween = [\"h{host}\", \"{router}\"]\n");
    }
    text.push_str("[hosts.left]\nforwards = true\n[hosts.right]\nforwards = true\n");
    text.push_str(
        "[[segments]]\nname = \"trunk\"\nbetween = [\"left\", \"right\"]\nrate = \"1Gbit/s\"\nshared = true\n",
    );
    let _ = write!(text, "[groups.all]\nmesh = [{}]\n", names.join(", "));
    text.push_str("[[tests]]\nkind = \"tcp\"\ntime = \"15s\"\n");
    text.push_str("[[tests]]\nkind = \"udp\"\ntime = \"5s\"\nrate = \"1Mbit/s\"\nevery = \"15min\"\n");
    text.push_str("[[budgets]]\nsegments = [\"trunk\"]\nbytes-a-day = \"4TB\"\n");
    Plan::parse("simulated", &text)
}

/// After all is healed, agents deliver what they have, and windows pass.
const HEALING_MINUTES: u64 = 15;
