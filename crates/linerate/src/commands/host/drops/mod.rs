//! `linerate host drops`.

mod remote;

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use anyhow::Context;
use host::drops::lines;
use host::drops::series::Series;
use host::drops::watch::{FrameWatch, Request, WatchError, watch};
use measure::stop::Stop;
use model::host::drops::DropInterval;

use crate::cli::Common;
use crate::cli::host::drops::DropsArgs;
use crate::commands::attempt::stop_on_signals;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::host::drops::live::Live;
use crate::show::live::redrawn::Redrawn;
use remote::Others;

pub fn run(common: &Common, args: &DropsArgs) -> anyhow::Result<Exit> {
    let seen = if args.recorded.is_empty() { live(common, args)? } else { recorded(common, args)? };
    if common.json {
        return Ok(Exit::Success);
    }
    print(show::host::drops::summary(&Series::of(seen)).as_bytes())
}

/// What files hold; with `--json` as lines in the order of time.
fn recorded(common: &Common, args: &DropsArgs) -> anyhow::Result<Vec<DropInterval>> {
    let mut seen: Vec<DropInterval> = Vec::new();
    for path in &args.recorded {
        let mut read = read(path)?;
        // Files of hosts that call themselves alike are told apart by their own names.
        if read.iter().any(|interval| seen.iter().any(|other| other.host == interval.host)) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            read.iter_mut().for_each(|interval| interval.host = name.clone().into_owned());
        }
        seen.extend(read);
    }
    if common.json {
        seen.sort_by_key(|interval| interval.start);
        for interval in &seen {
            print(&show::json::document(interval)?)?;
        }
    }
    Ok(seen)
}

fn read(path: &Path) -> anyhow::Result<Vec<DropInterval>> {
    let shown = path.display();
    let file = File::open(path).with_context(|| Complaint::new(Exit::NotFound, format!("cannot read {shown}")))?;
    let recorded = lines::read(BufReader::new(file))
        .with_context(|| Complaint::new(Exit::NotFound, format!("cannot read {shown}")))?;
    for (line, reason) in &recorded.anomalies {
        eprintln!("warning: {shown}:{line} is left out: {reason}");
    }
    if recorded.intervals.is_empty() {
        return Err(Complaint::new(Exit::NotFound, format!("{shown} holds no recorded drops"))
            .hint("`linerate host drops --json > FILE` records them")
            .into());
    }
    Ok(recorded.intervals)
}

/// This host as it is, and others beside it.
fn live(common: &Common, args: &DropsArgs) -> anyhow::Result<Vec<DropInterval>> {
    let stop = stop_on_signals()?;
    let mut others = Others::start(args)?;
    let mut seen = others.recorded()?;
    let request = Request {
        namespaces: args.netns.clone(),
        interval: args.interval,
        intervals: args
            .duration
            .map(|time| u64::try_from(time.as_nanos().div_ceil(args.interval.as_nanos()).max(1)).unwrap_or(u64::MAX)),
        frames: if args.frames { FrameWatch::On } else { FrameWatch::Off },
    };
    let mut output = Output::new(common, &stop);
    let watched = watch(
        &request,
        || stop.is_stopped() || nobody_reads(),
        |interval| {
            seen.extend(others.so_far().into_iter().chain([interval]).inspect(|each| output.interval(each)));
        },
    );
    output.finish();
    watched.map_err(refused)?;
    seen.extend(others.rest(&stop).into_iter().inspect(|each| output.interval(each)));
    others.complain();
    Ok(seen)
}

/// Where intervals go as they come.
enum Output<'a> {
    /// Lines of JSON on standard output.
    Json(&'a Stop),
    /// A table that is drawn anew on the terminal.
    Table(Live),
    /// A line for each interval.
    Lines(&'a Stop),
}

impl<'a> Output<'a> {
    fn new(common: &Common, stop: &'a Stop) -> Self {
        if common.json {
            Self::Json(stop)
        } else if Redrawn::is_possible() {
            Self::Table(Live::new())
        } else {
            Self::Lines(stop)
        }
    }

    fn interval(&mut self, interval: &DropInterval) {
        match self {
            Self::Json(stop) => match show::json::document(interval) {
                Ok(line) => write_or_stop(&line, stop),
                Err(error) => eprintln!("warning: an interval is left out: {error}"),
            },
            Self::Table(live) => live.interval(interval),
            Self::Lines(stop) => write_or_stop(show::host::drops::line(interval).as_bytes(), stop),
        }
    }

    fn finish(&mut self) {
        if let Self::Table(live) = self {
            live.finish();
        }
    }
}

/// Whether what is told goes nowhere any more: the next thing to tell may be an hour away.
fn nobody_reads() -> bool {
    linux::readiness::is_abandoned(io::stdout())
}

/// A reader that has gone ends the watch.
fn write_or_stop(line: &[u8], stop: &Stop) {
    let mut out = io::stdout().lock();
    if out.write_all(line).and_then(|()| out.flush()).is_err() {
        stop.stop();
    }
}

/// Why this host cannot be watched, with the way out.
pub fn refused(error: WatchError) -> anyhow::Error {
    let complaint = match &error {
        WatchError::Namespace(_) => Complaint::new(Exit::NotFound, "cannot watch the network namespace")
            .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well"),
        WatchError::Waiting(_) => Complaint::new(Exit::Local, "cannot watch this host"),
    };
    anyhow::Error::from(error).context(complaint)
}
