//! `linerate trace --follow -i DEV`: transfers as they pass.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Context;
use capture::TraceOptions;
use capture::file::Packet;
use capture::live::{LiveInterval, LiveTrace};
use capture::report::{TraceDocument, TraceReport};
use linux::netns::with_netns;
use linux::packet_ring::PacketRing;
use linux::readiness::{Patience, Readiness, is_abandoned};
use linux::{Reason, Unavailable};
use measure::stop::Stop;

use super::super::attempt::stop_on_signals;
use super::super::{print, print_text};
use super::table;
use crate::cli::Common;
use crate::cli::trace::TraceArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::live::redrawn::Redrawn;
use crate::show::trace_live;

/// How often the ring is emptied: it holds half a second of the fastest transfers.
const ROUND: Duration = Duration::from_millis(20);
/// How long the kernel keeps a block that is not full, and some more.
const BEHIND_NS: i64 = 50_000_000;
/// Packets of several CPUs come into the ring mixed up by less.
const SORT_WINDOW_NS: i64 = 10_000_000;
/// Link type of packets without link header (`LINKTYPE_RAW`).
const RAW: u16 = 101;

/// Listens until it is told to stop.
pub fn run(common: &Common, args: &TraceArgs, device: &str) -> anyhow::Result<Exit> {
    let ring = match &args.netns {
        Some(netns) => with_netns(netns, || open(device)).with_context(|| {
            Complaint::new(Exit::NotFound, "cannot listen in the network namespace")
                .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well")
        })?,
        None => open(device),
    }?;
    let stop = stop_on_signals()?;
    let hash_seed = linux::random::bytes().map_or(0, u64::from_ne_bytes);
    let options = TraceOptions { sort_window_ns: SORT_WINDOW_NS, hash_seed, ..TraceOptions::default() };
    let mut listener = Listener { ring, trace: LiveTrace::new(options), device, output: Output::new(common, &stop) };
    listener.listen(args, &stop)?;
    listener.output.finish();
    let missed = listener.ring.missed()?;
    let report = listener.trace.end(missed);
    summary(common, args, device, report)
}

fn open(device: &str) -> anyhow::Result<PacketRing> {
    let links = linux::links::dump().context(Complaint::new(Exit::Local, "the kernel lists no devices"))?;
    let Some(link) = links.iter().find(|link| link.name == device) else {
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        return Err(Complaint::new(Exit::NotFound, format!("there is no device {device} here"))
            .hint(format!("these are here: {}", names.join(", ")))
            .into());
    };
    PacketRing::of_device(link.index).map_err(|error| refused(error, device))
}

fn refused(error: Unavailable, device: &str) -> anyhow::Error {
    let complaint = Complaint::new(Exit::Local, format!("cannot listen on {device}"));
    let complaint = if error.reason == Reason::Denied {
        complaint
            .hint("CAP_NET_RAW is missing: run it as root, or `setcap cap_net_raw+ep` the program")
            .hint("in a network namespace of your own you have it: unshare -Urn")
    } else {
        complaint
    };
    anyhow::Error::from(error).context(complaint)
}

struct Listener<'a> {
    ring: PacketRing,
    trace: LiveTrace,
    device: &'a str,
    output: Output<'a>,
}

impl Listener<'_> {
    fn listen(&mut self, args: &TraceArgs, stop: &Stop) -> anyhow::Result<()> {
        let readiness = Readiness::new()?;
        readiness.add(&self.ring, 0)?;
        let started = linux::clock::now();
        let end = args.duration.map(|time| started + time);
        // The first call sets the start of the first interval.
        self.trace.interval(self.device, wall_ns(), 0);
        let mut due = started + args.interval;
        loop {
            readiness.wait(Patience::For(ROUND), |_| ())?;
            let now = linux::clock::now();
            self.take();
            let is_over = stop.is_stopped() || end.is_some_and(|end| now >= end) || is_abandoned(io::stdout());
            if now >= due {
                let missed = self.ring.missed()?;
                let interval = self.trace.interval(self.device, wall_ns() - BEHIND_NS, missed);
                self.output.interval(&interval);
                due = now + args.interval;
            }
            if is_over {
                // What has passed is in blocks that are closed a round later.
                readiness.wait(Patience::For(2 * ROUND), |_| ())?;
                self.take();
                return Ok(());
            }
        }
    }

    fn take(&mut self) {
        let Self { ring, trace, .. } = self;
        ring.drain(|one| {
            trace.take(&Packet {
                frame: 0,
                time_ns: i64::try_from(one.time_ns).unwrap_or(i64::MAX),
                bytes: one.bytes,
                wire_bytes: one.wire_bytes,
                link: RAW,
                interface: 0,
            });
        });
    }
}

fn wall_ns() -> i64 {
    i64::try_from(linux::clock::wall_now().unix_nanos()).unwrap_or(i64::MAX)
}

/// Where intervals go as they come.
enum Output<'a> {
    /// Lines of JSON on standard output.
    Json(&'a Stop),
    /// A table that is drawn anew on the terminal.
    Table(Redrawn),
    /// Lines.
    Lines(&'a Stop),
}

impl<'a> Output<'a> {
    fn new(common: &Common, stop: &'a Stop) -> Self {
        if common.json {
            Self::Json(stop)
        } else if Redrawn::is_possible() {
            Self::Table(Redrawn::new("listening; Ctrl-C ends"))
        } else {
            Self::Lines(stop)
        }
    }

    fn interval(&mut self, interval: &LiveInterval) {
        match self {
            Self::Json(stop) => match show::json::document(interval) {
                Ok(line) => write_or_stop(&line, stop),
                Err(error) => eprintln!("warning: an interval is left out: {error}"),
            },
            Self::Table(screen) => screen.draw(trace_live::screen(interval)),
            Self::Lines(stop) => write_or_stop(trace_live::lines(interval).as_bytes(), stop),
        }
    }

    fn finish(&self) {
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
fn summary(common: &Common, args: &TraceArgs, device: &str, mut report: TraceReport) -> anyhow::Result<Exit> {
    show::trace::rank(&mut report);
    let document = TraceDocument { format: 1, file: device.to_owned(), report };
    if let Some(path) = &args.parquet {
        table::write(path, std::slice::from_ref(&document))?;
    }
    if common.json {
        return print(&show::json::document(&document)?);
    }
    print_text(&show::trace::text(&document, None))
}
