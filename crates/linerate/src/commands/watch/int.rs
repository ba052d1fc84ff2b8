//! `linerate watch int`.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

use anyhow::Context;
use passive::int::generate::TestReport;
use passive::int::report::{IntHop, Stamp};
use watch::int::{IntError, Request, collect};

use crate::cli::Common;
use crate::cli::watch::int::{IntArgs, ReportFormat};
use crate::commands::attempt::stop_on_signals;
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &IntArgs) -> anyhow::Result<Exit> {
    if let Some(to) = args.send_test {
        return send(args, to);
    }
    let stop = stop_on_signals()?;
    let intervals = args
        .duration
        .map(|time| u64::try_from(time.as_nanos().div_ceil(args.interval.as_nanos()).max(1)).unwrap_or(u64::MAX));
    let request = Request { listen: args.listen, interval: args.interval, intervals, cell: args.cell };
    if !common.json && !common.quiet {
        eprintln!("collecting INT reports at {}", args.listen);
    }
    let collected = collect(
        &request,
        || stop.is_stopped() || linux::readiness::is_abandoned(io::stdout()),
        |interval| {
            let text = if common.json {
                show::json::document(&interval).unwrap_or_default()
            } else {
                show::watch::int::text(&interval).into_bytes()
            };
            let mut out = io::stdout().lock();
            if out.write_all(&text).and_then(|()| out.flush()).is_err() {
                stop.stop();
            }
        },
    );
    collected.map_err(refused)?;
    Ok(Exit::Success)
}

/// Reports of two switches, whose queue grows and falls.
fn send(args: &IntArgs, to: SocketAddr) -> anyhow::Result<Exit> {
    let cannot = || Complaint::new(Exit::Unreachable, format!("cannot send to {to}"));
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).with_context(cannot)?;
    for sequence in 0..args.count {
        let report = TestReport {
            node: 2,
            sequence,
            source: SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 40_000),
            destination: SocketAddrV4::new(Ipv4Addr::new(198, 51, 100, 1), 5_201),
            hops: vec![hop(Depth { node: 1, occupancy: 10 }), hop(Depth { node: 2, occupancy: 100 + sequence % 500 })],
        };
        let bytes = match args.format {
            ReportFormat::V1 => report.version1(),
            ReportFormat::V2 => report.version2(),
        };
        socket.send_to(&bytes, to).with_context(cannot)?;
    }
    Ok(Exit::Success)
}

/// How full the queue of a switch is.
#[derive(Clone, Copy)]
struct Depth {
    node: u32,
    occupancy: u32,
}

fn hop(depth: Depth) -> IntHop {
    let Depth { node, occupancy } = depth;
    IntHop {
        node: Some(node),
        ingress_port: Some(1),
        egress_port: Some(2),
        queue: Some(0),
        occupancy: Some(occupancy),
        latency_ns: Some(occupancy * 16),
        ingress_ns: Some(Stamp::Short(0)),
        egress_ns: Some(Stamp::Short(occupancy * 16)),
        ..IntHop::default()
    }
}

fn refused(error: IntError) -> anyhow::Error {
    let complaint = match &error {
        IntError::Listen { .. } => Complaint::new(Exit::Local, "cannot collect INT reports")
            .hint("another collector may have the port: --listen ADDRESS:PORT names another"),
        IntError::Receive(_) => Complaint::new(Exit::Local, "cannot collect INT reports"),
    };
    anyhow::Error::from(error).context(complaint)
}
