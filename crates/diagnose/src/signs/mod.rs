//! What can be seen of a flow or a path, as few words as tell causes apart.
//!
//! A measurement has hundreds of numbers; a cause is recognised by a handful of them. A [`Sign`] is one of this handful: a
//! question with a few possible answers (its *states*). How often each state is seen where a cause is at work stands in the
//! catalogue of [causes](crate::causes); how often among all slow flows, whatever ails them, stands here.
//!
//! * [`mod@flow`]: a flow of a round, and what it attained
//! * `coverage`: how much of what a round can tell is there
//! * `reading`: the flows of a round from its tests, with all their signs
//! * `numbers`: signs of one run by itself
//! * `trend`: whether a flow kept its rate
//! * `agreed`: what both ends agreed on
//! * `initial_window`: with how large a window it began
//! * `allowed`: what a flow attained of what its settings allow
//! * `jump`: an RTT that becomes another one while a flow runs
//! * `losses`: signs of losses
//! * `carried`: how much its path carries, however it is sent
//! * `clustering`: whether packets were lost by chance or many at once
//! * `lossy`: whether a flow that is fast enough loses as no path should
//! * `queue_at_loss`: how long the queue was then
//! * `queues`: by how much RTTs grow under load
//! * `ceiling`: how often the rate is near its best, and how much of its target that is
//! * `datagrams`: datagrams of one run
//! * `first_datagrams`: whether the first datagrams of a run fared as later ones
//! * `asked_buffer`: whether a larger send buffer was faster
//! * `datagram_rate`: datagrams beside TCP
//! * `window_limited`: whether a window limits a flow of which nobody knows how fast it should be
//! * `shrunk`: whether smaller segments got through where full ones did not
//! * `step_down`: whether the rate went down once and stayed
//! * `silence`: whether nothing got through for a time
//! * `stops`: whether the programs of both ends ran all the time
//! * `window_shares`: how much the windows of both ends took of what is missing
//! * `relations`: signs of a flow compared with others of its round
//! * `vanished`: signs of counters at both ends of each segment
//! * `probes`: signs of echoes, path MTU and downloads
//! * `packet_time`: whether a link is as slow as the flow, by echoes of two sizes
//!
//! A sign that was not looked at has no observation: it is unknown, and speaks neither for nor against a cause.

use std::collections::BTreeMap;
use std::sync::LazyLock;

mod agreed;
pub(crate) mod allowed;
mod arrivals;
mod asked_buffer;
mod carried;
mod ceiling;
mod clustering;
mod coverage;
mod datagram_rate;
mod datagrams;
mod first_datagrams;
pub mod flow;
mod initial_window;
mod jump;
mod limit;
mod losses;
mod lossy;
mod numbers;
mod packet_time;
mod percent;
mod probes;
mod queue_at_loss;
mod queue_way;
mod queues;
mod reading;
mod relations;
mod rows;
mod shrunk;
mod silence;
mod small_probes;
mod step_down;
mod stops;
mod table;
mod trend;
mod vanished;
mod window_limited;
mod window_shares;

pub use coverage::Coverage;
pub(crate) use first_datagrams::{EmptiedBucket, emptied_bucket};
pub use flow::Flow;
pub(crate) use percent::percent;
pub use reading::flows;
pub use table::ALL;

/// A question about a flow.
#[derive(Debug)]
pub struct Sign {
    /// Its name in the catalogue of causes.
    pub name: &'static str,
    /// What it asks.
    pub asks: &'static str,
    /// Its possible answers.
    pub states: &'static [State],
}

/// One possible answer.
#[derive(Debug)]
pub struct State {
    /// Its name in the catalogue of causes.
    pub name: &'static str,
    /// How often it is the answer among slow flows, whatever ails them. The states of a sign add up to 1.
    pub usual: f64,
    /// Whether it shows a fault outright, so that causes that do not name the sign hardly ever have it.
    pub is_direct: bool,
}

/// A state by its place in [`ALL`] and among the states of its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignState {
    /// Place of the sign.
    pub sign: usize,
    /// Place of the state.
    pub state: usize,
}

impl SignState {
    /// The state of `sign=state`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, state) = text.split_once('=')?;
        Self::named(sign, state)
    }

    /// The state of a sign, by their names.
    #[must_use]
    pub fn named(sign: &str, state: &str) -> Option<Self> {
        let at = ALL.iter().position(|known| known.name == sign)?;
        let state = ALL.get(at)?.states.iter().position(|known| known.name == state)?;
        Some(Self { sign: at, state })
    }

    /// How often the state is seen where a cause is at work that does not name the sign: as usual, but for states that show
    /// another cause outright.
    #[must_use]
    pub(crate) fn without_cause(self, usual: impl Fn(Self) -> f64) -> f64 {
        let states = self.sign().states.iter().enumerate().filter(|(_, state)| state.is_direct);
        let direct: f64 = states.map(|(state, _)| usual(Self { sign: self.sign, state })).sum();
        if self.state().is_direct {
            usual(self) * BY_MISTAKE
        } else {
            usual(self) * (1.0 - BY_MISTAKE * direct) / (1.0 - direct)
        }
    }

    /// What it says of the receiver's end if this says it of the sender's, and the other way round; itself where it is of no end.
    #[must_use]
    pub(crate) fn of_other_end(self) -> Self {
        static OTHERS: LazyLock<BTreeMap<SignState, SignState>> = LazyLock::new(|| {
            let pairs = OF_ENDS
                .iter()
                .filter_map(|[one, other]| SignState::named(one.0, one.1).zip(SignState::named(other.0, other.1)));
            pairs.flat_map(|(one, other)| [(one, other), (other, one)]).collect()
        });
        OTHERS.get(&self).copied().unwrap_or(self)
    }

    /// Entry of [`ALL`], with the question that it asks.
    #[must_use]
    pub fn sign(self) -> &'static Sign {
        &ALL[self.sign]
    }

    /// Answer that this is, one of those that the sign has.
    #[must_use]
    pub fn state(self) -> &'static State {
        &self.sign().states[self.state]
    }
}

/// A sign that was looked at, and what was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// What was seen.
    pub seen: SignState,
    /// In a sentence with the numbers.
    pub says: String,
}

impl Observation {
    /// A state of the table; `None` for names that are not there, which the tests of this crate exclude.
    fn of(sign: &str, state: &str, says: impl Into<String>) -> Option<Self> {
        let seen = SignState::named(sign, state);
        debug_assert!(seen.is_some(), "{sign} has no state {state}");
        Some(Self { seen: seen?, says: says.into() })
    }
}

/// Answers that tell of the program and the CPU of an end: the sender's, and the same of the receiver's.
const OF_ENDS: [[(&str, &str); 2]; 5] = [
    [("sender-runs", "with-stops"), ("receiver-runs", "with-stops")],
    [("sender-runs", "all-the-time"), ("receiver-runs", "all-the-time")],
    [("cpu", "sender"), ("cpu", "receiver")],
    [("contention", "sender"), ("contention", "receiver")],
    [("limit", "sending-program"), ("limit", "receiving-program")],
];
/// How much less often than usual a direct observation is made where its cause is not at work.
const BY_MISTAKE: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_one_end_can_be_said_of_the_other() {
        for [one, other] in OF_ENDS {
            let named = |(sign, state)| SignState::named(sign, state).unwrap_or_else(|| panic!("{sign}={state}"));
            assert_eq!(named(one).of_other_end(), named(other));
            assert_eq!(named(other).of_other_end(), named(one));
        }
        let of_path = SignState::named("queue", "deep").unwrap_or_else(|| panic!("no such state"));
        assert_eq!(of_path.of_other_end(), of_path);
    }

    #[test]
    fn states_of_a_sign_share_all_that_is_usual() {
        for sign in ALL {
            let sum: f64 = sign.states.iter().map(|state| state.usual).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{}: {sum}", sign.name);
        }
    }
}
