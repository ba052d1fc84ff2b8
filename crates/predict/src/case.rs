//! One direction of a run, with what is known of its ends and its path besides.

use std::net::{IpAddr, SocketAddr};

use model::expectation::KnownValue;
use model::host::HostIdentity;
use model::host::snapshot::Snapshot;
use model::measurement::{DirectionTotal, Flow, Heading, Measurement};
use model::run::Run;
use model::spec::Protocol;
use units::DataRate;

/// See the module.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// Measured run, of TCP.
    pub run: &'a Run,
    /// What it found.
    pub measurement: &'a Measurement,
    /// Direction of the run that is predicted: what it reached, and who sent.
    pub total: &'a DirectionTotal,
    /// The end that sent.
    pub sender: End<'a>,
    /// The end that received.
    pub receiver: End<'a>,
    /// What others know of the path.
    pub path: Path,
}

/// One end of a run.
#[derive(Debug, Clone)]
pub struct End<'a> {
    /// What it is called.
    pub name: String,
    /// What the run says of it.
    pub identity: &'a HostIdentity,
    /// Address of its end of a stream, without the port; `None` where no stream has one.
    pub address: Option<IpAddr>,
    /// All its facts, of about the time of the run.
    pub facts: Option<&'a Snapshot>,
}

/// What others know of a path.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// What somebody says that its narrowest link has, whatever else is known.
    pub said: Option<KnownValue<DataRate>>,
    /// The rate of a link that is on it.
    pub rate: Option<KnownValue<DataRate>>,
    /// Its round trip without load, where that counts for more than what the run measured.
    pub rtt: Option<KnownValue<u64>>,
    /// The part of packets that it loses.
    pub loss: Option<KnownValue<f64>>,
}

/// Why nothing can be predicted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unpredictable {
    /// Nobody knows a rate of the path.
    #[error("no rate of the path is known: {0}; --expect RATE names it")]
    NoRate(String),
    /// Nobody measured a round trip.
    #[error("no RTT was measured before the test")]
    NoRoundTrip,
    /// No model of the algorithm.
    #[error("there is no model of the congestion control `{0}`")]
    Algorithm(String),
    /// Segments that nothing carries.
    #[error("segments of {0} bytes cannot be simulated")]
    Segment(u32),
    /// The run gave nothing to hold a prediction against.
    #[error("the run moved nothing")]
    Nothing,
    /// Settings that cannot be simulated.
    #[error("it cannot be simulated: {0}")]
    Flow(#[from] sim::flow::FlowError),
}

impl<'a> Case<'a> {
    /// The directions of a run over TCP; none of others, and none where nothing was measured.
    #[must_use]
    pub fn all(run: &'a Run) -> Vec<Self> {
        let measurement = run.measurement.as_ref().filter(|_| run.spec.protocol == Protocol::Tcp);
        let Some(measurement) = measurement else { return Vec::new() };
        measurement.totals.iter().map(|total| Self::of(run, measurement, total)).collect()
    }

    fn of(run: &'a Run, measurement: &'a Measurement, total: &'a DirectionTotal) -> Self {
        let flow = measurement.flows.iter().find(|flow| flow.heading == total.heading);
        let local = End {
            name: run.local_name(),
            identity: &run.local,
            address: flow.and_then(|flow| ip(&flow.local_address)),
            facts: None,
        };
        let peer = End {
            name: run.peer_name(),
            identity: &run.peer.host,
            address: flow.and_then(|flow| ip(&flow.peer_address)),
            facts: None,
        };
        let (sender, receiver) = match total.heading {
            Heading::Outbound => (local, peer),
            Heading::Inbound => (peer, local),
        };
        Self { run, measurement, total, sender, receiver, path: Path::default() }
    }

    /// The same with the facts of its hosts.
    #[must_use]
    pub fn between(mut self, sender: Option<&'a Snapshot>, receiver: Option<&'a Snapshot>) -> Self {
        (self.sender.facts, self.receiver.facts) = (sender, receiver);
        self
    }

    /// Streams of the direction that is predicted.
    pub(crate) fn flows(&self) -> impl Iterator<Item = &'a Flow> {
        let heading = self.total.heading;
        self.measurement.flows.iter().filter(move |flow| flow.heading == heading)
    }
}

/// The address of `10.0.0.1:5201`.
fn ip(address: &str) -> Option<IpAddr> {
    let address: SocketAddr = address.parse().ok()?;
    Some(address.ip().to_canonical())
}
