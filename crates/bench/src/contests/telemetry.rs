//! What sampling every millisecond adds to the cost of a bit.
//!
//! The difference of two runs cannot resolve 1 % on a machine that does other things as well. So the processor time of
//! the threads is read while they run (`/proc/PID/task/TID/schedstat`, exact to the nanosecond): that of the sampler,
//! as a share of the whole process's. What the streams' own threads spend on samples is part of the pairs below it.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::actors::{Actors, Match, Place, Who, fresh_port, words};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use crate::program::Seat;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let rounds = effort.choose(2, 5);
    let mut shares: [Vec<f64>; 2] = Default::default();
    for _ in 0..rounds {
        let [client, server] = shares_of_sampler(actors)?;
        shares[0].push(client);
        shares[1].push(server);
    }
    let [client, server] = shares.map(|shares| Spread::of(shares).median * 100.0);
    let mut rows = vec![
        Row::new("sampler's thread at 1 ms, sender", client, "% of its CPU").target(Target::AtMost(1.0)),
        Row::new("sampler's thread at 1 ms, receiver", server, "% of its CPU").target(Target::AtMost(1.0)),
    ];
    rows.push(pairs(actors, effort.choose(2, 8))?);
    Ok(rows)
}

/// Runs a test with samples every millisecond, and returns the sampler's share at both ends.
fn shares_of_sampler(actors: &Actors) -> anyhow::Result<[f64; 2]> {
    let port = fresh_port();
    let server = actors.server(Who::Linerate, port, Seat::Second, Place::Here)?;
    let arguments = words("--cca cubic --time 2s --sample-every 1ms --probe-every 0s");
    let client = actors.client(Who::Linerate, "127.0.0.1", port, &arguments, Seat::First)?;
    // The first third of the test, with the start of both programs, is left out.
    thread::sleep(Duration::from_millis(700));
    let before = [times(client.pid())?, times(server.pid())?];
    thread::sleep(Duration::from_millis(1_100));
    let after = [times(client.pid())?, times(server.pid())?];
    client.ended()?;
    server.ended()?;
    let share = |end: usize| share(&before[end], &after[end]).context("there is no sampler");
    Ok([share(0)?, share(1)?])
}

/// Processor time by thread, with the thread's name, in nanoseconds.
fn times(pid: u32) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut times = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).context("the program has ended too soon")? {
        let task = task?.path();
        let name = fs::read_to_string(task.join("comm")).unwrap_or_default();
        let spent = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
        let spent = spent.split_ascii_whitespace().next().and_then(|spent| spent.parse().ok());
        *times.entry(name.trim().to_owned()).or_default() += spent.unwrap_or(0.0);
    }
    ensure!(!times.is_empty(), "/proc/{pid}/task is empty");
    Ok(times)
}

fn share(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> Option<f64> {
    let spent = |name: &str| Some(after.get(name)? - before.get(name)?);
    let all: f64 = after.keys().filter_map(|name| spent(name)).sum();
    Some(spent("sampler")? / all)
}

/// The plain difference, for what it is worth: both ends' cost with samples every millisecond, by that with one a second.
/// It is the processor time of the test itself, which both ends report: packing the samples comes after it.
fn pairs(actors: &Actors, rounds: usize) -> anyhow::Result<Row> {
    let often = words("--cca cubic --time 1s --probe-every 0s --sample-every 1ms");
    let seldom = words("--cca cubic --time 1s --probe-every 0s --sample-every 1s");
    let play = |arguments| {
        let seats = (Seat::First, Seat::Second);
        let (client, server) = (Who::Linerate, Who::Linerate);
        let played = actors.play(&Match { client, server, arguments, seats, place: Place::Here })?;
        anyhow::Ok(played.received_bytes * 8e-9 / (played.seconds * (played.client_says + played.server_says)))
    };
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        with.push(play(&often)?);
        without.push(play(&seldom)?);
    }
    let ratio = Spread::of_ratios(&with, &without);
    let row = Row::new("both ends, 1 ms by 1 s", Spread::of(with).median, "Gbit per CPU-s");
    let mut row = row.against(Spread::of(without).median, ratio);
    row.note = Some("here the second column is linerate with --sample-every 1s".to_owned());
    Ok(row)
}
