//! `linerate trace A B --join`.

use std::path::Path;

use anyhow::Context;
use capture::ends::{Clocks, JoinedDocument, Overlay, Recorder, Recording, View, join, overlay};
use chart::Form;

use super::super::{file, print, print_text};
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
    let recordings = (recorded(first)?, recorded(second)?);
    let joined = join(&recordings.0, &recordings.1, clocks);
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
    if let Some(picture) = &args.plot {
        draw(args, picture, overlay(&recordings.0, &recordings.1, clocks, view(args)))?;
    }
    Ok(Exit::Success)
}

fn view(args: &TraceArgs) -> View {
    let has_zoom = args.from.is_some() || args.to.is_some();
    View { columns: super::COLUMNS, zoom: has_zoom.then(|| super::span(args)) }
}

/// Both ends in one picture.
fn draw(args: &TraceArgs, picture: &Path, overlay: Option<Overlay>) -> anyhow::Result<()> {
    let Some(form) = Form::of(picture) else {
        return Err(Complaint::new(Exit::Usage, "xplot draws one capture, and these are two")
            .hint("draw .svg or .png; or each capture by itself, without --join")
            .into());
    };
    let nothing = || Complaint::new(Exit::NotFound, "there is nothing to draw in that span");
    let overlay = overlay.with_context(nothing)?;
    let [first, second] = [0, 1].map(|at| args.files.get(at).map_or_else(String::new, |file| name(file)));
    let names = if overlay.is_first_at_sender { [&*first, &*second] } else { [&*second, &*first] };
    file::write(picture, &chart::ends::picture(&overlay, names, form).with_context(nothing)?)
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
