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
        Ended::By(_) => (format!("{name}: {}", complaint(&said.stderr)), false),
    }
}

/// What a program complains about, without what a command line is told besides: usage and tips.
fn complaint(stderr: &str) -> String {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> =
        lines.take_while(|line| !line.starts_with("Usage: ") && !line.starts_with("tip: ")).collect();
    let text = lines.into_iter().take(3).collect::<Vec<_>>().join("; ");
    // In the words of clap, by which every linerate reads its command line.
    let is_of_another_version =
        text.starts_with("error: unexpected argument") || text.starts_with("error: unrecognized subcommand");
    if is_of_another_version {
        format!("{text}: its linerate is older or newer than the one that leads the round")
    } else {
        text
    }
}

/// What a host answers in place of a version. A shell's start-up file that prints stands before every answer.
#[must_use]
pub fn no_version(site: &Site<'_>, answer: &str) -> String {
    let (name, program) = (site.name, site.program.display());
    let letters = answer.lines().next().unwrap_or_default().chars().filter(|letter| !letter.is_control());
    let first: String = letters.take(LONGEST_ANSWER).collect();
    if answer.lines().any(|line| line.starts_with("linerate ")) {
        return format!(
            "{name}: \"{first}\" stands before what `{program}` answers: a start-up file of the shell there (~/.bashrc) prints it, and must print nothing where there is no terminal"
        );
    }
    if first.is_empty() {
        return format!("{name}: `{program}` there is not linerate: it answers nothing");
    }
    format!("{name}: `{program}` there is not linerate: it answers \"{first}\"")
}

/// Letters of an answer that are shown.
const LONGEST_ANSWER: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_told_without_tips_and_usage() {
        let stderr = "error: unexpected argument '--within' found\n\n  tip: a similar argument exists: '--wait'\n\nUsage: linerate serve --once\n";
        let told = complaint(stderr);
        assert_eq!(
            told,
            "error: unexpected argument '--within' found: its linerate is older or newer than the one that leads the round"
        );
        assert_eq!(complaint("error: port 5201 is taken\nhint: --port\n"), "error: port 5201 is taken; hint: --port");
    }

    #[test]
    fn a_greeting_before_the_version_is_told_as_one() {
        let site = Site {
            name: "motd",
            carrier: None,
            program: OsStr::new("linerate"),
            partner: Partner::Started,
            port: 5201,
            http_port: 80,
        };
        let told = no_version(&site, "*** Welcome to NRAO. ***\nlinerate 0.1.0");
        assert!(told.starts_with("motd: \"*** Welcome to NRAO. ***\" stands before what `linerate` answers"), "{told}");
        assert_eq!(no_version(&site, "bash 5.2"), "motd: `linerate` there is not linerate: it answers \"bash 5.2\"");
    }
}
