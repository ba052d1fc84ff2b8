//! Losses that come in few intervals of a test, many at once.

use model::measurement::Interval;
use units::DataRate;

use super::statement::Statement;

/// Most intervals without a loss at an even rate, and a few with many: a queue that is filled for a short time.
pub(super) fn of(whose: &str, intervals: &[&Interval]) -> Option<Statement> {
    let counts: Option<Vec<u64>> = intervals.iter().map(|of| of.retransmits.map(|count| count.get())).collect();
    // A start that overshoots loses once as well.
    let (counts, own) = (counts?.into_iter().skip(SETTLED), intervals.get(SETTLED..)?);
    let lossy: Vec<u64> = counts.filter(|count| *count > 0).collect();
    let mut clean: Vec<DataRate> =
        own.iter().filter(|of| of.retransmits.is_some_and(|count| count.get() == 0)).map(|of| of.rate).collect();
    clean.sort_unstable();
    let (usual, most) = (*clean.get(clean.len() / 2)?, *clean.last()?);
    let (fewest, sum) = (*lossy.iter().min()?, lossy.iter().sum::<u64>());
    let is_even = most.bps() * 10 <= usual.bps() * 11;
    (own.len() >= FEWEST && (2..=own.len() / 5).contains(&lossy.len()) && fewest >= MANY && is_even).then(|| {
        Statement::fault(format!(
            "{whose}: the {sum} retransmits of {} intervals fall into {} of them, {fewest} or more at once, and between them the rate is {usual} \
             without a loss: something fills a queue on the path for a short time (another flow's burst); averages of minutes do not show it",
            own.len(),
            lossy.len()
        ))
    })
}

/// Intervals of the start.
const SETTLED: usize = 2;
/// Fewer intervals say nothing of how losses are spread.
const FEWEST: usize = 10;
/// Fewer retransmits in an interval may be those of the flow itself.
const MANY: u64 = 50;
