//! How TCP of a Linux host is set, where that limits a connection.

use std::time::Duration;

use import::evidence::{HostFact, Switch, TcpSettings};
use predict::physics::RttSource;
use predict::physics::facts::rtt;
use units::duration::show;
use units::{ByteCount, DataRate};

use super::beside::{Beside, MOST_FACTS, Transfer, is_held_by, named};
use super::statement::Statement;

/// All of the facts, of each host together.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let mut hosts: Vec<(Option<&String>, TcpSettings)> = Vec::new();
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        let HostFact::TcpSettings(own) = fact else { continue };
        match hosts.iter_mut().find(|(of, _)| *of == host.as_ref()) {
            Some((_, known)) => add(known, own),
            None => hosts.push((host.as_ref(), own.clone())),
        }
    }
    hosts.iter().flat_map(|(host, settings)| of_host(beside, *host, settings)).collect()
}

/// The most that a send buffer grows to, where one host alone has its settings printed.
pub(super) fn most_send(beside: &Beside<'_>) -> Option<ByteCount> {
    let mut all = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::TcpSettings(own) => Some((host, own.most_send?)),
        _ => None,
    });
    let (host, most) = all.next()?;
    all.all(|(other, _)| other == host).then_some(most)
}

/// What was printed last counts.
fn add(known: &mut TcpSettings, own: &TcpSettings) {
    let own = own.clone();
    known.window_scaling = own.window_scaling.or(known.window_scaling);
    known.sack = own.sack.or(known.sack);
    known.receive_grows = own.receive_grows.or(known.receive_grows);
    known.first_receive = own.first_receive.or(known.first_receive);
    known.most_receive = own.most_receive.or(known.most_receive);
    known.most_send = own.most_send.or(known.most_send);
    known.congestion_control = own.congestion_control.or(known.congestion_control.take());
}

/// Which data a buffer holds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Received,
    Sent,
}

fn of_host(beside: &Beside<'_>, host: Option<&String>, settings: &TcpSettings) -> Vec<Statement> {
    let name = named(host);
    let mut all = Vec::new();
    if settings.window_scaling == Some(Switch::Off) {
        all.push(Statement::fault(format!(
            "{name}: window scaling is off (`net.ipv4.tcp_window_scaling`), so that a connection of it has at most {LARGEST_UNSCALED} under way \
             in each direction: {}; switch it on",
            rates(LARGEST_UNSCALED)
        )));
    }
    if settings.sack == Some(Switch::Off) {
        all.push(Statement::fault(format!(
            "{name}: selective acknowledgement is off (`net.ipv4.tcp_sack`): of several segments lost in one window one is repaired in each RTT, \
             and the rest wait for a timeout; switch it on"
        )));
    }
    let fixed = settings.first_receive.filter(|_| settings.receive_grows == Some(Switch::Off));
    if let Some(fixed) = fixed {
        all.push(Statement::fault(format!(
            "{name}: the receive buffer does not grow (`net.ipv4.tcp_moderate_rcvbuf` is 0) and stays at {fixed}: at most {}; switch it on",
            rates(fixed)
        )));
    } else if let Some(most) = settings.most_receive {
        all.push(of_buffer(beside, host, &Buffer { of: Of::Received, setting: "tcp_rmem", most }));
    }
    all.extend(
        settings.most_send.map(|most| of_buffer(beside, host, &Buffer { of: Of::Sent, setting: "tcp_wmem", most })),
    );
    if let Some(control) = &settings.congestion_control {
        all.push(Statement::fact(format!("{name} sends with the congestion control {control}")));
    }
    all
}

/// The most that a buffer grows to.
struct Buffer {
    of: Of,
    setting: &'static str,
    most: ByteCount,
}

fn of_buffer(beside: &Beside<'_>, host: Option<&String>, buffer: &Buffer) -> Statement {
    let Buffer { of, setting, most } = *buffer;
    let name = named(host);
    let what = if of == Of::Received { "receive" } else { "send" };
    let says = format!(
        "{name}: a {what} buffer grows to {most} at most (the third number of `net.ipv4.{setting}`), which allows {}",
        rates(most)
    );
    let explained = explained(beside, host, buffer);
    if explained.is_none() && most >= SMALL {
        return Statement::fact(says);
    }
    Statement::fault(format!(
        "{says}{}; Linux itself has {USUAL_RECEIVE} for receiving and {USUAL_SEND} for sending: raise it to twice the rate that is wanted times the RTT",
        explained.unwrap_or_default()
    ))
}

/// A transfer that is as fast as the buffer allows at its RTT, of which packets' own overhead takes up to half.
fn explained(beside: &Beside<'_>, host: Option<&String>, buffer: &Buffer) -> Option<String> {
    beside.transfers().find_map(|Transfer { run, total, from, to }| {
        let end = if buffer.of == Of::Received { to } else { from };
        let is_of_host = host.is_some_and(|host| is_same([end, host]));
        let rtt = rtt(run, total).filter(|rtt| is_of_host && rtt.source != RttSource::WindowOverRate)?.low;
        let most = DataRate::of(buffer.most, rtt)?;
        let half = DataRate::from_bps(most.bps() / 2);
        let is_that = run.spec.streams == 1 && (is_held_by(most, total.goodput) || is_held_by(half, total.goodput));
        is_that.then(|| format!("; the {} of {from} to {to} are what it allows at {}", total.goodput, show(rtt)))
    })
}

/// Whether two names are of one host: a prompt or a person has the first label only.
fn is_same([one, other]: [&str; 2]) -> bool {
    let label = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
    let is_address = |name: &str| name.parse::<std::net::IpAddr>().is_ok();
    one == other || (!is_address(one) && !is_address(other) && label(one) == label(other))
}

/// What a window allows within a city, within a continent, between continents.
fn rates(window: ByteCount) -> String {
    let of = |ms: u64| {
        let rtt = Duration::from_millis(ms);
        DataRate::of(window, rtt).map(|rate| format!("{rate} at an RTT of {}", show(rtt)))
    };
    RTTS_MS.into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

const RTTS_MS: [u64; 3] = [5, 30, 150];
/// Without window scaling (RFC 7323 section 2).
const LARGEST_UNSCALED: ByteCount = ByteCount::new(65_535);
/// Below this a path across a continent is no faster than some 250 Mbit/s.
const SMALL: ByteCount = ByteCount::new(1 << 20);
/// `tcp_rmem` and `tcp_wmem` of a host with some memory (`tcp_init`, net/ipv4/tcp.c).
const USUAL_RECEIVE: ByteCount = ByteCount::new(6 << 20);
const USUAL_SEND: ByteCount = ByteCount::new(4 << 20);
