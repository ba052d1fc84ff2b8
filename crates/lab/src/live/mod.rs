//! A scenario that is up: packets flow, services answer, faults come and go. Whether its tests run in it or people walk
//! around in it is up to others.
//!
//! * [`LabNetwork`]: the network, whose clock does not run yet
//! * [`Live`]: the same while its clock runs
//! * `partners`, `web`: the services of its hosts
//! * `timetable`: changes in hosts, each at its time
//! * `hardware`: faults that hang on settings of hardware, which programs in a host may change

mod error;
mod hardware;
mod partners;
mod running;
mod timetable;
mod web;

use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use linux::clock;
use measure::stop::Stop;
use path::Seed;

pub use error::LiveError;
use hardware::{Hardware, Watch};
use partners::Partners;
pub use running::Live;

use crate::blueprint::Blueprint;
use crate::network::Network;
use crate::relay::log::Events;
use crate::relay::telemetry::IntTarget;
use crate::relay::{Options, Pace, Relay, Report, Wire};
use crate::scenario::Scenario;

/// The network of a scenario: hosts are there, and their test partners listen. Nothing flows between them yet.
#[derive(Debug)]
pub struct LabNetwork<'a> {
    scenario: &'a Scenario,
    seed: Seed,
    blueprint: Blueprint,
    wires: Vec<Wire>,
    took: Duration,
    telemetry: Option<IntTarget>,
    // Fields end in this order: what runs in hosts before the hosts.
    _partners: Partners,
    network: Network,
}

impl<'a> LabNetwork<'a> {
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
        Ok(Self { scenario, seed, blueprint, wires, took, telemetry: None, _partners: partners, network })
    }

    /// Has the queues of its paths report to a collector.
    #[must_use]
    pub fn reporting_to(self, telemetry: Option<IntTarget>) -> Self {
        Self { telemetry, ..self }
    }

    /// Hosts and devices in namespaces.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// How long it took to make it.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// Has packets flow at this pace, services answer, and faults come and go, for as long as `inside` takes. Returns what
    /// that returned, what the relay did, and what happened to packets; nothing of the network is left.
    ///
    /// `hear` is told of each change in a host that could not be made. The others are made nevertheless.
    ///
    /// # Errors
    /// Those before `inside` is called: see [`LiveError`].
    pub fn live<T>(
        self,
        pace: Pace,
        hear: &(dyn Fn(LiveError) + Sync),
        inside: impl FnOnce(Live<'_>) -> T,
    ) -> Result<(T, Report, Events), LiveError> {
        let Self { scenario, seed, blueprint, wires, telemetry, _partners, network, .. } = self;
        let sites = web::open(scenario, &network, seed)?;
        let start = clock::now();
        let relay = Relay::start(wires, start, &Options { pace, telemetry, ..Options::default() })?;
        let hardware = Hardware::new(&blueprint.switches, &network, &relay);
        hardware.obey()?;
        let watch = hardware.watch()?;
        let (over, ends) = channel::<()>();
        let closing = Stop::default();
        let outcome = thread::scope(|scope| {
            let live = Live { network: &network, start, relay: &relay, hardware: &hardware };
            let alterations = &blueprint.alterations;
            scope.spawn(move || timetable::keep(alterations, live, &ends, hear));
            for site in &sites {
                scope.spawn(|| site.serve(&closing));
            }
            if let Some(watch) = &watch {
                scope.spawn(|| hardware.keep(watch, &closing, hear));
            }
            let outcome = inside(live);
            drop(over);
            closing.stop();
            watch.iter().for_each(Watch::wake);
            outcome
        });
        let (report, events) = relay.stop();
        Ok((outcome, report, events))
    }
}
