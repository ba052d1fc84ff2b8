//! What outputs show, and what their readers have in common.

use std::collections::BTreeMap;
use std::time::Duration;

use model::archived::RunExport;
use model::measurement::Heading;
use model::probe::Subject;
use model::probe::download::Download;
use model::probe::echo::EchoSeries;
use model::probe::hops::{Hop, HopsSpec, Trace, TraceEnd};
use model::probe::path_mtu::PathMtu;
use model::run::Outcome;
use units::{ByteCount, DataRate};

use super::access::AccessRates;
use super::host_fact::HostFact;
use super::socket::Socket;
use super::summed::SummedTest;
use crate::command::after_prompt;

/// What one output of a tool shows, other than a test's transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The line of the file at which it starts, from 1.
    pub line: usize,
    /// The host that the prompt before it names.
    pub host: Option<String>,
    /// What it shows.
    pub shows: Shown,
}

/// What an output shows. Times of measurements that the output does not print are 1970.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// RTTs and losses of echoes.
    Echo(EchoSeries),
    /// The routers of a path.
    Hops(Trace),
    /// The largest packet of a path.
    PathMtu(PathMtu),
    /// A file that was fetched.
    Download(Download),
    /// TCP sockets as their kernel sees them.
    Sockets(Vec<Socket>),
    /// Counters of a network device or of the kernel at one moment.
    Counters(DeviceCounters),
    /// Files that were moved by a program that prints an amount and a rate.
    Transfer(FileTransfer),
    /// Packets from one host to another that are none of a transfer.
    OneWay(OneWaySeries),
    /// A test that two routers ran.
    RouterTest(RouterTest),
    /// A test of which only sums are printed.
    Summed(SummedTest),
    /// A run of linerate, with its samples where they are printed.
    Run(Box<RunExport>),
    /// What it says of a host.
    Host(HostFact),
}

/// Whose counters they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CounterKind {
    /// A NIC's, by the driver's names.
    #[default]
    Nic,
    /// A network device's, by the kernel's names.
    Link,
    /// The network stack's, since the host started.
    Kernel,
    /// The same, since they were read last: one reading is a change.
    KernelChange,
}

/// Counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceCounters {
    /// Whose they are.
    pub kind: CounterKind,
    /// The device, where the command above says which.
    pub device: Option<String>,
    /// Each counter's value. Gauges are among them: ethtool does not tell them apart.
    pub values: BTreeMap<String, u64>,
}

/// A file, or a set of files, that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTransfer {
    /// The program, by the name of its command.
    pub tool: &'static str,
    /// The other host, where the command says which.
    pub target: Option<String>,
    /// Payload, all files together.
    pub moved: ByteCount,
    /// How long it took.
    pub elapsed: Duration,
    /// Its mean rate.
    pub rate: DataRate,
    /// Whether all of it was moved.
    pub is_whole: bool,
    /// Which way, seen from the host that printed it.
    pub heading: Heading,
    /// Segments that were retransmitted, where it is told.
    pub retransmits: Option<u64>,
    /// Attempts that failed, where the program counts them.
    pub faults: u64,
    /// How many files, where the program counts them.
    pub files: Option<u64>,
    /// The host that has the other end of the transfer, where the output names it.
    pub local: Option<String>,
}

/// Packets that one host sent another at a steady, low rate, and of which the other noted which arrived (RFC 7680).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneWaySeries {
    /// Name of the command, such as `owping`.
    pub tool: &'static str,
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// Packets sent.
    pub sent: u64,
    /// Of them, those that never arrived.
    pub lost: u64,
    /// Packets that arrived again.
    pub duplicated: u64,
    /// Packets that arrived after one that was sent later.
    pub reordered: u64,
    /// From the first to the last; zero where no times are printed.
    pub elapsed: Duration,
    /// Bytes that the command asked for beyond those of an empty test packet.
    pub padding: Option<u16>,
}

/// A test between two routers with RouterOS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterTest {
    /// The router that printed it, where its prompt names it.
    pub local: Option<String>,
    /// The other router.
    pub target: String,
    /// Whether it sent datagrams.
    pub is_udp: bool,
    /// How long it ran.
    pub elapsed: Duration,
    /// Streams over TCP.
    pub connections: Option<u16>,
    /// Mean rate of what was sent.
    pub sent: Option<DataRate>,
    /// Mean rate of what was received.
    pub received: Option<DataRate>,
    /// Rates that the command asked for, by their direction.
    pub asked: Vec<(Heading, DataRate)>,
}

/// What a reader found: one output may show two things, and is so many lines long.
pub(crate) struct Found {
    pub(crate) shows: Vec<Shown>,
    pub(crate) lines: usize,
}

impl Found {
    /// What so many lines show of an access line, if one of its rates was among them.
    pub(super) fn of_access(rates: AccessRates, lines: usize) -> Option<Self> {
        let is_known = rates.download.is_some() || rates.upload.is_some();
        is_known.then_some(Self { shows: vec![Shown::Host(HostFact::Access(rates))], lines })
    }
}

/// A trace that a tool has printed, which says nothing of how it asked.
pub(super) fn trace_as_printed(subject: Subject, spec: HopsSpec, end: TraceEnd, hops: Vec<Hop>) -> Trace {
    Trace { subject, spec, outcome: Outcome::Complete, access: None, end, hops }
}

/// The command that runs `program` and stands within a few lines above an output, below others' output as a rule.
pub(super) fn command_near<'a>(before: &[&'a str], program: &str) -> Option<Vec<&'a str>> {
    const NEAR: usize = 4;
    let near = before.iter().rev().take(NEAR);
    near.filter(|line| after_prompt(line.trim_start()).is_some() || line.trim_start().starts_with(program)).find_map(
        |line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| is_program([word, program]))?;
            Some(words[at + 1..].to_vec())
        },
    )
}

/// What `date; COMMAND` prints before the command's own output: `Tue Sep 14 09:31:02 UTC 2021`.
fn is_date(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_day =
        words.first().is_some_and(|day| day.len() == 3 && day.bytes().all(|letter| letter.is_ascii_alphabetic()));
    let is_year = words.last().is_some_and(|year| year.len() == 4 && year.parse::<u16>().is_ok());
    is_day && is_year && (5..=7).contains(&words.len()) && words.iter().any(|word| word.matches(':').count() == 2)
}

/// Whether a word runs a program: `/usr/bin/ping`, and behind the prompt of Windows `C:\\>ping`.
fn is_program([word, program]: [&str; 2]) -> bool {
    word.rsplit(['/', '>']).next() == Some(program)
}

/// The command that stands directly above an output, and runs `program`.
pub(super) fn command_above<'a>(before: &[&'a str], program: &str) -> Option<Vec<&'a str>> {
    let line = before.iter().rev().take(4).find(|line| !line.trim().is_empty() && !is_date(line))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| is_program([word, program]))?;
    Some(words[at + 1..].to_vec())
}
