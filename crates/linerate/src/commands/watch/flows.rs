//! `linerate watch flows`.

use std::io::{self, Write};

use archive::Archive;
use measure::stop::Stop;
use model::series::RunSamples;
use model::transfer::{FlowInterval, Transfer};
use watch::flows::{FlowWatchError, Request, watch};

use crate::cli::Common;
use crate::cli::watch::flows::FlowsArgs;
use crate::commands::archive as kept;
use crate::commands::attempt::stop_on_signals;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::live::redrawn::Redrawn;
use crate::show::watch::flows::{Lines, Live};

pub fn run(common: &Common, args: &FlowsArgs) -> anyhow::Result<Exit> {
    let stop = stop_on_signals()?;
    let intervals = args
        .duration
        .map(|time| u64::try_from(time.as_nanos().div_ceil(args.interval.as_nanos()).max(1)).unwrap_or(u64::MAX));
    let request = Request {
        namespace: args.netns.clone(),
        interval: args.interval,
        spacing: SPACING.min(args.interval),
        busiest: BUSIEST,
        shown: args.top.into(),
        least: args.least,
        intervals: if args.once { Some(1) } else { intervals },
        line_rate: args.expect,
    };
    let mut keeper = Keeper::open(common, args)?;
    let mut output = Output::new(common, args, &stop);
    let watched = watch(
        &request,
        || stop.is_stopped() || linux::readiness::is_abandoned(io::stdout()),
        |mut interval, finished| {
            keeper.keep(&finished);
            interval.missed.not_stored = keeper.not_stored;
            output.interval(&interval);
        },
    );
    output.finish();
    watched.map_err(refused)?;
    Ok(Exit::Success)
}

/// Where transfers go that have ended. A disk that takes none does not end the watch: what is lost is counted.
struct Keeper {
    archive: Option<Archive>,
    not_stored: u64,
}

impl Keeper {
    fn open(common: &Common, args: &FlowsArgs) -> anyhow::Result<Self> {
        let archive = if args.no_archive || args.once { None } else { Some(kept::open(common)?) };
        Ok(Self { archive, not_stored: 0 })
    }

    fn keep(&mut self, finished: &[(Transfer, RunSamples)]) {
        let Some(archive) = self.archive.as_mut().filter(|_| !finished.is_empty()) else { return };
        if let Err(error) = archive.keep_transfers(finished) {
            if self.not_stored == 0 {
                eprintln!("warning: transfers are not stored: {error}");
            }
            self.not_stored += finished.len() as u64;
        }
    }
}

/// Where intervals go as they come.
enum Output<'a> {
    /// Lines of JSON on standard output.
    Json(&'a Stop),
    /// A table that is drawn anew on the terminal.
    Table(Box<Live>),
    /// Lines.
    Lines(Lines, &'a Stop),
}

impl<'a> Output<'a> {
    fn new(common: &Common, args: &FlowsArgs, stop: &'a Stop) -> Self {
        if common.json {
            Self::Json(stop)
        } else if Redrawn::is_possible() && !args.once {
            Self::Table(Box::new(Live::new()))
        } else {
            Self::Lines(Lines::default(), stop)
        }
    }

    fn interval(&mut self, interval: &FlowInterval) {
        match self {
            Self::Json(stop) => match show::json::document(interval) {
                Ok(line) => write_or_stop(&line, stop),
                Err(error) => eprintln!("warning: an interval is left out: {error}"),
            },
            Self::Table(live) => live.interval(interval),
            Self::Lines(lines, stop) => write_or_stop(lines.interval(interval).as_bytes(), stop),
        }
    }

    fn finish(&mut self) {
        if let Self::Table(live) = self {
            live.finish();
        }
    }
}

/// A reader that has gone ends the watch.
fn write_or_stop(line: &[u8], stop: &Stop) {
    let mut out = io::stdout().lock();
    if out.write_all(line).and_then(|()| out.flush()).is_err() {
        stop.stop();
    }
}

fn refused(error: FlowWatchError) -> anyhow::Error {
    let complaint = match &error {
        FlowWatchError::Namespace(_) => Complaint::new(Exit::NotFound, "cannot watch the network namespace")
            .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well"),
        FlowWatchError::Sockets(_) => Complaint::new(Exit::Local, "cannot watch TCP connections")
            .hint("`modprobe tcp_diag` loads what the kernel lists them with"),
        FlowWatchError::Waiting(_) => Complaint::new(Exit::Local, "cannot watch TCP connections"),
    };
    anyhow::Error::from(error).context(complaint)
}

/// Between two looks at the busiest connections.
const SPACING: std::time::Duration = std::time::Duration::from_millis(100);
/// So many are looked at between walks.
const BUSIEST: usize = 20;
