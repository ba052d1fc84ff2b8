//! Elements as they are written in files: `{ delay = { time = "50ms" } }`.

use std::time::Duration;

use serde::Deserialize;
use units::{ByteCount, MonoTime};

use crate::element::Element;
use crate::elements::{
    Classes, ClassesSpec, Conntrack, ConntrackSpec, CorruptSpec, Corrupter, DelayLine, DelaySpec, DuplicateSpec,
    Duplicator, EcnBox, EcnSpec, Firewall, FirewallSpec, Loss, LossSpec, Merger, MergerSpec, MtuLimit, MtuSpec,
    Policer, PolicerSpec, Port, PortSpec, ReorderSpec, Reorderer, Shaper, ShaperSpec,
};
use crate::random::Seed;

/// An element with its settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElementSpec {
    /// A queue and the transmitter behind it.
    Port(PortSpec),
    /// A queue for each class of service, and the transmitter behind them.
    Classes(Box<ClassesSpec>),
    /// What comes faster than agreed waits.
    Shaper(ShaperSpec),
    /// What comes faster than agreed is dropped.
    Policer(PolicerSpec),
    /// How long the way is.
    Delay(DelaySpec),
    /// Packets that vanish.
    Loss(LossSpec),
    /// Packets that are overtaken.
    Reorder(ReorderSpec),
    /// Packets that come twice.
    Duplicate(DuplicateSpec),
    /// Packets in which a bit is wrong.
    Corrupt(CorruptSpec),
    /// The largest packet that the link carries.
    Mtu(MtuSpec),
    /// A middlebox that looks at each packet.
    Firewall(FirewallSpec),
    /// A middlebox that forgets idle connections.
    Conntrack(ConntrackSpec),
    /// A middlebox that meddles with congestion notification.
    Ecn(EcnSpec),
    /// An adapter that merges segments where it should not.
    Merger(MergerSpec),
}

impl ElementSpec {
    /// Its name in files.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Port(_) => "port",
            Self::Classes(_) => "classes",
            Self::Shaper(_) => "shaper",
            Self::Policer(_) => "policer",
            Self::Delay(_) => "delay",
            Self::Loss(_) => "loss",
            Self::Reorder(_) => "reorder",
            Self::Duplicate(_) => "duplicate",
            Self::Corrupt(_) => "corrupt",
            Self::Mtu(_) => "mtu",
            Self::Firewall(_) => "firewall",
            Self::Conntrack(_) => "conntrack",
            Self::Ecn(_) => "ecn",
            Self::Merger(_) => "merger",
        }
    }

    /// # Errors
    /// A setting that no such element can have.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Port(spec) => spec.check(),
            Self::Classes(spec) => spec.check(),
            Self::Shaper(spec) => spec.check(),
            Self::Policer(spec) => spec.check(),
            Self::Delay(spec) => spec.check(),
            Self::Loss(spec) => spec.check(),
            Self::Reorder(spec) => spec.check(),
            Self::Duplicate(spec) => spec.check(),
            Self::Corrupt(spec) => spec.check(),
            Self::Firewall(spec) => spec.check(),
            Self::Conntrack(spec) => spec.check(),
            Self::Merger(spec) => spec.check(),
            // Every size and every name that can be read can be had.
            Self::Mtu(_) | Self::Ecn(_) => Ok(()),
        }
    }

    /// The element, whose time begins at `start`.
    pub(crate) fn build(&self, seed: Seed, start: MonoTime) -> Result<Box<dyn Element>, SpecError> {
        self.check()?;
        Ok(match self {
            Self::Port(spec) => Box::new(Port::new(spec, seed, start)),
            Self::Classes(spec) => Box::new(Classes::new(spec, seed, start)),
            Self::Shaper(spec) => Box::new(Shaper::new(spec, seed, start)),
            Self::Policer(spec) => Box::new(Policer::new(spec, start)),
            Self::Delay(spec) => Box::new(DelayLine::new(spec, seed)),
            Self::Loss(spec) => Box::new(Loss::new(spec, seed)),
            Self::Reorder(spec) => Box::new(Reorderer::new(spec, seed)),
            Self::Duplicate(spec) => Box::new(Duplicator::new(spec, seed)),
            Self::Corrupt(spec) => Box::new(Corrupter::new(spec, seed)),
            Self::Mtu(spec) => Box::new(MtuLimit::new(spec)),
            Self::Firewall(spec) => Box::new(Firewall::new(spec, seed)),
            Self::Conntrack(spec) => Box::new(Conntrack::new(spec, start)),
            Self::Ecn(spec) => Box::new(EcnBox::new(*spec)),
            Self::Merger(spec) => Box::new(Merger::new(spec)),
        })
    }
}

/// A setting that no element can have. `element` and `key` are names in files.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are the words of the messages")]
pub enum SpecError {
    /// Nothing would ever happen.
    #[error("`{key}` of `{element}` is zero; it has to be more")]
    Zero { element: &'static str, key: &'static str },
    /// Not between 0 and 1.
    #[error("`{key}` of `{element}` is {value}; it lies between 0 and 1 (a loss of 1 % is 0.01)")]
    Probability { element: &'static str, key: &'static str, value: f64 },
    /// More than can be held.
    #[error("`{key}` of `{element}` is too long; {longest:?} is the most")]
    TooLong { element: &'static str, key: &'static str, longest: Duration },
    /// More than there is room for.
    #[error("`{key}` of `{element}` is too large; {most} is the most")]
    TooMany { element: &'static str, key: &'static str, most: u64 },
    /// No packet would ever fit.
    #[error("`burst` of `{element}` is {burst}; it has to hold a packet, so at least {} B", least.get())]
    SmallBurst { element: &'static str, burst: ByteCount, least: ByteCount },
    /// Two settings in the wrong order.
    #[error("`{lower}` of `{element}` has to be below `{upper}`")]
    Order { element: &'static str, lower: &'static str, upper: &'static str },
    /// Settings of which exactly one is needed.
    #[error("`{element}` needs one of {keys}, and not both")]
    OneOf { element: &'static str, keys: &'static str },
    /// Settings that exclude each other.
    #[error("`{element}` has more than one of {keys}; it can have one")]
    OnlyOne { element: &'static str, keys: &'static str },
    /// Not a class of service.
    #[error("`{key}` of `{element}` is {dscp}; a class of service is 0 to 63")]
    Dscp { element: &'static str, key: &'static str, dscp: u8 },
    /// A class of service that belongs to two classes.
    #[error("`dscp` {dscp} of `classes` belongs to two of them; write for one which others it has, as `dscp = [...]`")]
    TwoClasses { dscp: u8 },
    /// Bursts that would begin before the one before them ends.
    #[error("a burst of `cross` that has a `period` needs a `length` that, with `jitter`, fits into it")]
    Overlap,
    /// No packet is that large.
    #[error("`above` of `loss` is {above}; the largest packet has {largest} bytes, so it has to be less")]
    TooLarge { above: u32, largest: u32 },
    /// A member that the link does not have.
    #[error("`bad` of `loss` is {bad}; {of} members are numbered from 0 to {last}", last = of.saturating_sub(1))]
    NoMember { bad: u64, of: u64 },
    /// A change to settings of another element.
    #[error("a `{was}` cannot become a `{becomes}`; a change has settings for the same element")]
    OtherKind { was: &'static str, becomes: &'static str },
}

/// The longest time for which an element holds packets by its settings: more than any path on Earth, and little enough
/// to have room for what comes meanwhile.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);

/// Size on the link of a packet as long as jumbo frames allow: an MTU of 9,000 and an Ethernet header.
pub(crate) const JUMBO: u32 = 9_014;

/// Size on the link of a packet as long as Ethernet allows everywhere.
const PACKET: u64 = 1_514;

/// # Errors
/// A number that is no probability.
pub(crate) fn check_probability(element: &'static str, key: &'static str, value: f64) -> Result<(), SpecError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(SpecError::Probability { element, key, value }) }
}

/// # Errors
/// A quantity that is zero.
pub(crate) fn check_not_zero<T: Copy + Default + PartialEq>(
    element: &'static str,
    key: &'static str,
    value: T,
) -> Result<(), SpecError> {
    if value == T::default() { Err(SpecError::Zero { element, key }) } else { Ok(()) }
}

/// # Errors
/// A number that is no class of service.
pub(crate) fn check_dscp(element: &'static str, key: &'static str, dscp: u8) -> Result<(), SpecError> {
    if dscp < 64 { Ok(()) } else { Err(SpecError::Dscp { element, key, dscp }) }
}

/// # Errors
/// A bucket into which no full packet fits.
pub(crate) fn check_burst(element: &'static str, burst: ByteCount) -> Result<(), SpecError> {
    let least = ByteCount::new(PACKET);
    if burst >= least { Ok(()) } else { Err(SpecError::SmallBurst { element, burst, least }) }
}
