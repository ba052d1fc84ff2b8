//! `linerate lab`.
//!
//! * [`up`]: starting the process that keeps a lab
//! * [`daemon`]: that process
//! * [`play`]: a scenario from its first host to its last test
//! * [`score`]: many scenarios, and how good what is said of them is
//! * [`simulated`]: the same in virtual time
//! * [`examine`]: what is wrong with a scenario file
//! * [`generate`]: incidents that nobody wrote
//! * [`learn`]: what they teach
//! * [`find`]: labs and hosts by what a person typed

pub mod daemon;
mod examine;
pub mod find;
mod generate;
mod learn;
pub mod play;
mod score;
mod simulated;
pub mod up;

use std::os::unix::process::CommandExt;
use std::path::Path;

use anyhow::Context;
use lab::network::kept::{KeptError, Owner, running};
use linux::namespaces::rights;

use super::print;
use crate::cli::Common;
use crate::cli::lab::{ExecArgs, LabAction};
use crate::exit::{Complaint, Exit};
use crate::show;

/// Does what was asked for.
pub fn run(common: &Common, action: &LabAction) -> anyhow::Result<Exit> {
    match action {
        LabAction::Check(args) => match &args.scenario {
            Some(scenario) => examine::run(common, scenario, args.seed),
            None => check(common),
        },
        LabAction::List => list(common),
        LabAction::Run(args) => play::run(common, args),
        LabAction::Score(args) => score::run(common, args),
        LabAction::Merge(args) => score::merge::run(common, args),
        LabAction::Generate(args) => generate::run(args),
        LabAction::Learn(args) => learn::run(common, args),
        LabAction::Up(args) => up::run(common, args),
        LabAction::Exec(args) => exec(common, args),
        LabAction::Down { lab, all } => down(common, if *all { Labs::Own } else { Labs::One(lab.as_deref()) }),
    }
}

fn check(common: &Common) -> anyhow::Result<Exit> {
    acquire_rights()?;
    let abilities = lab::check::abilities();
    if common.json {
        return print(&show::json::document(&abilities)?);
    }
    print(show::lab::abilities(&abilities).as_bytes())
}

fn list(common: &Common) -> anyhow::Result<Exit> {
    let running = running().map_err(complain)?;
    let records: Vec<_> = running.iter().map(|kept| &kept.record).collect();
    let library = lab::scenario::library();
    let titled = library.iter().map(|entry| Ok((entry.name, entry.load()?.title)));
    let titled = titled.collect::<Result<Vec<_>, lab::scenario::ScenarioError>>()?;
    if common.json {
        return print(&show::lab::list_json(&titled, &records)?);
    }
    print(show::lab::list(&titled, &records).as_bytes())
}

fn exec(common: &Common, args: &ExecArgs) -> anyhow::Result<Exit> {
    let running = running().map_err(complain)?;
    let (kept, host) = find::host(&running, &args.host, Some(&owner(common)))?;
    let (program, arguments) = args.command.split_first().context("no program")?;
    // In a host of a lab this program is at hand by its name, wherever it lies.
    let own = if program == "linerate" { std::env::current_exe().ok() } else { None };
    let program = own.as_deref().map_or(program.as_os_str(), Path::as_os_str);
    let command = kept.command(host, program).ok_or_else(|| {
        Complaint::new(Exit::NotFound, format!("host `{}` of the lab `{}` is gone", host.name, kept.record.name))
            .hint(format!("`linerate lab down {}` clears away what is left", kept.record.name))
    });
    // From here on this process stands for the program: signals and its end are passed on.
    let error = command?.args(arguments).exec();
    Err(error).with_context(|| {
        Complaint::new(Exit::Usage, format!("`{}` cannot be run in host `{}`", Path::new(program).display(), host.name))
    })
}

fn down(common: &Common, labs: Labs<'_>) -> anyhow::Result<Exit> {
    let running = running().map_err(complain)?;
    let owner = owner(common);
    let chosen = match labs {
        Labs::Own => find::own(running, &owner),
        Labs::One(name) => vec![find::lab(running, name, &owner)?],
    };
    for kept in chosen {
        let name = kept.record.name.clone();
        kept.end().map_err(complain)?;
        if !common.quiet {
            eprintln!("the lab {name} is gone");
        }
    }
    Ok(Exit::Success)
}

/// Which labs end.
#[derive(Clone, Copy)]
enum Labs<'a> {
    /// All of this user.
    Own,
    /// The one of this name; without a name the only one of this user.
    One(Option<&'a str>),
}

/// Whose labs this process starts, and which it ends without being told their names.
pub fn owner(common: &Common) -> Owner {
    Owner::this_process(common.archive().map(Path::to_owned).or_else(|| archive::location::default_path().ok()))
}

/// Has this process, which has one thread yet, be able to make networks.
pub fn acquire_rights() -> anyhow::Result<()> {
    rights::acquire().map(drop).context(
        Complaint::new(Exit::Local, "this process may make no networks")
            .hint(
                "as root it works; so it does where `sysctl user.max_user_namespaces` is above 0 and nothing else \
                   forbids user namespaces (Debian: kernel.unprivileged_userns_clone, Ubuntu: \
                   kernel.apparmor_restrict_unprivileged_userns)",
            )
            .hint("in a container: --privileged, or --cap-add SYS_ADMIN --cap-add NET_ADMIN"),
    )
}

pub fn complain(error: KeptError) -> anyhow::Error {
    let complaint = match &error {
        KeptError::Name { .. } => {
            Complaint::new(Exit::Usage, "no lab can be called so").hint("--as gives another name")
        }
        KeptError::Taken { name } => Complaint::new(Exit::Usage, "the name is taken")
            .hint(format!("`linerate lab down {name}` ends the one that runs; --as gives this one another name")),
        KeptError::Place(_) => Complaint::new(Exit::Local, "labs have no place on this machine")
            .hint("remove what is there, or set XDG_RUNTIME_DIR to a directory of yours"),
        KeptError::File { .. } | KeptError::Record { .. } | KeptError::Signal { .. } | KeptError::Unending { .. } => {
            Complaint::new(Exit::Local, "the labs of this user cannot be seen or changed")
        }
    };
    anyhow::Error::from(error).context(complaint)
}
