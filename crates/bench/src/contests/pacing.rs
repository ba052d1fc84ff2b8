//! Whether a rate that was asked for is the rate that is sent.

use crate::actors::{Actors, Match, Place, Who, words};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::program::Seat;

const RATES: [&str; 5] = ["1Mbit/s", "10Mbit/s", "100Mbit/s", "1Gbit/s", "10Gbit/s"];
const BPS: [f64; 5] = [1e6, 1e7, 1e8, 1e9, 1e10];

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    // At 1 Mbit/s a datagram is 12 ms, so a second could not show a thousandth.
    let seconds = effort.choose(2, 4);
    let skip = effort.choose(2, 1);
    RATES.iter().zip(BPS).step_by(skip).map(|(rate, bps)| row(actors, rate, bps, seconds)).collect()
}

fn row(actors: &Actors, rate: &str, bps: f64, seconds: u32) -> anyhow::Result<Row> {
    let arguments = words(&format!("--udp --length 1448B --time {seconds}s --rate {rate}"));
    let seats = (Seat::First, Seat::Second);
    let (client, server) = (Who::Linerate, Who::Linerate);
    let played = actors.play(&Match { client, server, arguments: &arguments, seats, place: Place::Here })?;
    let sent = played.sent_bytes * 8.0 / f64::from(seconds);
    // One datagram more or less in the whole time is as near as it gets.
    let grain = 1_448.0 * 8.0 / (bps * f64::from(seconds)) * 100.0;
    let row = Row::new(format!("{rate}: mean less what was asked for"), (sent / bps - 1.0) * 100.0, "%");
    Ok(row.target(Target::Within((0.1_f64).max((grain * 100.0).ceil() / 100.0))))
}
