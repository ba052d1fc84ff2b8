//! `linerate watch drops`.

use std::io::{self, Write};
use std::path::Path;

use chart::Form;
use host::drops::series::Series;
use host::drops::watch::{FrameWatch, Request, watch};
use model::host::drops::DropInterval;

use crate::cli::Common;
use crate::cli::watch::drops::DropsArgs;
use crate::commands::attempt::stop_on_signals;
use crate::commands::host::drops::refused;
use crate::commands::{file, plot, print};
use crate::exit::Exit;
use crate::show;
use crate::show::watch::prometheus::Metrics;

pub fn run(common: &Common, args: &DropsArgs) -> anyhow::Result<Exit> {
    if let Some(path) = &args.plot {
        plot::check(path)?;
    }
    let stop = stop_on_signals()?;
    let request = Request {
        namespaces: args.netns.clone(),
        interval: args.interval,
        intervals: args
            .duration
            .map(|time| u64::try_from(time.as_nanos().div_ceil(args.interval.as_nanos()).max(1)).unwrap_or(u64::MAX)),
        frames: if args.frames { FrameWatch::On } else { FrameWatch::Off },
    };
    let mut seen = Seen::default();
    let mut failure = None;
    let mut metrics = Metrics::default();
    let watched = watch(
        &request,
        || stop.is_stopped() || linux::readiness::is_abandoned(io::stdout()),
        |interval| {
            metrics.add(&interval);
            let told = tell(common, args, &interval, &metrics);
            seen.add(interval);
            if let Err(error) = told {
                failure = Some(error);
                stop.stop();
            }
        },
    );
    watched.map_err(refused)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if let Some(path) = &args.plot {
        let made_by = format!("linerate {}", env!("CARGO_PKG_VERSION"));
        let form = Form::of(path).unwrap_or(Form::Svg);
        file::write(path, &chart::drops::picture(&seen.intervals, &made_by, form)?)?;
    }
    if common.json || args.prometheus.is_some() {
        return Ok(Exit::Success);
    }
    print(show::host::drops::summary(&Series::of(seen.intervals)).as_bytes())
}

/// One interval as it comes.
fn tell(common: &Common, args: &DropsArgs, interval: &DropInterval, metrics: &Metrics) -> anyhow::Result<()> {
    if let Some(path) = args.prometheus.as_deref() {
        let text = metrics.text();
        if path != Path::new("-") {
            return file::write(path, text.as_bytes());
        }
        return write(text.as_bytes());
    }
    if common.json {
        return write(&show::json::document(interval)?);
    }
    write(show::host::drops::line(interval).as_bytes())
}

/// A reader that has gone is no failure: the watch finds out by itself.
fn write(text: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The last intervals, in bounded memory.
#[derive(Debug, Default)]
struct Seen {
    intervals: Vec<DropInterval>,
}

impl Seen {
    fn add(&mut self, interval: DropInterval) {
        if self.intervals.len() >= MOST_INTERVALS {
            // The oldest go: what is left is the last day at ten seconds.
            self.intervals.drain(..MOST_INTERVALS / 10);
        }
        self.intervals.push(interval);
    }
}

const MOST_INTERVALS: usize = 10_000;
