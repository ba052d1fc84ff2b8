//! Intervals as they come, and what `linerate trace` says of a file at the end.

use std::io::{self, Write};

use capture::TraceOptions;
use capture::live::LiveInterval;
use capture::report::{TraceDocument, TraceReport};
use measure::stop::Stop;

use super::super::super::{print, print_text};
use super::super::table;
use crate::cli::Common;
use crate::cli::trace::TraceArgs;
use crate::exit::Exit;
use crate::show;
use crate::show::live::redrawn::Redrawn;
use crate::show::trace_live;

/// Packets of several CPUs come mixed up by less.
pub const SORT_WINDOW_NS: i64 = 10_000_000;

/// How packets are read as they pass.
pub fn options() -> TraceOptions {
    let hash_seed = linux::random::bytes().map_or(0, u64::from_ne_bytes);
    TraceOptions { sort_window_ns: SORT_WINDOW_NS, hash_seed, ..TraceOptions::default() }
}

/// Where intervals go as they come.
pub enum Output<'a> {
    /// Lines of JSON on standard output.
    Json(&'a Stop),
    /// A table that is drawn anew on the terminal.
    Table(Redrawn),
    /// Lines.
    Lines(&'a Stop),
}

impl<'a> Output<'a> {
    pub fn new(common: &Common, stop: &'a Stop) -> Self {
        if common.json {
            Self::Json(stop)
        } else if Redrawn::is_possible() {
            Self::Table(Redrawn::new("listening; Ctrl-C ends"))
        } else {
            Self::Lines(stop)
        }
    }

    pub fn interval(&mut self, interval: &LiveInterval) {
        match self {
            Self::Json(stop) => match show::json::document(interval) {
                Ok(line) => write_or_stop(&line, stop),
                Err(error) => eprintln!("warning: an interval is left out: {error}"),
            },
            Self::Table(screen) => screen.draw(trace_live::screen(interval)),
            Self::Lines(stop) => write_or_stop(trace_live::lines(interval).as_bytes(), stop),
        }
    }

    /// Says something that happened beside the intervals, on standard error.
    pub fn say(&self, text: &str) {
        match self {
            Self::Table(screen) => screen.above(|| eprintln!("linerate: {text}")),
            Self::Json(_) | Self::Lines(_) => eprintln!("linerate: {text}"),
        }
    }

    pub fn finish(&self) {
        if let Self::Table(screen) = self {
            screen.clear();
        }
    }
}

/// A reader that has gone ends the capture.
fn write_or_stop(line: &[u8], stop: &Stop) {
    let mut out = io::stdout().lock();
    if out.write_all(line).and_then(|()| out.flush()).is_err() {
        stop.stop();
    }
}

/// What `linerate trace` says of a file.
pub fn summary(common: &Common, args: &TraceArgs, name: &str, mut report: TraceReport) -> anyhow::Result<Exit> {
    show::trace::rank(&mut report);
    let document = TraceDocument { format: 1, file: name.to_owned(), report };
    if let Some(path) = &args.parquet {
        table::write(path, std::slice::from_ref(&document))?;
    }
    if common.json {
        return print(&show::json::document(&document)?);
    }
    print_text(&show::trace::text(&document, None))
}
