//! RTTs without load beside those under load: whether what exceeds a rate waits or is dropped.

use std::time::Duration;

use import::figures::{FigureSource, FigureValue};
use model::played::Finding;
use model::series::field::Field;
use units::duration::show;
use units::{ByteCount, DataRate};

use super::measurement::{Matrix, RttMoment};

/// The RTT of a path without load, and while a flow runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadContrast {
    pub(super) idle: Duration,
    pub(super) loaded: Duration,
}

impl LoadContrast {
    /// Of a pair of hosts; `None` where either is not known.
    pub(super) fn of(matrix: &Matrix<'_>, pair: [&str; 2]) -> Option<Self> {
        let (mut idle, mut loaded) = (Vec::new(), Vec::new());
        idle.extend(matrix.rtts(RttMoment::Idle));
        loaded.extend(matrix.rtts(RttMoment::Loaded));
        for one in matrix.of_pair(pair).into_iter().filter(|one| one.is_tcp()) {
            idle.extend(one.rtt);
            loaded.extend(one.sampled_rtt());
            for stream in one.samples.iter().flat_map(|samples| &samples.streams) {
                idle.extend(stream.column(Field::MinRtt).and_then(middle));
                loaded.extend(stream.column(Field::Rtt).and_then(middle));
            }
        }
        for [least, median] in echoes(matrix, pair) {
            idle.push(least);
            // Which echoes ran beside a flow is said above them, or their times say it.
            let is_said = matrix.figures.iter().any(|figure| {
                let is_this = figure.source == FigureSource::Output && figure.value == FigureValue::Rtt(least);
                is_this && figure.of.loaded == Some(true)
            });
            loaded.extend(Some(median).filter(|_| is_said || median >= least * 2));
        }
        let idle = idle.into_iter().filter(|rtt| !rtt.is_zero()).min()?;
        let most = loaded.into_iter().max()?;
        Some(Self { idle, loaded: most.max(idle) })
    }

    /// Whether a queue grows.
    pub(super) fn grows(self) -> bool {
        self.loaded >= self.idle * 2 && self.loaded.saturating_sub(self.idle) >= A_QUEUE
    }

    /// Whether there is none.
    pub(super) fn is_flat(self) -> bool {
        self.loaded <= self.idle + self.idle / 6 + JITTER
    }

    /// What waits in the queue at a rate.
    pub(super) fn queue(self, rate: DataRate) -> ByteCount {
        rate * self.loaded.saturating_sub(self.idle)
    }

    pub(super) fn says(self) -> String {
        format!("{} without load and {} under load", show(self.idle), show(self.loaded))
    }
}

/// Less is the work of hosts.
const A_QUEUE: Duration = Duration::from_millis(8);
const JITTER: Duration = Duration::from_millis(1);

/// Least and median of each series of echoes between two hosts, or to or from one of them.
fn echoes(matrix: &Matrix<'_>, [from, to]: [&str; 2]) -> Vec<[Duration; 2]> {
    let mut all = Vec::new();
    for tested in &matrix.beside.round.tests {
        let Finding::Echo(series) = &tested.finding else { continue };
        let is_near = [from, to].contains(&tested.to.host.as_str());
        let rtt = &series.summary.rtt;
        if let Some((least, median)) = rtt.min_us.zip(rtt.median_us.or(rtt.max_us)).filter(|_| is_near) {
            all.push([least, median].map(Duration::from_micros));
        }
    }
    all
}

/// The median, in microseconds.
fn middle(values: &[u64]) -> Option<Duration> {
    let mut known: Vec<u64> = values.iter().copied().filter(|value| *value > 0).collect();
    known.sort_unstable();
    known.get(known.len() / 2).map(|micros| Duration::from_micros(*micros))
}
