//! Causes, and what is said of one.

use serde::Serialize;

/// What limits or harms a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Cause {
    /// The receiver's window was full.
    ReceiverWindow,
    /// The receiver's window was closed.
    ZeroWindow,
    /// The send buffer was full.
    SendBuffer,
    /// The application had nothing to send.
    Application,
    /// The sender keeps to a pacing rate.
    PacingRate,
    /// Slow start went far beyond what the path takes.
    SlowStartOvershoot,
    /// The bottleneck was always busy.
    Bottleneck,
    /// A queue holds more than an RTT: whoever shares it waits.
    DeepBuffer,
    /// A queue overflowed before it could be seen as delay.
    ShallowBuffer,
    /// A token bucket without a queue.
    Policer,
    /// Losses that follow neither bursts nor queues.
    RandomLoss,
    /// Segments overtook one another.
    Reordering,
    /// Segments were retransmitted that had arrived.
    SpuriousRetransmission,
    /// Packets of one direction were held for a long time and then arrived, as in a firewall that inspects them.
    DelayedPackets,
    /// The sender waited for its retransmission timer.
    Timeout,
    /// A queue marked packets.
    EcnMarking,
    /// Acknowledgments were merged or came in bursts.
    AckThinning,
    /// Only large segments were lost.
    MtuBlackHole,
    /// Packets took another path from some moment on.
    PathChange,
    /// The capture itself lacks packets.
    CaptureLoss,
}

impl Cause {
    /// Its name on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReceiverWindow => "receiver window",
            Self::ZeroWindow => "receiver window closed",
            Self::SendBuffer => "send buffer",
            Self::Application => "application",
            Self::PacingRate => "pacing rate",
            Self::SlowStartOvershoot => "slow-start overshoot",
            Self::Bottleneck => "bottleneck at its rate",
            Self::DeepBuffer => "bottleneck with a deep buffer",
            Self::ShallowBuffer => "shallow buffer",
            Self::Policer => "policer",
            Self::RandomLoss => "random loss",
            Self::Reordering => "reordering",
            Self::SpuriousRetransmission => "spurious retransmissions",
            Self::DelayedPackets => "packets delayed in one direction",
            Self::Timeout => "retransmission timeouts",
            Self::EcnMarking => "ECN marks",
            Self::AckThinning => "thinned or compressed ACKs",
            Self::MtuBlackHole => "large packets lost",
            Self::PathChange => "path changed",
            Self::CaptureLoss => "packets missing in the capture",
        }
    }
}

/// One cause, with what speaks for it and what it might be instead.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// What it is.
    pub cause: Cause,
    /// Share of the transfer's time that it owned, from 0 to 1; absent where it owns none by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_share: Option<f64>,
    /// Bytes that were not sent because of it, where its events have a cost.
    pub cost_bytes: u64,
    /// What was seen, with numbers.
    pub evidence: String,
    /// Frames that show it: the first of its costliest events.
    pub frames: Vec<u64>,
    /// What would look the same in this capture.
    pub rivals: Vec<String>,
    /// What to capture or test next, to tell those apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_test: Option<String>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The bucket of a policer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<TokenBucket>,
}

/// A token bucket, in bytes of IP packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenBucket {
    /// The committed information rate, in bits a second.
    pub rate_bps: u64,
    /// The committed burst size, as far as it was used.
    pub burst_bytes: u64,
    /// Transfers of the capture that share it.
    pub transfers: u64,
}

/// How sure it is of an application that is no full send buffer.
pub(super) const SURE_OF_APPLICATION: f64 = 0.85;

impl Verdict {
    pub(super) fn new(cause: Cause, confidence: f64, evidence: String) -> Self {
        Self {
            cause,
            time_share: None,
            cost_bytes: 0,
            evidence,
            frames: Vec::new(),
            rivals: Vec::new(),
            next_test: None,
            confidence,
            bucket: None,
        }
    }

    pub(super) fn rival(mut self, rival: &str) -> Self {
        self.rivals.push(rival.to_owned());
        self
    }

    pub(super) fn next_test(mut self, test: &str) -> Self {
        self.next_test = Some(test.to_owned());
        self
    }

    pub(crate) fn share(mut self, share: f64) -> Self {
        self.time_share = Some(share);
        self
    }

    /// How much it matters, for their order.
    pub(super) fn weight(&self) -> f64 {
        // Where a capture does not tell an application and a full send buffer apart, the time is that of one of them.
        let is_sender = self.cause == Cause::Application;
        let confidence = if is_sender { self.confidence.max(SURE_OF_APPLICATION) } else { self.confidence };
        self.time_share.unwrap_or_default() * confidence
    }
}

saved!(Verdict { cause, time_share, cost_bytes, evidence, frames, rivals, next_test, confidence, bucket });
saved!(TokenBucket { rate_bps, burst_bytes, transfers });
