//! `linerate gateways perf`: what a gateway reports to cmsd, a line of five numbers a second.

use std::io::{self, Write};
use std::thread;

use anyhow::Context;
use gateways::cluster::faults::FaultType;

use super::find;
use super::sensors::Source;
use crate::cli::gateways::perf::PerfArgs;
use crate::exit::{Complaint, Exit};

pub fn run(args: &PerfArgs) -> anyhow::Result<Exit> {
    let policy = (find(&args.policy)?.make)();
    let mut source = Source::open(args)?;
    let mut left = args.count;
    // cmsd ends a program that it has called by closing its output, or is gone itself.
    let parent = std::os::unix::process::parent_id();
    while left != Some(0) && std::os::unix::process::parent_id() == parent {
        let sensors = source.read()?;
        let fault = source.fault();
        if fault != Some(FaultType::Silent) {
            let sensors = fault.map_or(sensors, |fault| sensors.with_fault(fault));
            let said = policy.report(&sensors);
            let line = format!("{} {} {} {} {}\n", said.runq, said.cpu, said.mem, said.pag, said.net);
            let mut out = io::stdout().lock();
            match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Success),
                written => written.with_context(|| Complaint::new(Exit::Local, "cannot write to standard output"))?,
            }
        }
        left = left.map(|left| left - 1);
        if left != Some(0) {
            thread::sleep(args.every);
        }
    }
    Ok(Exit::Success)
}
