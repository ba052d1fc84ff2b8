//! What runs inside the hosts of a lab: file servers, proxies, and small measurements.

use lab::services::deal::{Reroute, Share};
use lab::services::files::FileServer;
use lab::services::proxy::Proxy;
use lab::services::{Door, Exchange, Limits};
use measure::download::download;
use measure::echo::hops::trace;
use measure::echo::path_mtu::path_mtu;
use measure::echo::series::series;
use model::probe::download::DownloadSpec;
use model::probe::echo::{EchoSpec, Fragments};
use model::probe::hops::HopsSpec;
use model::probe::path_mtu::PathMtuSpec;
use model::run::Outcome;
use path::Seed;
use serde::Serialize;

use crate::cli::Common;
use crate::cli::lab_parts::{LabPart, ProbeAction, ServeFilesArgs, ServeProxyArgs};
use crate::commands::attempt::stop_on_signals;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

/// Does what was asked for.
pub fn run(common: &Common, part: &LabPart) -> anyhow::Result<Exit> {
    match part {
        LabPart::ServeFiles(args) => serve_files(common, args),
        LabPart::ServeProxy(args) => serve_proxy(common, args),
        LabPart::Probe(action) => probe(action),
    }
}

fn serve_files(common: &Common, args: &ServeFilesArgs) -> anyhow::Result<Exit> {
    let stop = stop_on_signals()?;
    let door = open(args.listen)?;
    let server = FileServer { name: args.name.clone(), files: args.files.iter().cloned().collect() };
    server.serve(&door, &stop, &|exchange| tell(common, &exchange));
    Ok(Exit::Success)
}

fn serve_proxy(common: &Common, args: &ServeProxyArgs) -> anyhow::Result<Exit> {
    let stop = stop_on_signals()?;
    let wrong = || Complaint::new(Exit::Usage, format!("a share is 0 to 1, not {}", args.rerouted));
    let share = Share::new(args.rerouted).ok_or_else(wrong)?;
    let door = open(args.listen)?;
    let reroute = (share != Share::NONE).then(|| Reroute { share, to: args.to.clone() });
    let proxy = Proxy::new(args.name.clone(), args.over.clone(), reroute, Seed(args.seed));
    proxy.serve(&door, &stop, &|exchange| tell(common, &exchange));
    Ok(Exit::Success)
}

fn open(address: std::net::SocketAddr) -> anyhow::Result<Door> {
    let door = Door::open(address, Limits::default())
        .map_err(|error| anyhow::Error::from(error).context(Complaint::new(Exit::Local, "cannot serve")))?;
    // Whoever started this process waits for the line, quiet or not.
    eprintln!("listening on {}", door.address());
    Ok(door)
}

fn tell(common: &Common, exchange: &Exchange) {
    if common.json
        && let Err(error) = show::json::document(exchange).and_then(|line| print(&line))
    {
        // The next request is worth more than the record of this one.
        show::error::print(&error);
    }
}

fn probe(action: &ProbeAction) -> anyhow::Result<Exit> {
    let stop = stop_on_signals()?;
    match action {
        ProbeAction::Echo { path, count, interval, payload_bytes, whole, hop_limit } => {
            let spec = EchoSpec {
                count: *count,
                interval: *interval,
                payload_bytes: *payload_bytes,
                dscp: path.dscp,
                fragments: if *whole { Fragments::Forbidden } else { Fragments::Allowed },
                hop_limit: *hop_limit,
                timeout: path.timeout,
                family: path.family(),
                bind: path.bind,
            };
            let found = series(&path.target, &spec, &stop);
            report(&found, &found.outcome)
        }
        ProbeAction::Hops { path, limit, probes } => {
            let spec = HopsSpec {
                limit: *limit,
                probes: *probes,
                timeout: path.timeout,
                dscp: path.dscp,
                family: path.family(),
                bind: path.bind,
            };
            let found = trace(&path.target, &spec, &stop);
            report(&found, &found.outcome)
        }
        ProbeAction::Mtu { path, probes } => {
            let (timeout, dscp) = (path.timeout, path.dscp);
            let spec = PathMtuSpec { probes: *probes, timeout, dscp, family: path.family(), bind: path.bind };
            let found = path_mtu(&path.target, &spec, &stop);
            report(&found, &found.outcome)
        }
        ProbeAction::Download { url, bind, cca, time_limit } => {
            let spec = DownloadSpec {
                bind: *bind,
                congestion_control: cca.clone(),
                time_limit: *time_limit,
                ..DownloadSpec::of(url.as_str())
            };
            let found = download(&spec, &stop);
            report(&found, &found.outcome)
        }
    }
}

fn report<T: Serialize>(found: &T, outcome: &Outcome) -> anyhow::Result<Exit> {
    print(&show::json::document(found)?)?;
    Ok(Exit::of_outcome(outcome))
}
