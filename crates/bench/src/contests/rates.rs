//! What a test costs at the rates of every day, with samples and probes as they are unless asked otherwise.
//!
//! CPU time of both programs, start and end included, for the same payload at the same rate; iperf3 takes no samples and
//! sends no probes.

use crate::actors::{Actors, Match, Place, Played, Who, words};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use crate::program::Seat;

const RATES: [(&str, &str); 3] = [("100Mbit/s", "100M"), ("1Gbit/s", "1G"), ("10Gbit/s", "10G")];

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let (rounds, seconds) = (effort.choose(2, 5), effort.choose(2, 8));
    let mut rows = Vec::new();
    for (ours, theirs) in RATES {
        rows.extend(at(actors, (ours, theirs), rounds, seconds)?);
    }
    Ok(rows)
}

/// Both programs at one rate, in turn.
fn at(actors: &Actors, (rate, theirs): (&str, &str), rounds: u32, seconds: u32) -> anyhow::Result<Vec<Row>> {
    let arguments = [
        (Who::Linerate, words(&format!("--cca cubic --time {seconds}s --rate {rate}"))),
        (Who::Iperf3, words(&format!("-C cubic -t {seconds} -b {theirs}"))),
    ];
    let mut played: [Vec<Played>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for ((who, arguments), played) in arguments.iter().zip(&mut played) {
            let seats = (Seat::First, Seat::Second);
            played.push(actors.play(&Match { client: *who, server: *who, arguments, seats, place: Place::Here })?);
        }
    }
    let row = |end: &str, cpu_s: fn(&Played) -> f64| {
        let of = |played: &[Played]| played.iter().map(|one| cpu_s(one) * 1e3).collect::<Vec<_>>();
        let (ours, theirs) = (of(&played[0]), of(&played[1]));
        // A ratio of at least one is better in every row of this bench: how much more the other one costs.
        let ratio = Spread::of_ratios(&theirs, &ours);
        Row::new(format!("{rate} for {seconds} s: {end}"), Spread::of(ours).median, "CPU ms")
            .against(Spread::of(theirs).median, ratio)
            .target(Target::RatioAtLeast(1.0))
            .note("the ratio is iperf3's by ours")
    };
    Ok(vec![row("client", |played| played.client_cpu_s), row("server", |played| played.server_cpu_s)])
}
