//! A plan: hosts, what lies between them, and which of them test what.
//!
//! Hosts, networks, segments and groups are named by their numbers in the lists.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::round::{Endpoint, Member};
use model::spec::Family;
use units::DataRate;

use crate::operation::{Budget, Maintenance, Trigger};
use crate::task::{Task, Weight};

/// Which hosts test what, when. See docs/formats/plan.md.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What it is called, in one line.
    pub title: String,
    /// What it is for.
    pub about: Option<String>,
    /// When rounds begin and how long hosts rest.
    pub times: Times,
    /// Hosts that test, and those that only stand on the way.
    pub hosts: Vec<Host>,
    /// Overlays and other networks that hosts have addresses in besides their usual ones.
    pub networks: Vec<Network>,
    /// Links between hosts, as far as they are known.
    pub segments: Vec<Segment>,
    /// Ways that are not the shortest.
    pub ways: Vec<DeclaredPath>,
    /// Pairs of hosts, by name.
    pub groups: Vec<Group>,
    /// What is tested between them.
    pub tests: Vec<Test>,
    /// What single pairs should do, where it is not what their test says.
    pub expectations: Vec<PairExpectation>,
    /// When nothing is measured.
    pub maintenance: Vec<Maintenance>,
    /// How much tests may move in a day.
    pub budgets: Vec<Budget>,
}

/// When rounds begin, and how long hosts rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Time from the start of one round to that of the next; there is one round where it is [`None`].
    pub every: Option<Duration>,
    /// The same of light tests where the plan runs for good; 5 minutes where it is [`None`].
    pub light_every: Option<Duration>,
    /// How long a host rests between two heavy tests: connections are made, queues run empty, results are sent.
    pub gap: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self { every: None, light_every: None, gap: Duration::from_secs(2) }
    }
}

/// A host of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Host {
    /// Name of the host, unique in the plan.
    pub name: String,
    /// How others reach it: a name or an address.
    pub address: Option<String>,
    /// The same in other networks, by number.
    pub addresses: BTreeMap<usize, String>,
    /// What it does.
    pub roles: Vec<String>,
    /// What distinguishes it: site, model of its adapter, the machine it runs on.
    pub attributes: BTreeMap<String, String>,
    /// How to start something on it; it only answers where it is [`None`].
    pub reach: Option<Reach>,
    /// The program of linerate there; the usual one where it is [`None`].
    pub program: Option<String>,
    /// Whether a partner of tests stands there, and need not be started.
    pub serves: bool,
    /// The port of partners; the usual one where it is [`None`].
    pub port: Option<u16>,
    /// The port of its server of files; the usual one where it is [`None`].
    pub http_port: Option<u16>,
    /// The name of the machine that it is. Hosts of one machine never test at the same time.
    pub machine: Option<String>,
    /// Its line rate.
    pub rate: Option<DataRate>,
    /// Whether it sends on what is not for it.
    pub forwards: bool,
}

/// How to start something on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// By `ssh` to this target.
    Ssh(String),
    /// It is this host of a lab that is running.
    Lab(String),
    /// It is a network namespace of the host that leads the round: a name, a path, or `pid:N`.
    Netns(String),
    /// It is the host that leads the round.
    Here,
}

/// An overlay or another network that hosts have addresses in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Name of the network, unique in the plan.
    pub name: String,
    /// What it is.
    pub about: Option<String>,
}

/// A link between two hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Name of the link, unique in the plan.
    pub name: String,
    /// The hosts at its ends.
    pub between: [usize; 2],
    /// Line rate, in each direction; not known where it is [`None`].
    pub rate: Option<DataRate>,
    /// Whether the pairs that use it take turns.
    pub use_: Use,
}

/// Whether several heavy tests may cross a segment at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Use {
    /// As many as like: it carries all of them.
    #[default]
    AtOnce,
    /// One after the other.
    InTurn,
}

/// The segments from one host to another, where they are not the shortest way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredPath {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// In which network; the usual one where it is [`None`].
    pub network: Option<usize>,
    /// Segments in the order in which packets pass them.
    pub over: Vec<usize>,
}

/// Pairs of hosts that test each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Name of the group, unique in the plan.
    pub name: String,
    /// Which pairs.
    pub shape: Shape,
    /// The network that they meet in; their usual addresses where it is [`None`].
    pub network: Option<usize>,
    /// Directed pairs that are left out.
    pub without: BTreeSet<(usize, usize)>,
}

/// How the pairs of a group come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Each with each, both ways.
    Mesh(Vec<usize>),
    /// Each of one side with each of the other.
    Disjoint {
        /// The one side.
        a: Vec<usize>,
        /// Hosts of the second side, by number.
        b: Vec<usize>,
        /// Whether the other side tests back.
        ways: Ways,
    },
    /// These, from the first to the second.
    List(Vec<(usize, usize)>),
}

/// Whether pairs of two sides are tested in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// From each side to the other.
    Both,
    /// From the first side to the second.
    One,
}

/// What is tested between the hosts of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// What it is called where results are shown.
    pub label: String,
    /// Group whose pairs run it, by number.
    pub group: usize,
    /// What is measured.
    pub task: Task,
    /// By which of its addresses the host that answers is asked; by its first where it is [`None`].
    pub family: Option<Family>,
    /// What it should find.
    pub expect: Option<Expectation>,
    /// Time from one to the next of the same pair, where it is not that of the plan.
    pub every: Option<Duration>,
    /// What starts its runs, where the plan runs for good.
    pub trigger: Trigger,
}

/// What a test should find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expectation {
    /// This rate.
    Rate(DataRate),
    /// So many hundredths of the line rate.
    Percent(f64),
    /// Echoes that come back within this time.
    Rtt(Duration),
}

/// What pairs should do, where it is not what their test says.
#[derive(Debug, Clone, PartialEq)]
pub struct PairExpectation {
    /// Senders; all where empty.
    pub from: Vec<usize>,
    /// Receivers; all where empty.
    pub to: Vec<usize>,
    /// In which network; the usual one where it is [`None`].
    pub network: Option<usize>,
    /// What they should do.
    pub expect: Expectation,
}

impl Plan {
    /// The host of this name.
    #[must_use]
    pub fn host(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// By what a host is asked in a network.
    #[must_use]
    pub fn address(&self, host: usize, network: Option<usize>) -> Option<&str> {
        let host = &self.hosts[host];
        network.map_or(host.address.as_deref(), |network| host.addresses.get(&network).map(String::as_str))
    }

    /// A host and a network as a round names them.
    #[must_use]
    pub fn endpoint(&self, host: usize, network: Option<usize>) -> Endpoint {
        let network = network.map(|network| self.networks[network].name.clone());
        Endpoint { host: self.hosts[host].name.clone(), network }
    }

    /// A host as a round begins.
    #[must_use]
    pub fn member(&self, host: usize) -> Member {
        let host = &self.hosts[host];
        let mut attributes = host.attributes.clone();
        if !host.roles.is_empty() {
            attributes.insert("role".to_owned(), host.roles.join(", "));
        }
        if let Some(machine) = &host.machine {
            attributes.insert("machine".to_owned(), machine.clone());
        }
        Member { attributes, ..Member::named(&host.name) }
    }

    /// The segments as a round names them.
    #[must_use]
    pub fn round_segments(&self) -> Vec<model::round::Segment> {
        let name = |host: usize| self.hosts[host].name.clone();
        let segment = |segment: &Segment| model::round::Segment {
            name: segment.name.clone(),
            between: segment.between.map(name),
            rate: segment.rate,
            interfaces: None,
        };
        self.segments.iter().map(segment).collect()
    }

    /// Time from one run to the next of the same pair: that of the test, else that of the plan, else 6 hours, and 5 minutes
    /// for light tests.
    #[must_use]
    pub fn period(&self, test: usize) -> Duration {
        let of_plan = match self.tests[test].task.weight() {
            Weight::Light => self.times.light_every.unwrap_or(LIGHT_EVERY),
            Weight::Heavy => self.times.every.unwrap_or(HEAVY_EVERY),
        };
        self.tests[test].every.unwrap_or(of_plan)
    }

    /// What a test should find between two hosts.
    #[must_use]
    pub fn expectation(&self, test: usize, from: usize, to: usize) -> Option<Expectation> {
        let Test { group, expect, .. } = &self.tests[test];
        let network = self.groups[*group].network;
        let names = |list: &[usize], host| list.is_empty() || list.contains(&host);
        // What is said of echoes is not said of flows.
        let concerns = |expect: &Expectation| {
            (self.tests[test].task.kind() == crate::task::TestKind::Ping) == matches!(expect, Expectation::Rtt(_))
        };
        let mut of_pairs = self.expectations.iter().rev();
        let of_pair = of_pairs.find(|pair| {
            names(&pair.from, from) && names(&pair.to, to) && pair.network == network && concerns(&pair.expect)
        });
        of_pair.map(|pair| pair.expect).or(*expect)
    }
}

/// What meshes of research networks do: ESnet's public plan has 6 hours.
const HEAVY_EVERY: Duration = Duration::from_secs(6 * 3_600);
/// A change of path, MTU or RTT is seen within minutes, for some hundred packets.
const LIGHT_EVERY: Duration = Duration::from_secs(300);
