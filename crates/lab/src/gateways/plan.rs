//! What is to be run, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

use ::gateways::cluster::faults::{Fault, FaultType};
use ::gateways::cluster::sampled::Sampled;
use ::gateways::cluster::settings::{GatewayClass, Settings};
use ::gateways::policy::definition::Entry;
use ::gateways::status::reading::Reading;
use ::gateways::trial::beside::Deletions;
use path::Seed;
use serde::{Deserialize, Serialize};

use crate::relay::Limited;

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// Gateways and load, as the model has them.
    pub settings: &'a Settings,
    /// By what rates and sizes are divided: a gateway of 9.6 Gbit/s is a link of 24 Mbit/s at 400.
    pub scale: f64,
    /// The policy; one that is a configuration of cmsd.
    pub policy: &'a Entry,
    /// Where all chance comes from.
    pub seed: Seed,
    /// The program of linerate, which gateways run as the program of `cms.perf`.
    pub program: PathBuf,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Played {
    /// Each gateway, each second, in the units of the settings.
    pub sampled: Sampled,
    /// The last words of clients that failed, at most ten of them, and how many did.
    pub failed: Failures,
    /// Files that were fetched.
    pub fetched: u64,
    /// How late the thread was at most that starts clients: this machine's doing, not the cluster's.
    pub latest: Duration,
    /// What each xrootd had in flight and in use, each second.
    pub readings: Vec<Reading>,
    /// How long deletions took.
    pub deletions: Deletions,
    /// Why the result says something about this machine rather than about the cluster.
    pub limited: Option<Limited>,
    /// The version of cmsd.
    pub version: String,
}

/// What a gateway's program for `cms.perf` needs to know in a lab, where all gateways share the CPUs of one machine: it reads
/// the real connections and the real bytes of its own network, and follows the model's rule from those to load average and CPU.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PerfModel {
    /// Rate, memory and what a transfer costs of this gateway, in the units of the model.
    pub class: GatewayClass,
    /// [`Plan::scale`].
    pub scale: f64,
    /// The number of the gateway, from 1.
    pub gateway: usize,
    /// What is wrong with it, and when.
    pub faults: Vec<Fault>,
    /// A file that says when the run began, seconds since boot; nothing is wrong with a gateway before.
    pub began_file: PathBuf,
}

impl PerfModel {
    /// What is wrong with the gateway now.
    #[must_use]
    pub fn fault(&self) -> Option<FaultType> {
        let began_s: f64 = std::fs::read_to_string(&self.began_file).ok()?.trim().parse().ok()?;
        let hour = (linux::clock::since_boot().as_secs_f64() - began_s) / 3600.0;
        let is_now = |fault: &&Fault| fault.gateway == self.gateway && fault.is_at(hour);
        self.faults.iter().find(is_now).map(|fault| fault.what)
    }
}

/// Clients that failed.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    /// How many.
    pub count: u64,
    /// What some of them said.
    pub words: Vec<String>,
}
