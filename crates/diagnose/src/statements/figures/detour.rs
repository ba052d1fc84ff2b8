//! An RTT that is far longer than what somebody says that it was.

use std::time::Duration;

use import::figures::{Figure, FigureSource, FigureValue, Moment};
use units::duration::show;

use crate::statements::statement::Statement;

/// The RTT before, and the least that was measured.
pub(super) fn of(all: &[&Figure]) -> Option<Statement> {
    let rtts = |source: FigureSource| {
        all.iter().filter(move |one| one.source == source).filter_map(|one| match one.value {
            FigureValue::Rtt(rtt) => Some((*one, rtt)),
            _ => None,
        })
    };
    let (was, before) = rtts(FigureSource::Text)
        .filter(|(one, _)| one.of.moment == Some(Moment::Before))
        .min_by_key(|(_, rtt)| *rtt)?;
    let (is, now) = rtts(FigureSource::Output).min_by_key(|(_, rtt)| *rtt)?;
    (now >= before * TIMES && now.saturating_sub(before) >= LONGER).then(|| {
        Statement::decisive(format!(
            "the RTT is {} at least (line {}), and was {} before (line {}): packets take another, longer way, which the hops of `mtr` or `traceroute` \
             show; what one stream gets falls with it, since its window is what it was: have the route put right, larger buffers only hide it",
            show(now),
            is.line,
            show(before),
            was.line
        ))
    })
}

/// A queue under load comes and goes.
const TIMES: u32 = 4;
const LONGER: Duration = Duration::from_millis(20);
