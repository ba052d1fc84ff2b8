//! Elements as they are written in files: `{ delay = { time = "50ms" } }`.

use std::time::Duration;

use serde::Deserialize;
use units::MonoTime;

use crate::element::Element;
use crate::elements::{DelayLine, DelaySpec, Loss, LossSpec, Port, PortSpec};
use crate::random::Seed;

/// An element with its settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElementSpec {
    /// A queue and the transmitter behind it.
    Port(PortSpec),
    /// How long the way is.
    Delay(DelaySpec),
    /// Packets that vanish.
    Loss(LossSpec),
}

impl ElementSpec {
    /// Its name in files.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Port(_) => "port",
            Self::Delay(_) => "delay",
            Self::Loss(_) => "loss",
        }
    }

    /// # Errors
    /// A setting that no such element can have.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Port(spec) => spec.check(),
            Self::Delay(spec) => spec.check(),
            Self::Loss(spec) => spec.check(),
        }
    }

    /// The element, whose time begins at `start`.
    pub(crate) fn build(&self, seed: Seed, start: MonoTime) -> Result<Box<dyn Element>, SpecError> {
        self.check()?;
        Ok(match self {
            Self::Port(spec) => Box::new(Port::new(spec, seed, start)),
            Self::Delay(spec) => Box::new(DelayLine::new(spec, seed, start)),
            Self::Loss(spec) => Box::new(Loss::new(spec, seed)),
        })
    }
}

/// A setting that no element can have.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Nothing would ever go through.
    #[error("`{key}` of `{element}` is zero: nothing would go through")]
    Zero {
        /// The element.
        element: &'static str,
        /// The setting.
        key: &'static str,
    },
    /// Not between 0 and 1.
    #[error("`{key}` of `{element}` is {value}: a probability lies between 0 and 1")]
    Probability {
        /// The element.
        element: &'static str,
        /// The setting.
        key: &'static str,
        /// What it is.
        value: f64,
    },
    /// More than can be held.
    #[error("`{element}` would hold packets for too long: {longest:?} is the most")]
    TooLong {
        /// The element.
        element: &'static str,
        /// The longest.
        longest: Duration,
    },
    /// Not a class of service.
    #[error("a class of service is 0 to 63, not {dscp}")]
    Dscp {
        /// What it is.
        dscp: u8,
    },
    /// Bursts that would begin before the one before them ends.
    #[error("a burst of cross traffic that comes again needs a `length` that, with `jitter`, fits into `period`")]
    Overlap,
    /// No packet is that large.
    #[error("no packet is larger than {above} bytes: the largest has {largest}")]
    TooLarge {
        /// The threshold.
        above: u32,
        /// The largest packet.
        largest: u32,
    },
    /// A member that the link does not have.
    #[error("the bad member is number {bad}, but {of} members are numbered from 0")]
    NoMember {
        /// Its number.
        bad: u64,
        /// How many there are.
        of: u64,
    },
    /// A change to settings of another element.
    #[error("a `{was}` cannot become a `{becomes}`")]
    OtherKind {
        /// What it is.
        was: &'static str,
        /// What it should become.
        becomes: &'static str,
    },
}

/// # Errors
/// A number that is no probability.
pub(crate) fn check_probability(element: &'static str, key: &'static str, value: f64) -> Result<(), SpecError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(SpecError::Probability { element, key, value }) }
}
