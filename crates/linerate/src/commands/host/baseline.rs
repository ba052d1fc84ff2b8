//! `linerate host snapshots` and `linerate host bless`.

use archive::snapshots::{Kept, SnapshotFilter};
use model::host::snapshot::Snapshot;

use super::sides::{Sides, found};
use crate::cli::Common;
use crate::cli::host::diff::{BlessArgs, SnapshotsArgs};
use crate::commands::archive as kept;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

/// Lists kept snapshots, or removes old ones.
pub fn snapshots(common: &Common, args: &SnapshotsArgs) -> anyhow::Result<Exit> {
    let mut archive = kept::open_to_read(common)?;
    if let Some(keep) = args.prune {
        let removed = found(archive.prune_snapshots(keep))?;
        if !common.quiet {
            eprintln!("removed {removed} {}", if removed == 1 { "snapshot" } else { "snapshots" });
        }
        return Ok(Exit::Success);
    }
    let filter = SnapshotFilter { host: args.host.clone(), role_group: args.group.clone(), limit: Some(args.limit) };
    let summaries = found(archive.snapshots(&filter))?;
    if common.json {
        let mut lines = Vec::new();
        for summary in &summaries {
            lines.extend(show::json::document(summary)?);
        }
        return print(&lines);
    }
    print(show::host::diff::list(&summaries, archive.path()).as_bytes())
}

/// Says what a host should be.
pub fn bless(common: &Common, args: &BlessArgs) -> anyhow::Result<Exit> {
    if let Some(host) = &args.remove {
        let had = found(kept::open_to_read(common)?.unbless(host))?;
        if !had {
            return Err(Complaint::new(Exit::NotFound, format!("{host} has no baseline"))
                .hint("`linerate host snapshots` shows which snapshots are blessed")
                .into());
        }
        say(common, &format!("{host} has no baseline any more"));
        return Ok(Exit::Success);
    }
    let (snapshot, known) = Sides::new(common).meant_for_blessing(args.snapshot.as_deref().unwrap_or("this"))?;
    let id = match known {
        Some(id) => id,
        None => keep(common, &snapshot, None)?.id,
    };
    found(kept::open(common)?.bless(id, args.label.as_deref(), linux::clock::wall_now()))?;
    let host = snapshot.machine.name.value().map_or("?", String::as_str);
    let taken = show::when::local(snapshot.taken);
    say(common, &format!("snapshot {id} is what {host} should be, as it was {taken}"));
    Ok(Exit::Success)
}

/// Keeps a snapshot, and says under which number.
pub fn keep(common: &Common, snapshot: &Snapshot, label: Option<&str>) -> anyhow::Result<Kept> {
    let kept = found(kept::open(common)?.keep_snapshot(snapshot, label))?;
    say(common, &format!("{} as snapshot {}", if kept.was_there { "was kept already" } else { "kept" }, kept.id));
    Ok(kept)
}

fn say(common: &Common, words: &str) {
    if !common.quiet && !common.json {
        eprintln!("{words}");
    }
}
