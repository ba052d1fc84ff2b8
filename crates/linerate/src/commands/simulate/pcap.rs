//! A simulated transfer as a capture file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use sim::flow::Run;
use sim::pcap::PcapWriter;
use sim::tap::TapPoint;

use crate::cli::simulate::FlowArgs;
use crate::exit::{Complaint, Exit};

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Goes on to the end of a simulation, and writes what passes one of its hosts where that is asked for.
///
/// # Errors
/// Where the file cannot be written.
pub fn go_on(run: &mut Run, args: &FlowArgs) -> anyhow::Result<()> {
    match &args.pcap {
        Some(path) => write(run, path, args.pcap_at.into()),
        None => {
            run.go_on();
            Ok(())
        }
    }
}

fn write(run: &mut Run, path: &Path, point: TapPoint) -> anyhow::Result<()> {
    let unwritable = || Complaint::new(Exit::Local, format!("cannot write to {}", path.display()));
    let mut file = BufWriter::new(File::create(path).with_context(unwritable)?);
    let mut writer = PcapWriter::new(&run.tap_flows());
    let mut written: io::Result<()> = Ok(());
    run.go_on_tapped(point, |event| {
        writer.take(event);
        if written.is_ok() && writer.waiting() >= CHUNK_BYTES {
            written = file.write_all(&writer.drain());
        }
    });
    written.and_then(|()| file.write_all(&writer.drain())).and_then(|()| file.flush()).with_context(unwritable)
}
