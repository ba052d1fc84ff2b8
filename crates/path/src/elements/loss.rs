//! Packets that vanish, by chance or by rule.

use std::num::NonZeroU64;

use serde::Deserialize;

use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::picker::{Pick, Picker, Rule};
use crate::random::{Seed, SeededRng};
use crate::reason::Drop;
use crate::spec::{ElementSpec, JUMBO, SpecError, check_probability};
use crate::train::Train;

/// A loss as it is written in files: which packets vanish.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// Each with this probability.
    Random(f64),
    /// By a channel of two states, good and bad (Gilbert 1960, Elliott 1963).
    #[serde(rename_all = "kebab-case")]
    Bursty {
        /// Probability that the channel turns bad with a packet.
        to_bad: f64,
        /// Probability that it turns good again.
        to_good: f64,
        /// Probability of a loss in the bad state.
        #[serde(default = "certain")]
        loss_in_bad: f64,
        /// Probability of a loss in the good state.
        #[serde(default)]
        loss_in_good: f64,
    },
    /// Every n-th.
    EveryNth(NonZeroU64),
    /// Each larger than this with a probability that grows evenly with what it has more, and that a packet of 9,014
    /// bytes has in full: dirty fibre, and adapters that fail with large frames. Model: a real one is not even.
    #[serde(rename_all = "kebab-case")]
    Large {
        /// Size on the link, in bytes, up to which none is lost.
        above: u32,
        /// Probability for a packet of 9,014 bytes.
        probability: f64,
    },
    /// Those of the flows that a link of several members sends over a bad one.
    #[serde(rename_all = "kebab-case")]
    Member {
        /// How many members the link has.
        of: NonZeroU64,
        /// The number of the bad one, from 0.
        bad: u64,
        /// Probability of a loss there.
        probability: f64,
    },
}

fn certain() -> f64 {
    1.0
}

impl LossSpec {
    /// # Errors
    /// A probability that is none, or a member that is not there.
    pub fn check(&self) -> Result<(), SpecError> {
        let check = |key, probability| check_probability("loss", key, probability);
        match *self {
            Self::Random(probability) => check("random", probability),
            Self::Bursty { to_bad, to_good, loss_in_bad, loss_in_good } => {
                check("to-bad", to_bad)?;
                check("to-good", to_good)?;
                check("loss-in-bad", loss_in_bad)?;
                check("loss-in-good", loss_in_good)
            }
            Self::EveryNth(_) => Ok(()),
            Self::Large { above, probability } if above < JUMBO => check("probability", probability),
            Self::Large { above, .. } => Err(SpecError::TooLarge { above, largest: JUMBO }),
            Self::Member { of, bad, probability } if bad < of.get() => check("probability", probability),
            Self::Member { of, bad, .. } => Err(SpecError::NoMember { bad, of: of.get() }),
        }
    }

    /// By which packets are lost, for the kinds in which all packets are alike.
    fn rule(&self) -> Rule {
        match *self {
            Self::Random(probability) | Self::Member { probability, .. } => Rule::Probability(probability),
            Self::EveryNth(n) => Rule::EveryNth(n),
            Self::Bursty { .. } | Self::Large { .. } => Rule::Probability(0.0),
        }
    }

    fn reason(&self) -> Drop {
        match self {
            Self::Random(_) => Drop::Random,
            Self::Bursty { .. } => Drop::Burst,
            Self::EveryNth(_) => Drop::Periodic,
            Self::Large { .. } => Drop::Large,
            Self::Member { .. } => Drop::BadMember,
        }
    }
}

/// See [`LossSpec`].
#[derive(Debug)]
pub(crate) struct Loss {
    spec: LossSpec,
    rng: SeededRng,
    /// For the kinds in which all packets are alike.
    picker: Picker,
    /// Whether a channel of two states is in the bad one.
    bad: bool,
}

impl Loss {
    pub(crate) fn new(spec: &LossSpec, seed: Seed) -> Self {
        let picker = Picker::new(spec.rule(), seed.part(1));
        Self { spec: spec.clone(), rng: SeededRng::new(seed), picker, bad: false }
    }

    fn loses(&mut self, packet: &Train) -> bool {
        match self.spec {
            LossSpec::Bursty { to_bad, to_good, loss_in_bad, loss_in_good } => {
                let turns = self.rng.hits(if self.bad { to_good } else { to_bad });
                self.bad ^= turns;
                self.rng.hits(if self.bad { loss_in_bad } else { loss_in_good })
            }
            LossSpec::Large { above, probability } => {
                let more = f64::from(packet.largest().saturating_sub(above)) / f64::from(JUMBO - above);
                more > 0.0 && self.rng.hits((more * probability).min(1.0))
            }
            LossSpec::Random(_) | LossSpec::EveryNth(_) | LossSpec::Member { .. } => false,
        }
    }
}

impl Element for Loss {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        if is_exempt(&train) {
            return out.pass(train);
        }
        let reason = self.spec.reason();
        match self.spec {
            LossSpec::Member { of, bad, .. } if u64::from(train.flow.0) % of.get() != bad => out.pass(train),
            LossSpec::Random(_) | LossSpec::EveryNth(_) | LossSpec::Member { .. } => {
                self.picker.sort(train, |pick, part| match pick {
                    Pick::Spared => out.pass(part),
                    Pick::Picked => out.drop(part, reason),
                });
            }
            LossSpec::Bursty { .. } | LossSpec::Large { .. } => {
                for packet in train.packets() {
                    if self.loses(&packet) {
                        out.drop(packet, reason);
                    } else {
                        out.pass(packet);
                    }
                }
            }
        }
    }

    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Loss(spec) = spec {
            self.picker.adopt(spec.rule());
            self.spec = spec.clone();
        }
    }
}
