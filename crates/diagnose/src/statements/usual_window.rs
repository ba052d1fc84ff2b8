//! An even rate whose product with the RTT is a window that hosts have of themselves, where no window is printed.

use std::time::Duration;

use model::measurement::{DirectionTotal, Interval};
use model::run::Run;
use units::duration::show;
use units::{ByteCount, DataRate};

use super::statement::Statement;

/// What is under way all the time, where that is the most that a setting allows and nothing says that segments were lost.
pub(super) fn of(
    whose: &str,
    total: &DirectionTotal,
    rtts: [Duration; 2],
    intervals: &[&Interval],
) -> Option<Statement> {
    let [low, high] = rtts;
    let is_lossless = total.retransmits.is_none_or(|count| count.get() == 0);
    // The last interval may be a part of one, or of the time in which a sum was printed.
    let late = &intervals[intervals.len() / 2..];
    let mut rates: Vec<DataRate> = late.iter().map(|of| of.rate).collect();
    rates.sort_unstable();
    let (least, rate, most) = (*rates.first()?, *rates.get(rates.len() / 2)?, *rates.last()?);
    let is_even = rates.len() >= FEWEST && most.bps() * 20 <= least.bps() * 21;
    (is_lossless && is_even && low >= FAR && high * 10 <= low * 11).then_some(())?;
    let under_way = rate * low;
    let (window, why) = WINDOWS.into_iter().find(|(window, _)| under_way.get().abs_diff(*window) * EXACT <= *window)?;
    Some(Statement::fault(format!(
        "{whose}: evenly {rate} at an RTT of {} are {under_way} under way all the time, which is {why} ({}): that window limits the flow, and at a \
         shorter RTT it would be faster by as much",
        show(low),
        ByteCount::new(window)
    )))
}

/// What one stream has under way on average, where neither a window nor a loss is printed.
pub(super) fn under_way(whose: &str, run: &Run, total: &DirectionTotal, rtt: Duration) -> Option<Statement> {
    let is_alone = run.spec.streams == 1 && total.retransmits.is_none() && rtt >= FAR;
    let bytes = total.goodput * rtt;
    if is_alone && bytes.get().abs_diff(65_536) * EXACT <= 65_536 {
        return Some(Statement::fault(format!(
            "{whose}: {} at an RTT of {} is {} under way all the time, which is a buffer of 64 KiB: that of the sending program or its system, or a window \
             without scaling, limits one connection; several at once get as much each",
            total.goodput,
            show(rtt),
            bytes
        )));
    }
    (is_alone && bytes.get() > 0).then(|| {
        Statement::fact(format!(
            "{whose}: {} at an RTT of {} is {} under way on average: a window or a buffer of about that size, or losses, keep one stream there, \
             and several at once are faster unless the path is the limit",
            total.goodput,
            show(rtt),
            bytes
        ))
    })
}

/// Windows that hosts have unless somebody changes it: without window scaling (RFC 7323), and half of Linux's largest receive buffer
/// (`tcp_rmem`, whose other half is kept for what packets need beside their data).
const WINDOWS: [(u64, &str); 2] = [
    (65_535, "the largest window without window scaling"),
    (3 << 20, "what Linux's default for `net.ipv4.tcp_rmem` allows, half of 6.29 MB"),
];
/// One part of so many by which the product may differ.
const EXACT: u64 = 25;
/// Fewer intervals may be alike by chance.
const FEWEST: usize = 3;
/// Nearer by, other limits are as likely.
const FAR: Duration = Duration::from_millis(10);
