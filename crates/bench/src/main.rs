//! `make bench`: how fast linerate is, as ratios to iperf3 on the same machine in the same minutes.
//!
//! Runs of the two programs alternate, and every ratio is the median over neighbours, so that what else the machine
//! does falls on both. Traffic stays on the loopback device and in network namespaces that end with the bench.
//! docs/benchmarks.md says how to read the result.
//!
//! * [`contests`]: what is measured
//! * [`actors`]: linerate and iperf3 as programs: their arguments, and what they print
//! * [`ns3`]: ns-3 as a program
//! * [`browser`]: a page as people see it
//! * [`program`]: running a program and what it costs
//! * [`pairs`]: medians of neighbours
//! * [`outcome`]: rows, targets and how they are printed
//! * [`machine`]: where all this was measured

mod actors;
mod browser;
mod contests;
mod labelled;
mod machine;
mod ns3;
mod outcome;
mod pairs;
mod program;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use actors::Actors;
use contests::{Cases, Contest, Effort};
use outcome::Report;

/// Measures linerate against iperf3 on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "bench",
    after_help = "Examples:
  make bench                                       everything, in less than five minutes
  cargo run --release -p bench -- --quick          the same with less care, in less than one
  cargo run --release -p bench -- --only tcp --json
  cargo run --release -p bench -- --only sim-ns3   the simulator beside ns-3, which is fetched
  cargo run --release -p bench -- --only sim-kernel --cases \"over 209 ms\"
                                                   the simulator beside the kernel, on one of the paths"
)]
struct Args {
    /// Fewer and shorter runs: less than a minute, wider spread
    #[arg(long)]
    quick: bool,
    /// Only these contests
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<Contest>,
    /// Of sim-kernel and sim-ns3 only transfers with one of these texts in their names, such as `bbr over 20`
    #[arg(long, value_name = "TEXT")]
    cases: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// The program to measure [default: this workspace's, built before]
    #[arg(long, value_name = "FILE")]
    linerate: Option<PathBuf>,
    /// The part that runs inside a namespace
    #[arg(long, hide = true)]
    stage: Option<Contest>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let effort = if args.quick { Effort::Quick } else { Effort::Full };
    let cases = Cases(args.cases.clone());
    let actors = Actors::find(args.linerate.clone())?;
    if let Some(stage) = args.stage {
        println!("{}", serde_json::to_string(&stage.inside(&actors, effort, &cases)?)?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report::new(machine::describe(&actors));
    let watch = machine::Watch::start()?;
    // Scores take an hour: what is not among these is asked for by name.
    let contests = if args.only.is_empty() { Contest::ALL.as_slice() } else { args.only.as_slice() };
    for contest in contests {
        eprintln!("{} …", contest.title());
        report.add(*contest, contest.run(&actors, effort, &cases));
    }
    report.others_used = watch.others_used()?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.text());
    }
    // A target that is not reached is news, not a failure of the bench.
    Ok(ExitCode::SUCCESS)
}
