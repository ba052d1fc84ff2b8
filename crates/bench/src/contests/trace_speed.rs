//! How fast captures are explained, in how much memory, beside tcptrace and tshark where they are installed: CPU time of whole programs.
//!
//! Two captures, both simulated: a bulk transfer of ordinary packets, and a long path that holds some 27,000 jumbo frames, with losses
//! and SACK. tshark is given the first packets of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use capture::report::TraceReport;
use capture::{Trace, TraceOptions};
use path::elements::{CrossSpec, DelaySpec, LossSpec, Order, PortSpec};
use path::{ElementSpec, PathElement, Seed};
use sim::Algorithm;
use sim::flow::Flow;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, SenderSpec};
use sim::tap::TapPoint;
use units::{ByteCount, DataRate, Mtu};

use super::snapshot::most_resident;
use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::labelled::{Case, Label, captured};
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use crate::program::{Program, Seat};

/// A transfer that is written as a capture.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    name: &'static str,
    mtu: u32,
    one_way: Duration,
    control: Algorithm,
    /// Every so many packets one is lost; never with 0.
    lost_of: u64,
    bytes: u64,
    /// Packets per CPU second, in millions, that there should be.
    target: f64,
}

/// What linerate says of a capture.
pub(super) fn read(bytes: &[u8]) -> TraceReport {
    let mut trace = Trace::new(TraceOptions::default());
    match trace.read(bytes) {
        Ok(used) => trace.end(bytes.get(used..).unwrap_or(&[])),
        Err(_) => trace.end(&[]),
    }
}

pub(super) fn rows(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let bulk = Transfer {
        name: "a bulk capture",
        mtu: 1_500,
        one_way: Duration::from_millis(10),
        control: Algorithm::Cubic,
        lost_of: 0,
        bytes: effort.choose(1 << 30, 8 << 30),
        target: 5.0,
    };
    let long = Transfer {
        name: "a long path with SACK",
        mtu: 9_000,
        one_way: Duration::from_millis(100),
        // Losses do not reduce its window, so that the path stays full.
        control: Algorithm::Bbr,
        lost_of: 5_000,
        bytes: effort.choose(4 << 30, 16 << 30),
        target: 3.0,
    };
    let mut rows = Vec::new();
    for transfer in [bulk, long] {
        let file = Scratch::new("pcap");
        fs::write(&file.path, transfer.captured()?)?;
        rows.extend(timed(actors, &transfer, &file.path)?);
    }
    Ok(rows)
}

impl Transfer {
    fn captured(&self) -> anyhow::Result<Vec<u8>> {
        let rate = DataRate::from_bps(10_000_000_000);
        let spec = DelaySpec { time: self.one_way, jitter: Duration::ZERO, order: Order::Kept };
        let delay = || PathElement::from(ElementSpec::Delay(spec.clone()));
        // As much as the path holds: what is lost is what is planted.
        let big = ByteCount::new(1 << 30);
        let queue = path::buffer::BufferSpec { bytes: Some(big), ..path::buffer::BufferSpec::default() };
        let port = ElementSpec::Port(PortSpec { rate, queue, cross: CrossSpec::default() });
        let mut sender = SenderSpec::linux(self.control, Mtu::new(self.mtu)?);
        sender.buffer = big;
        sender.offload = ByteCount::new(1);
        sender.adapter_rate = DataRate::from_bps(25_000_000_000);
        let window = ByteCount::new((rate * (self.one_way * 2)).get().max(8 << 20));
        let lost = std::num::NonZeroU64::new(self.lost_of).map(|nth| ElementSpec::Loss(LossSpec::EveryNth(nth)));
        let forward = lost.into_iter().chain([port]).map(PathElement::from).chain([delay()]);
        let flow = Flow {
            forward: forward.collect(),
            reverse: vec![delay()],
            sender,
            receiver: ReceiverSpec::fixed_window(window),
            amount: Amount::Bytes(ByteCount::new(self.bytes)),
            seed: Seed(1),
            time_limit: Duration::from_secs(120),
            sample_every: Duration::from_secs(1),
        };
        captured(&Case { label: Label::Bottleneck, flow, point: TapPoint::Sender })
    }
}

fn timed(actors: &Actors, transfer: &Transfer, file: &Path) -> anyhow::Result<Vec<Row>> {
    let report = read(&fs::read(file)?);
    let millions = report.packets as f64 / 1e6;
    // Pictures leave an index there.
    let cache = Scratch::new("cache");
    let linerate = |options: &[&str]| {
        let mut command = Command::new(actors.linerate());
        command.env("XDG_CACHE_HOME", &cache.path).arg("trace").arg(file).args(options);
        command
    };
    let tcptrace = || {
        let mut command = Command::new("tcptrace");
        command.args(["-n", "-l"]).arg(file);
        command
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        ours.push(millions / cpu_s(linerate(&[]))?);
        theirs.extend(cpu_s(tcptrace()).ok().map(|cpu_s| millions / cpu_s));
    }
    let flights = report.connections.iter().flat_map(|connection| &connection.transfers);
    let segments = flights.map(|one| one.flight_max_bytes / u64::from(one.counts.mss_bytes.max(1))).max();
    let name = transfer.name;
    let row = Row::new(format!("packets of {name} per CPU second"), Spread::of(ours.clone()).median, "M/s")
        .target(Target::AtLeast(transfer.target))
        .note(format!("{millions:.1} M packets, {} segments in flight", segments.unwrap_or_default()));
    let row = if theirs.is_empty() {
        row
    } else {
        let ratio = Spread::of_ratios(&ours, &theirs);
        row.against(Spread::of(theirs).median, ratio)
    };
    let picture = Scratch::new("svg");
    let drawn_s = cpu_s(linerate(&["--plot", &picture.path.to_string_lossy()]))?;
    let picture_kb = fs::metadata(&picture.path)?.len() as f64 / 1e3;
    let duration_ns = report.connections.iter().flat_map(|connection| &connection.transfers);
    let end_ms = duration_ns.map(|transfer| transfer.duration_ns / 1_000_000).max().unwrap_or_default();
    let part = |last_ms: i64| {
        let (from, picture) = (format!("{}ms", end_ms - last_ms), picture.path.to_string_lossy());
        let options = ["--from", &from, "--to", &format!("{end_ms}ms"), "--plot", &picture];
        let by_index = cpu_s(linerate(&options))?;
        // Without a place for an index, all is read.
        let by_all = cpu_s({
            let mut command = linerate(&options);
            command.env("XDG_CACHE_HOME", "/dev/null/none");
            command
        })?;
        let what = format!("the last {last_ms} ms of {name}, drawn from the index: faster than from all of it by");
        anyhow::Ok(Row::new(what, by_all / by_index, "times").note(format!("{by_index:.3} and {by_all:.3} CPU s")))
    };
    let (second, tenth) = (part(1_000)?, part(100)?.target(Target::AtLeast(5.0)));
    Ok(vec![
        row,
        Row::new(format!("resident memory for {name}, at most"), most_resident(linerate(&[]))?, "MB")
            .target(Target::AtMost(64.0)),
        Row::new(format!("picture of {name}: CPU time for a million packets"), drawn_s / millions, "s")
            .target(Target::AtMost(0.25)),
        Row::new(format!("picture of {name}: size"), picture_kb, "kB").target(Target::AtMost(1_000.0)),
        second,
        tenth,
        tshark(file, millions),
    ])
}

/// Packets of a capture that tshark is given: on a long path it takes milliseconds for each.
const PART: u32 = 60_000;

/// tshark on the first packets of a capture, with its analysis of TCP.
fn tshark(file: &Path, millions: f64) -> Row {
    let mut command = Command::new("tshark");
    command.args(["-n", "-c", &PART.to_string(), "-T", "fields", "-e", "tcp.analysis.bytes_in_flight", "-r"]).arg(file);
    let what = "the same by tshark (tcp.analysis)";
    match cpu_s(command) {
        Ok(cpu_s) => Row::new(what, (f64::from(PART) / 1e6).min(millions) / cpu_s, "M/s"),
        Err(error) => Row::failed(what, &error),
    }
}

fn cpu_s(command: Command) -> anyhow::Result<f64> {
    Ok(Program::start(command, Seat::First)?.ended()?.cpu_s)
}

/// A file or folder that goes when it is done with.
pub(super) struct Scratch {
    pub(super) path: PathBuf,
}

impl Scratch {
    pub(super) fn new(extension: &str) -> Self {
        Self { path: std::env::temp_dir().join(format!("linerate-bench-{}.{extension}", std::process::id())) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for what is temporary.
        let _ = fs::remove_file(&self.path).or_else(|_| fs::remove_dir_all(&self.path));
    }
}
