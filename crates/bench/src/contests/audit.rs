//! How long all rules take over many stored snapshots: this host's snapshot as a file holds it, read and audited again and
//! again by one thread, whose own processor time is told: others may want the core as well.

use std::process::Command;
use std::time::Instant;

use anyhow::ensure;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Rules};
use linux::clock::thread_cpu_time;
use model::host::snapshot::Snapshot;

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let began = Instant::now();
    let rules = Rules::built_in();
    let compiled = began.elapsed();
    let output = Command::new(actors.linerate()).args(["host", "snapshot", "--json"]).output()?;
    ensure!(output.status.success(), "`linerate host snapshot` failed: {}", String::from_utf8_lossy(&output.stderr));
    let stored = output.stdout;
    let profile = Profile {
        rtt: Some(std::time::Duration::from_millis(190)),
        target_rate: Some(units::DataRate::from_bps(10_000_000_000)),
        ..Profile::default()
    };
    let hosts = effort.choose(200, 1000);
    let (mut reading, mut asking, mut answers) = (0.0, 0.0, 0);
    for _ in 0..hosts {
        let began = thread_cpu_time();
        let facts = HostFacts::of(&serde_json::from_slice::<Snapshot>(&stored)?);
        let read = thread_cpu_time();
        reading += (read - began).as_secs_f64();
        let inputs = Inputs { before: Some(facts.clone()), ..Inputs::default() };
        let case = Case { host: &facts, profile: &profile, inputs: &inputs, keep: Keep::Findings };
        let summary = audit::audit(&rules, &case).summary;
        asking += (thread_cpu_time() - read).as_secs_f64();
        answers = summary.pass + summary.fail + summary.unknown + summary.not_applicable;
    }
    let per_thousand = 1000.0 / f64::from(hosts);
    let size = stored.len();
    Ok(vec![
        Row::new("1000 snapshots x all rules, read and audited, CPU", (reading + asking) * per_thousand, "s")
            .target(Target::AtMost(2.0))
            .note(format!("{answers} answers a snapshot of {} kB", size / 1000)),
        Row::new("of that, the rules alone", asking * per_thousand, "s"),
        Row::new("rules compiled, once", compiled.as_secs_f64() * 1e3, "ms"),
    ])
}
