//! A scenario that is up: packets flow, services answer, faults come and go. Whether its tests run in it or people walk
//! around in it is up to others.
//!
//! * [`Stage`]: the network, whose clock does not run yet
//! * [`Live`]: the same while its clock runs
//! * `partners`, `web`: the services of its hosts
//! * `timetable`: changes in hosts, each at its time

mod error;
mod partners;
mod timetable;
mod web;

use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use linux::clock;
use measure::stop::Stop;
use path::Seed;
use units::MonoTime;

pub use error::LiveError;
use partners::Partners;

use crate::blueprint::Blueprint;
use crate::network::Network;
use crate::relay::log::Events;
use crate::relay::{Options, Relay, Report, Wire};
use crate::scenario::Scenario;

/// The network of a scenario: hosts are there, and their test partners listen. Nothing flows between them yet.
#[derive(Debug)]
pub struct Stage<'a> {
    scenario: &'a Scenario,
    seed: Seed,
    blueprint: Blueprint,
    wires: Vec<Wire>,
    took: Duration,
    // Fields end in this order: what runs in hosts before the hosts.
    _partners: Partners,
    network: Network,
}

/// A network whose clock runs.
#[derive(Debug, Clone, Copy)]
pub struct Live<'a> {
    /// The network.
    pub network: &'a Network,
    /// When its clock began.
    pub start: MonoTime,
}

impl<'a> Stage<'a> {
    /// Makes the network. `program` is that of linerate, which hosts run to serve; all chance comes from `seed`.
    ///
    /// # Errors
    /// See [`LiveError`]; nothing is left then.
    pub fn raise(scenario: &'a Scenario, seed: Seed, program: &Path) -> Result<Self, LiveError> {
        let began = clock::now();
        let blueprint = scenario.blueprint(seed);
        let mut network = Network::raise(&blueprint)?;
        let wires = network.wires();
        let partners = Partners::start(scenario, &network, program)?;
        let took = clock::now().since(began);
        Ok(Self { scenario, seed, blueprint, wires, took, _partners: partners, network })
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// How long it took to make it.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// Has packets flow, services answer, and faults come and go, for as long as `inside` takes. Returns what that
    /// returned, what the relay did, and what happened to packets; nothing of the network is left.
    ///
    /// `hear` is told of each change in a host that could not be made. The others are made nevertheless.
    ///
    /// # Errors
    /// Those before `inside` is called: see [`LiveError`].
    pub fn live<T>(
        self,
        hear: &(dyn Fn(LiveError) + Sync),
        inside: impl FnOnce(Live<'_>) -> T,
    ) -> Result<(T, Report, Events), LiveError> {
        let Self { scenario, seed, blueprint, wires, _partners, network, .. } = self;
        let sites = web::open(scenario, &network, seed)?;
        let start = clock::now();
        let relay = Relay::start(wires, start, &Options::default())?;
        let (over, ends) = channel::<()>();
        let closing = Stop::default();
        let outcome = thread::scope(|scope| {
            let live = Live { network: &network, start };
            let alterations = &blueprint.alterations;
            scope.spawn(move || timetable::keep(alterations, live, &ends, hear));
            for site in &sites {
                scope.spawn(|| site.serve(&closing));
            }
            let outcome = inside(live);
            drop(over);
            closing.stop();
            outcome
        });
        let (report, events) = relay.stop();
        Ok((outcome, report, events))
    }
}
