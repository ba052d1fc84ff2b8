//! `linerate trace --follow -i DEV`: transfers as they pass.

use std::io;
use std::time::Duration;

use anyhow::Context;
use capture::file::{DropCounts, Packet};
use capture::live::LiveTrace;
use linux::netns::with_netns;
use linux::packet_ring::PacketRing;
use linux::readiness::{Patience, Readiness, is_abandoned};
use linux::{Reason, Unavailable};
use measure::stop::Stop;

use super::super::super::attempt::stop_on_signals;
use super::output::{Output, options, summary};
use crate::cli::Common;
use crate::cli::trace::TraceArgs;
use crate::exit::{Complaint, Exit};

/// How often the ring is emptied: it holds half a second of the fastest transfers.
const ROUND: Duration = Duration::from_millis(20);
/// How long the kernel keeps a block that is not full, and some more.
const BEHIND_NS: i64 = 50_000_000;
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
    let mut listener = Listener { ring, trace: LiveTrace::new(options()), device, output: Output::new(common, &stop) };
    listener.listen(args, &stop)?;
    listener.output.finish();
    let drops = DropCounts { system: listener.ring.missed()?, ..DropCounts::default() };
    let report = listener.trace.end(drops, None);
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
