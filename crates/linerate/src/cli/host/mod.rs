//! `linerate host`.

pub mod audit;
pub mod diff;
pub mod drops;
pub mod fix;
pub mod log;
pub mod snapshot;
pub mod watch;

use clap::{Args, Subcommand};

/// Know a host: its settings, where they come from, what it has counted.
#[derive(Debug, Args)]
pub struct HostArgs {
    #[command(subcommand)]
    pub action: HostAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum HostAction {
    /// Read all facts of this host, or of one whose outputs somebody saved
    Snapshot(snapshot::SnapshotArgs),
    /// Show what was changed on hosts, when, by whom and why; note and enter something oneself
    Log(Box<log::LogArgs>),
    /// Watch this host and enter in its log what is changed
    Watch(watch::WatchArgs),
    /// Say what costs rate on this host or on that of a snapshot, why, and how to fix it
    Audit(Box<audit::AuditArgs>),
    /// Show what is set otherwise on another host, at another time, or among hosts that should be alike
    Diff(diff::DiffArgs),
    /// List kept snapshots
    Snapshots(diff::SnapshotsArgs),
    /// Say that a snapshot is what its host should be
    Bless(diff::BlessArgs),
    /// Watch where this host loses packets, and what goes together with it
    Drops(drops::DropsArgs),
    /// Fix what the audit found, prove it, keep it; or show the commands that would
    Fix(Box<fix::FixArgs>),
    /// Take a fix back: every setting is again what it was
    Undo(fix::UndoArgs),
}
