//! One test of a scenario.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use linux::namespaces::process::{Process, start_of};
use measure::download::download;
use measure::echo::hops::trace;
use measure::echo::path_mtu::path_mtu;
use measure::echo::series::series;
use measure::stop::Stop;
use model::probe::download::DownloadSpec;
use model::probe::echo::EchoSpec;
use model::probe::hops::HopsSpec;
use model::probe::path_mtu::PathMtuSpec;
use model::run::Run;
use model::spec::Family;

use super::arguments::arguments;
use super::{Setting, Voice};
use crate::network::Host;
use crate::scenario::{Flow, Ping, Point, Scenario, Service, ServiceKind, Test, TestKind};
use model::played::Finding;

/// Runs a test from inside its host.
pub(super) fn run(test: &Test, host: &Host, setting: &Setting<'_>) -> io::Result<Finding> {
    let scenario = setting.scenario;
    let stop = setting.stop;
    let peer = address(scenario, test.to, test.family)?;
    match &test.kind {
        TestKind::Tcp(flow) | TestKind::Udp(flow) => {
            run_flow(flow, &peer, partner_port(scenario, test.to.host), host, setting)
        }
        TestKind::Ping(ping) => host.run(|| Finding::Echo(series(&peer, &echo_spec(ping), stop))),
        TestKind::Mtu => host.run(|| Finding::PathMtu(path_mtu(&peer, &PathMtuSpec::default(), stop))),
        TestKind::Hops => host.run(|| Finding::Hops(trace(&peer, &HopsSpec::default(), stop))),
        TestKind::Http(http) => {
            let url = url(&peer, http_port(scenario, test.to.host)?, &http.file);
            let fetch = || (0..http.count).map(|_| download(&DownloadSpec::of(url.clone()), stop)).collect();
            host.run(|| Finding::Downloads(fetch()))
        }
    }
}

/// As a program of its own, so that it shares its host's processor and is kept like any other run.
fn run_flow(flow: &Flow, peer: &str, port: u16, host: &Host, setting: &Setting<'_>) -> io::Result<Finding> {
    let mut command = host.command(setting.program);
    command.args(["test", peer, "--json", "--wait", "0s", "--port", &port.to_string()]).args(arguments(flow));
    match setting.archive {
        Some(archive) => command.args([OsString::from("--archive"), archive.into()]),
        None => command.arg("--no-archive"),
    };
    command.stdin(Stdio::null());
    if setting.voice == Voice::Silent {
        command.stderr(Stdio::piped());
    } else {
        command.stderr(Stdio::inherit());
    }
    let output = until_stopped(command.stdout(Stdio::piped()).spawn()?, setting.stop)?;
    Ok(match serde_json::from_slice::<Run>(&output.stdout) {
        Ok(run) => Finding::Run(Box::new(run)),
        Err(_) => Finding::Nothing { detail: String::from_utf8_lossy(&output.stderr).trim().to_owned() },
    })
}

/// What the program has printed when it has ended: by itself, or since it was asked to where the wish to stop came.
fn until_stopped(child: Child, stop: &Stop) -> io::Result<Output> {
    const GLANCE: Duration = Duration::from_millis(50);
    let process = start_of(child.id()).and_then(|started| Process::find(child.id(), started));
    thread::scope(|scope| {
        let (ended, ending) = channel::<()>();
        let output = scope.spawn(move || {
            let _ended = ended;
            child.wait_with_output()
        });
        while let Err(RecvTimeoutError::Timeout) = ending.recv_timeout(GLANCE) {
            if stop.is_stopped() {
                process.iter().try_for_each(Process::ask_to_end)?;
                break;
            }
        }
        output.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn echo_spec(ping: &Ping) -> EchoSpec {
    EchoSpec {
        count: ping.count,
        interval: ping.interval,
        payload_bytes: u16::try_from(ping.size.get()).unwrap_or(u16::MAX),
        ..EchoSpec::default()
    }
}

fn address(scenario: &Scenario, point: Point, family: Option<Family>) -> io::Result<String> {
    let fits = |address: &std::net::IpAddr| match family {
        Some(Family::Ipv4) => address.is_ipv4(),
        Some(Family::Ipv6) => address.is_ipv6(),
        None => true,
    };
    let found = scenario.addresses(point).into_iter().find(fits);
    let name = &scenario.hosts[point.host].name;
    found.map(|address| address.to_string()).ok_or_else(|| io::Error::other(format!("{name} has no such address")))
}

/// Colons are in brackets (RFC 3986 section 3.2.2).
fn url(address: &str, port: u16, file: &str) -> String {
    if address.contains(':') {
        format!("http://[{address}]:{port}/{file}")
    } else {
        format!("http://{address}:{port}/{file}")
    }
}

fn http_port(scenario: &Scenario, host: usize) -> io::Result<u16> {
    let serves = |service: &&Service| service.host == host && !matches!(service.kind, ServiceKind::Serve);
    let service = scenario.services.iter().find(serves);
    service.map(|service| service.port).ok_or_else(|| io::Error::other("no service there speaks HTTP"))
}

fn partner_port(scenario: &Scenario, host: usize) -> u16 {
    let partner = |service: &&Service| service.host == host && matches!(service.kind, ServiceKind::Serve);
    scenario.services.iter().find(partner).map_or(measure::DEFAULT_PORT, |service| service.port)
}
