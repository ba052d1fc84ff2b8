//! The numbers of one run.

use crate::cluster::outcome::Outcome;

/// What is kept of a run.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// Its name, which is that of its column and ends in its unit.
    pub name: &'static str,
    /// Whether less is better.
    pub better: Better,
    get: fn(&Outcome) -> Option<f64>,
}

/// Which numbers are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Small ones.
    Less,
    /// Large ones.
    More,
}

/// All that is kept, in the order of a row.
pub const MEASURES: [Measure; 16] = [
    more("goodput_gbit_s", |run| Some(run.goodput_gbit_s)),
    less("spread_in_flight", |run| run.spread_in_flight),
    less("spread_rate", |run| run.spread_rate),
    less("largest_in_flight", |run| Some(run.largest_in_flight)),
    less("largest_memory_share", |run| Some(run.largest_memory)),
    less("restarts", |run| Some(whole(run.restarts))),
    less("transfer_p50_s", |run| run.transfer_p50_s),
    less("transfer_p99_s", |run| run.transfer_p99_s),
    less("transfers_failed_share", |run| run.transfers_failed),
    less("files_lost", |run| Some(whole(run.lost))),
    less("clients_waited", |run| Some(whole(run.waited))),
    less("backlog_s", |run| Some(run.backlog_s)),
    less("deletion_p95_s", |run| run.deletion_p95_s),
    less("deletion_p95_ratio", |run| run.deletion_p95_ratio),
    less("deletions_failed_share", |run| run.deletions_failed),
    less("tests_failed_share", |run| run.tests_failed),
];

const fn less(name: &'static str, get: fn(&Outcome) -> Option<f64>) -> Measure {
    Measure { name, better: Better::Less, get }
}

const fn more(name: &'static str, get: fn(&Outcome) -> Option<f64>) -> Measure {
    Measure { name, better: Better::More, get }
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^53")]
fn whole(count: u64) -> f64 {
    count as f64
}

/// The place of a measure in a row.
#[must_use]
pub fn place(name: &str) -> Option<usize> {
    MEASURES.iter().position(|measure| measure.name == name)
}

/// One run: a number for each of [`MEASURES`], NaN where nothing could be measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Which run of the experiment.
    pub index: u64,
    /// The numbers, in the order of [`MEASURES`].
    pub numbers: [f64; MEASURES.len()],
}

impl Row {
    /// What is kept of an outcome.
    #[must_use]
    pub fn new(index: u64, outcome: &Outcome) -> Self {
        Self { index, numbers: MEASURES.map(|measure| (measure.get)(outcome).unwrap_or(f64::NAN)) }
    }

    /// A line of numbers, exact, for a file that grows while an experiment goes on.
    #[must_use]
    pub fn line(&self) -> String {
        let numbers = self.numbers.iter().map(|number| format!("{:x}", number.to_bits())).collect::<Vec<_>>();
        format!("{} {}\n", self.index, numbers.join(" "))
    }

    /// Reads [`Row::line`]; [`None`] of anything else, such as the half of a line.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix('\n')?.split(' ');
        let index = words.next()?.parse().ok()?;
        let mut numbers = [0.0; MEASURES.len()];
        for number in &mut numbers {
            *number = f64::from_bits(u64::from_str_radix(words.next()?, 16).ok()?);
        }
        words.next().is_none().then_some(Self { index, numbers })
    }
}
