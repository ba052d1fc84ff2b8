//! A round while it runs: on a terminal a grid that fills up, elsewhere a line for each test; all of it on standard error.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::played::Finding;
use model::round::{Round, Tested};
use model::run::Outcome;
use plan::schedule::Slot;
use plan::task::Weight;
use plan::{Plan, Schedule};
use round::leader::Audience;
use units::DataRate;

use super::{grid, played};

/// What is shown while a round runs.
pub struct Screen<'a> {
    plan: &'a Plan,
    quiet: bool,
    bar: Option<ProgressBar>,
    /// The hosts of the grid, those that send or receive flows.
    hosts: Vec<usize>,
    cells: BTreeMap<(usize, usize), Cell>,
}

/// What is known of a pair so far.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Waiting,
    Running,
    Rate(DataRate),
    Failed,
}

impl<'a> Screen<'a> {
    pub fn new(plan: &'a Plan, schedule: &Schedule, quiet: bool) -> Self {
        let heavy = schedule.slots.iter().filter(|slot| slot.weight == Weight::Heavy);
        let cells: BTreeMap<_, _> = heavy.map(|slot| (pair(slot), Cell::Waiting)).collect();
        let mut hosts: Vec<usize> = cells.keys().flat_map(|(from, to)| [*from, *to]).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| bar(schedule));
        if let Some(bar) = &bar {
            bar.set_message("asking all hosts who they are");
        }
        Self { plan, quiet, bar, hosts, cells }
    }

    /// Leaves the terminal as it was.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// A line that stays.
    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None if self.quiet => {}
            None => eprintln!("{line}"),
        }
    }

    fn draw(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message(self.grid());
        }
    }

    /// Rates as they come, rows send. How good they are shows only when all are there.
    fn grid(&self) -> String {
        if self.hosts.is_empty() || self.hosts.len() > MOST_HOSTS {
            return String::new();
        }
        let names: Vec<&str> = self.hosts.iter().map(|host| self.plan.hosts[*host].name.as_str()).collect();
        let first = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut text = " ".repeat(first);
        for name in &names {
            text.push_str(&format!("  {name:<WIDTH$}"));
        }
        for (row, name) in self.hosts.iter().zip(&names) {
            text.push_str(&format!("\n{name:<first$}"));
            for (column, head) in self.hosts.iter().zip(&names) {
                let width = head.chars().count().max(WIDTH);
                text.push_str(&format!("  {:<width$}", self.cell(*row, *column)));
            }
        }
        text + "\n"
    }

    fn cell(&self, from: usize, to: usize) -> String {
        match self.cells.get(&(from, to)) {
            None if from == to => String::new(),
            None => "·".to_owned(),
            Some(Cell::Waiting) => "-".to_owned(),
            Some(Cell::Running) => "…".to_owned(),
            Some(Cell::Rate(rate)) => grid::short(*rate),
            Some(Cell::Failed) => "!".to_owned(),
        }
    }
}

impl Audience for Screen<'_> {
    fn mustered(&mut self, round: &Round) {
        let answering = round.members.iter().filter(|member| member.before.is_some()).count();
        let asked = self.plan.hosts.iter().filter(|host| host.reach.is_some()).count();
        self.say(&format!("{answering} of {asked} hosts have told their facts"));
        for member in &round.members {
            for remark in &member.remarks {
                self.say(&format!("{}: {remark}", member.name));
            }
        }
        self.draw();
    }

    fn begins(&mut self, slot: &Slot, _at: Duration) {
        if let Some(cell) = self.cells.get_mut(&pair(slot)).filter(|_| slot.weight == Weight::Heavy) {
            *cell = Cell::Running;
            self.draw();
        }
    }

    fn ended(&mut self, slot: &Slot, tested: &Tested) {
        if slot.weight == Weight::Heavy {
            self.cells.insert(pair(slot), cell(&tested.finding));
            self.draw();
        }
        let Some(bar) = &self.bar else {
            let found = played::finding(&tested.finding, None).into_iter().next().unwrap_or_default();
            let from_to = format!("{} > {}", tested.from, tested.to);
            let at = tested.began.as_secs_f64();
            return self.say(&format!("{at:6.1} s  {from_to:<28} {:<12} {found}", tested.label));
        };
        bar.inc(1);
    }

    fn failed(&mut self, host: usize, why: &str) {
        self.say(&format!("{} takes part no more: {why}", self.plan.hosts[host].name));
    }
}

const fn pair(slot: &Slot) -> (usize, usize) {
    (slot.pair.from, slot.pair.to)
}

fn cell(finding: &Finding) -> Cell {
    let rate = match finding {
        Finding::Run(run) if run.outcome == Outcome::Complete => {
            let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
            totals.map(|total| total.goodput).min()
        }
        Finding::Downloads(downloads) => downloads.iter().filter_map(|download| download.goodput).min(),
        Finding::Run(_) | Finding::Echo(_) | Finding::PathMtu(_) | Finding::Hops(_) | Finding::Nothing { .. } => None,
    };
    rate.map_or(Cell::Failed, Cell::Rate)
}

fn bar(schedule: &Schedule) -> ProgressBar {
    let tests = u64::try_from(schedule.slots.len()).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(tests), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{msg}\n{bar:40} {pos} of {len} tests, {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A wider grid does not fit a terminal.
const MOST_HOSTS: usize = 12;
const WIDTH: usize = 6;
