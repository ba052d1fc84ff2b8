//! The things that are measured, by name.

use clap::ValueEnum;

/// One of the things that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contest {
    /// What a bit costs a sender and a receiver
    Tcp,
    /// What sampling adds to that
    Telemetry,
    /// What a datagram costs a sender
    Udp,
    /// What a test costs at the rates of every day
    Rates,
    /// Whether a rate is kept
    Pacing,
    /// Whether both programs agree about a link
    Link,
    /// What the lab's relay carries
    Relay,
    /// How long it takes to make the network of a lab
    Network,
    /// What a waiting server takes
    Idle,
    /// How long it takes to start
    Start,
    /// How long it takes to know this host
    Snapshot,
    /// How long all rules take over many stored snapshots
    Audit,
    /// How long it takes to find the odd ones among a hundred hosts
    Diff,
    /// How long it takes to say what is wrong with a round of a hundred hosts
    Diagnosis,
    /// How well and how fast changes are found in series of results
    Detection,
    /// How often what is said to be wrong is: an hour, and only where it is asked for
    Score,
    /// How long a model of gateways takes
    Gateways,
    /// What a hub takes, and what an agent costs
    Hub,
    /// What pages of a mesh of a thousand hosts take: two minutes, and only where it is asked for
    Pages,
    /// How long it takes to predict a transfer
    Sim,
    /// Whether the kernel does what was predicted: four minutes, and only where it is asked for
    SimKernel,
    /// Whether ns-3 predicts the same, and how fast: a minute, 300 MB, and only where it is asked for
    SimNs3,
    /// How fast and how right captures are explained
    Trace,
    /// Whether the search for settings finds what trying all of them finds: half an hour, and only where it is asked for
    Tune,
    /// What a watched host pays, and how soon a change is in the log
    Watch,
    /// What a watch without testing costs: connections, packets, reports of switches
    Passive,
}

impl Contest {
    /// Those that run unless others are asked for, in the order in which they run.
    pub(crate) const ALL: [Self; 21] = [
        Self::Tcp,
        Self::Telemetry,
        Self::Udp,
        Self::Rates,
        Self::Pacing,
        Self::Link,
        Self::Relay,
        Self::Network,
        Self::Idle,
        Self::Start,
        Self::Snapshot,
        Self::Audit,
        Self::Diff,
        Self::Diagnosis,
        Self::Detection,
        Self::Gateways,
        Self::Hub,
        Self::Sim,
        Self::Trace,
        Self::Watch,
        Self::Passive,
    ];

    /// What it is called in the result.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Tcp => "TCP, one stream, cubic, loopback",
            Self::Telemetry => "telemetry",
            Self::Udp => "UDP, 1448-byte datagrams, loopback",
            Self::Rates => "TCP at a rate, with samples and probes",
            Self::Pacing => "UDP at a rate",
            Self::Link => "the same link (tc tbf)",
            Self::Relay => "the relay of a lab",
            Self::Network => "the network of a lab",
            Self::Idle => "a waiting server",
            Self::Start => "start of a test",
            Self::Snapshot => "a snapshot of this host",
            Self::Audit => "audit of stored snapshots",
            Self::Diff => "a comparison of hosts",
            Self::Diagnosis => "a diagnosis",
            Self::Detection => "changes in series of results",
            Self::Score => "how good diagnoses are",
            Self::Gateways => "gateways behind a balancer",
            Self::Hub => "a hub and its agents",
            Self::Pages => "pages of a mesh",
            Self::Sim => "a prediction",
            Self::SimKernel => "predictions and the kernel",
            Self::SimNs3 => "predictions and ns-3 3.44",
            Self::Trace => "captures explained",
            Self::Tune => "the search for settings",
            Self::Watch => "a watch over this host",
            Self::Passive => "a watch without testing",
        }
    }

    /// Who is in the second column of the result.
    pub(crate) const fn peer(self) -> &'static str {
        match self {
            Self::SimKernel => "kernel",
            Self::SimNs3 => "ns-3",
            Self::Trace => "tcptrace",
            _ => "iperf3",
        }
    }
}
