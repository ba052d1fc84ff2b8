//! Whether a prediction is what the kernel does: one transfer over the same path, once between two namespaces in real time,
//! once in virtual time.
//!
//! The rate is low enough that the machine is hardly ever the limit; where it was, the transfer is repeated, and what was
//! limited each time is not judged. Losses are periodic, so that both meet the same ones.
//!
//! * `transfer`: the transfer: its path and hosts, and what is predicted
//! * `kernel`: the same by the kernel
//! * `shape`: what is compared

mod kernel;
mod shape;
mod transfer;

use std::num::NonZeroU64;

use anyhow::{anyhow, bail};
use sim::Algorithm;
use sim::sender::Writer;
use units::ByteCount;

use super::wire::BUFFERS;
use crate::contests::effort::{Cases, Effort};
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use shape::Shape;
use transfer::Transfer;

const ALGORITHMS: [Algorithm; 3] = [Algorithm::Cubic, Algorithm::Reno, Algorithm::Bbr];
const ROUND_TRIPS_MS: [u64; 3] = [20, 100, 209];
/// Every which packet is lost.
const LOSES: Option<NonZeroU64> = NonZeroU64::new(5_000);
/// A send buffer that holds less than the path.
const SMALL: ByteCount = ByteCount::new(1 << 20);
/// How often a transfer is repeated of which the relay was the limit.
const TRIES: u32 = 3;

/// The part inside a namespace of its own.
pub(super) fn inside(effort: Effort, cases: &Cases) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for transfer in transfers(effort).iter().filter(|transfer| cases.have(&transfer.name())) {
        eprintln!("    {} …", transfer.name());
        let compared = compare(transfer);
        rows.extend(compared.unwrap_or_else(|error| vec![Row::failed(transfer.name(), &error)]));
    }
    Ok(rows)
}

fn transfers(effort: Effort) -> Vec<Transfer> {
    let of = |algorithm, rtt_ms, loses| Transfer {
        algorithm,
        rtt_ms,
        loses,
        send_buffer: ByteCount::new(BUFFERS.1),
        writer: Writer::Blocks,
    };
    let mut all = Vec::new();
    for rtt_ms in effort.choose(&ROUND_TRIPS_MS[1..2], &ROUND_TRIPS_MS[..]) {
        for algorithm in ALGORITHMS {
            all.extend([None, LOSES].map(|loses| of(algorithm, *rtt_ms, loses)));
        }
    }
    let small = |writer| Transfer { send_buffer: SMALL, writer, ..of(Algorithm::Cubic, 100, None) };
    all.extend([Writer::Polls, Writer::Blocks].map(small));
    all
}

fn compare(transfer: &Transfer) -> anyhow::Result<Vec<Row>> {
    let (bytes, predicted) = transfer.predict()?;
    let measured = measure(transfer, bytes)?;
    let row = |what: &str, unit: &str, percent: f64, of: fn(&Shape) -> f64| {
        let (ours, kernel) = (of(&predicted), of(&measured));
        let name = format!("{}: {what}", transfer.name());
        if !(ours / kernel).is_finite() {
            return Row::failed(name, &anyhow!("{ours} was predicted, and {kernel} measured"));
        }
        Row::new(name, ours, unit)
            .against(kernel, Spread::of([ours / kernel]))
            .target(Target::RatioWithinPercent(percent))
    };
    if transfer.send_buffer == SMALL {
        return Ok(vec![row("in flight", "kB", 3.0, |shape| shape.in_flight_kb)]);
    }
    let mut rows =
        vec![row("time", "s", 10.0, |shape| shape.took_s), row("steady rate", "Mbit/s", 5.0, |shape| shape.rate_mbps)];
    // What a loss cuts short has no end of its own.
    if transfer.loses.is_none() {
        rows.push(row("ramp-up", "s", 10.0, |shape| shape.ramp_s));
    }
    Ok(rows)
}

/// What the kernel does where the relay was not the limit.
fn measure(transfer: &Transfer, bytes: ByteCount) -> anyhow::Result<Shape> {
    let mut why = String::new();
    for _ in 0..TRIES {
        let (series, report) = kernel::send(transfer, bytes)?;
        match report.limited {
            None => return Ok(Shape::of(&series)),
            Some(limited) => why = limited.worst().join("; "),
        }
    }
    bail!("the relay was the limit {TRIES} times: {why}")
}
