//! `linerate agent`.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use hub::agent::connection::CallError;
use hub::agent::directory::{Directory, Limits};
use hub::agent::join::{JoinError, Joining, join};
use hub::agent::run::{Options, RunError, Watch};
use hub::trust::token::Token;

use super::attempt::stop_on_signals;
use super::print;
use crate::cli::Common;
use crate::cli::agent::{AgentAction, JoinArgs, RunArgs};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, action: &AgentAction) -> anyhow::Result<Exit> {
    match action {
        AgentAction::Join(args) => join_hub(common, args),
        AgentAction::Run(args) => run_agent(common, args),
    }
}

fn join_hub(common: &Common, args: &JoinArgs) -> anyhow::Result<Exit> {
    let token: Token = read_token(&args.token)?
        .parse()
        .context(Complaint::new(Exit::Usage, "the token is not one").hint("`linerate hub token DIR` prints one"))?;
    let directory = directory(args.directory.as_ref())?;
    let joining = Joining {
        hub: args.hub.clone(),
        token,
        name: args.name.clone().unwrap_or_else(linux::host::hostname),
        address: args.address.clone(),
        limits: Limits {
            max_rate: args.max_rate,
            max_time: args.max_time,
            max_bytes_a_day: args.max_bytes_a_day,
            allow: args.allow.clone(),
            ..Limits::default()
        },
    };
    join(&Directory::at(&directory), &joining).map_err(complain)?;
    if common.json {
        let said = serde_json::json!({ "name": joining.name, "hub": args.hub, "directory": directory });
        return print(&show::json::document(&said)?);
    }
    let (name, shown) = (&joining.name, directory.display());
    print(format!("{name} has joined {}\nsettings and limits: {shown}/agent.toml\n", args.hub).as_bytes())
}

fn run_agent(common: &Common, args: &RunArgs) -> anyhow::Result<Exit> {
    let directory = directory(args.directory.as_ref())?;
    if !Directory::at(&directory).has_joined() {
        return Err(Complaint::new(Exit::NotFound, format!("no agent has joined from {}", directory.display()))
            .hint("`linerate agent join URL TOKEN` makes one, with a token from `linerate hub token`")
            .into());
    }
    let options = Options {
        directory,
        program: std::env::current_exe().context("this program does not know where it is")?.into(),
        watch: if args.no_watch { Watch::Off } else { Watch::On },
        transfers: if args.no_transfers { Watch::Off } else { Watch::On },
        metrics: args.metrics,
    };
    let stop = stop_on_signals()?;
    let is_quiet = common.quiet;
    let say = |line: &str| {
        if !is_quiet {
            eprintln!("linerate agent: {line}");
        }
    };
    hub::agent::run::run(&options, &stop, &say).map_err(|error| {
        let complaint = match &error {
            RunError::Taken(_) => Complaint::new(Exit::Busy, "the agent runs already"),
            _ => Complaint::new(Exit::Local, "the agent cannot run"),
        };
        anyhow::Error::new(error).context(complaint)
    })?;
    Ok(Exit::Success)
}

fn read_token(text: &str) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut text = String::new();
    let read = std::io::stdin().take(LONGEST_TOKEN).read_to_string(&mut text);
    read.context(Complaint::new(Exit::Usage, "no token on standard input"))?;
    Ok(text)
}

/// Where an agent lives.
fn directory(named: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        return Ok(named.clone());
    }
    if linux::namespaces::rights::user() == 0 {
        return Ok(PathBuf::from("/var/lib/linerate/agent"));
    }
    let archive = archive::location::default_path()
        .context(Complaint::new(Exit::Local, "there is no place for the agent").hint("--directory names one"))?;
    Ok(archive.with_file_name("agent"))
}

fn complain(error: JoinError) -> anyhow::Error {
    let complaint = match &error {
        JoinError::Joined => Complaint::new(Exit::Usage, "this host has an agent already")
            .hint("--directory names a place for another one"),
        JoinError::Call(CallError::Unreachable { .. }) => Complaint::new(Exit::Unreachable, "the hub does not answer")
            .hint("is the hub running, and is it of the authority that the token names?"),
        JoinError::Call(CallError::Refused { .. }) => Complaint::new(Exit::Refused, "this host has not joined"),
        JoinError::Call(CallError::Foreign(_)) => Complaint::new(Exit::Protocol, "this is no hub of linerate"),
        _ => Complaint::new(Exit::Local, "this host cannot join"),
    };
    anyhow::Error::new(error).context(complaint)
}

/// A token is 140 letters.
const LONGEST_TOKEN: u64 = 4096;
