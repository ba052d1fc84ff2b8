//! What each command does.

#[cfg(feature = "hub")]
mod agent;
mod archive;
mod attempt;
mod capturing;
mod check;
mod compare;
mod demo;
mod detect;
mod evidence;
mod examine;
mod expectation;
mod file;
mod gateways;
mod helper;
mod hints;
mod hops;
mod host;
#[cfg(feature = "hub")]
mod hub;
mod import;
mod lab;
mod output;
mod plan;
mod plot;
mod probe;
#[cfg(feature = "ndt7")]
mod probe_ndt;
mod probe_place;
mod probe_sessions;
mod question;
mod round;
mod runs;
mod scratch;
mod serve;
mod served;
mod simulate;
mod standard_input;
mod test;
mod tool;
mod trace;
#[cfg(feature = "web")]
mod view;
mod watch;
mod why;
mod why_gateways;
mod why_test;
mod why_trace;

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::exit::{Complaint, Exit};

pub use output::{print, print_as_it_is, print_text};

/// Does what was asked for.
pub fn run(cli: Cli) -> anyhow::Result<Exit> {
    let Cli { common, command, .. } = cli;
    match command {
        Command::Test(args) => test::run(&common, &args),
        Command::Probe(args) => probe::run(&common, &args.what),
        Command::Serve(args) => serve::run(&common, &args),
        Command::Runs(args) => runs::run(&common, &args.action),
        Command::Import(args) => import::run(&common, &args),
        Command::Host(args) => host::run(&common, &args.action),
        Command::Helper(args) => helper::run(&common, &args),
        Command::Round(args) => round::run(&common, &args),
        #[cfg(feature = "hub")]
        Command::Hub(args) => hub::run(&common, &args.action),
        #[cfg(feature = "hub")]
        Command::Agent(args) => agent::run(&common, &args.action),
        #[cfg(feature = "hub")]
        Command::Top(args) => hub::top::run(&common, &args),
        Command::Why(args) => why::run(&common, &args),
        #[cfg(feature = "hub")]
        Command::Report(args) => hub::report::run(&common, &args),
        Command::Check(args) => check::run(&common, &args),
        #[cfg(feature = "web")]
        Command::View(args) => view::run(&common, &args),
        Command::Watch(args) => watch::run(&common, &args.what),
        Command::Trace(args) => trace::run(&common, &args),
        Command::Plan(args) => plan::run(&common, &args),
        Command::Detect(args) => detect::run(&common, &args),
        Command::Simulate(args) => simulate::run(&common, &args.what),
        Command::Gateways(args) => gateways::run(&common, &args.action),
        Command::Lab(args) => lab::run(&common, &args.action),
        Command::Demo(args) => demo::run(&common, &args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "linerate", &mut script);
            print(&script)
        }
        Command::Man { directory: None } => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            print(&page)
        }
        Command::Man { directory: Some(directory) } => write_man_pages(&directory),
    }
}

fn write_man_pages(directory: &Path) -> anyhow::Result<Exit> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
        .with_context(|| Complaint::new(Exit::Local, format!("cannot write to {}", directory.display())))?;
    Ok(Exit::Success)
}
