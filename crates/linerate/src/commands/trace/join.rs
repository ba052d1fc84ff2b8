//! `linerate trace A B --join`.

use std::path::Path;

use capture::ends::{Clocks, JoinedDocument, Recorder, Recording, join};

use super::super::{print, print_text};
use super::source;
use crate::cli::Common;
use crate::cli::trace::TraceArgs;
use crate::exit::{Complaint, Exit};
use crate::show;

/// Joins the two captures that were named.
pub fn run(common: &Common, args: &TraceArgs) -> anyhow::Result<Exit> {
    let [first, second] = args.files.as_slice() else {
        return Err(Complaint::new(Exit::Usage, "--join takes two captures, one nearer each end")
            .hint("linerate trace at-client.pcap at-server.pcap --join")
            .into());
    };
    let clocks = if args.same_clock { Clocks::Same } else { Clocks::Own };
    let joined = join(&recorded(first)?, &recorded(second)?, clocks);
    if joined.connections.is_empty() {
        return Err(Complaint::new(Exit::NotFound, "no connection is in both captures")
            .hint("both must have the same addresses and ports: capture on the same side of any address translation")
            .into());
    }
    let files = [first, second].map(|file| file.display().to_string());
    let document = JoinedDocument { format: 1, files, joined };
    if common.json {
        print(&show::json::document(&document)?)?;
    } else {
        print_text(&show::trace_join::text(&document))?;
    }
    Ok(Exit::Success)
}

fn recorded(path: &Path) -> anyhow::Result<Recording> {
    let recording = source::record(path, Recorder::default())?;
    match &recording.damage {
        Some(damage) if recording.packets == 0 => {
            Err(Complaint::new(Exit::NotFound, format!("{}: {damage}", path.display())).into())
        }
        Some(damage) => {
            eprintln!("linerate: {} is read up to its damage: {damage}", path.display());
            Ok(recording)
        }
        None => Ok(recording),
    }
}
