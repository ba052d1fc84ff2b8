//! Elements whose clock begins when a test does, and not when the network did.

use std::time::Duration;

use path::elements::{Burst, CrossSpec};
use path::{Change, ElementSpec, PathElement, Span};
use units::MonoTime;

/// A part of the network's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) from: Duration,
    /// To the end where it is [`None`].
    pub(crate) until: Option<Duration>,
}

/// The element as a chain has it that begins at `start` by the network's clock, and that packets pass during `epoch`
/// only. [`None`] where they never pass it.
pub(crate) fn shifted(stage: &PathElement, start: Duration, epoch: Epoch) -> Option<PathElement> {
    let during = stage.during.unwrap_or(Span { from: MonoTime::default(), until: None });
    let from = at(during.from).max(epoch.from);
    let until = earliest(during.until.map(at), epoch.until);
    if until.is_some_and(|until| until <= start || until <= from) || from > LATEST {
        return None;
    }
    let always = from <= start && until.is_none();
    let during = Span { from: after(from, start), until: until.map(|until| after(until, start)) };
    let mut spec = &stage.spec;
    let mut changes = Vec::new();
    for change in &stage.changes {
        if at(change.at) <= start {
            spec = &change.spec;
        } else {
            changes.push(Change { at: after(at(change.at), start), spec: cross_shifted(&change.spec, start) });
        }
    }
    Some(PathElement { spec: cross_shifted(spec, start), during: (!always).then_some(during), changes })
}

/// No network runs for longer.
const LATEST: Duration = Duration::from_secs(10_000_000);

fn at(instant: MonoTime) -> Duration {
    instant.since(MonoTime::default())
}

fn after(instant: Duration, start: Duration) -> MonoTime {
    MonoTime::default() + instant.saturating_sub(start)
}

fn earliest(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    [one, other].into_iter().flatten().min()
}

/// The same element with its cross traffic where it is at `start`.
fn cross_shifted(spec: &ElementSpec, start: Duration) -> ElementSpec {
    let mut spec = spec.clone();
    match &mut spec {
        ElementSpec::Port(port) => shift_bursts(&mut port.cross, start),
        ElementSpec::Classes(classes) => classes.cross.iter_mut().for_each(|cross| shift_bursts(cross, start)),
        _ => {}
    }
    spec
}

fn shift_bursts(cross: &mut CrossSpec, start: Duration) {
    cross.bursts = cross.bursts.iter().flat_map(|burst| shifted_burst(burst, start)).collect();
}

/// What is left of a burst, and of its repetitions.
fn shifted_burst(burst: &Burst, start: Duration) -> Vec<Burst> {
    let Some(gone) = start.checked_sub(burst.start) else {
        return vec![Burst { start: burst.start - start, ..burst.clone() }];
    };
    match (burst.period, burst.length) {
        (None, None) => vec![Burst { start: Duration::ZERO, ..burst.clone() }],
        (None, Some(length)) => rest(burst, gone, length).into_iter().collect(),
        (Some(period), length) => {
            let period_ns = period.as_nanos().max(1);
            let within = Duration::from_nanos(u64::try_from(gone.as_nanos() % period_ns).unwrap_or(u64::MAX));
            let next = Burst { start: period.saturating_sub(within), ..burst.clone() };
            let now = length.and_then(|length| rest(burst, within, length));
            now.into_iter().chain([next]).collect()
        }
    }
}

/// The end of a burst that began `gone` ago.
fn rest(burst: &Burst, gone: Duration, length: Duration) -> Option<Burst> {
    let left = length.checked_sub(gone).filter(|left| !left.is_zero())?;
    Some(Burst { rate: burst.rate, start: Duration::ZERO, length: Some(left), period: None, jitter: Duration::ZERO })
}
