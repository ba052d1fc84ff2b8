//! One test of a scenario.

use std::io;
use std::time::Duration;

use model::spec::Family;
use round::carrier::Carrier;
use round::task::{Done, End, Errand, Partner, Site};

use super::Setting;
use crate::network::Host;
use crate::scenario::{Point, Scenario, Service, ServiceKind, Test};

/// Runs a test from inside its host: as a program there, so that it shares its host's processor and files.
pub(super) fn run(test: &Test, hosts: &[Host], setting: &Setting<'_>) -> io::Result<Done> {
    let addresses = [address(setting.scenario, test.from, None)?, address(setting.scenario, test.to, test.family)?];
    let end = |point: Point, address| End { site: site(&hosts[point.host], point.host, setting), address };
    let errand = Errand {
        task: &test.kind,
        from: end(test.from, &addresses[0]),
        to: end(test.to, &addresses[1]),
        family: test.family,
        archive: setting.archive,
        ticket: None,
        voice: setting.voice,
        limit: test.kind.length().unwrap_or_default().saturating_add(PATIENCE),
        stop: setting.stop,
    };
    let done = round::task::run(&errand);
    match &done.trouble {
        // The lab's own hosts are always there: that one is not is no result.
        Some(trouble) => Err(io::Error::other(trouble.to_string())),
        None => Ok(done),
    }
}

pub(super) fn site<'a>(host: &'a Host, number: usize, setting: &Setting<'a>) -> Site<'a> {
    Site {
        name: host.name(),
        carrier: Some(host as &dyn Carrier),
        program: setting.program.as_os_str(),
        partner: if service(setting.scenario, number).is_some() { Partner::Standing } else { Partner::Started },
        port: partner_port(setting.scenario, number),
        http_port: http_port(setting.scenario, number),
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

/// Of a host without a server of files, that at which everybody finds none.
fn http_port(scenario: &Scenario, host: usize) -> u16 {
    const USUAL: u16 = 80;
    let serves = |service: &&Service| service.host == host && !matches!(service.kind, ServiceKind::Serve);
    scenario.services.iter().find(serves).map_or(USUAL, |service| service.port)
}

fn partner_port(scenario: &Scenario, host: usize) -> u16 {
    service(scenario, host).map_or(measure::DEFAULT_PORT, |service| service.port)
}

/// The test partner that stands at a host; at others one is started where it is needed.
fn service(scenario: &Scenario, host: usize) -> Option<&Service> {
    let partner = |service: &&Service| service.host == host && matches!(service.kind, ServiceKind::Serve);
    scenario.services.iter().find(partner)
}

/// Beyond its own length, how long a test may take: nothing is a result of the network that the machine's slowness made.
pub(super) const PATIENCE: Duration = Duration::from_secs(3600);
