//! The file that describes a network, its faults, its tests and the truth.
//!
//! docs/formats/scenario.md has the format. A file is read in one go: what is wrong with it is said with line, key and
//! hint, all of it at once, before anything is made.
//!
//! | file | what it has |
//! |---|---|
//! | `read` | from text to [`Scenario`] |
//! | `host`, `settings`, `link`, `route`, `overlay`, `service`, `fault`, `condition`, `test`, `truth` | the parts, as written and as read |
//! | `causes` | the causes that can be planted |
//! | `needs` | what the machine must be able to do |
//! | `library` | the scenarios that come with the program |
//! | `layout`, `blueprint` | addresses, routes, devices: from [`Scenario`] to [`Blueprint`] |
//! | `diagnostics`, `error` | what is known while a file is read, and complaints |

pub mod blueprint;
pub mod causes;
mod condition;
mod diagnostics;
mod error;
mod fault;
mod host;
mod layout;
pub mod library;
mod link;
mod needs;
mod overlay;
mod read;
mod route;
mod service;
mod settings;
mod test;
mod truth;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use document::Source;
use model::spec::Family;
use path::Seed;

pub use condition::FaultCondition;
pub use document::FilePosition;
pub use error::{Complaint, Problem, ScenarioError};
pub use fault::{Fault, FaultKind, Position};
pub use host::{DeviceSettings, Host};
pub use library::library;
pub use link::Link;
pub use needs::{Limits, Need};
pub use overlay::{Overlay, OverlayKind};
pub use route::Route;
pub use service::{Proxy, Service, ServiceKind};
pub use settings::Settings;
pub use test::{Flow, Http, Ping, Point, Test, TestKind};
pub use truth::{Cause, Truth, Where};

use crate::blueprint::Blueprint;
use layout::Plan;
use layout::routing::far_end;

/// A network, its faults, its tests and the truth. Hosts, links and overlays are named by their numbers in the lists.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name: that of its file without the ending.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// The story, as one paragraph.
    pub about: String,
    /// What stands for what.
    pub emulates: Option<String>,
    /// By how much the real network is scaled down, and why.
    pub scale: Option<String>,
    /// The versions of IP that all hosts have.
    pub families: BTreeSet<Family>,
    /// Hosts and routers.
    pub hosts: Vec<Host>,
    /// Links between them.
    pub links: Vec<Link>,
    /// Routes that differ from the shortest.
    pub routes: Vec<Route>,
    /// Networks over the network.
    pub overlays: Vec<Overlay>,
    /// What runs on hosts.
    pub services: Vec<Service>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// What is measured, in this order.
    pub tests: Vec<Test>,
    /// What a diagnosis should find.
    pub truth: Truth,
    plan: Plan,
    source: Source,
}

impl Scenario {
    /// Reads a scenario from a text; `file` stands for it in complaints, and its name without ending is the scenario's.
    ///
    /// # Errors
    /// [`ScenarioError::Refused`] with all that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        if text.len() as u64 > LONGEST_FILE {
            return Err(ScenarioError::TooLarge { file: file.to_owned(), limit: LONGEST_FILE });
        }
        read::scenario(stem(Path::new(file)), Source { file: file.to_owned(), text: text.to_owned() })
    }

    /// The name of a host or link, and of the host towards which its direction goes.
    #[must_use]
    pub fn named(&self, place: &Where) -> (String, Option<String>) {
        match place {
            Where::Host(host) => (self.hosts[*host].name.clone(), None),
            Where::Link { link, direction } => {
                let link = &self.links[*link];
                let towards = direction.map(|direction| self.hosts[link.ends[1 - direction]].name.clone());
                (link.name.clone(), towards)
            }
        }
    }

    /// The network worked out, with all chance drawn from `seed`.
    #[must_use]
    pub fn blueprint(&self, seed: Seed) -> Blueprint {
        layout::blueprint(self, seed)
    }

    /// The addresses of a host, of each of the scenario's families; inside an overlay, if the point is there.
    #[must_use]
    pub fn addresses(&self, point: Point) -> Vec<std::net::IpAddr> {
        match point.overlay {
            None => self.plan.addresses.hosts[point.host].clone(),
            Some(overlay) => {
                let ends = self.overlays[overlay].addresses(point.host).into_iter();
                ends.map(|(address, _)| address).filter(|address| layout::speaks(&self.families, *address)).collect()
            }
        }
    }

    /// The hosts that packets pass from one host to another, both included.
    #[must_use]
    pub fn route(&self, from: usize, to: usize) -> Vec<usize> {
        self.plan.routing.walk(&self.links, from, to).unwrap_or_default()
    }

    /// The links that packets pass from one host to another at a time, each with the host at its far end. Nothing where they
    /// do not arrive.
    #[must_use]
    pub fn way(&self, from: usize, to: usize, at: Duration) -> Vec<(usize, usize)> {
        let mut passed: Vec<(usize, usize)> = Vec::new();
        let mut host = from;
        while host != to {
            let Some(link) = self.link_towards(host, to, at) else { return Vec::new() };
            host = far_end(&self.links[link], host);
            passed.push((link, host));
            if passed.len() > self.hosts.len() {
                return Vec::new();
            }
        }
        passed
    }

    /// The link by which a host sends at a time: that of a fault that sets another route, or else the planned one.
    fn link_towards(&self, host: usize, to: usize, at: Duration) -> Option<usize> {
        let in_force =
            self.faults.iter().filter(|fault| fault.from <= at && fault.until.is_none_or(|until| at < until));
        let mut routes = in_force.filter_map(|fault| match &fault.what {
            FaultKind::Host { route: Some(route), .. } => Some(route),
            _ => None,
        });
        let other = routes.find(|route| route.host == host && route.to.contains(&to)).and_then(|route| route.link);
        other.or_else(|| self.plan.routing.link(host, to))
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The longest file that is read, in bytes: the longest scenario of the library has a tenth of this.
pub const LONGEST_FILE: u64 = 256 << 10;
