//! Whether captures are counted right where other programs err: a path that holds more segments than tshark remembers, on which sequence
//! numbers wrap, and one that delays packets without losing any. The truth is the simulator's.

use std::fs;
use std::num::NonZeroU64;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use capture::report::TransferReport;
use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, LossSpec, Order, PortSpec, ReorderSpec};
use path::{ElementSpec, PathElement, Seed};
use sim::Algorithm;
use sim::flow::{Flow, Outcome, Run};
use sim::pcap::PcapWriter;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, SenderSpec};
use sim::tap::TapPoint;
use units::{ByteCount, DataRate, Mtu};

use super::trace_speed::{Scratch, read};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::program::{Program, Seat};

/// A simulated transfer, its capture at the sender, and what it was.
struct Truth {
    file: Scratch,
    outcome: Outcome,
    found: TransferReport,
}

pub(super) fn rows(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = long_path(effort)?;
    rows.extend(delayed()?);
    Ok(rows)
}

/// 27,900 jumbo frames in flight, one of 1,500 lost.
fn long_path(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let rate = DataRate::from_bps(10_000_000_000);
    let one_way = Duration::from_millis(100);
    let mut sender = SenderSpec::linux(Algorithm::Bbr, Mtu::new(9_000)?);
    sender.buffer = ByteCount::new(1 << 30);
    sender.offload = ByteCount::new(1);
    sender.adapter_rate = DataRate::from_bps(25_000_000_000);
    let lost = ElementSpec::Loss(LossSpec::EveryNth(NonZeroU64::MIN.saturating_add(1_499)));
    let truth = Truth::of(&Flow {
        forward: [lost, port(rate), delay(one_way)].map(PathElement::from).to_vec(),
        reverse: vec![delay(one_way).into()],
        sender,
        receiver: ReceiverSpec::fixed_window(ByteCount::new((rate * (one_way * 2)).get())),
        amount: Amount::Bytes(ByteCount::new(640_000_000)),
        seed: Seed(1),
        time_limit: Duration::from_secs(60),
        sample_every: Duration::from_secs(1),
    })?;
    let sent = truth.outcome.retransmits.get();
    let found = truth.found.counts;
    let most = truth.outcome.max_outstanding.get() as f64;
    let off = |bytes: u64| (100.0 * (bytes as f64 / most - 1.0)).abs();
    let mut rows = vec![
        Row::new("bytes in flight of a long path, at most, off by", off(truth.found.outstanding_max_bytes), "%")
            .target(Target::AtMost(1.0))
            .note(format!("{:.0} MB are right", most / 1e6)),
        Found { found: found.retransmits, of: sent }
            .row("retransmissions of a long path that are found")
            .target(Target::AtLeast(100.0)),
        Row::new("DSACKs where sequence numbers wrap and nothing arrived twice", found.dsacks as f64, "")
            .target(Target::AtMost(0.0)),
    ];
    rows.push(match tcptrace_dsacks(&truth) {
        Ok(dsacks) => Row::new("the same by tcptrace", dsacks, ""),
        Err(error) => Row::failed("the same by tcptrace", &error),
    });
    if effort == Effort::Full {
        match tshark(&truth) {
            Ok(theirs) => rows.extend([
                Row::new("bytes in flight by tshark, off by", off(theirs.flight), "%"),
                Found { found: theirs.retransmissions, of: sent }.row("retransmissions that tshark finds"),
                Row::new("segments that tshark calls out of order", theirs.out_of_order as f64, ""),
            ]),
            Err(error) => rows.push(Row::failed("the same by tshark", &error)),
        }
    }
    Ok(rows)
}

/// A firewall that inspects one packet of 600 for 60 ms, while those behind it pass: all arrive, and each is retransmitted.
fn delayed() -> anyhow::Result<Vec<Row>> {
    let held = ReorderSpec { probability: Some(0.001_6), every_nth: None, time: Duration::from_millis(60) };
    let mut sender = SenderSpec::linux(Algorithm::Cubic, Mtu::new(1_500)?);
    sender.buffer = ByteCount::new(16 << 20);
    sender.offload = ByteCount::new(1);
    let rate = DataRate::from_bps(1_000_000_000);
    let truth = Truth::of(&Flow {
        forward: [port(rate), delay(Duration::from_millis(4)), ElementSpec::Reorder(held)]
            .map(PathElement::from)
            .to_vec(),
        reverse: vec![delay(Duration::from_millis(4)).into()],
        sender,
        receiver: ReceiverSpec { buffer: ByteCount::new(32 << 20), ..ReceiverSpec::linux() },
        amount: Amount::Time(Duration::from_secs(10)),
        seed: Seed(1),
        time_limit: Duration::from_secs(20),
        sample_every: Duration::from_secs(1),
    })?;
    ensure!(truth.outcome.drops.iter().all(|(_, _, count)| count.get() == 0), "the path has lost packets");
    let (spurious, sent) = (truth.found.counts.spurious, truth.outcome.retransmits.get());
    let ours = Found { found: spurious, of: sent }
        .row("spurious retransmissions that are found")
        .target(Target::AtLeast(98.0));
    let theirs = match tshark(&truth) {
        Ok(theirs) => Found { found: theirs.spurious, of: sent }.row("the same by tshark"),
        Err(error) => Row::failed("the same by tshark", &error),
    };
    Ok(vec![ours, theirs])
}

impl Truth {
    fn of(flow: &Flow) -> anyhow::Result<Self> {
        let mut run = Run::new(flow)?;
        let mut writer = PcapWriter::new(&run.tap_flows());
        run.go_on_tapped(TapPoint::Sender, |event| writer.take(event));
        let (capture, file) = (writer.drain(), Scratch::new("pcap"));
        fs::write(&file.path, &capture)?;
        let mut connections = read(&capture).connections.into_iter();
        let found =
            connections.next().and_then(|one| one.transfers.into_iter().next()).context("nothing was captured")?;
        Ok(Self { file, outcome: run.outcome(), found })
    }
}

fn port(rate: DataRate) -> ElementSpec {
    // As much as any path here holds: what is lost is what is planted.
    let queue = BufferSpec { bytes: Some(ByteCount::new(1 << 30)), ..BufferSpec::default() };
    ElementSpec::Port(PortSpec { rate, queue, cross: CrossSpec::default() })
}

fn delay(time: Duration) -> ElementSpec {
    ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept })
}

/// What a program has found, of how many there are.
#[derive(Debug, Clone, Copy)]
struct Found {
    found: u64,
    of: u64,
}

impl Found {
    /// The row of it.
    fn row(self, what: &str) -> Row {
        let Self { found, of } = self;
        Row::new(what, 100.0 * found as f64 / of.max(1) as f64, "%").note(format!("{found} of {of}"))
    }
}

/// What tshark's analysis says of a capture.
#[derive(Debug, Default)]
struct Analysed {
    /// Bytes in flight, at most.
    flight: u64,
    retransmissions: u64,
    spurious: u64,
    out_of_order: u64,
}

fn tshark(truth: &Truth) -> anyhow::Result<Analysed> {
    const FIELDS: [&str; 4] = ["bytes_in_flight", "retransmission", "spurious_retransmission", "out_of_order"];
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "fields", "-E", "separator=,", "-r"]).arg(&truth.file.path);
    for field in FIELDS {
        command.args(["-e", &format!("tcp.analysis.{field}")]);
    }
    let ended = Program::start(command, Seat::First)?.ended()?;
    let mut analysed = Analysed::default();
    for line in String::from_utf8_lossy(&ended.stdout).lines() {
        let mut fields = line.split(',');
        let flight = fields.next().and_then(|bytes| bytes.parse().ok()).unwrap_or_default();
        analysed.flight = analysed.flight.max(flight);
        for count in [&mut analysed.retransmissions, &mut analysed.spurious, &mut analysed.out_of_order] {
            *count += u64::from(fields.next().is_some_and(|flag| !flag.is_empty()));
        }
    }
    Ok(analysed)
}

fn tcptrace_dsacks(truth: &Truth) -> anyhow::Result<f64> {
    let mut command = Command::new("tcptrace");
    command.args(["-n", "-l"]).arg(&truth.file.path);
    let ended = Program::start(command, Seat::First)?.ended()?;
    let page = String::from_utf8_lossy(&ended.stdout).into_owned();
    let line =
        page.lines().find(|line| line.contains("dsack pkts sent:")).context("tcptrace says nothing of DSACKs")?;
    Ok(line.split_whitespace().filter_map(|word| word.parse::<f64>().ok()).sum())
}
