//! The network of a scenario at a moment of its clock.
//!
//! * `state`: how each host is set
//! * `way`: the path between two points, as chains that begin at that moment
//! * `spot`: places on such a path
//! * `shift`: elements whose clock begins later than that of the network
//! * `tally`: what interfaces and paths have counted
//! * `thin`: a path without the ports that hold nothing of a flow

pub(crate) mod shift;
mod spot;
pub(crate) mod state;
pub(crate) mod tally;
pub(crate) mod thin;
pub(crate) mod way;

use std::net::IpAddr;
use std::time::Duration;

use path::Seed;
use scenario::blueprint::{Blueprint, Cable, Holds, Switch};
use scenario::{Point, Scenario};

use state::HostState;
use tally::Tallies;

/// A network and its clock.
///
/// Model: settings of hosts that change while a test runs do so when it is over. Faults of links come and go at their times.
pub(crate) struct Network<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) blueprint: Blueprint,
    /// Hosts as they are set now.
    pub(crate) hosts: Vec<HostState>,
    pub(crate) tallies: Tallies,
    pub(crate) now: Duration,
    /// The first of the alterations that has not been made.
    altered: usize,
}

impl<'a> Network<'a> {
    pub(crate) fn new(scenario: &'a Scenario, seed: Seed) -> Self {
        let mut blueprint = scenario.blueprint(seed);
        for number in 0..blueprint.switches.len() {
            let switch = &blueprint.switches[number];
            if !holds(switch, &blueprint) {
                let parts = switch.parts.clone();
                take_away(&mut blueprint.cables, &parts);
            }
        }
        let hosts = blueprint.hosts.iter().map(HostState::new).collect();
        let tallies = Tallies::new(&blueprint);
        let mut network = Self { scenario, blueprint, hosts, tallies, now: Duration::ZERO, altered: 0 };
        network.go_to(Duration::ZERO);
        network
    }

    /// Brings the clock to an instant, with the changes in hosts that are due by then.
    pub(crate) fn go_to(&mut self, at: Duration) {
        self.now = self.now.max(at);
        while let Some(alteration) = self.blueprint.alterations.get(self.altered).filter(|next| next.at <= self.now) {
            self.hosts[alteration.host].alter(&alteration.what);
            self.altered += 1;
        }
    }
}

impl Network<'_> {
    /// The first address of a host, inside the overlay where one is given.
    pub(crate) fn address(&self, host: usize, overlay: Option<usize>) -> Option<IpAddr> {
        self.scenario.addresses(Point { host, overlay }).into_iter().next()
    }
}

/// Whether the setting of hardware that a fault hangs on is so, as its host records it.
fn holds(switch: &Switch, blueprint: &Blueprint) -> bool {
    let Some(condition) = &switch.condition else { return true };
    let facts = blueprint.hosts[condition.host].recorded_facts.as_ref();
    let device = facts.and_then(|facts| facts.get("interfaces")?.get(&condition.device));
    match &condition.holds {
        Holds::Feature(name) => {
            device.and_then(|device| device.get("features")?.get(name)?.get("active")?.as_bool()).unwrap_or(false)
        }
        Holds::Ring(name, below) => device
            .and_then(|device| device.get("rings")?.get(name)?.as_integer())
            .is_some_and(|entries| entries < i64::from(*below)),
    }
}

/// Takes what a fault does out of the chains of its links. Elements that are its own never come; others stay as usual.
fn take_away(cables: &mut [Cable], parts: &[scenario::blueprint::FaultEffect]) {
    for part in parts {
        let stage = &mut cables[part.cable].chains[part.direction][part.place];
        match &part.settings {
            Some([_, usual]) => stage.spec = usual.clone(),
            None => {
                let never = units::MonoTime::from_nanos(u64::MAX);
                stage.during = Some(path::Span { from: never, until: None });
            }
        }
    }
}
