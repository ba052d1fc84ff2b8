//! What is measured.
//!
//! * [`audit`]: how long all rules take over many stored snapshots
//! * [`diagnosis`]: how long it takes to say what is wrong with a round of a hundred hosts
//! * [`detection`]: how well and how fast changes are found in series of results
//! * [`score`]: how often what is said to be wrong is
//! * [`diff`]: how long it takes to find the odd ones among a hundred hosts
//! * [`tcp`]: what a bit costs a sender and a receiver
//! * [`telemetry`]: what sampling every millisecond adds to that
//! * [`trace`]: how fast and how right captures are explained
//! * [`udp`]: what a datagram costs a sender
//! * [`rates`]: what a test costs at the rates of every day
//! * [`pacing`]: whether a rate that was asked for is the rate that is sent
//! * [`link`]: whether both programs say the same of the same link
//! * [`relay`]: what the lab's relay carries
//! * [`network`]: how long it takes to make the network of a lab
//! * [`hub`]: what a hub takes, and what an agent costs
//! * [`pages`]: what pages of a mesh of a thousand hosts take
//! * [`gateways`]: how long a model of a cluster of gateways takes
//! * [`sim`]: how long it takes to predict a transfer
//! * [`sim_kernel`]: whether the kernel does what was predicted
//! * [`sim_ns3`]: whether ns-3 predicts the same, and how fast
//! * [`tune`]: whether the search for settings finds what trying all of them finds
//! * [`idle`]: what a waiting server takes
//! * [`snapshot`]: how long it takes to know this host
//! * [`start`]: how long it takes from the command to the first byte
//! * [`passive`]: what a watch without testing costs
//! * [`watch`]: what a watched host pays, and how soon a change is in the log

mod audit;
mod burst_program;
pub(crate) mod contest;
mod detection;
mod diagnosis;
mod diff;
mod effort;
mod far;
mod gateways;
mod hub;
mod idle;
mod link;
mod network;
mod pacing;
mod pages;
mod passive;
mod rates;
mod relay;
mod score;
mod sim;
mod sim_kernel;
mod sim_ns3;
mod snapshot;
mod start;
mod tcp;
mod telemetry;
mod trace;
mod trace_hostile;
mod trace_speed;
mod trace_truth;
mod tune;
mod udp;
mod watch;
mod watcher;
mod wire;

use crate::actors::Actors;
use crate::outcome::Row;

pub(crate) use contest::Contest;
pub(crate) use effort::{Cases, Effort};

impl Contest {
    /// Measures.
    pub(crate) fn run(self, actors: &Actors, effort: Effort, cases: &Cases) -> anyhow::Result<Vec<Row>> {
        match self {
            Self::Tcp => tcp::run(actors, effort),
            Self::Telemetry => telemetry::run(actors, effort),
            Self::Udp => udp::run(actors, effort),
            Self::Rates => rates::run(actors, effort),
            Self::Pacing => pacing::run(actors, effort),
            Self::Link => link::apart("link", actors, effort, cases),
            Self::Relay => link::apart("relay", actors, effort, cases),
            Self::Network => link::apart("network", actors, effort, cases),
            Self::Idle => idle::run(actors),
            Self::Start => start::run(actors, effort),
            Self::Snapshot => snapshot::run(actors, effort),
            Self::Audit => audit::run(actors, effort),
            Self::Diff => diff::run(actors, effort),
            Self::Diagnosis => diagnosis::run(effort),
            Self::Detection => detection::run(effort),
            Self::Score => score::run(actors, effort),
            Self::Gateways => gateways::run(actors, effort),
            Self::Hub => hub::run(actors, effort),
            Self::Pages => pages::run(actors, effort),
            Self::Sim => sim::run(actors, effort),
            Self::SimKernel => link::apart("sim-kernel", actors, effort, cases),
            Self::SimNs3 => sim_ns3::run(effort, cases),
            Self::Trace => trace::run(actors, effort),
            Self::Tune => tune::run(effort, cases),
            Self::Watch => link::apart("watch", actors, effort, cases),
            Self::Passive => passive::run(actors, effort),
        }
    }

    /// Measures inside a namespace of its own, where another process of the bench has put this one.
    pub(crate) fn inside(self, actors: &Actors, effort: Effort, cases: &Cases) -> anyhow::Result<Vec<Row>> {
        match self {
            Self::Link => link::inside(actors, effort),
            Self::Relay => relay::inside(actors, effort),
            Self::Network => network::inside(effort),
            Self::SimKernel => sim_kernel::inside(effort, cases),
            Self::Watch => watch::inside(actors, effort),
            _ => self.run(actors, effort, cases),
        }
    }
}
