//! The host that tests.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::Context;
use measure::session::client::Request;
use model::measurement::Heading;
use model::run::{Outcome, Run};
use model::spec::{Limit, TestSpec};
use units::DataRate;

use super::{Stage, network, stage};
use crate::cli::Common;
use crate::commands::attempt::{Attempt, Frame, attempt, stop_on_signals};
use crate::commands::print;
use crate::exit::Exit;
use crate::show;
use crate::show::progress::Talk;

/// What the path should carry.
const LINE_RATE: DataRate = DataRate::from_bps(1_000_000_000);
/// What it carries at first.
const PLANTED: DataRate = DataRate::from_bps(200_000_000);
/// How long each test takes.
const TIME: Duration = Duration::from_secs(5);

/// The whole story: a path, a test, a change, a test.
pub fn run(common: &Common) -> anyhow::Result<Exit> {
    let _far = Far::start()?;
    network::shape(PLANTED)?;
    print(introduction().as_bytes())?;
    let before = test(common, "The path as we found it")?;
    network::shape(LINE_RATE)?;
    print(format!("\nThe fix: the shaper now lets {LINE_RATE} through.\n").as_bytes())?;
    let after = test(common, "The same test again")?;
    print(verdict(goodput(&before), goodput(&after)).as_bytes())
}

fn introduction() -> String {
    format!(
        "\
Two hosts on this machine, in network namespaces of their own. Their kernels' TCP is real, the cable is a veth pair,
and the slow part of the path is the kernel's token bucket (tc tbf). Nothing outside is touched.

    near ({}) ---[ tbf, {PLANTED} where {LINE_RATE} were ordered ]--- far ({})

",
        network::NEAR.1,
        network::FAR.1
    )
}

fn test(common: &Common, title: &str) -> anyhow::Result<Run> {
    print(format!("{title}\n$ linerate test {} --time 5s --cca cubic --expect 1Gbit/s\n", network::FAR.1).as_bytes())?;
    let spec =
        TestSpec { limit: Limit::Time(TIME), congestion_control: Some("cubic".to_owned()), ..TestSpec::default() };
    let request =
        Request { host: network::FAR.1.to_owned(), port: measure::DEFAULT_PORT, spec, queue_wait: Duration::ZERO };
    let talk = if common.quiet { Talk::Nothing } else { Talk::Progress };
    let frame = Frame { declared_line_rate: Some(LINE_RATE), batch: None };
    let Attempt { run, samples } = attempt(&request, frame, &stop_on_signals()?, talk)?;
    print(show::run::text(&run, &samples, show::run::Detail::Fresh).as_bytes())?;
    match &run.outcome {
        Outcome::Complete => Ok(run),
        Outcome::Failed(failure) => Err(anyhow::anyhow!("the test failed: {}", failure.detail)),
    }
}

fn goodput(run: &Run) -> DataRate {
    let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
    totals.filter(|total| total.heading == Heading::Outbound).map(|total| total.goodput).next().unwrap_or_default()
}

fn verdict(before: DataRate, after: DataRate) -> String {
    let share = |rate: DataRate| rate.share_of(LINE_RATE).unwrap_or(0.0) * 100.0;
    format!(
        "\nBefore {before}, {:.0} % of what was ordered. After {after}, {:.0} %.\n\
         Both namespaces are gone now. Next: `linerate serve` on one host, `linerate test HOST` on another.\n",
        share(before),
        share(after)
    )
}

/// The other host. It ends when its standard input does.
struct Far(Child);

impl Far {
    fn start() -> anyhow::Result<Self> {
        let mut command = stage(Stage::Far)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = linux::netns::isolate(&mut command).spawn().context("the second host cannot be started")?;
        let mut far = Self(child);
        network::lay_cable(far.0.id())?;
        if let Some(stdin) = &mut far.0.stdin {
            stdin.write_all(b"the cable is there\n").context("the second host does not listen")?;
        }
        let mut line = String::new();
        if let Some(stdout) = &mut far.0.stdout {
            BufReader::new(stdout).read_line(&mut line).context("the second host says nothing")?;
        }
        anyhow::ensure!(!line.is_empty(), "the second host does not serve");
        Ok(far)
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It ends by itself; waiting for it only collects its exit code.
        let _ = self.0.wait();
    }
}
