//! `linerate host`.

mod audit;
mod log;
mod reading;
mod snapshot;
mod watch;

use crate::cli::Common;
use crate::cli::host::HostAction;
use crate::exit::Exit;

pub fn run(common: &Common, action: &HostAction) -> anyhow::Result<Exit> {
    match action {
        HostAction::Snapshot(args) => snapshot::run(common, args),
        HostAction::Audit(args) => audit::run(common, args),
        HostAction::Log(args) => log::run(common, args),
        HostAction::Watch(args) => watch::run(common, args),
    }
}
