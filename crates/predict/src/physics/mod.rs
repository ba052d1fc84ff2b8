//! What loss, RTT, segment size and window allow a flow over TCP, in closed form, against what it reached.
//!
//! * [`facts`]: what a run says of these, with a range where it is estimated
//! * [`ethernet`]: what TCP gets of a link that is full
//! * [`start`]: losses that come with the start of a flow and end with it
//! * [`loss`]: the rate that a share of lost packets leaves (Mathis and others 1997, PFTK 1998, RFC 9438)
//!
//! A witness, no judge: it says whether the losses explain a rate, and needs no rate of the path for that.

pub mod ethernet;
pub mod facts;
pub mod loss;
pub mod start;

use std::fmt;

use model::measurement::DirectionTotal;
use model::run::Run;
use units::DataRate;
use units::duration::show;

pub use ethernet::FullLink;
pub use facts::{RttRange, RttSource, TcpFacts};
pub use loss::RateRange;
pub use start::LossOfStart;

/// What loss allows a flow, beside what it reached.
#[derive(Debug, Clone, PartialEq)]
pub struct LossWitness {
    /// What it was reckoned from.
    pub facts: TcpFacts,
    /// Payload a second that the losses leave, all streams together.
    pub allows: RateRange,
    /// Whether the rate that was reached lies in that range, with a margin.
    pub verdict: LossVerdict,
}

/// Whether the losses of a flow explain its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossVerdict {
    /// The rate is what TCP reaches with so many losses.
    Explains,
    /// TCP reaches far more with so many losses: something else limits it.
    AllowsMore,
    /// It reached more than TCP does with so many losses that come one by one: they came many at a time, or segments were
    /// retransmitted that were not lost.
    Exceeded,
}

impl LossWitness {
    /// What the losses of one direction of a run allow; `None` where no loss, no RTT or no model of its congestion control is
    /// known.
    #[must_use]
    pub fn of(run: &Run, total: &DirectionTotal) -> Option<Self> {
        Self::from_facts(TcpFacts::of(run, total)?, total.goodput)
    }

    /// The same from facts, for a flow that reached `goodput`.
    #[must_use]
    pub fn from_facts(facts: TcpFacts, goodput: DataRate) -> Option<Self> {
        let allows = loss::allowed(&facts)?;
        let reached = bps(goodput);
        let verdict = match reached {
            reached if reached > bps(allows.high) * MORE => LossVerdict::Exceeded,
            reached if reached < bps(allows.low) * LESS => LossVerdict::AllowsMore,
            _ => LossVerdict::Explains,
        };
        Some(Self { facts, allows, verdict })
    }
}

/// `loss of 4.3 % at an RTT of 190 ms allows 1.2 to 2.7 Mbit/s: it explains the rate`.
impl fmt::Display for LossWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loss = self.facts.loss() * 100.0;
        let digits = match loss {
            loss if loss >= 0.1 => 1,
            loss if loss >= 0.001 => 4,
            _ => 7,
        };
        let verdict = match self.verdict {
            LossVerdict::Explains => "it explains the rate",
            LossVerdict::AllowsMore => "it does not explain the rate, something else limits the flow",
            LossVerdict::Exceeded => {
                "fewer congestion events than retransmits: losses in bursts, or spurious retransmits"
            }
        };
        let RateRange { low, high } = self.allows;
        write!(f, "loss of {loss:.digits$} % at {} allows {low} to {high}: {verdict}", self.facts.rtt)
    }
}

/// `an RTT of 190 ms`, `an RTT of 150 to 275 ms (cwnd over rate)`.
impl fmt::Display for RttRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = match self.source {
            RttSource::Given => " (given)",
            RttSource::Idle | RttSource::Sampled => "",
            RttSource::WindowOverRate => " (cwnd over rate)",
        };
        if self.low == self.high {
            write!(f, "an RTT of {}{from}", show(self.low))
        } else {
            write!(f, "an RTT of {} to {}{from}", show(self.low), show(self.high))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates are below 2^53 bit/s")]
fn bps(rate: DataRate) -> f64 {
    rate.bps() as f64
}

/// Closed forms and real stacks differ by this much (docs/simulator.md): above it a rate is more than the losses allow.
const MORE: f64 = 1.3;
/// Below this part of the least that the losses allow, they do not explain a rate.
const LESS: f64 = 0.5;
