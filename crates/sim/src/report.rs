//! A simulated transfer as programs read it.

use std::time::Duration;

use path::reason::Drop;
use path::{PathElement, Seed};
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate, PacketCount};

use crate::congestion::Algorithm;
use crate::flow::{Flow, Outcome, Sample};
use crate::shared::Shared;
use crate::spread::Spread;

/// What a transfer would do. Times count from the instant at which the connection stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The version of this format.
    pub format: u32,
    /// The congestion control.
    pub algorithm: String,
    /// Where all chance came from.
    pub seed: u64,
    /// Whether it came to its end.
    pub finished: bool,
    /// How long it took until everything was acknowledged, or until its time was over.
    #[serde(rename = "took_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub duration: Duration,
    /// How long the handshake took; absent where the hosts never met.
    #[serde(
        rename = "handshake_us",
        default,
        skip_serializing_if = "Option::is_none",
        with = "units::duration::as_us::option"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub handshake: Option<Duration>,
    /// Payload that arrived in order.
    pub delivered_bytes: ByteCount,
    /// Payload a second over the whole transfer; absent where it took no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_bps: Option<DataRate>,
    /// The payload of a segment.
    pub segment_bytes: ByteCount,
    /// Segments sent for the first time.
    pub segments_sent: PacketCount,
    /// Segments sent again.
    pub segments_resent: PacketCount,
    /// How often a loss began a recovery.
    pub recoveries: u32,
    /// How often a congestion mark made the window shrink.
    pub mark_reductions: u32,
    /// How often the retransmission timer fired.
    pub timeouts: u32,
    /// How often a tail was probed.
    pub tail_probes: u32,
    /// How many reductions were needless and taken back.
    pub undone: u32,
    /// The most that was out at once.
    pub most_out_bytes: ByteCount,
    /// The shortest round trip.
    #[serde(rename = "least_rtt_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub min_rtt: Duration,
    /// Packets that were larger than a link carries.
    pub refused: PacketCount,
    /// What the path dropped.
    pub drops: Vec<Dropped>,
    /// For how long each limit held the sender, in the order of the list in docs/simulator.md.
    pub limits: Vec<SenderLimitTime>,
    /// Its state over time.
    pub samples: Vec<State>,
    /// The transfers beside it, in the order in which they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// How all of them shared the path; absent where it was alone, or where there was no time in which all sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// What other seeds give; absent where one was asked for, or where nothing is left to chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<Spread>,
}

/// A transfer beside another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// When its connection was asked for, counted from when that of the first was.
    #[serde(rename = "start_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub start: Duration,
    /// What came of it.
    pub transfer: Report,
}

/// How transfers shared a path while all of them sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sharing {
    /// From when, counted from when the connection of the first was asked for.
    #[serde(rename = "from_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub from: Duration,
    /// Until when.
    #[serde(rename = "to_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub to: Duration,
    /// The goodput of each, of the first and of those beside it.
    pub goodput_bps: Vec<DataRate>,
    /// Jain's index of that: 1 where all have the same, one by their number where one has all.
    pub fairness: f64,
}

/// Packets that an element of the path dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dropped {
    /// On the way there, or back.
    pub way: PathDirection,
    /// The number of the element, from 0.
    pub element: usize,
    /// What it is.
    pub kind: String,
    /// Why: the names are those of docs/path.md.
    pub reason: String,
    /// How many.
    pub packets: PacketCount,
}

/// One direction of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PathDirection {
    /// From the sender to the receiver.
    There,
    /// The way of the acknowledgements.
    Back,
}

/// For how long something held the sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SenderLimitTime {
    /// What.
    pub limit: String,
    /// For how long.
    #[serde(rename = "time_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub time: Duration,
}

/// The state of a transfer at an instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct State {
    /// When.
    #[serde(rename = "at_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub at: Duration,
    /// Payload acknowledged by then.
    pub acked_bytes: ByteCount,
    /// The congestion window.
    pub cwnd_bytes: ByteCount,
    /// Where slow start ends; absent while nothing has ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssthresh_bytes: Option<ByteCount>,
    /// Payload held to be on its way.
    pub in_flight_bytes: ByteCount,
    /// What the receiver offers.
    pub offered_bytes: ByteCount,
    /// What the send buffer may hold.
    pub send_buffer_bytes: ByteCount,
    /// The smoothed round trip.
    #[serde(rename = "rtt_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub rtt: Duration,
    /// The pacing rate; absent where it does not pace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_bps: Option<DataRate>,
    /// Segments sent again so far.
    pub retransmits: PacketCount,
    /// What held the sender.
    pub limit: String,
}

/// The schema of [`Report`].
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Report)
}

impl Report {
    /// What came of a transfer.
    #[must_use]
    pub fn new(flow: &Flow, outcome: &Outcome) -> Self {
        Self::of([&flow.forward, &flow.reverse], flow.seed, flow.sender.algorithm, outcome)
    }

    /// What came of the first of several transfers, and of those beside it.
    #[must_use]
    pub fn shared(shared: &Shared, outcomes: &[Outcome]) -> Option<Self> {
        let mut each = shared.transfers.iter().zip(outcomes).map(|(transfer, outcome)| Beside {
            start: transfer.start,
            transfer: Self::of([&shared.forward, &shared.reverse], shared.seed, transfer.sender.algorithm, outcome),
        });
        let first = each.next()?.transfer;
        let sharing = shared.together(outcomes).map(|together| Sharing {
            from: together.from,
            to: together.to,
            fairness: together.fairness(),
            goodput_bps: together.rates,
        });
        Some(Self { beside: each.collect(), sharing, ..first })
    }

    fn of(ways: [&[PathElement]; 2], seed: Seed, algorithm: Algorithm, outcome: &Outcome) -> Self {
        let there = drops(PathDirection::There, ways[0], &outcome.drops);
        let back = drops(PathDirection::Back, ways[1], &outcome.drops_back);
        Self {
            format: 1,
            algorithm: algorithm.name().to_owned(),
            seed: seed.0,
            finished: outcome.finished,
            duration: outcome.duration,
            handshake: outcome.handshake,
            delivered_bytes: outcome.delivered,
            goodput_bps: outcome.goodput(),
            segment_bytes: outcome.segment,
            segments_sent: outcome.sent,
            segments_resent: outcome.retransmits,
            recoveries: outcome.recoveries,
            mark_reductions: outcome.mark_reductions,
            timeouts: outcome.timeouts,
            tail_probes: outcome.probes,
            undone: outcome.undone,
            most_out_bytes: outcome.max_outstanding,
            min_rtt: outcome.min_rtt,
            refused: outcome.refused,
            drops: there.chain(back).collect(),
            limits: outcome
                .limits
                .iter()
                .map(|(limit, time)| SenderLimitTime { limit: limit.name().to_owned(), time: *time })
                .collect(),
            samples: outcome.samples.iter().map(State::from).collect(),
            beside: Vec::new(),
            sharing: None,
            over_seeds: None,
        }
    }
}

fn drops<'a>(
    way: PathDirection,
    stages: &'a [PathElement],
    drops: &'a [(usize, Drop, PacketCount)],
) -> impl Iterator<Item = Dropped> + 'a {
    drops.iter().map(move |(element, reason, packets)| Dropped {
        way,
        element: *element,
        kind: stages.get(*element).map_or("", |stage| stage.spec.kind()).to_owned(),
        reason: reason.name().to_owned(),
        packets: *packets,
    })
}

impl From<&Sample> for State {
    fn from(sample: &Sample) -> Self {
        Self {
            at: sample.at,
            acked_bytes: sample.acked,
            cwnd_bytes: sample.cwnd,
            ssthresh_bytes: sample.ssthresh,
            in_flight_bytes: sample.in_flight,
            offered_bytes: sample.offered,
            send_buffer_bytes: sample.send_buffer,
            rtt: sample.rtt,
            pacing_bps: sample.pacing,
            retransmits: sample.retransmits,
            limit: sample.limit.name().to_owned(),
        }
    }
}
