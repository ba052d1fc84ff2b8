//! What the lab's relay carries: TAP devices of two namespaces, and a modelled path between them in real time.
//!
//! Rates of links are compared with what the scenario says, counted as the model counts: with Ethernet headers, without
//! preamble and checksum.

use std::num::NonZeroUsize;
use std::time::Duration;

use lab::relay::Options;
use lab::relay::report::{DirectionReport, Report};
use path::ElementSpec;
use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, Order, PortSpec};
use units::{ByteCount, DataRate};

use super::far::FAR;
use super::wire;
use crate::actors::{Actors, Match, Place, Who, words};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::program::Seat;

/// The part inside a namespace of its own.
pub(super) fn inside(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let seconds = effort.choose(3, 6);
    let mut rows = whole_frames(actors, seconds)?;
    rows.extend(single_packets(actors, seconds)?);
    for (mbits, name) in [(100, "100 Mbit/s"), (1_000, "1 Gbit/s")] {
        rows.extend(link(actors, seconds, mbits, name)?);
    }
    Ok(rows)
}

/// A path of 50 ms which nothing limits but the relay.
fn whole_frames(actors: &Actors, seconds: u32) -> anyhow::Result<Vec<Row>> {
    let path = || [vec![delay(25, 0)], vec![delay(25, 0)]];
    let (gbits, report) = play(actors, Who::Linerate, path(), &Options::default(), seconds, "")?;
    let (peer_gbits, _) = play(actors, Who::Iperf3, path(), &Options::default(), seconds, "")?;
    let (_, eased) = play(actors, Who::Linerate, path(), &Options::default(), seconds, "--rate 6.4Gbit/s")?;
    let mut best = Row::new("whole frames over 50 ms, one thread", gbits, "Gbit/s").target(Target::AtLeast(8.0));
    best.peer = Some(peer_gbits);
    Ok(vec![
        best.note(cost(&report)),
        Row::new("lost by the relay at 6.4 Gbit/s", lost(&eased), "frames").target(Target::AtMost(0.0)),
    ])
}

/// A path that gives each packet an instant of its own.
fn single_packets(actors: &Actors, seconds: u32) -> anyhow::Result<Vec<Row>> {
    let path = || [vec![delay(1, 1_000)], vec![]];
    let apart = Options { together: None, ..Options::default() };
    let (_, report) = play(actors, Who::Linerate, path(), &Options::default(), seconds, "")?;
    let (_, each) = play(actors, Who::Linerate, path(), &apart, seconds, "")?;
    // 240,000 packets of 1,448 bytes.
    let (_, eased) = play(actors, Who::Linerate, path(), &Options::default(), seconds, "--rate 2.78Gbit/s")?;
    let thousands = |report: &Report| packets(there(report)) / f64::from(seconds) * 1e-3;
    Ok(vec![
        Row::new("cut into single packets, one thread", thousands(&report), "1000/s")
            .target(Target::AtLeast(300.0))
            .note(cost(&report)),
        Row::new("the same, each written by itself", thousands(&each), "1000/s").note(cost(&each)),
        Row::new("lost by the relay at 240,000/s", lost(&eased), "frames").target(Target::AtMost(0.0)),
    ])
}

/// A port of a rate, which both programs should find.
fn link(actors: &Actors, seconds: u32, mbits: u64, name: &str) -> anyhow::Result<Vec<Row>> {
    let rate = DataRate::from_bps(mbits * 1_000_000);
    let queue = BufferSpec { bytes: Some(ByteCount::new(rate.bytes_per_second() / 40)), ..BufferSpec::default() };
    let port = || ElementSpec::Port(PortSpec { rate, queue: queue.clone(), cross: CrossSpec::default() });
    let path = || [vec![port(), delay(5, 0)], vec![delay(5, 0)]];
    let mut rows = Vec::new();
    let mut late = Duration::ZERO;
    for (who, program) in [(Who::Linerate, "linerate"), (Who::Iperf3, "iperf3")] {
        let (gbits, report) = play(actors, who, path(), &Options::default(), seconds, warm_up(who))?;
        let on_the_link = gbits * 1e9 * f64::from(FRAME) / f64::from(PAYLOAD);
        #[expect(clippy::cast_precision_loss, reason = "a rate is shown")]
        let off = (on_the_link / rate.bps() as f64 - 1.0) * 100.0;
        rows.push(Row::new(format!("{name} as {program} finds it, off by"), off, "%").target(Target::Within(1.0)));
        late = report.wires[0].directions.iter().fold(late, |late, each| late.max(each.lateness.p99()));
    }
    let row = Row::new(format!("written late at {name}, p99"), late.as_secs_f64() * 1e6, "µs");
    rows.push(if mbits == 1_000 { row.target(Target::AtMost(300.0)) } else { row });
    Ok(rows)
}

/// Runs one test over a wire with these elements. Returns the goodput in Gbit/s, and what the relay did.
fn play(
    actors: &Actors,
    who: Who,
    elements: [Vec<ElementSpec>; 2],
    options: &Options,
    seconds: u32,
    more: &str,
) -> anyhow::Result<(f64, Report)> {
    let options = Options { threads: Some(NonZeroUsize::MIN), ..options.clone() };
    let arguments = match who {
        Who::Linerate => words(&format!("--cca cubic --time {seconds}s {more}")),
        Who::Iperf3 => words(&format!("-C cubic -t {seconds} {more}")),
    };
    let seats = (Seat::Anywhere, Seat::Anywhere);
    let (played, report) = wire::over(elements, &options, |far| {
        let place = Place::Inside(far.id(), FAR.1);
        actors.play(&Match { client: who, server: who, arguments: &arguments, seats, place })
    })?;
    Ok((played.goodput_bps * 1e-9, report))
}

/// The first second does not count: the link is not full yet.
fn warm_up(who: Who) -> &'static str {
    match who {
        Who::Linerate => "--omit 1s",
        Who::Iperf3 => "-O 1",
    }
}

fn delay(millis: u64, jitter_us: u64) -> ElementSpec {
    let (time, jitter) = (Duration::from_millis(millis), Duration::from_micros(jitter_us));
    ElementSpec::Delay(DelaySpec { time, jitter, order: Order::Kept })
}

fn there(report: &Report) -> &DirectionReport {
    &report.wires[0].directions[0]
}

#[expect(clippy::cast_precision_loss, reason = "a count is shown")]
fn packets(direction: &DirectionReport) -> f64 {
    direction.given.packets.get() as f64
}

#[expect(clippy::cast_precision_loss, reason = "a count is shown")]
fn lost(report: &Report) -> f64 {
    report.wires[0].directions.iter().map(|each| each.lost.unintended()).sum::<u64>() as f64
}

/// What a thread can do when it has a processor to itself.
fn cost(report: &Report) -> String {
    let processor = report.threads.iter().map(|thread| thread.processor).sum::<Duration>().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown")]
    let gbits = there(report).given.bytes.get() as f64 * 8e-9 / processor;
    let thousands = packets(there(report)) * 1e-3 / processor;
    format!("each second of CPU time: {gbits:.1} Gbit, {thousands:.0} thousand packets")
}

/// A full packet on the link, and what it carries: Ethernet, IPv4, TCP with time stamps.
const FRAME: u32 = 1_514;
const PAYLOAD: u32 = 1_448;
