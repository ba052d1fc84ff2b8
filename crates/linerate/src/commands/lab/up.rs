//! Starting a lab.

use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Command, Stdio};

use anyhow::Context;
use lab::network::kept::{self, KeptError, running};
use lab::scenario::{Scenario, ScenarioError};

use super::{complain, daemon};
use crate::cli::Common;
use crate::cli::lab::UpArgs;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &UpArgs) -> anyhow::Result<Exit> {
    let scenario = lab::scenario::load(&args.scenario).map_err(refuse)?;
    let name = args.name.clone().unwrap_or_else(|| scenario.name.clone());
    kept::check_name(&name).map_err(complain)?;
    if args.foreground || args.keeper {
        return daemon::run(common, args, &scenario, &name);
    }
    detach(common, args, &scenario, &name)
}

/// Starts this program again as the keeper, and waits until the lab is up.
fn detach(common: &Common, args: &UpArgs, scenario: &Scenario, name: &str) -> anyhow::Result<Exit> {
    let failed = || Complaint::new(Exit::Local, "the process that keeps the lab cannot be started");
    if running().map_err(complain)?.iter().any(|kept| kept.record.name == name) {
        return Err(complain(KeptError::Taken { name: name.to_owned() }));
    }
    let mut log = kept::log(name).map_err(complain)?;
    let program = std::env::current_exe().with_context(failed)?;
    let mut command = Command::new(program);
    command.args(["lab", "up", &args.scenario, "--seed", &args.seed.to_string(), "--as", name, "--keeper"]);
    if let Some(collector) = args.int {
        command.args(["--int", &collector.to_string(), "--int-every", &args.int_every.to_string()]);
    }
    command.args(common.archive().iter().flat_map(|archive| ["--archive".as_ref(), archive.as_os_str()]));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.try_clone().with_context(failed)?);
    let mut child = command.spawn().with_context(failed)?;
    let mut line = String::new();
    if let Some(said) = child.stdout.take() {
        BufReader::new(said).read_line(&mut line).with_context(failed)?;
    }
    if line != daemon::READY {
        let status = child.wait().with_context(failed)?;
        let mut told = Vec::new();
        log.rewind().and_then(|()| log.read_to_end(&mut told)).with_context(failed)?;
        std::io::stderr().write_all(&told).with_context(failed)?;
        return Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(Exit::Unexpected, Exit::Passed));
    }
    let kept = running().map_err(complain)?.into_iter().find(|kept| kept.record.name == name);
    let kept = kept.context("the lab was up and is gone")?;
    if common.json {
        return print(&show::json::document(&kept.record)?);
    }
    print(show::lab::up(&kept.record, &scenario.title).as_bytes())
}

/// A scenario that cannot be had.
pub fn refuse(error: ScenarioError) -> anyhow::Error {
    let exit = match &error {
        ScenarioError::Unknown { .. } | ScenarioError::Read { .. } => Exit::NotFound,
        ScenarioError::TooLarge { .. } | ScenarioError::Refused(_) => Exit::Usage,
    };
    let complaint = error.hints().into_iter().fold(Complaint::new(exit, "no such lab can be made"), Complaint::hint);
    anyhow::Error::from(error).context(complaint)
}
