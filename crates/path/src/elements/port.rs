//! A queue and the transmitter behind it: the interface of a switch, a router or a host.

use serde::Deserialize;
use units::{DataRate, MonoTime};

use super::cross::{Cross, CrossSpec};
use crate::buffer::{Buffer, BufferSpec, Role};
use crate::element::Element;
use crate::grain::Grain;
use crate::outlet::Outlet;
use crate::random::Seed;
use crate::reason::{Delay, Drop};
use crate::spec::{ElementSpec, SpecError, check_not_zero};
use crate::train::Train;
use crate::transmitter::{Pace, Transmitter};

/// An interface as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PortSpec {
    /// How fast it sends.
    #[serde(deserialize_with = "units::text::read")]
    pub rate: DataRate,
    /// The queue before it; without one everything waits that comes too fast.
    #[serde(default)]
    pub queue: BufferSpec,
    /// Other traffic that comes to the same queue.
    #[serde(default)]
    pub cross: CrossSpec,
}

impl PortSpec {
    /// # Errors
    /// A rate of zero, or a queue or cross traffic that cannot be.
    pub fn check(&self) -> Result<(), SpecError> {
        check_not_zero("port", "rate", self.rate)?;
        self.queue.check()?;
        self.cross.check()
    }
}

/// See [`PortSpec`].
#[derive(Debug)]
pub(crate) struct Port(Transmitter<Buffer>);

impl Port {
    pub(crate) fn new(spec: &PortSpec, seed: Seed, start: MonoTime) -> Self {
        let pace = Pace::Bits(spec.rate);
        let role = Role { full: Drop::QueueFull, waiting: Delay::Queue, packet_time: pace.packet_time() };
        let cross = Cross::new(spec.cross.clone(), spec.rate, seed.part(1), start);
        Self(Transmitter::new(Buffer::new(&spec.queue, role, seed.part(0)), vec![cross], pace))
    }
}

impl Element for Port {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        self.0.offer(train, out);
    }

    fn due(&self) -> Option<MonoTime> {
        self.0.due()
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        self.0.catch_up(out);
    }

    fn coarsen(&mut self, grain: Grain) {
        self.0.coarsen(grain);
    }

    fn adopt(&mut self, spec: &ElementSpec, out: &mut Outlet<'_>) {
        let ElementSpec::Port(spec) = spec else { return };
        let pace = Pace::Bits(spec.rate);
        self.0.change_pace(pace, out);
        self.0.queue_mut().adopt(&spec.queue, pace.packet_time());
        self.0.cross_mut().iter_mut().for_each(|cross| cross.adopt(&spec.cross, spec.rate, out.now()));
    }
}
