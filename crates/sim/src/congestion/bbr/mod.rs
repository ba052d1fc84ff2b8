//! BBR: congestion control by a model of the path, its rate and its least round trip (Cardwell et al., ACM Queue 14(5),
//! 2016).
//!
//! | file | what it holds |
//! |---|---|
//! | `v1` | version 1, as Linux has it |
//! | `v3` | version 3, with bounds from losses |
//! | `rounds` | round trips, counted in packets |
//! | `pipe` | when the path is full |
//! | `clumps` | acknowledgements that come together |

mod clumps;
mod pipe;
mod rounds;
mod v1;
mod v3;

use std::time::Duration;

use super::Window;

pub(super) use v1::Bbr;
pub(super) use v3::Bbr3;

/// It paces 1 % below what it has seen.
const MARGIN: f64 = 0.99;
/// The least window, in segments.
const LEAST_WINDOW: u32 = 4;
/// How long the window is held small to see the least round trip.
const RTT_PROBE: Duration = Duration::from_millis(200);
/// How long a least round trip is believed in.
const RTT_AGE: Duration = Duration::from_secs(10);

/// What is sent at before anything is known but a round trip, in bytes a second.
fn first_pacing(gain: f64, window: &Window, rtt: Duration, mss: f64) -> f64 {
    gain * f64::from(window.cwnd) * mss / rtt.as_secs_f64().max(0.001)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
fn whole(value: f64) -> u32 {
    (value as u32).min(1 << 30)
}

/// The share of a count, rounded down.
fn part(count: u32, share: f64) -> u32 {
    whole(f64::from(count) * share)
}
