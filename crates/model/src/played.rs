//! What playing a scenario gives: what was measured, and what really happened.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::probe::download::Download;
use crate::probe::echo::EchoSeries;
use crate::probe::hops::Trace;
use crate::probe::path_mtu::PathMtu;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use units::{ByteCount, PacketCount};

/// A scenario played once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Played {
    /// Name of the scenario, as its file has it.
    pub scenario: String,
    /// Title for people, one line.
    pub title: String,
    /// Where all chance came from.
    pub seed: u64,
    /// Its tests, in the order in which they ran.
    pub tests: Vec<Tested>,
    /// What is wrong in the network.
    pub truth: Vec<PlantedCause>,
    /// What the path did to packets, by its own account.
    pub links: Vec<LinkAccount>,
    /// In which ways the emulation was the limit and not the network that it emulates, the three worst. Where there is
    /// one, the measurements are no evidence.
    pub limited_by_emulation: Vec<String>,
}

/// A test of a scenario and its result.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tested {
    /// What it is called.
    pub label: String,
    /// The host that asked, with the overlay.
    pub from: String,
    /// The host that answered.
    pub to: String,
    /// When it began, by the clock of the network.
    #[serde(rename = "began_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub began: Duration,
    /// What was found.
    pub finding: Finding,
}

/// What a test found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", content = "result")]
pub enum Finding {
    /// A flow of TCP or UDP.
    Run(Box<Run>),
    /// Round trips.
    Echo(EchoSeries),
    /// The largest packet.
    PathMtu(PathMtu),
    /// The routers on the way.
    Hops(Trace),
    /// Downloads.
    Downloads(Vec<Download>),
    /// The program that measures gave no result.
    Nothing {
        /// What it said.
        detail: String,
    },
}

/// One thing that is wrong in a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlantedCause {
    /// Its name in the catalogue.
    pub cause: String,
    /// The host or link.
    pub place: String,
    /// Towards which host, where it concerns one direction of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub towards: Option<String>,
    /// Since when, by the clock of the network.
    #[serde(rename = "since_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub since: Duration,
}

/// What one direction of a link did to packets. Every one is accounted for: what was taken and what was duplicated is what
/// was given on, dropped, lost or held.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkAccount {
    /// Link of the scenario, one direction of which is accounted for.
    pub link: String,
    /// Where packets came from.
    pub from: String,
    /// Where they went.
    pub to: String,
    /// What came.
    pub taken_packets: PacketCount,
    /// Its bytes on the link.
    pub taken_bytes: ByteCount,
    /// What was given on.
    pub given_packets: PacketCount,
    /// What was still on its way when the network ended.
    pub held_packets: PacketCount,
    /// What was there once more than it came.
    pub duplicated_packets: PacketCount,
    /// Dropped packets, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped_packets: BTreeMap<String, PacketCount>,
    /// Packets that the emulation itself lost, by reason: a device that was down, or no room for what is under way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_packets: BTreeMap<String, PacketCount>,
    /// Packets whose ECN field was changed, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marked_packets: BTreeMap<String, PacketCount>,
    /// The mean time for which a packet was held, by reason, in nanoseconds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mean_delay_ns: BTreeMap<String, u64>,
    /// By how much later than it should one packet train in a hundred came out, in nanoseconds.
    pub lateness_p99_ns: u64,
}

impl LinkAccount {
    /// What was dropped or lost, whoever did it.
    #[must_use]
    pub fn gone(&self) -> PacketCount {
        let counts = self.dropped_packets.values().chain(self.lost_packets.values());
        PacketCount::new(counts.map(|packets| packets.get()).sum())
    }

    /// Of how many packets it does not say what became of them, or more than once. There are none unless the account
    /// itself is wrong.
    #[must_use]
    pub fn unaccounted(&self) -> u64 {
        let came = self.taken_packets + self.duplicated_packets;
        let went = self.given_packets + self.gone() + self.held_packets;
        came.get().abs_diff(went.get())
    }
}
