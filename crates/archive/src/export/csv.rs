//! A run's tables as CSV (RFC 4180, with LF). Names carry the unit, unknown values are empty, nothing needs quotes.

use std::io::{self, Write};

use model::run::{Run, RunId};
use model::series::RunSamples;
use model::series::field::Field;

use crate::names::name_of;

/// Writes a line for each interval of `run`.
///
/// # Errors
/// If `out` refuses.
pub fn intervals(run: &Run, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "run,start_us,end_us,heading,bytes,rate_bps,retransmits,rtt_us,cwnd_bytes,lost,datagrams")?;
    for interval in run.measurement.iter().flat_map(|measurement| &measurement.intervals) {
        let known = [
            interval.retransmits.map(|count| u128::from(count.get())),
            interval.rtt.map(|time| time.as_micros()),
            interval.cwnd.map(|bytes| u128::from(bytes.get())),
            interval.lost.map(|count| u128::from(count.get())),
            interval.datagrams.map(|count| u128::from(count.get())),
        ];
        let (start, end) = (interval.start.as_micros(), interval.end.as_micros());
        let (heading, bytes, rate) = (name_of(interval.heading), interval.bytes.get(), interval.rate.bps());
        write!(out, "{},{start},{end},{heading},{bytes},{rate}", run.id)?;
        for value in known {
            write_known(&mut out, value)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes a line for each sample of each stream, with a column for each field that any of the streams has.
///
/// # Errors
/// If `out` refuses.
pub fn samples(run: RunId, samples: &RunSamples, mut out: impl Write) -> io::Result<()> {
    let has = |field: &&Field| samples.streams.iter().any(|stream| stream.column(**field).is_some());
    let fields: Vec<Field> = Field::ALL.iter().filter(has).copied().collect();
    write!(out, "run,stream,heading,end,whose,at_us")?;
    for field in &fields {
        write!(out, ",{}", field.name())?;
    }
    writeln!(out)?;
    for stream in &samples.streams {
        let columns: Vec<_> = fields.iter().map(|field| stream.column(*field).unwrap_or(&[])).collect();
        let (heading, end, whose) = (name_of(stream.heading), name_of(stream.end), name_of(stream.whose));
        let start = format!("{run},{},{heading},{end},{whose}", stream.stream);
        for (row, at) in stream.at_us.iter().enumerate() {
            write!(out, "{start},{at}")?;
            for column in &columns {
                write_known(&mut out, column.get(row))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Writes a line for each latency probe.
///
/// # Errors
/// If `out` refuses.
pub fn probes(run: RunId, samples: &RunSamples, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "run,sent_us,rtt_us,there_us")?;
    let probes = &samples.probes;
    for ((sent, rtt), there) in probes.sent_us.iter().zip(&probes.rtt_us).zip(&probes.there_us) {
        write!(out, "{run},{sent}")?;
        write_known(&mut out, rtt.as_ref())?;
        write_known(&mut out, there.as_ref())?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_known(out: &mut impl Write, value: Option<impl std::fmt::Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(out, ",{value}"),
        None => write!(out, ","),
    }
}
