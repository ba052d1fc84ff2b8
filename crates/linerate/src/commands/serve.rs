//! `linerate serve`.

use std::net::SocketAddr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use measure::metrics::MetricsServer;
#[cfg(feature = "ndt7")]
use measure::ndt7::tls::Ndt7Identity;
#[cfg(feature = "ndt7")]
use measure::serve::ndt7::{Ndt7Config, Ndt7Server};
use measure::serve::policy::Policy;
use measure::serve::probes::{ProbeConfig, ProbeServer};
use measure::serve::queue::Queue;
use measure::serve::{Config, Event, Once, ServeError, ServedResults, ServedTest, serve};
use measure::stop::Stop;
use model::run::{Role, Run};
use model::series::RunSamples;
use owamp::control::Protocol;

use super::archive::RunStore;
use super::attempt::{new_id, stop_on_signals};
use super::print;
use super::served::Served;
use crate::cli::Common;
use crate::cli::serve::ServeArgs;
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &ServeArgs) -> anyhow::Result<Exit> {
    enter(args.netns.as_deref())?;
    let archive = if args.no_archive { None } else { Some(RunStore::open(common)?) };
    let stop = stop_on_signals()?;
    let begun = args.within.map(|within| give_up(within, stop.clone())).transpose()?;
    let is_read = archive.is_some() || common.json || !common.quiet || args.metrics.is_some();
    let log = Log { archive: Mutex::new(archive), common, begun, served: Served::default() };
    let metrics = args.metrics.map(metrics_server).transpose()?;
    let probes = probe_servers(args).map_err(complain)?;
    let results = if is_read { ServedResults::Kept } else { ServedResults::Dropped };
    let config = Config { results, ..config(args) };
    #[cfg(feature = "ndt7")]
    let ndt7 = ndt7_servers(args, &config)?;
    let report = |event| log.event(event);
    thread::scope(|scope| {
        if let Some(server) = &metrics {
            let (stop, log) = (&stop, &log);
            scope.spawn(move || server.serve(stop, &|| log.served.numbers()));
        }
        for server in &probes {
            let (stop, report) = (&stop, &report);
            scope.spawn(move || {
                // Tests go on without it.
                if let Err(error) = server.serve(stop, report) {
                    show::error::print(&complain(error));
                }
            });
        }
        #[cfg(feature = "ndt7")]
        for server in &ndt7 {
            let (stop, report) = (&stop, &report);
            scope.spawn(move || {
                if let Err(error) = server.serve(stop, report) {
                    show::error::print(&complain(error));
                }
            });
        }
        let served = serve(&config, &stop, &report);
        stop.stop();
        served
    })
    .map_err(complain)?;
    Ok(Exit::Success)
}

/// The servers of OWAMP and TWAMP that are asked for, their ports open.
fn probe_servers(args: &ServeArgs) -> Result<Vec<ProbeServer>, ServeError> {
    let asked = [(Protocol::Owamp, args.owamp), (Protocol::Twamp, args.twamp)];
    let config = |protocol, port| ProbeConfig {
        protocol,
        bind: args.bind,
        port,
        udp_ports: args.udp_ports,
        policy: config(args).policy,
    };
    asked.into_iter().filter_map(|(protocol, port)| Some(ProbeServer::open(config(protocol, port?)))).collect()
}

/// The servers of NDT7 that are asked for, their ports open. They take turns with the tests of the other port.
#[cfg(feature = "ndt7")]
fn ndt7_servers(args: &ServeArgs, config: &Config) -> anyhow::Result<Vec<Ndt7Server>> {
    let identity = args.ndt7_cert.as_deref().zip(args.ndt7_key.as_deref()).map(|(chain, key)| {
        Ndt7Identity::read(chain, key).context(Complaint::new(Exit::Usage, "wss:// cannot be served"))
    });
    let identity = identity.transpose()?;
    let queue = config.queue.clone().unwrap_or_default();
    let open = |(port, identity)| {
        Ndt7Server::open(Ndt7Config {
            bind: args.bind,
            port,
            identity,
            policy: config.policy.clone(),
            queue: queue.clone(),
        })
    };
    let asked = [args.ndt7.zip(Some(None)), args.ndt7_tls.zip(Some(identity))];
    asked.into_iter().flatten().map(|asked| open(asked).map_err(complain)).collect()
}

/// The server of numbers, its port open.
fn metrics_server(address: SocketAddr) -> anyhow::Result<MetricsServer> {
    let failed = || Complaint::new(Exit::Local, format!("cannot listen on {address} for metrics"));
    MetricsServer::open(address).with_context(failed)
}

/// Stops where nobody says within this time that a test has begun.
fn give_up(within: Duration, stop: Stop) -> anyhow::Result<Sender<()>> {
    let (begun, beginning) = channel::<()>();
    let wait = move || {
        if beginning.recv_timeout(within) == Err(RecvTimeoutError::Timeout) {
            stop.stop();
        }
    };
    thread::Builder::new().name("giving up".to_owned()).spawn(wait).context("no thread can be had")?;
    Ok(begun)
}

/// Everything that serves lives in the namespace, so the whole process enters it.
fn enter(netns: Option<&str>) -> anyhow::Result<()> {
    let Some(netns) = netns else { return Ok(()) };
    let entered = linux::netns::NetnsRef::parse(netns).map_err(anyhow::Error::from).and_then(|netns| {
        linux::netns::Netns::open(&netns).and_then(|netns| netns.enter()).map_err(anyhow::Error::from)
    });
    entered.context(
        Complaint::new(Exit::Usage, format!("network namespace `{netns}` cannot be entered"))
            .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well"),
    )
}

fn config(args: &ServeArgs) -> Config {
    Config {
        bind: args.bind,
        port: args.port,
        cpus: args.cpu.clone(),
        policy: Policy {
            allow: args.allow.clone(),
            max_rate: args.max_rate,
            max_udp_rate: args.max_udp_rate,
            max_time: args.max_time,
            max_streams: args.max_streams,
            max_queue: args.max_queue,
            ticket: None,
        },
        once: if args.once { Once::Yes } else { Once::No },
        queue: Some(Queue::new(args.max_queue)),
        ..Config::default()
    }
}

fn complain(error: ServeError) -> anyhow::Error {
    let mut complaint = Complaint::new(Exit::Local, "cannot serve");
    if let ServeError::Open { source, port, .. } = &error {
        complaint = match source.kind() {
            std::io::ErrorKind::AddrInUse => complaint.hint(format!(
                "another program listens on port {port}: `ss -ltnp sport = :{port}` names it; {} picks another",
                option(*port)
            )),
            std::io::ErrorKind::PermissionDenied => complaint.hint(format!(
                "ports below 1024 need root or CAP_NET_BIND_SERVICE \
                 (`systemd-run -p AmbientCapabilities=CAP_NET_BIND_SERVICE`); {} picks another",
                option(*port)
            )),
            _ => complaint,
        };
    }
    anyhow::Error::from(error).context(complaint)
}

/// The option that gave this port.
const fn option(port: u16) -> &'static str {
    match port {
        861 => "`--owamp 8861`",
        862 => "`--twamp 8862`",
        80 => "`--ndt7 8080`",
        _ => "--port",
    }
}

/// Tells what happens, and keeps what was measured.
struct Log<'a> {
    archive: Mutex<Option<RunStore>>,
    common: &'a Common,
    /// Who waits for the first test.
    begun: Option<Sender<()>>,
    /// What Prometheus reads.
    served: Served,
}

impl Log<'_> {
    fn event(&self, event: Event) {
        self.served.count(&event);
        if let (Event::Started { .. }, Some(begun)) = (&event, &self.begun) {
            // Nobody waits any more once it has begun.
            let _ = begun.send(());
        }
        match event {
            Event::Finished(visited) => self.finished(*visited),
            other if !self.common.quiet => show::serve::event(&other),
            _ => {}
        }
    }

    fn finished(&self, visited: ServedTest) {
        let is_kept = self.archive.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if self.common.quiet && !self.common.json && !is_kept {
            return;
        }
        let result = into_run(visited).and_then(|(run, samples)| {
            // Told first: what is on the screen is not lost with the disk.
            let printed = if self.common.json {
                show::json::line(&run).and_then(|line| print(&line)).map(drop)
            } else {
                if !self.common.quiet {
                    show::serve::finished(&run);
                }
                Ok(())
            };
            let mut archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(archive) = archive.as_mut() {
                archive.keep(&run, &samples)?;
            }
            printed
        });
        // The next test is worth more than the record of this one: a server goes on.
        if let Err(error) = result {
            show::error::print(&error);
        }
    }
}

fn into_run(visited: ServedTest) -> anyhow::Result<(Run, RunSamples)> {
    let run = Run {
        format: Run::FORMAT,
        id: new_id(visited.started)?,
        started: visited.started,
        role: Role::Server,
        command: std::env::args().collect(),
        spec: visited.spec,
        declared_line_rate: None,
        declared: model::run::Declared::default(),
        batch: None,
        local: measure::identity::local(Some(visited.local.ip())),
        peer: visited.peer,
        outcome: visited.outcome,
        measurement: visited.measurement,
    };
    Ok((run, visited.samples))
}
