//! `linerate host snapshot`.

use std::fs;
use std::path::Path;

use anyhow::Context;
use host::live::{self, ReadError, Request, Which};
use host::recorded;
use host::saved::{self, SavedError};
use linux::netns::NetnsError;
use model::host::snapshot::Snapshot;

use super::baseline;
use crate::cli::Common;
use crate::cli::host::snapshot::SnapshotArgs;
use crate::commands::{file, print};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &SnapshotArgs) -> anyhow::Result<Exit> {
    let mut snapshot = match &args.from {
        Some(path) => from_saved(path)?,
        None => live::read(&request(args)).map_err(refused)?,
    };
    if args.group.is_some() {
        snapshot.machine.role_group.clone_from(&args.group);
    }
    if let Some(path) = &args.out {
        file::write(path, &show::json::snapshot(&snapshot)?)?;
    }
    if args.keep {
        baseline::keep(common, &snapshot, args.label.as_deref())?;
    }
    if common.json {
        return print(&show::json::snapshot(&snapshot)?);
    }
    print(show::host::snapshot::text(&snapshot).as_bytes())
}

fn request(args: &SnapshotArgs) -> Request {
    let which = match (args.all_netns, args.netns.as_slice()) {
        (true, _) => Which::All,
        (false, []) => Which::Own,
        (false, named) => Which::Named(named.to_vec()),
    };
    let recorded = std::env::var_os(recorded::VARIABLE).map(Into::into);
    Request { which, role_group: args.group.clone(), recorded }
}

fn refused(error: ReadError) -> anyhow::Error {
    let complaint = match &error {
        ReadError::Namespace(NetnsError::Denied { .. }) => Complaint::new(Exit::Local, "cannot read that namespace")
            .hint("entering a network namespace takes root; all others can be read without"),
        ReadError::Namespace(_) => Complaint::new(Exit::NotFound, "cannot read that namespace"),
        ReadError::Recorded(_) => Complaint::new(Exit::NotFound, "cannot use the recorded facts of this lab host"),
    };
    anyhow::Error::new(error).context(complaint)
}

/// The snapshot in saved outputs or a sosreport.
pub(super) fn from_saved(path: &Path) -> anyhow::Result<Snapshot> {
    let shown = path.display();
    let metadata =
        fs::metadata(path).with_context(|| Complaint::new(Exit::NotFound, format!("cannot read {shown}")))?;
    // The file is as old as what it holds; a directory changes when a file is added.
    let taken = metadata.modified().map_or_else(|_| linux::clock::wall_now(), Into::into);
    let read = if metadata.is_dir() { saved::from_directory(path, taken) } else { saved::from_archive(path, taken) };
    let snapshot = read.map_err(|error| {
        let complaint = Complaint::new(Exit::NotFound, format!("there is no snapshot in {shown}"));
        let complaint = match &error {
            SavedError::Compression { by: "bzip2", .. } => complaint.hint("unpack it with bunzip2 first"),
            SavedError::Compression { .. } => complaint.hint("unpack it with unzstd first"),
            SavedError::Nothing { .. } => complaint.hint(
                "files are known by their names, such as `ethtool -k eth0`, `sysctl -a`, `ip -d link`, `tc -s qdisc`",
            ),
            _ => complaint,
        };
        anyhow::Error::new(error).context(complaint)
    })?;
    snapshot
        .check_names()
        .with_context(|| Complaint::new(Exit::NotFound, format!("there is no snapshot in {shown}")))?;
    Ok(snapshot)
}
