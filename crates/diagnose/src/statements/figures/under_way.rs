//! A window over an RTT, which is a rate of the same text: three numbers that agree are no chance.

use std::time::Duration;

use import::figures::{Figure, FigureSource, FigureValue, WindowOf};
use units::duration::show;
use units::{ByteCount, DataRate};

use crate::statements::statement::Statement;

/// The window that agrees best.
pub(super) fn of(all: &[&Figure]) -> Option<Statement> {
    let mut best: Option<(f64, Statement)> = None;
    for (window_of, window, at) in all.iter().filter_map(|one| match one.value {
        FigureValue::Window(of, bytes) => Some((of, bytes, one.line)),
        _ => None,
    }) {
        for rtt in all.iter().filter_map(|one| if let FigureValue::Rtt(rtt) = one.value { Some(rtt) } else { None }) {
            let Some(allows) = DataRate::of(window, rtt) else { continue };
            for rate in all.iter().filter(|one| one.of.streams.is_none_or(|streams| streams == 1)) {
                let Some(reached) = rate.reached().filter(|reached| reached.bps() > 0) else { continue };
                let off = (share(reached, allows) - 1.0).abs();
                let is_of_text = rate.source == FigureSource::Text || rtt >= NOT_NEAR;
                if off <= AGREES && rtt >= LEAST && is_of_text && best.as_ref().is_none_or(|(other, _)| off < *other) {
                    best = Some((off, says(Limit { of: window_of, window, at }, rtt, reached)));
                }
            }
        }
    }
    best.map(|(_, statement)| statement)
}

#[derive(Clone, Copy)]
struct Limit {
    of: WindowOf,
    window: ByteCount,
    at: usize,
}

fn says(limit: Limit, rtt: Duration, reached: DataRate) -> Statement {
    let Limit { of, window, at } = limit;
    let allows = DataRate::of(window, rtt).unwrap_or(reached);
    let whose = match of {
        WindowOf::Receiver => "the receive window (the receiver's buffer, or window scaling that is off) is the limit",
        WindowOf::Sender => "the sender has no more under way (its send buffer, or its program's): that is the limit",
        WindowOf::Unknown => "a window or a buffer of that size is the limit",
    };
    Statement::fault(format!(
        "{reached} is what {window} (line {at}) allow at an RTT of {}, {allows}: {whose}, and neither the line nor losses; a larger one, or \
         several streams at once, get more",
        show(rtt)
    ))
}

fn share(rate: DataRate, of: DataRate) -> f64 {
    rate.share_of(of).unwrap_or_default()
}

/// Amounts are rounded, and headers are not counted.
const AGREES: f64 = 0.08;
/// Nearer, a program and its disk take as long.
const LEAST: Duration = Duration::from_micros(500);
const NOT_NEAR: Duration = Duration::from_millis(2);
