//! Incidents that nobody wrote, played side by side on all CPUs.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::scenario::Scenario;
use measure::stop::Stop;
use model::played::PlantedCause;
use model::round::Round;
use path::Seed;
use twin::generate::{disturb_clocks, incident, withhold_half};
use twin::play::{Setting, planted, play_on};

use diagnose::score::Missing;

use crate::cli::score::Withhold;
use crate::commands::examine::Examiner;

/// An incident as it was measured, and the truth.
pub struct Incident {
    pub round: Round,
    pub planted: Vec<PlantedCause>,
    pub scenario: Scenario,
}

/// How an incident is called in results.
pub fn name(seed: u64) -> String {
    format!("incident-{seed}")
}

/// How much of an incident a diagnosis sees: its tests alone by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct JudgedEvidence {
    /// What is taken away.
    pub withhold: Option<Withhold>,
    /// For how long is tested on.
    pub budget: Option<Duration>,
}

/// Draws the incident of a seed and plays it in virtual time.
pub fn play(seed: u64, evidence: JudgedEvidence) -> Result<Incident, Missing> {
    let incident =
        incident(seed).map_err(|error| Missing { scenario: name(seed), seed: Some(seed), why: error.to_string() })?;
    let mut examiner = evidence.budget.map(|budget| examiner(&incident.scenario, budget));
    let play = play_on(&incident.scenario, &Setting::of(Seed(seed)), &mut |round| {
        let examiner = examiner.as_mut()?;
        let mut round = round.clone();
        disturb_clocks(&mut round, Seed(seed));
        examiner.next(&round)
    });
    let mut round = play.round;
    disturb_clocks(&mut round, Seed(seed));
    if let Some(Withhold::Half) = evidence.withhold {
        withhold_half(&mut round, Seed(seed));
    }
    Ok(Incident { round, planted: planted(&incident.scenario), scenario: incident.scenario })
}

/// Who tests on: between hosts, since routers of a real network run no tests.
fn examiner(scenario: &Scenario, budget: Duration) -> Examiner {
    let hosts = scenario.hosts.iter().filter(|host| !host.forwards).map(|host| host.name.clone());
    let hosts: BTreeSet<String> = hosts.collect();
    Examiner::in_virtual_time(budget).among(hosts.clone(), hosts)
}

/// What ends a long work early, and whether it is to be silent.
#[derive(Debug, Clone, Copy)]
pub struct Watch<'a> {
    pub stop: &'a Stop,
    pub quiet: bool,
}

/// Does something with each seed on all CPUs, each taking the next one when it is done with one; results in the order of the seeds.
/// Says on standard error how far it is.
pub fn side_by_side<T: Send>(what: &str, seeds: &[u64], watch: Watch<'_>, of_seed: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((Progress::new(what, seeds.len(), watch), Vec::with_capacity(seeds.len())));
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(seed) = seeds.get(number).filter(|_| !watch.stop.is_stopped()) else { break };
                    let one = of_seed(*seed);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.1.push((number, one));
                    done.0.step();
                }
            });
        }
    });
    let (progress, mut results) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    progress.end();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A bar on a terminal; elsewhere a line now and then, so that a log shows that something goes on.
struct Progress {
    bar: Option<ProgressBar>,
    what: String,
    count: usize,
    done: usize,
    began: Instant,
    told: Duration,
    quiet: bool,
}

impl Progress {
    fn new(what: &str, count: usize, Watch { quiet, .. }: Watch<'_>) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (is_terminal && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} {msg}, {per_sec}, {eta} left") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(what.to_owned());
            bar
        });
        let what = what.to_owned();
        Self { bar, what, count, done: 0, began: Instant::now(), told: Duration::ZERO, quiet }
    }

    fn step(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            return bar.inc(1);
        }
        let elapsed = self.began.elapsed();
        if !self.quiet && elapsed >= self.told + EVERY && self.done < self.count {
            self.told = elapsed;
            eprintln!("{} of {} {} in {}", self.done, self.count, self.what, units::duration::show(elapsed));
        }
    }

    fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How often it is said how far it is, where that is no terminal.
const EVERY: Duration = Duration::from_secs(20);
