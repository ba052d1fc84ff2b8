//! `linerate host`.

mod audit;
mod reading;
mod snapshot;

use crate::cli::Common;
use crate::cli::host::HostAction;
use crate::exit::Exit;

pub fn run(common: &Common, action: &HostAction) -> anyhow::Result<Exit> {
    match action {
        HostAction::Snapshot(args) => snapshot::run(common, args),
        HostAction::Audit(args) => audit::run(common, args),
    }
}
