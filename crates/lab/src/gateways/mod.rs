//! A real cluster of XRootD gateways behind a real cmsd, in a lab: each gateway a host of its own behind a link of its own
//! rate, files fetched by `xrdcp`.
//!
//! The files, their sizes, their remote rates and the moments at which they are wanted are those of the model
//! ([`Links`](::gateways::cluster::load::Links) with the same seed); rates and sizes are divided by [`Plan::scale`], times are not. So
//! what differs between a run here and a run of the model is the cluster alone.
//!
//! * [`run`]: one policy at work, from the first process to the last sample
//! * `site`: the network of a cluster, and its configuration files
//! * `cluster`: its processes, and their logins
//! * `deletions`: small files that are deleted beside, each timed
//! * `clients`: files that are wanted, each an `xrdcp`
//! * `observed`: what the kernel of each gateway says of it

mod clients;
mod cluster;
mod deletions;
mod error;
mod memory;
mod observed;
mod plan;
mod site;

use measure::stop::Stop;

use crate::network::Network;
use crate::relay::{Options, Relay};
use cluster::Cluster;
pub use error::GatewaysError;
pub use plan::{Failures, PerfModel, Plan, Played};
use site::Site;

/// Runs a cluster under one policy.
///
/// # Errors
/// See [`GatewaysError`]; nothing is left of the cluster then, or afterwards.
pub fn run(plan: &Plan<'_>, stop: &Stop) -> Result<Played, GatewaysError> {
    error::check_programs()?;
    let site = Site::new(plan)?;
    let blueprint = site.scenario.blueprint(plan.seed);
    let mut network = Network::raise(&blueprint)?;
    let relay = Relay::start(network.wires(), linux::clock::now(), &Options::default())?;
    let played = play(plan, &site, &network, stop);
    let (report, _) = relay.stop();
    drop(network);
    let mut played = played?;
    played.limited = report.limited;
    Ok(played)
}

fn play(plan: &Plan<'_>, site: &Site, network: &Network, stop: &Stop) -> Result<Played, GatewaysError> {
    let cluster = Cluster::start(plan, site, network, stop)?;
    cluster.know_files(site, network)?;
    let outcome = clients::run(plan, site, network, &cluster, stop)?;
    drop(cluster);
    Ok(Played {
        sampled: outcome.sampled,
        failed: outcome.failures,
        fetched: outcome.fetched,
        latest: outcome.latest,
        readings: outcome.readings,
        deletions: outcome.deletions,
        limited: None,
        version: error::version()?,
    })
}
