//! `linerate host`.

mod audit;
mod baseline;
mod diff;
pub mod drops;
mod fix;
mod log;
mod reading;
pub mod sides;
mod snapshot;
mod transport;
mod watch;
mod words;

use crate::cli::Common;
use crate::cli::host::HostAction;
use crate::exit::Exit;

pub fn run(common: &Common, action: &HostAction) -> anyhow::Result<Exit> {
    match action {
        HostAction::Snapshot(args) => snapshot::run(common, args),
        HostAction::Audit(args) => audit::run(common, args),
        HostAction::Log(args) => log::run(common, args),
        HostAction::Watch(args) => watch::run(common, args),
        HostAction::Diff(args) => diff::run(common, args),
        HostAction::Snapshots(args) => baseline::snapshots(common, args),
        HostAction::Bless(args) => baseline::bless(common, args),
        HostAction::Drops(args) => drops::run(common, args),
        HostAction::Fix(args) => fix::run(common, args),
        HostAction::Undo(args) => fix::undo(common, args),
    }
}
