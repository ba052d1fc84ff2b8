//! What a datagram costs a sender.
//!
//! Over loopback the kernel of the sender does the receiver's work up to its socket. So the cost depends on whether that
//! receiver takes datagrams merged (GRO) or has them cut: ours is measured with both.

use crate::actors::{Actors, Match, Place, Played, Who, words};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use crate::program::Seat;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let (rounds, seconds) = effort.choose((2, 1), (7, 2));
    let ours = words(&format!("--udp --flood --length 1448B --time {seconds}s"));
    let whole = words(&format!("--udp --flood --no-gso --length 1448B --time {seconds}s"));
    let peer = words(&format!("-u -b 0 -l 1448 -t {seconds}"));
    let play = |client, server, arguments| {
        let seats = (Seat::First, Seat::Second);
        let played = actors.play(&Match { client, server, arguments, seats, place: Place::Here })?;
        anyhow::Ok(millions(&played))
    };
    let (mut merged, mut segmented, mut single, mut theirs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        merged.push(play(Who::Linerate, Who::Linerate, &ours)?);
        theirs.push(play(Who::Iperf3, Who::Iperf3, &peer)?);
        segmented.push(play(Who::Linerate, Who::Iperf3, &ours)?);
        single.push(play(Who::Linerate, Who::Iperf3, &whole)?);
    }
    let row = |what: &str, values: Vec<f64>| {
        let ratio = Spread::of_ratios(&values, &theirs);
        let peer = Spread::of(theirs.iter().copied()).median;
        Row::new(what, Spread::of(values).median, "million per CPU-s").against(peer, ratio)
    };
    Ok(vec![
        row("sender with GSO", merged).target(Target::RatioAtLeast(8.0)),
        row("the same, to iperf3's receiver", segmented),
        row("sender, --no-gso, to iperf3's receiver", single),
    ])
}

fn millions(played: &Played) -> f64 {
    played.datagrams * 1e-6 / played.client_cpu_s
}
