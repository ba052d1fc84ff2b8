//! `linerate demo`: two hosts on this machine, a path between them that is slower than it should be, and what linerate
//! says of it.
//!
//! The hosts are network namespaces, made without privileges where the kernel allows user namespaces. Three processes
//! take part: this one, one in each namespace. The namespaces end with their processes, so nothing is left behind,
//! however the demonstration ends.
//!
//! * [`near`]: makes the path, tests, changes it, tests again
//! * [`far`]: serves the other one
//! * [`network`]: what both do to the kernel, through iproute2

mod far;
mod near;
mod network;

use std::process::Command;

use anyhow::Context;
use clap::ValueEnum;

use crate::cli::Common;
use crate::exit::{Complaint, Exit};

/// Which of the processes of a demonstration this one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// In the namespace that tests.
    Near,
    /// In the namespace that serves.
    Far,
}

/// Runs the demonstration, or one stage of it.
pub fn run(common: &Common, stage: Option<Stage>) -> anyhow::Result<Exit> {
    match stage {
        None => start(common),
        Some(Stage::Near) => near::run(common),
        Some(Stage::Far) => far::run(),
    }
}

fn start(common: &Common) -> anyhow::Result<Exit> {
    network::check_tools()?;
    let mut near = stage(Stage::Near)?;
    if common.quiet {
        near.arg("--quiet");
    }
    let status = linux::netns::isolate(&mut near).status().context(not_allowed())?;
    Ok(if status.success() { Exit::Success } else { Exit::Local })
}

/// This program again, as one of the stages.
fn stage(stage: Stage) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let mut command = Command::new(program);
    command.args(["demo", "--stage", if stage == Stage::Near { "near" } else { "far" }]);
    Ok(command)
}

fn not_allowed() -> Complaint {
    Complaint::new(Exit::Local, "this machine allows no network namespaces of one's own").hint(
        "as root it works; `sysctl user.max_user_namespaces` and `kernel.unprivileged_userns_clone` forbid or allow it",
    )
}
