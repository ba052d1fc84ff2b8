//! A host as tests see it, and why a program gave nothing there.

use std::ffi::OsStr;

use units::ByteCount;

use crate::carrier::Carrier;
use crate::program::{Ended, Said};

/// A host as tests see it.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// Name of the host in the plan.
    pub name: &'a str,
    /// How programs are started there; it only answers where it is [`None`].
    pub carrier: Option<&'a dyn Carrier>,
    /// The program of linerate there.
    pub program: &'a OsStr,
    /// Who answers flows.
    pub partner: Partner,
    /// The port of that.
    pub port: u16,
    /// The port of its server of files.
    pub http_port: u16,
}

/// Who answers flows at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partner {
    /// A `linerate serve --once`, started for each flow.
    Started,
    /// What stands there: a linerate, or an iperf3 server.
    Standing,
}

/// A host, and by what the other one reaches it.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// Host at this end, and how programs are started there.
    pub site: Site<'a>,
    /// A name or an address.
    pub address: &'a str,
}

/// Why a program could not be started at a host.
#[must_use]
pub fn cannot_start(site: &Site<'_>, error: &std::io::Error) -> String {
    let place = site.carrier.map(Carrier::place).unwrap_or_default();
    let program = site.program.display();
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{}: there is no program `{program}` at {place}; `program` in the plan says where it is", site.name)
        }
        _ => format!("{}: `{program}` cannot be started at {place}: {error}", site.name),
    }
}

fn size(bytes: usize) -> ByteCount {
    ByteCount::new(u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// Why a program has answered nothing that can be understood, and whether that is its host's doing.
#[must_use]
pub fn silence(site: &Site<'_>, said: &Said) -> (String, bool) {
    let name = site.name;
    let place = site.carrier.map(Carrier::place).unwrap_or_default();
    let talk = said.stderr.lines().next().unwrap_or("it says nothing");
    match said.ended {
        Ended::Stopped => (format!("{name}: was stopped"), false),
        Ended::Overdue(limit) => {
            (format!("{name}: has not answered within {}, and was ended", units::duration::show(limit)), true)
        }
        Ended::Flooded(most) => (format!("{name}: has printed more than {}, and was ended", size(most)), true),
        // What a shell says of a program that is not there, and of one that is none (POSIX, 2.8.2).
        Ended::By(status) if matches!(status.code(), Some(126 | 127)) => {
            let program = site.program.display();
            (
                format!(
                    "{name}: there is no program `{program}` at {place}: {talk}; `program` in the plan says where it is"
                ),
                true,
            )
        }
        // ssh(1): 255 where ssh itself failed.
        Ended::By(status) if status.code() == Some(255) => {
            (format!("{name}: cannot be reached by {place}: {talk}"), true)
        }
        // A shell that started it says so by a code above 128 (POSIX, 2.8.2).
        Ended::By(status) if status.code().is_none_or(|code| (129..=159).contains(&code)) => {
            (format!("{name}: the program was ended there: {talk}"), true)
        }
        Ended::By(_) if said.stderr.trim().is_empty() => {
            (format!("{name}: what the program there printed is not understood, or not plausible"), false)
        }
        Ended::By(_) => (format!("{name}: {}", said.stderr.lines().take(3).collect::<Vec<_>>().join("; ")), false),
    }
}
