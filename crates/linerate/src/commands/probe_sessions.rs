//! `linerate probe owamp` and `linerate probe twamp`.

use measure::one_way::owping::one_way as measure_one_way;
use measure::one_way::twping::two_way as measure_two_way;
use measure::stop::Stop;
use model::probe::one_way::{Directions, SessionSpec, Spacing};
use model::run::{Failure, FailureKind, Outcome};

use super::print;
use super::probe_place::within;
use crate::cli::Common;
use crate::cli::probe::{OwampArgs, SessionArgs, TwampArgs};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn one_way(common: &Common, args: &OwampArgs, stop: &Stop) -> anyhow::Result<Exit> {
    let directions = match (args.forward, args.reverse) {
        (true, _) => Directions::Forward,
        (_, true) => Directions::Reverse,
        (false, false) => Directions::Both,
    };
    let server = Server::of(&args.host, OWAMP)?;
    let spec = SessionSpec { directions, ..spec(&args.session, server.port) };
    let found = within(&args.session.way, || measure_one_way(server.host, &spec, stop))?;
    let text = show::probe_sessions::one_way(&found);
    let document = if common.json { show::json::document(&found)? } else { text.into_bytes() };
    print(&document)?;
    Ok(end(&found.outcome, &server))
}

pub fn two_way(common: &Common, args: &TwampArgs, stop: &Stop) -> anyhow::Result<Exit> {
    let server = Server::of(&args.host, TWAMP)?;
    let spec = spec(&args.session, server.port);
    let found = within(&args.session.way, || measure_two_way(server.host, &spec, stop))?;
    let text = show::probe_sessions::two_way(&found);
    let document = if common.json { show::json::document(&found)? } else { text.into_bytes() };
    print(&document)?;
    Ok(end(&found.outcome, &server))
}

/// The ports that IANA gives the two protocols.
const OWAMP: u16 = 861;
const TWAMP: u16 = 862;

/// A server as it was typed.
struct Server<'a> {
    host: &'a str,
    port: u16,
}

impl<'a> Server<'a> {
    fn of(typed: &'a str, default: u16) -> anyhow::Result<Self> {
        let Some((host, port)) = split_port(typed) else { return Ok(Self { host: typed, port: default }) };
        let port = port.parse().map_err(|_| {
            Complaint::new(Exit::Usage, format!("`{port}` is no port"))
                .hint("a server is typed as HOST or HOST:PORT, an IPv6 address with a port as [ADDRESS]:PORT")
        })?;
        Ok(Self { host, port })
    }
}

/// An IPv6 address without brackets has no port.
fn split_port(typed: &str) -> Option<(&str, &str)> {
    let (host, port) = typed.rsplit_once(':')?;
    let bracketed = host.starts_with('[') && host.ends_with(']');
    (bracketed || !host.contains(':')).then_some((host, port))
}

fn spec(args: &SessionArgs, port: u16) -> SessionSpec {
    SessionSpec {
        port,
        count: args.count,
        interval: args.interval,
        spacing: if args.fixed { Spacing::Fixed } else { Spacing::Exponential },
        padding_bytes: u16::try_from(args.size.get()).unwrap_or(u16::MAX),
        timeout: args.timeout,
        family: args.way.family(),
        udp_port: args.udp_port,
        ..SessionSpec::default()
    }
}

fn end(outcome: &Outcome, server: &Server<'_>) -> Exit {
    if let Outcome::Failed(failure) = outcome {
        show::error::print_failure(failure, &hints(failure, server));
    }
    Exit::of_outcome(outcome)
}

/// The ways out.
fn hints(failure: &Failure, server: &Server<'_>) -> Vec<String> {
    let Server { host, port } = server;
    match failure.kind {
        FailureKind::Unreachable => vec![
            format!("is owampd, twampd or `linerate serve --owamp --twamp` running on {host}?"),
            format!(
                "a firewall must let through TCP {port} and the server's UDP range (perfSONAR: OWAMP 8760-9960, TWAMP 18760-19960)"
            ),
        ],
        FailureKind::Refused if failure.detail.contains("a key") => {
            vec![
                "linerate speaks open mode; owampd offers it unless its limits file turns allow_open_mode off"
                    .to_owned(),
            ]
        }
        FailureKind::Refused | FailureKind::Busy => vec![
            "fewer packets, a longer interval or less padding may be within its limits (owampd.limits)".to_owned(),
            "a clock that is wrong by minutes makes an owampd refuse its records: `timedatectl` shows whether NTP runs"
                .to_owned(),
        ],
        FailureKind::Lost | FailureKind::Protocol => {
            vec![format!("does an OWAMP or TWAMP server listen at port {port}, and does {host} let this host in?")]
        }
        FailureKind::Local | FailureKind::Interrupted => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_belongs_to_a_name_or_to_an_address_in_brackets() {
        for (typed, host, port) in [
            ("ps.example.org", "ps.example.org", 861),
            ("ps.example.org:8861", "ps.example.org", 8861),
            ("[2001:db8::1]:8861", "[2001:db8::1]", 8861),
            ("2001:db8::1", "2001:db8::1", 861),
        ] {
            let server = Server::of(typed, OWAMP).unwrap();
            assert_eq!((server.host, server.port), (host, port));
        }
        assert!(Server::of("ps.example.org:http", OWAMP).is_err());
        assert!(Server::of("ps.example.org:70000", OWAMP).is_err());
    }
}
