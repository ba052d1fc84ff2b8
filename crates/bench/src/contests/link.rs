//! Whether both programs say the same of the same link: a veth pair between two namespaces, shaped by the kernel.
//!
//! The bench starts itself in a namespace of its own, with privileges there and nowhere else, and the other namespace
//! from within. Both end with their processes.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::far::{FAR, Far, NEAR, tool};
use crate::actors::{Actors, Match, Place, Who, words};
use crate::contests::effort::{Cases, Effort};
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use crate::program::Seat;

/// Has a process of its own, with privileges in a namespace of its own, measure one contest.
pub(super) fn apart(stage: &str, actors: &Actors, effort: Effort, cases: &Cases) -> anyhow::Result<Vec<Row>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--stage", stage, "--linerate"]).arg(actors.linerate());
    if effort == Effort::Quick {
        command.arg("--quick");
    }
    for text in &cases.0 {
        command.args(["--cases", text]);
    }
    let output = linux::netns::isolate(&mut command)
        .stderr(Stdio::inherit())
        .output()
        .context("namespaces of one's own are not allowed here (user.max_user_namespaces)")?;
    ensure!(output.status.success(), "the part inside the namespace failed, see above");
    serde_json::from_slice(&output.stdout).context("the part inside the namespace says nothing")
}

/// The part inside.
pub(super) fn inside(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let far = Far::start()?;
    tool("ip", &["link", "add", NEAR.0, "type", "veth", "peer", "name", FAR.0, "netns", &far.id().to_string()])?;
    far.address_both()?;
    let (pairs, seconds) = effort.choose((1, 2), (3, 4));
    let mut rows = Vec::new();
    for (mbits, name) in [(100, "100 Mbit/s"), (1_000, "1 Gbit/s")] {
        shape(mbits)?;
        let ours = words(&format!("--cca cubic --time {seconds}s"));
        let theirs = words(&format!("-C cubic -t {seconds}"));
        let play = |who, arguments| {
            let seats = (Seat::First, Seat::Second);
            let place = Place::Inside(far.id(), FAR.1);
            let played = actors.play(&Match { client: who, server: who, arguments, seats, place })?;
            anyhow::Ok(played.goodput_bps * 1e-6)
        };
        let (mut linerate, mut iperf3) = (Vec::new(), Vec::new());
        for _ in 0..pairs {
            linerate.push(play(Who::Linerate, &ours)?);
            iperf3.push(play(Who::Iperf3, &theirs)?);
        }
        let ratio = Spread::of_ratios(&linerate, &iperf3);
        let row = Row::new(format!("goodput through {name}"), Spread::of(linerate).median, "Mbit/s");
        rows.push(row.against(Spread::of(iperf3).median, ratio).target(Target::RatioWithinPercent(1.0)));
    }
    Ok(rows)
}

/// Shapes what the near end sends, with 25 ms of queue before the slow part.
fn shape(mbits: u32) -> anyhow::Result<()> {
    let rate = format!("{mbits}mbit");
    tool("tc", &["qdisc", "replace", "dev", NEAR.0, "root", "tbf", "rate", &rate, "burst", "128kb", "latency", "25ms"])
}
