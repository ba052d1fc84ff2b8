//! All of the cluster, step by step.

use path::Seed;
use path::random::SeededRng;

use super::balancer::{Board, GatewayView};
use super::bounds::{SettingsError, small};
use super::faults::FaultType;
use super::gateway::{Ended, File, Gateway, Step, Transfer};
use super::load::{Draws, Links};
use super::outcome::{Counts, Outcome, Trace};
use super::sampled::{GatewaySample, Moment, Sampled};
use super::settings::{CatchUp, GatewayClass, Settings, SmallJobs};
use crate::cmsd::load::Reported;
use crate::cmsd::node::{RESET_NEEDS, Selection, State, Table};
use crate::policy::definition::{Entry, FULL_CAPACITY, Policy, Timing};
use crate::status::reading::Reading;

/// How long rates are kept the same, seconds.
pub const STEP: f64 = 0.5;

/// A cluster that is run under one policy.
pub struct Run<'a> {
    settings: &'a Settings,
    policy: Box<dyn Policy>,
    board: Board,
    members: Vec<Member>,
    links: Links,
    /// Requests that were sent to no gateway: when they ask again, oldest first.
    waiting: Vec<(f64, File)>,
    choices: SeededRng,
    small: Draws,
    at_s: f64,
    reset_s: f64,
    resets_after: u64,
    counts: Counts,
}

/// A gateway and what happens to it.
struct Member {
    gateway: Gateway,
    /// Until when it is being restarted, seconds.
    down_until_s: f64,
    sampled: Sample,
    next_sample_s: f64,
    next_usage_s: f64,
    next_test_s: f64,
    /// Transfers that were sent to it, and bytes that it moved.
    begun: u64,
    moved: f64,
}

/// What its program for `cms.perf` said last.
#[derive(Clone, Copy, Default)]
struct Sample {
    reported: Reported,
    load: Option<i32>,
}

/// Runs a cluster.
///
/// # Errors
/// A setting that cannot be.
pub fn run(settings: &Settings, policy: &Entry, seed: Seed) -> Result<Outcome, SettingsError> {
    settings.check()?;
    Ok(Run::new(settings, policy, seed).finish(None))
}

/// The same, with what each gateway had in flight every minute.
///
/// # Errors
/// A setting that cannot be.
pub fn traced(settings: &Settings, policy: &Entry, seed: Seed) -> Result<(Outcome, Trace), SettingsError> {
    settings.check()?;
    let mut trace = Trace::default();
    let outcome = Run::new(settings, policy, seed).finish(Some(&mut trace));
    Ok((outcome, trace))
}

/// The same, with what each gateway had each second.
///
/// # Errors
/// A setting that cannot be.
pub fn sampled(settings: &Settings, policy: &Entry, seed: Seed) -> Result<Sampled, SettingsError> {
    settings.check()?;
    let mut run = Run::new(settings, policy, seed);
    let (mut sampled, mut ended) = (Sampled::default(), Vec::new());
    while run.at_s < settings.hours * 3600.0 {
        run.step(&mut ended);
        run.at_s += STEP;
        if run.at_s.fract() == 0.0 {
            sampled.moments.push(run.moment());
        }
    }
    Ok(sampled)
}

/// The same, with what each gateway's own monitoring would report, every so many seconds. A gateway that is away reports nothing.
///
/// # Errors
/// A setting that cannot be.
pub fn reported(settings: &Settings, policy: &Entry, seed: Seed, every_s: f64) -> Result<Vec<Reading>, SettingsError> {
    settings.check()?;
    let mut run = Run::new(settings, policy, seed);
    let (mut readings, mut ended, mut next_s) = (Vec::new(), Vec::new(), 0.0);
    while run.at_s < settings.hours * 3600.0 {
        run.step(&mut ended);
        run.at_s += STEP;
        if run.at_s >= next_s {
            next_s += every_s;
            readings.extend((0..run.members.len()).filter_map(|at| run.reading(at)));
        }
    }
    Ok(readings)
}

impl<'a> Run<'a> {
    fn new(settings: &'a Settings, policy: &Entry, seed: Seed) -> Self {
        let policy = (policy.make)();
        let classes = settings.gateways.iter().flat_map(|class| std::iter::repeat_n(class, class.count));
        let mut phases = Draws::new(seed.part(3));
        let mut member = |class: &GatewayClass| Member::new(class, settings, policy.timing(), &mut phases);
        let members: Vec<Member> = classes.map(&mut member).collect();
        let known = |member: &Member| GatewayView {
            capacity: member.gateway.sensors().capacity / FULL_CAPACITY,
            ..GatewayView::default()
        };
        let reports = &settings.reports;
        let board = Board {
            table: Table::new(members.len()),
            known: members.iter().map(known).collect(),
            selection: Selection { fuzz: reports.fuzz, max_load: reports.max_load },
            now_s: 0.0,
            expected_every_s: reports.usage_s,
        };
        Self {
            settings,
            policy,
            board,
            members,
            // What is wanted does not depend on the policy: so policies are compared on the same files.
            links: Links::new(settings, seed.part(0)),
            waiting: Vec::new(),
            choices: SeededRng::new(seed.part(1)),
            small: Draws::new(seed.part(2)),
            at_s: 0.0,
            reset_s: settings.reports.reset_s,
            resets_after: 0,
            counts: Counts::default(),
        }
    }

    fn finish(mut self, mut trace: Option<&mut Trace>) -> Outcome {
        let ends_s = self.settings.hours * 3600.0;
        let warm_s = self.settings.warm_up_hours * 3600.0;
        let mut ended = Vec::new();
        let mut next_s = 0.0;
        while self.at_s < ends_s {
            if self.at_s < warm_s {
                self.counts.forget();
            }
            self.step(&mut ended);
            if self.at_s >= next_s {
                next_s += MEASURED_EVERY_S;
                self.measure();
                if let Some(trace) = trace.as_deref_mut() {
                    trace.take(self.at_s, self.members.iter().map(|member| (&member.gateway, member.down_until_s)));
                }
            }
            self.at_s += STEP;
        }
        Outcome::new(self.settings, &self.counts, &self.links)
    }

    fn step(&mut self, ended: &mut Vec<Ended>) {
        self.faults();
        self.reports();
        self.transfers();
        self.small_jobs();
        self.advance(ended);
    }

    fn moment(&self) -> Moment {
        let sample = |member: &Member| GatewaySample {
            in_flight: member.gateway.transfers() as u64,
            begun: member.begun,
            moved_bytes: member.moved,
        };
        Moment { at_s: self.at_s, gateways: self.members.iter().map(sample).collect() }
    }

    fn reading(&self, at: usize) -> Option<Reading> {
        let (member, node) = (&self.members[at], &self.board.table.nodes[at]);
        let is_there = node.state == State::Online && self.fault(at) != Some(FaultType::Silent);
        let jobs = &self.settings.small_jobs;
        let gateway = &member.gateway;
        is_there.then(|| Reading {
            gateway: format!("gw{}", at + 1),
            at_s: self.at_s,
            since_s: Some(member.down_until_s.max(0.0)),
            in_flight: Some(small(gateway.transfers())),
            begun: Some(count(member.begun)),
            moved_bytes: Some(member.moved),
            refused: None,
            memory_bytes: Some(gateway.memory_bytes()),
            memory_limit_bytes: Some(gateway.memory_limit_bytes()),
            load: Some(f64::from(node.load)),
            deletion_s: Some(jobs.deletion_s * slowdown(jobs, gateway)),
        })
    }

    fn faults(&mut self) {
        let hour = self.at_s / 3600.0;
        for at in 0..self.members.len() {
            let fault = self.fault(at);
            let is_away = match fault {
                Some(FaultType::Down | FaultType::Drained) => true,
                Some(FaultType::Flaps) => (hour * 60.0).fract() < FLAP_AWAY,
                _ => self.members[at].down_until_s > self.at_s,
            };
            let is_known_there = self.board.table.nodes[at].state == State::Online;
            if is_away && is_known_there {
                self.board.table.nodes[at].state = State::Offline;
                if fault != Some(FaultType::Drained) {
                    self.stop(at);
                }
            } else if !is_away && !is_known_there {
                self.log_in(at);
            }
        }
    }

    fn fault(&self, gateway: usize) -> Option<FaultType> {
        let hour = self.at_s / 3600.0;
        let faults = &self.settings.faults;
        faults.iter().find(|fault| fault.gateway == gateway + 1 && fault.is_at(hour)).map(|fault| fault.what)
    }

    fn log_in(&mut self, gateway: usize) {
        self.board.table.log_in(gateway);
        let known = &mut self.board.known[gateway];
        *known = GatewayView {
            capacity: known.capacity,
            heard_s: self.at_s,
            in_flight: known.in_flight,
            ..GatewayView::default()
        };
        self.members[gateway].sampled = Sample::default();
    }

    /// What was in flight fails and is tried again.
    fn stop(&mut self, gateway: usize) {
        for transfer in self.members[gateway].gateway.stop() {
            self.counts.failed += 1;
            self.links.failed(transfer.file, self.at_s);
        }
        self.board.known[gateway].in_flight = 0;
    }

    fn reports(&mut self) {
        let reports = &self.settings.reports;
        self.board.now_s = self.at_s;
        self.board.forget(STEP);
        let alert = self.policy.alert(reports);
        for at in 0..self.members.len() {
            let fault = self.fault(at);
            let member = &mut self.members[at];
            let mut is_due = false;
            if self.at_s >= member.next_sample_s {
                member.next_sample_s += alert.perf_s;
                let shown = member.gateway.sensors();
                let sensors = fault.map_or(shown, |fault| shown.with_fault(fault));
                let reported = self.policy.report(&sensors);
                let load = self.policy.weights().load(reported);
                // A gateway reports unasked where its load moved by more than its fuzz (XrdCmsMeter).
                is_due = member.sampled.load.is_some_and(|before| (before - load).abs() > alert.fuzz);
                member.sampled = Sample { reported, load: Some(load) };
            }
            if self.at_s >= member.next_usage_s {
                member.next_usage_s += reports.usage_s;
                is_due = true;
            }
            let is_heard = fault != Some(FaultType::Silent) && self.board.table.nodes[at].state == State::Online;
            if let (true, true, Some(load)) = (is_due, is_heard, member.sampled.load) {
                self.board.hear(at, member.sampled.reported, load);
            }
        }
        self.reset_references();
    }

    fn reset_references(&mut self) {
        if self.settings.reports.catch_up == CatchUp::None {
            let limit = self.board.selection.max_load.min(LEFT_OUT);
            let most = self.board.table.nodes.iter().filter(|node| node.load < limit).map(|node| node.references).max();
            for node in &mut self.board.table.nodes {
                if node.load >= limit {
                    node.references = most.unwrap_or(node.references);
                }
            }
        }
        let total: u64 = self.board.table.nodes.iter().map(|node| node.total).sum();
        if self.at_s >= self.reset_s && total >= self.resets_after.saturating_add(RESET_NEEDS) {
            self.board.table.reset();
            self.reset_s = self.at_s + self.settings.reports.reset_s;
            self.resets_after = total;
        }
    }

    fn transfers(&mut self) {
        self.links.arrive(Step { at_s: self.at_s, for_s: STEP });
        let due = self.waiting.iter().take_while(|(due, _)| *due <= self.at_s).count();
        let again: Vec<File> = self.waiting.drain(..due).map(|(_, file)| file).collect();
        for file in again {
            self.place(file);
        }
        let first = self.small.below(self.settings.transfers.links);
        while let Some(file) = self.links.start(first) {
            self.place(file);
        }
    }

    fn place(&mut self, file: File) {
        let Ok(at) = self.policy.choose(&mut self.board, &mut self.choices) else {
            // Its slot stays taken, as that of a client that waits.
            self.counts.waited += 1;
            self.waiting.push((self.at_s + self.settings.reports.wait_s, file));
            return;
        };
        if self.members[at].gateway.take(Transfer { file, left: file.bytes, since_s: self.at_s }) {
            self.members[at].begun += 1;
            self.board.send(at);
        } else {
            self.counts.refused += 1;
            self.links.failed(file, self.at_s);
        }
    }

    fn small_jobs(&mut self) {
        let jobs = &self.settings.small_jobs;
        let count = self.small.poisson(jobs.deletions_per_s * STEP);
        for _ in 0..count {
            let idle_s = jobs.deletion_s * self.small.lognormal(jobs.deletion_sigma);
            let takes_s = match self.policy.choose(&mut self.board, &mut self.choices) {
                Ok(at) => {
                    self.board.send(at);
                    let member = &mut self.members[at];
                    let takes_s = idle_s * slowdown(jobs, &member.gateway);
                    member.gateway.take_job(self.at_s + takes_s.min(jobs.deletion_timeout_s));
                    takes_s
                }
                Err(_) => jobs.deletion_timeout_s,
            };
            self.counts.deletions.push(takes_s.min(jobs.deletion_timeout_s));
            self.counts.deletions_failed += u64::from(takes_s >= jobs.deletion_timeout_s);
        }
        for at in 0..self.members.len() {
            if self.at_s < self.members[at].next_test_s {
                continue;
            }
            self.members[at].next_test_s += jobs.test_every_s;
            // A gateway that is taken out on purpose is not tested.
            if self.fault(at) == Some(FaultType::Drained) || self.fault(at) == Some(FaultType::Down) {
                continue;
            }
            let is_there = self.board.table.nodes[at].state == State::Online;
            let takes_s = jobs.test_s * slowdown(jobs, &self.members[at].gateway);
            self.counts.tests += 1;
            self.counts.tests_failed += u64::from(!is_there || takes_s > jobs.test_timeout_s);
        }
    }

    fn advance(&mut self, ended: &mut Vec<Ended>) {
        for at in 0..self.members.len() {
            let nic_part = if self.fault(at) == Some(FaultType::Slow) { SLOW_PART } else { 1.0 };
            let member = &mut self.members[at];
            ended.clear();
            member.moved += member.gateway.advance(Step { at_s: self.at_s, for_s: STEP }, nic_part, ended);
            for one in ended.iter() {
                self.counts.transfers.push(one.at_s - one.transfer.since_s);
                self.counts.delivered += one.transfer.file.bytes;
                self.links.finished(one.transfer.file);
            }
            if member.gateway.is_out_of_memory() {
                self.counts.restarts += 1;
                member.down_until_s = self.at_s + member.gateway.restart_s();
                self.board.table.nodes[at].state = State::Offline;
                self.stop(at);
            }
            let in_flight = self.members[at].gateway.sensors().in_flight;
            self.board.known[at].in_flight = u32::try_from(in_flight).unwrap_or(u32::MAX);
        }
    }

    fn measure(&mut self) {
        let online = self.members.iter().zip(&self.board.table.nodes).filter(|(_, node)| node.state == State::Online);
        let gateways: Vec<&Gateway> = online.map(|(member, _)| &member.gateway).collect();
        self.counts.measure(&gateways);
    }
}

impl Member {
    fn new(class: &GatewayClass, settings: &Settings, timing: Timing, phases: &mut Draws) -> Self {
        let reports = &settings.reports;
        let skew = phases.unit();
        Self {
            gateway: Gateway::new(class),
            down_until_s: f64::NEG_INFINITY,
            sampled: Sample::default(),
            // Programs are started when their gateway is: at no common moment.
            next_sample_s: phases.unit() * reports.perf_s,
            next_usage_s: if timing == Timing::Skewed { skew * reports.usage_s } else { 0.0 },
            next_test_s: phases.unit() * settings.small_jobs.test_every_s,
            begun: 0,
            moved: 0.0,
        }
    }
}

/// How many times slower a small job is than at an idle gateway.
///
/// Model: one curve of the run queue stands for CPU, locks and the store behind the gateway.
fn slowdown(jobs: &SmallJobs, gateway: &Gateway) -> f64 {
    1.0 + jobs.slowdown * gateway.run_queue().powi(jobs.slowdown_power)
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}

/// How often the spread over gateways is taken, seconds.
const MEASURED_EVERY_S: f64 = 5.0;
/// The part of each minute for which a gateway that flaps is away.
const FLAP_AWAY: f64 = 0.5;
/// The part of its rate that a slow NIC moves.
const SLOW_PART: f64 = 0.1;
/// The load from which on a gateway counts as left out, where counts do not stand still.
const LEFT_OUT: i32 = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;
    use proptest::prelude::*;

    /// Every file is delivered, lost, waiting or in flight.
    fn balance(settings: &Settings, name: &str) -> (u64, u64) {
        settings.check().unwrap();
        let mut run = Run::new(settings, policy::find(name).unwrap(), Seed(5));
        let (mut delivered, mut ended) = (0, Vec::new());
        while run.at_s < settings.hours * 3600.0 {
            run.faults();
            run.reports();
            run.transfers();
            run.small_jobs();
            let before = run.counts.transfers.len();
            run.advance(&mut ended);
            delivered += run.counts.transfers.len() - before;
            run.at_s += STEP;
        }
        let in_flight: usize = run.members.iter().map(|member| member.gateway.transfers()).sum();
        let counts = run.links.counts;
        let elsewhere = delivered + in_flight + run.waiting.len() + run.links.backlog();
        (counts.wanted, elsewhere as u64 + counts.lost + counts.not_queued)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_file_is_lost_from_sight_whatever_fails(
            offered in 0.0_f64..400.0, policy in 0..policy::ALL.len(), gateway in 1_usize..21, what in 0_usize..7,
            limit in 6.0_f64..60.0, active in 1_usize..200, wait in 0.5_f64..60.0,
        ) {
            use FaultType::{Busy, Down, Drained, Flaps, Lies, Silent, Slow};
            let mut settings = Settings { hours: 0.1, warm_up_hours: 0.0, ..Settings::default() };
            settings.transfers.offered_gbit_s = offered;
            settings.transfers.active_per_link = active;
            settings.reports.wait_s = wait;
            settings.gateways.iter_mut().for_each(|class| class.memory_limit_gb = limit);
            let what = [Down, Drained, Flaps, Lies, Silent, Slow, Busy][what];
            settings.faults.push(super::super::faults::Fault { gateway, what, from_hour: 0.02, to_hour: 0.08 });
            let (wanted, seen) = balance(&settings, policy::ALL[policy].name);
            prop_assert_eq!(wanted, seen);
        }
    }
}
