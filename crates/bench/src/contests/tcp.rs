//! What a bit costs a sender and a receiver.
//!
//! First each program with itself at the other end, as its users run it. Over loopback a sender pays for part of the
//! receiver's work and waits for it, so each side of ours is measured against iperf3's other side as well.

use crate::actors::{Actors, Match, Place, Played, Who, words};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use crate::program::Seat;

/// What was measured in every round, one run after the other.
#[derive(Debug, Default)]
struct Runs {
    plain: Vec<Played>,
    best: Vec<Played>,
    sender: Vec<Played>,
    receiver: Vec<Played>,
    both: Vec<Played>,
}

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    use Who::{Iperf3, Linerate};
    let (rounds, seconds) = effort.choose((3, 1), (9, 2));
    let ours = words(&format!("--cca cubic --time {seconds}s"));
    let plain = words(&format!("-C cubic -t {seconds}"));
    let best = words(&format!("-C cubic -t {seconds} -Z"));
    let play = |client, server, arguments| {
        let seats = (Seat::First, Seat::Second);
        actors.play(&Match { client, server, arguments, seats, place: Place::Here })
    };
    let mut runs = Runs::default();
    for _ in 0..rounds {
        runs.sender.push(play(Linerate, Iperf3, &ours)?);
        runs.plain.push(play(Iperf3, Iperf3, &plain)?);
        runs.best.push(play(Iperf3, Iperf3, &best)?);
        runs.receiver.push(play(Iperf3, Linerate, &plain)?);
        runs.both.push(play(Linerate, Linerate, &ours)?);
    }
    Ok(rows(&runs))
}

fn rows(runs: &Runs) -> Vec<Row> {
    const PER_CPU: &str = "Gbit per CPU-s";
    let versus = |what: &str, ours: Vec<f64>, peer: Vec<f64>, unit| {
        let ratio = Spread::of_ratios(&ours, &peer);
        Row::new(what, Spread::of(ours).median, unit).against(Spread::of(peer).median, ratio)
    };
    vec![
        versus("sender", each(&runs.both, sending), each(&runs.plain, sending), PER_CPU)
            .target(Target::RatioAtLeast(2.0)),
        versus("sender by iperf3 -Z", each(&runs.both, sending), each(&runs.best, sending), PER_CPU)
            .target(Target::RatioAtLeast(1.2)),
        versus("receiver", each(&runs.both, receiving), each(&runs.plain, receiving), PER_CPU)
            .target(Target::RatioAtLeast(2.0)),
        versus("both ends together", each(&runs.both, together), each(&runs.plain, together), PER_CPU),
        versus("rate", each(&runs.both, rate), each(&runs.plain, rate), "Gbit/s"),
        versus("sender, to iperf3's receiver", each(&runs.sender, sending), each(&runs.plain, sending), PER_CPU),
        versus("the same by iperf3 -Z", each(&runs.sender, sending), each(&runs.best, sending), PER_CPU),
        versus("receiver, of iperf3's sender", each(&runs.receiver, receiving), each(&runs.plain, receiving), PER_CPU),
        versus("told of its CPU use by a client", each(&runs.sender, told), each(&runs.plain, told), "of getrusage"),
    ]
}

fn each(runs: &[Played], value: fn(&Played) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}

fn gigabits(played: &Played) -> f64 {
    played.received_bytes * 8e-9
}

fn sending(played: &Played) -> f64 {
    gigabits(played) / played.client_cpu_s
}

fn receiving(played: &Played) -> f64 {
    gigabits(played) / played.server_cpu_s
}

fn together(played: &Played) -> f64 {
    gigabits(played) / (played.client_cpu_s + played.server_cpu_s)
}

fn rate(played: &Played) -> f64 {
    played.goodput_bps * 1e-9
}

/// What a client says of its processor time, by what the kernel says of the whole process.
fn told(played: &Played) -> f64 {
    played.client_says * played.seconds / played.client_cpu_s
}
