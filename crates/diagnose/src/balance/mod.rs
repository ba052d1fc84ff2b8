//! Where the datagrams of a UDP run went, added up to the last one.
//!
//! Handed to the socket = dropped in the sending host + lost on the path + dropped in the receiving host + received.
//! The two ends count what they handed over and what they took, so the sum of the three losses is exact; what divides
//! it are counters of the two hosts. `docs/datagram-balance.md` explains which.
//!
//! * [`part`]: a share that may be unknown
//! * `hosts`: from counters to drops

mod hosts;
pub mod part;
#[cfg(test)]
mod tests;

use model::counters::CounterReadings;
use model::host::HostIdentity;
use model::measurement::{DatagramCounts, DirectionTotal, Heading, Measurement};
use model::run::Run;
use model::spec::{Offload, Protocol};
use serde::{Deserialize, Serialize};
use units::{DataRate, PacketCount};

use hosts::{Host, HostDrops, Merging};
use part::{BalanceShare, Certainty};

/// Where the datagrams of one direction went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Balance {
    /// Which way.
    pub heading: Heading,
    /// Handed to the sender's socket. The next four add up to it, with unknown ones taken as none, unless the receiver
    /// reported nothing.
    #[serde(rename = "handed_packets")]
    pub handed: PacketCount,
    /// Dropped before they left the sending host.
    pub dropped_in_sender: BalanceShare,
    /// The remainder: lost between the hosts, and whatever is unknown of them.
    pub lost_on_path: BalanceShare,
    /// Dropped after they had reached the receiving host.
    pub dropped_in_receiver: BalanceShare,
    /// Taken from the receiver's socket, each counted once.
    #[serde(rename = "received_packets")]
    pub received: PacketCount,
    /// Of those lost, how many came after the last one received.
    #[serde(rename = "lost_at_tail_packets")]
    pub lost_at_tail: PacketCount,
    /// Received after one with a higher number.
    #[serde(rename = "reordered_packets")]
    pub reordered: PacketCount,
    /// Received again, beside the sum.
    #[serde(rename = "duplicated_packets")]
    pub duplicated: PacketCount,
    /// What does not fit, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Where the datagrams of each direction of a UDP run went; none of a run over TCP.
#[must_use]
pub fn balance(run: &Run) -> Vec<Balance> {
    let measurement = run.measurement.as_ref().filter(|_| run.spec.protocol == Protocol::Udp);
    let Some(measurement) = measurement else { return Vec::new() };
    measurement
        .totals
        .iter()
        .filter_map(|total| Some(of_direction(run, measurement, total, total.datagrams?)))
        .collect()
}

fn of_direction(run: &Run, measurement: &Measurement, total: &DirectionTotal, counts: DatagramCounts) -> Balance {
    let (sender, receiver) = ends(run, measurement, total.heading);
    let handed = counts.sent.max(counts.received);
    let is_known = total.received.is_some();
    let lost = handed.saturating_sub(counts.received).get();
    let mut notes = Vec::new();
    if counts.received > counts.sent {
        notes.push(format!("{} datagrams were received of {} sent: numbers repeat", counts.received, counts.sent));
    }
    if !is_known {
        notes.push(SILENT.to_owned());
    }
    let merging = |offload| if offload == Offload::On { Merging::Possible } else { Merging::Never };
    let in_sender = hosts::in_sender(&sender, merging(run.spec.udp_gso), handed.get());
    let in_receiver = hosts::in_receiver(&receiver, merging(run.spec.udp_gro), counts.dropped_at_socket);
    let (in_sender, in_receiver) = fit(lost, in_sender, in_receiver, &mut notes);
    let known = in_sender.known().saturating_add(in_receiver.known());
    let lost_on_path = remainder(lost.saturating_sub(known), &in_sender, &in_receiver);
    let unless_silent = |part| if is_known { part } else { BalanceShare::unknown(SILENT) };
    let (lost_on_path, in_receiver) = (unless_silent(lost_on_path), unless_silent(in_receiver));
    let tail = counts.lost_at_tail.get().min(lost_on_path.known());
    if tail > 0 {
        notes.push(format!(
            "up to {tail} of those lost on the path came after the last one received; they may have been on their way \
             when the test ended"
        ));
    }
    Balance {
        heading: total.heading,
        handed,
        dropped_in_sender: in_sender,
        lost_on_path,
        dropped_in_receiver: in_receiver,
        received: counts.received,
        lost_at_tail: counts.lost_at_tail,
        reordered: counts.reordered,
        duplicated: counts.duplicated,
        notes,
    }
}

/// Why nothing is known of what became of datagrams behind the sending host.
const SILENT: &str = "the receiver reported nothing, so it is not known how many of them arrived";

/// What a sender of datagrams handed over, where that is less than was asked of it: what is lost then says nothing of the
/// rate that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortOffer {
    /// Handed to the socket, all streams together.
    pub offered: DataRate,
    /// Asked for, all streams together.
    pub asked: DataRate,
}

impl ShortOffer {
    /// A sender keeps its rate to 0.3 % (docs/benchmarks.md), and on a busy machine to about a hundredth.
    const LEAST: f64 = 0.975;

    /// `None` where it handed over what was asked for, or nobody asked for a rate.
    #[must_use]
    pub fn of(run: &Run, total: &DirectionTotal) -> Option<Self> {
        let asked = run.spec.rate.filter(|_| run.spec.protocol == Protocol::Udp)?;
        let asked = DataRate::from_bps(asked.bps().saturating_mul(u64::from(run.spec.streams.max(1))));
        let offered = DataRate::of(total.sent?, total.elapsed)?;
        (offered.share_of(asked)? < Self::LEAST).then_some(Self { offered, asked })
    }
}

/// The sending and the receiving host.
fn ends<'a>(run: &'a Run, measurement: &'a Measurement, heading: Heading) -> (Host<'a>, Host<'a>) {
    let host = |counters: Option<&'a CounterReadings>, identity: &'a HostIdentity| Host {
        counters,
        device: identity.device.as_ref().map(|device| device.name.as_str()),
        kernel: same_kernel(run),
    };
    let local = host(measurement.local_counters.as_ref(), &run.local);
    let peer = host(measurement.peer_counters.as_ref(), &run.peer.host);
    match heading {
        Heading::Outbound => (local, peer),
        Heading::Inbound => (peer, local),
    }
}

/// Whether both ends are one machine, whose counters of the receive path are then the same ones.
fn same_kernel(run: &Run) -> hosts::Kernel {
    match (&run.local.boot_id, &run.peer.host.boot_id) {
        (Some(local), Some(peer)) if local == peer => hosts::Kernel::Shared,
        _ => hosts::Kernel::Own,
    }
}

/// Cuts drops that are more than what is missing: the counters are the hosts', and other traffic moved them too. What
/// the receiving socket itself counted is cut last.
fn fit(lost: u64, sender: HostDrops, receiver: HostDrops, notes: &mut Vec<String>) -> (BalanceShare, BalanceShare) {
    let own = receiver.own.min(lost);
    let in_sender = sender.total().min(lost - own);
    let in_receiver = receiver.total().min(lost - in_sender);
    for (drops, kept, host) in [(&sender, in_sender, "sending"), (&receiver, in_receiver, "receiving")] {
        if drops.total() > kept {
            notes.push(format!(
                "the {host} host counted {} drops where only {kept} of this test's can be missing: other traffic was \
                 dropped as well",
                drops.total(),
            ));
        }
    }
    (sender.part(in_sender), receiver.part(in_receiver))
}

fn remainder(packets: u64, sender: &BalanceShare, receiver: &BalanceShare) -> BalanceShare {
    let unknown: Vec<&str> = [sender, receiver]
        .into_iter()
        .filter_map(|part| part.because.as_deref().filter(|_| part.packets.is_none()))
        .collect();
    let upper_bound = [sender, receiver].into_iter().any(|part| part.certainty == Certainty::AtMost);
    let (certainty, because) = match (packets, unknown.is_empty(), upper_bound) {
        (0, ..) => (Certainty::Exact, None),
        (_, false, _) => (Certainty::PathOrUnknown, Some(format!("path or unknown: {}", unknown.join("; ")))),
        (_, true, true) => {
            (Certainty::AtLeast, Some("drops that the hosts counted may belong to other traffic".to_owned()))
        }
        (_, true, false) => (Certainty::Exact, None),
    };
    BalanceShare { packets: Some(PacketCount::new(packets)), certainty, because, counted: Vec::new() }
}
