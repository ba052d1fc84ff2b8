//! A queue and the transmitter behind it: the interface of a switch, a router or a host.

use std::time::Duration;

use serde::Deserialize;
use units::{ByteCount, DataRate, MonoTime};

use super::cross::{Cross, CrossSpec};
use crate::buffer::{Buffer, BufferSpec};
use crate::element::Element;
use crate::outlet::Outlet;
use crate::random::Seed;
use crate::reason::Delay;
use crate::spec::{ElementSpec, SpecError};
use crate::train::{FrameId, Train};

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
        if self.rate.is_zero() {
            return Err(SpecError::Zero { element: "port", key: "rate" });
        }
        self.queue.check()?;
        self.cross.check()
    }
}

/// See [`PortSpec`].
#[derive(Debug)]
pub(crate) struct Port {
    rate: DataRate,
    buffer: Buffer,
    cross: Cross,
    sending: Option<Sending>,
}

#[derive(Debug)]
struct Sending {
    train: Train,
    since: MonoTime,
    ends: MonoTime,
}

impl Port {
    pub(crate) fn new(spec: &PortSpec, seed: Seed, start: MonoTime) -> Self {
        Self {
            rate: spec.rate,
            buffer: Buffer::new(spec.queue.clone(), seed.part(0)),
            cross: Cross::new(spec.cross.clone(), spec.rate, seed.part(1), start),
            sending: None,
        }
    }

    /// Ends transmissions and takes in cross traffic, each at its instant, up to now.
    fn catch_up(&mut self, out: &mut Outlet<'_>) {
        let now = out.now();
        loop {
            let ends = self.sending.as_ref().map(|sending| sending.ends);
            let arrives = self.cross.next();
            match (ends, arrives) {
                (Some(end), arrival) if end <= now && arrival.is_none_or(|at| end <= at) => self.finish(end, out),
                (_, Some(at)) if at <= now => {
                    let phantom = self.cross.take();
                    self.buffer.offer(phantom, out);
                    self.start(at, out);
                }
                _ => return,
            }
        }
    }

    fn finish(&mut self, end: MonoTime, out: &mut Outlet<'_>) {
        if let Some(Sending { train, since, .. }) = self.sending.take()
            && train.frame != FrameId::PHANTOM
        {
            out.delayed(&train, Delay::Transmission, end.since(since));
            out.pass(train);
        }
        self.start(end, out);
    }

    /// Sends what waits at the front, if nothing is being sent.
    fn start(&mut self, now: MonoTime, out: &mut Outlet<'_>) {
        if self.sending.is_some() {
            return;
        }
        let Some(train) = self.buffer.take(self.batch(), out) else { return };
        let time = self.rate.time_for(train.bytes()).unwrap_or(Duration::MAX);
        self.sending = Some(Sending { train, since: now, ends: now + time });
    }

    /// Bytes that leave at one instant.
    ///
    /// Model: packets of one train come out together, up to this many. A link sends them one by one.
    fn batch(&self) -> u64 {
        (self.rate * LONGEST_BATCH).get()
    }
}

/// How much time on the link packets may share that come out together.
const LONGEST_BATCH: Duration = Duration::from_micros(50);

impl Element for Port {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        self.catch_up(out);
        self.buffer.offer(train, out);
        self.start(out.now(), out);
    }

    /// Phantoms come out nowhere: the port need not be called for them, unless something real waits behind them.
    fn due(&self) -> Option<MonoTime> {
        let sending = self.sending.as_ref()?;
        (sending.train.frame != FrameId::PHANTOM || self.buffer.holds_real()).then_some(sending.ends)
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        self.catch_up(out);
    }

    fn adopt(&mut self, spec: &ElementSpec, now: MonoTime) {
        let ElementSpec::Port(spec) = spec else { return };
        // What is being sent goes on at the new rate.
        if let Some(sending) = &mut self.sending {
            let left = ByteCount::new((self.rate * sending.ends.since(now)).get());
            sending.ends = now + spec.rate.time_for(left).unwrap_or(Duration::MAX);
        }
        self.rate = spec.rate;
        self.buffer.adopt(spec.queue.clone());
        self.cross.adopt(spec.cross.clone(), spec.rate);
    }
}
