//! `linerate watch bursts`.

use std::io::IsTerminal;

use chart::Form;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use units::duration::show;
use watch::bursts::{BurstError, Progress, Request, watch};

use crate::cli::Common;
use crate::cli::watch::bursts::BurstsArgs;
use crate::commands::attempt::stop_on_signals;
use crate::commands::{file, plot, print, print_text};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &BurstsArgs) -> anyhow::Result<Exit> {
    if let Some(path) = &args.plot {
        plot::check(path)?;
    }
    let stop = stop_on_signals()?;
    let request = Request {
        device: args.device.clone(),
        namespace: args.netns.clone(),
        bucket: args.bucket,
        length: args.duration,
        line_rate: args.expect,
        threshold: args.threshold,
        drain: args.drain,
    };
    let bar = bar(common);
    let report = watch(&request, || stop.is_stopped(), |progress| tell(bar.as_ref(), &request, progress));
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let report = report.map_err(refused)?;
    if let Some(path) = &args.plot {
        let form = Form::of(path).unwrap_or(Form::Svg);
        let made_by = format!("linerate {}", env!("CARGO_PKG_VERSION"));
        file::write(path, &chart::bursts::picture(&report, &made_by, form)?)?;
    }
    if common.json {
        return print(&show::json::document(&report)?);
    }
    print_text(&show::watch::bursts::text(&report))
}

/// Something that moves while somebody waits at a terminal.
fn bar(common: &Common) -> Option<ProgressBar> {
    if common.quiet || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template("{msg}").ok()?);
    Some(bar)
}

fn tell(bar: Option<&ProgressBar>, request: &Request, progress: Progress) {
    let Some(bar) = bar else { return };
    let watched = std::time::Duration::from_millis(units::duration::millis(progress.watched) / 100 * 100);
    let end = if request.length.is_none() { "; Ctrl-C ends" } else { "" };
    let device = foreign::terminal::line(&request.device).into_owned();
    bar.set_message(format!("watching {device}: {}, {} buckets with packets{end}", show(watched), progress.buckets));
    bar.tick();
}

fn refused(error: BurstError) -> anyhow::Error {
    let complaint = match &error {
        BurstError::Namespace(_) => Complaint::new(Exit::NotFound, "cannot watch the network namespace")
            .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well"),
        BurstError::NoDevice { .. } => Complaint::new(Exit::NotFound, "cannot watch the device"),
        BurstError::Devices(_) | BurstError::Reading(_) => Complaint::new(Exit::Local, "cannot watch the device"),
    };
    anyhow::Error::from(error).context(complaint)
}
