//! A line that a transfer fills, beside echoes that wait meanwhile.

use std::time::Duration;

use model::played::Finding;
use units::DataRate;
use units::duration::show;

use super::measurement::{Matrix, Measurement};
use crate::statements::statement::Statement;

/// The transfer that has what the line is said to carry, and the RTTs of echoes that ran before, beside or after it.
pub(super) fn of(matrix: &Matrix<'_>) -> Option<Statement> {
    let (one, line) = matrix.all.iter().find_map(|one| {
        let line = line_of(matrix, one)?;
        one.steady().share_of(line).filter(|part| (FULL..=MORE).contains(part)).map(|_| (one, line))
    })?;
    let (least, middle, most) = matrix.beside.round.tests.iter().find_map(|tested| match &tested.finding {
        Finding::Echo(series) => {
            let rtt = &series.summary.rtt;
            let [least, most] = [rtt.min_us?, rtt.max_us?].map(Duration::from_micros);
            let middle = rtt.median_us.map_or(most, Duration::from_micros);
            // One late echo is no queue.
            (middle >= least * TIMES && middle.saturating_sub(least) >= WAITS).then_some((least, middle, most))
        }
        _ => None,
    })?;
    let queue = one.rate() * most.saturating_sub(least);
    Some(Statement::decisive(format!(
        "{} to {} has {} of the {line} that the line carries in that direction, and RTTs grow from {} to {} (at most {}) meanwhile: the transfer fills the line, \
         and a queue of about {queue} in front of it makes all wait (bufferbloat); a shaper just below the line's rate with fq_codel or cake, or a \
         limit of the transfer's rate, keeps it short; the line itself is well",
        one.from,
        one.to,
        one.rate(),
        show(least),
        show(middle),
        show(most)
    )))
}

/// What the text says that the line carries in the direction of a transfer.
fn line_of(matrix: &Matrix<'_>, one: &Measurement<'_>) -> Option<DataRate> {
    let stated = matrix.beside.stated().map(|stated| stated.towards(one.total.heading)).min();
    one.run.declared_line_rate.or(stated)
}

const FULL: f64 = 0.75;
const MORE: f64 = 1.1;
const TIMES: u32 = 4;
/// What people notice in calls.
const WAITS: Duration = Duration::from_millis(60);
