//! `linerate trace --follow FILE`: a capture that somebody else still writes.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::Context;
use capture::file::{DropCounts, FileError, FileReader};
use capture::live::LiveTrace;
use linux::readiness::is_abandoned;
use measure::stop::Stop;

use super::super::super::attempt::stop_on_signals;
use super::growing::{self, Change, Piece};
use super::output::{Output, SORT_WINDOW_NS, options, summary};
use crate::cli::Common;
use crate::cli::trace::TraceArgs;
use crate::exit::{Complaint, Exit};

/// How long more is waited for before the time of an interval is looked at.
const ROUND: Duration = Duration::from_millis(20);
/// Once it is told to stop, what was written until then has been read after so long; a pipe whose writer is silent has no end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Follows a file until it is told to stop, or finds damage.
pub fn run(common: &Common, args: &TraceArgs, path: &Path) -> anyhow::Result<Exit> {
    let name = path.display().to_string();
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {name}"));
    let stop = stop_on_signals()?;
    let pieces = growing::follow(path, &stop).with_context(unreadable)?;
    let mut follower = Follower {
        trace: LiveTrace::new(options()),
        file: FileReader::default(),
        rest: Vec::new(),
        drops: DropCounts::default(),
        damage: None,
        name: &name,
        is_idle: false,
        shown_ns: None,
        output: Output::new(common, &stop),
    };
    let followed = follower.follow(args, &pieces, &stop);
    follower.output.finish();
    followed.with_context(unreadable)?;
    let (drops, damage) = (follower.all_drops(), follower.damage);
    if let (Some(damage), 0) = (&damage, follower.file.frames()) {
        return Err(Complaint::new(Exit::NotFound, format!("{name}: {damage}"))
            .hint("`linerate trace` reads pcap and pcapng, plain or compressed with gzip or zstd")
            .into());
    }
    summary(common, args, &name, follower.trace.end(drops, damage))
}

/// A file as far as it has been read.
struct Follower<'a> {
    trace: LiveTrace,
    file: FileReader,
    /// Read, and not a whole record yet.
    rest: Vec<u8>,
    /// What the files before this one say was lost.
    drops: DropCounts,
    damage: Option<FileError>,
    name: &'a str,
    /// Nothing has come since the last interval.
    is_idle: bool,
    /// Up to when the last interval was.
    shown_ns: Option<i64>,
    output: Output<'a>,
}

impl Follower<'_> {
    fn follow(&mut self, args: &TraceArgs, pieces: &Receiver<Piece>, stop: &Stop) -> io::Result<()> {
        let started = linux::clock::now();
        let end = args.duration.map(|time| started + time);
        let (mut due, mut last) = (started + args.interval, None);
        loop {
            match pieces.recv_timeout(ROUND) {
                Ok(Piece::Bytes(bytes)) => self.take(&bytes, stop),
                Ok(Piece::Anew(change)) => self.start_anew(change),
                Ok(Piece::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            let now = linux::clock::now();
            if end.is_some_and(|end| now >= end) || is_abandoned(io::stdout()) {
                stop.stop();
            }
            if stop.is_stopped() && now >= *last.get_or_insert(now + LAST_WORDS) {
                return Ok(());
            }
            if now >= due {
                self.show();
                due = now + args.interval;
            }
        }
    }

    fn take(&mut self, bytes: &[u8], stop: &Stop) {
        self.is_idle = false;
        self.rest.extend_from_slice(bytes);
        let Self { trace, file, rest, damage, .. } = self;
        match file.read(rest, |packet| trace.take(packet)) {
            Ok(used) => drop(rest.drain(..used)),
            Err(found) => {
                damage.get_or_insert(found);
                stop.stop();
            }
        }
    }

    /// What comes next is the start of a file. Connections go on: whoever rotates files captures the same traffic.
    fn start_anew(&mut self, change: Change) {
        let Self { name, file, .. } = self;
        let frames = file.frames();
        self.output.say(&match change {
            Change::Truncated => format!("{name} was truncated after frame {frames}: reading on from its start"),
            Change::Replaced => {
                format!("{name} was replaced by another file after frame {frames}: reading that one on")
            }
        });
        self.drops = self.all_drops();
        self.file = FileReader::default();
        self.rest.clear();
    }

    /// Of this file and of those before it.
    fn all_drops(&self) -> DropCounts {
        let (one, other) = (self.drops, self.file.drops());
        DropCounts {
            interface: one.interface + other.interface,
            system: one.system + other.system,
            between: one.between + other.between,
        }
    }

    /// What came since the last interval, by the times of the packets: those of the file's clock.
    fn show(&mut self) {
        let Some(newest_ns) = self.trace.newest_ns() else { return };
        let at_ns = if self.is_idle { newest_ns } else { newest_ns - SORT_WINDOW_NS };
        self.is_idle = true;
        if self.shown_ns.is_some_and(|shown_ns| at_ns <= shown_ns) {
            return;
        }
        self.shown_ns = Some(at_ns);
        let drops = self.all_drops();
        let missed = drops.interface + drops.system + drops.between;
        let interval = self.trace.interval(self.name, at_ns, missed);
        self.output.interval(&interval);
    }
}
