//! `linerate lab`.
//!
//! * [`up`]: starting the process that keeps a lab
//! * [`keeper`]: that process
//! * [`play`]: a scenario from its first host to its last test
//! * [`score`]: many scenarios, and how good what is said of them is
//! * [`find`]: labs and hosts by what a person typed

pub mod find;
pub mod keeper;
pub mod play;
mod score;
pub mod up;

use std::os::unix::process::CommandExt;

use anyhow::Context;
use lab::network::kept::{KeptError, running};
use linux::namespaces::rights;

use super::print;
use crate::cli::Common;
use crate::cli::lab::{ExecArgs, LabAction};
use crate::exit::{Complaint, Exit};
use crate::show;

/// Does what was asked for.
pub fn run(common: &Common, action: &LabAction) -> anyhow::Result<Exit> {
    match action {
        LabAction::Check => check(common),
        LabAction::List => list(common),
        LabAction::Run(args) => play::run(common, args),
        LabAction::Score(args) => score::run(common, args),
        LabAction::Up(args) => up::run(common, args),
        LabAction::Exec(args) => exec(args),
        LabAction::Down { lab, all } => down(common, lab.as_deref(), *all),
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

fn exec(args: &ExecArgs) -> anyhow::Result<Exit> {
    let running = running().map_err(complain)?;
    let (kept, host) = find::host(&running, &args.host)?;
    let (program, arguments) = args.command.split_first().context("no program")?;
    let command = kept.command(host, program).ok_or_else(|| {
        Complaint::new(Exit::NotFound, format!("host `{}` of the lab `{}` is gone", host.name, kept.record.name))
            .hint(format!("`linerate lab down {}` clears away what is left", kept.record.name))
    });
    // From here on this process stands for the program: signals and its end are passed on.
    let error = command?.args(arguments).exec();
    Err(error).with_context(|| {
        Complaint::new(Exit::Usage, format!("`{}` cannot be run in host `{}`", program.display(), host.name))
    })
}

fn down(common: &Common, name: Option<&str>, all: bool) -> anyhow::Result<Exit> {
    let running = running().map_err(complain)?;
    let chosen = if all { running } else { vec![find::lab(running, name)?] };
    for kept in chosen {
        let name = kept.record.name.clone();
        kept.end().map_err(complain)?;
        if !common.quiet {
            eprintln!("the lab {name} is gone");
        }
    }
    Ok(Exit::Success)
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

fn complain(error: KeptError) -> anyhow::Error {
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
