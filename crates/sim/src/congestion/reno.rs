//! Reno (RFC 5681): a segment more each round trip, half after a loss.

use units::MonoTime;

use super::{Ack, Congestion, Window};

#[derive(Debug)]
pub(crate) struct Reno;

impl Congestion for Reno {
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.cwnd_limited {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(ack.acked) } else { ack.acked };
        if left > 0 {
            window.grow_by_one_in(window.cwnd, left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: MonoTime) -> u32 {
        (window.cwnd / 2).max(2)
    }
}
