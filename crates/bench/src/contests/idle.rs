//! What a waiting server takes.

use std::fs;

use anyhow::Context;

use crate::actors::{Actors, Place, Who, fresh_port};
use crate::outcome::{Row, Target};
use crate::program::Seat;

pub(super) fn run(actors: &Actors) -> anyhow::Result<Vec<Row>> {
    let resident = |who| {
        let server = actors.server(who, fresh_port(), Seat::Anywhere, Place::Here)?;
        resident_mb(server.pid())
    };
    let (ours, theirs) = (resident(Who::Linerate)?, resident(Who::Iperf3)?);
    let mut row = Row::new("resident memory", ours, "MB").target(Target::AtMost(15.0));
    row.peer = Some(theirs);
    Ok(vec![row])
}

/// `VmRSS` of a process, in 10^6 bytes.
pub(super) fn resident_mb(pid: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the server has ended")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS is no number")?;
    Ok(kib * 1_024.0 * 1e-6)
}
