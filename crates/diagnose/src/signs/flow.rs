//! A flow of a round: one direction of one test, with what it should have done and what it attained.

use std::time::Duration;

use model::expectation::Prediction;
use model::measurement::Heading;
use model::round::{Endpoint, Passage, Round, Tested};
use model::target::{TargetRate, TargetSource};
use units::{ByteCount, DataRate};

use super::Observation;
use crate::wires::way::{opposite, way};

/// One direction of a test that carried data.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Its test, by its place in the round.
    pub test: usize,
    /// What the test is called.
    pub label: String,
    /// Who sent.
    pub sender: Endpoint,
    /// Who received.
    pub receiver: Endpoint,
    /// The segments from the sender to the receiver; empty where the way is not known.
    pub way: Vec<Passage>,
    /// The segments that acknowledgments pass from the receiver to the sender; empty where the way is not known.
    pub way_back: Vec<Passage>,
    /// When it began, after the start of the round.
    pub began: Duration,
    /// What it was.
    pub kind: FlowKind,
    /// Payload that arrived a second, once the flow had started up.
    pub goodput: DataRate,
    /// What it is judged against, where anything is known.
    pub target: Option<TargetRate>,
    /// Why it is not judged, where nothing is.
    pub not_judged: Option<String>,
    /// Why what it lost says nothing of the path, where its sender sent more than that was declared to carry.
    pub overloads: Option<String>,
    /// The part of the target that it reached, 0 to 1 and above, where there is one.
    pub attained: Option<f64>,
    /// What its path and the settings of its hosts allow, where that is a sign.
    pub allowed: Option<Box<Prediction>>,
    /// Least round-trip time.
    pub rtt: Option<Duration>,
    /// Median RTT of probes beside it.
    pub loaded_rtt: Option<Duration>,
    /// The largest packet that its path takes, in bytes, where larger ones vanish: what was searched for, or less than a segment that did.
    pub path_mtu: Option<u32>,
    /// Part of the packets that was lost or sent again.
    pub lost: Option<f64>,
    /// What its losses allow, and whether that explains its rate, in a sentence.
    pub loss_allows: Option<String>,
    /// How many datagrams it sent.
    pub datagrams: Option<u64>,
    /// How far its measurement can be trusted, 0 to 1: poor ones weigh less.
    pub weight: f64,
    /// What makes it differ from others of its pair.
    pub shape: Shape,
    /// What ails it.
    pub complaint: Option<Complaint>,
    /// What was seen of it.
    pub observations: Vec<Observation>,
    /// All that took much of the line rate, the most first, where no other pair was tested.
    pub limits: Vec<Observation>,
}

/// What carried the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// A download over HTTP.
    Http,
    /// Echoes, or a search for the largest packet, between ends that no data went between.
    Echo,
}

impl FlowKind {
    /// Whether flows of the two kinds can be compared by how they fare.
    #[must_use]
    pub fn is_like(self, other: Self) -> bool {
        let has_windows = |kind| matches!(kind, Self::Tcp | Self::Http);
        self == other || (has_windows(self) && has_windows(other))
    }
}

/// What a test asked for, as far as it makes flows differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    /// How many streams.
    pub streams: u32,
    /// Congestion control of the sender.
    pub control: Option<String>,
    /// Payload of a full segment or of a datagram.
    pub payload: Option<u32>,
    /// The rate that was asked for, of all streams together.
    pub paced: Option<DataRate>,
    /// The send buffer that the test asked for at the sender alone, as iperf 2 does.
    pub send_buffer: Option<ByteCount>,
    /// The window that its test asked for, at whichever end.
    pub asked_window: Option<ByteCount>,
}

impl Shape {
    /// Whether it has at least twice as many streams as another.
    #[must_use]
    pub fn has_more_streams(&self, other: &Self) -> bool {
        self.streams >= 2 * other.streams.max(1)
    }

    /// Whether its packets are clearly smaller than those of another, where both are known.
    #[must_use]
    pub fn has_smaller_packets(&self, other: &Self) -> bool {
        self.payload.zip(other.payload).is_some_and(|(own, other)| own * 10 < other * 9)
    }
}

/// What is wrong with a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Complaint {
    /// It is slower than it should be.
    Slow,
    /// A window limits it, and nobody knows how fast it should be.
    WindowLimited,
    /// Its sender handed over fewer datagrams than the test asked for.
    Short,
    /// It lost what a path should not lose.
    Lossy,
    /// It is fast, but makes everybody's round trips long.
    Delaying,
    /// Its large packets vanish.
    Clipped,
    /// Some of its streams crawl beside others that do not.
    Uneven,
    /// It is fast, but packets of it vanish where no queue can have dropped them.
    Losing,
    /// It is fast, but the program of an end stands still for much of the time.
    Stalled,
    /// It is fast, but nothing of it got through for a time.
    CutOff,
}

/// Below this part of what it should do, a flow is slow: tests of a few seconds and 300 ms end at 0.85 to 0.95 on healthy paths.
pub(crate) const SLOW: f64 = 0.8;

/// Of fewer datagrams than this a loss of a hundredth would not be seen.
const FEWEST_DATAGRAMS: u64 = 100;

/// Who sends to whom, over which segments.
#[derive(Debug, Clone)]
pub(super) struct FlowEnds {
    pub(super) sender: Endpoint,
    pub(super) receiver: Endpoint,
    /// Empty where it is not known.
    pub(super) way: Vec<Passage>,
    /// From the receiver to the sender, likewise.
    pub(super) way_back: Vec<Passage>,
}

impl FlowEnds {
    /// Those of one direction of a test.
    pub(super) fn of(round: &Round, tested: &Tested, heading: Heading) -> Self {
        let (sender, receiver) = match heading {
            Heading::Outbound => (tested.from.clone(), tested.to.clone()),
            Heading::Inbound => (tested.to.clone(), tested.from.clone()),
        };
        let way_back = way(round, tested, opposite(heading));
        Self { sender, receiver, way: way(round, tested, heading), way_back }
    }
}

impl Flow {
    /// A flow of the test at this place in the round, of one stream, of which nothing was seen yet.
    pub(super) fn unobserved(test: usize, tested: &Tested, ends: FlowEnds, kind: FlowKind) -> Self {
        Self { test, label: tested.label.clone(), began: tested.began, ..Self::between(ends, kind) }
    }

    /// A flow between two ends, of one stream and no test yet.
    pub(super) fn between(ends: FlowEnds, kind: FlowKind) -> Self {
        Self {
            test: 0,
            label: String::new(),
            sender: ends.sender,
            receiver: ends.receiver,
            way: ends.way,
            way_back: ends.way_back,
            began: Duration::ZERO,
            kind,
            goodput: DataRate::ZERO,
            target: None,
            not_judged: None,
            attained: None,
            allowed: None,
            rtt: None,
            loaded_rtt: None,
            path_mtu: None,
            lost: None,
            overloads: None,
            loss_allows: None,
            datagrams: None,
            weight: 1.0,
            shape: Shape { streams: 1, ..Shape::default() },
            complaint: None,
            observations: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// The rate that it is judged against.
    #[must_use]
    pub fn wanted(&self) -> Option<DataRate> {
        self.target.as_ref().map(|target| target.rate)
    }

    /// The rate that somebody declared for it.
    #[must_use]
    pub fn declared(&self) -> Option<DataRate> {
        self.target.as_ref().filter(|target| target.source == TargetSource::Declared).map(|target| target.rate)
    }

    /// Whether something is wrong with it.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.complaint.is_some()
    }

    /// Whether it is known to do what it should.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.complaint.is_none()
            && match self.kind {
                FlowKind::Echo => true,
                FlowKind::Udp => {
                    self.overloads.is_none() && (self.attained.is_some() || self.counted() >= FEWEST_DATAGRAMS)
                }
                FlowKind::Tcp | FlowKind::Http => self.attained.is_some(),
            }
    }

    /// Why it is neither good nor bad, in a sentence without a full stop.
    #[must_use]
    pub fn why_not_judged(&self) -> String {
        let nothing_known = || self.not_judged.clone().unwrap_or_else(predict::target::nothing_known);
        if let Some(overloads) = &self.overloads {
            return overloads.clone();
        }
        match (self.kind, self.counted()) {
            _ if self.goodput.is_zero() => "no rate was measured".to_owned(),
            (FlowKind::Udp, 0) => {
                "only its sender counted; how many datagrams arrived is in the output of the receiver".to_owned()
            }
            (FlowKind::Udp, few) => format!("its {few} datagrams are too few to tell what is lost"),
            (FlowKind::Tcp | FlowKind::Http | FlowKind::Echo, _) => nothing_known(),
        }
    }

    /// How many datagrams it is known of whether they arrived.
    fn counted(&self) -> u64 {
        self.datagrams.filter(|_| self.lost.is_some()).unwrap_or(0)
    }

    /// Whether it reached what it should, whatever else is wrong with it.
    #[must_use]
    pub fn is_fast(&self) -> bool {
        self.attained.is_some_and(|attained| attained >= SLOW)
    }

    /// Whether its probes were answered for or against something.
    pub(super) fn is_told(&self) -> bool {
        self.state("echoes").is_some() || self.state("mtu").is_some()
    }

    /// Whether another flow takes a part of its way only, towards a host on it or from there.
    #[must_use]
    pub fn has_part(&self, other: &Self) -> bool {
        !other.way.is_empty()
            && other.way.len() < self.way.len()
            && self.way.windows(other.way.len()).any(|part| part == other.way)
    }

    /// Whether two flows have the same ends, in the same direction and network.
    #[must_use]
    pub fn is_same_pair(&self, other: &Self) -> bool {
        self.sender == other.sender && self.receiver == other.receiver
    }

    /// The state of a sign, where it was looked at.
    #[must_use]
    pub fn state(&self, sign: &str) -> Option<&'static str> {
        let seen = self.observations.iter().map(|observation| observation.seen);
        seen.into_iter().find(|seen| seen.sign().name == sign).map(|seen| seen.state().name)
    }
}
