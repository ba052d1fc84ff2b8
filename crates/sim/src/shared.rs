//! Several transfers over one path: how they share it.

use std::time::Duration;

use path::{PathElement, Seed};
use units::{ByteCount, DataRate, Mss};

use crate::flow::{FlowError, MOST_SAMPLES, Outcome, Sample};
use crate::receiver::ReceiverSpec;
use crate::run::Run;
use crate::sender::{Amount, SenderSpec};

/// Transfers between hosts of their own over one path.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The path from the senders to the receivers.
    pub forward: Vec<PathElement>,
    /// The way of the acknowledgements.
    pub reverse: Vec<PathElement>,
    /// What is transferred.
    pub transfers: Vec<Transfer>,
    /// Where all chance comes from.
    pub seed: Seed,
    /// After which time each of them is given up.
    pub time_limit: Duration,
    /// How often the state of each is written down.
    pub sample_every: Duration,
}

/// One of several transfers.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The sending host.
    pub sender: SenderSpec,
    /// The receiving host.
    pub receiver: ReceiverSpec,
    /// How much is sent.
    pub amount: Amount,
    /// When its connection is asked for.
    pub start: Duration,
}

/// How transfers shared a path while all of them sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// From when, counted from the start of the path: the last had begun.
    pub from: Duration,
    /// Until when: the first came to its end.
    pub to: Duration,
    /// The goodput of each.
    pub rates: Vec<DataRate>,
}

/// Transfers at most: each is looked at for each step of the clock of each other.
pub const MOST_TRANSFERS: usize = 1_000;

impl Shared {
    /// Reckons what comes of each.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn run(&self) -> Result<Vec<Outcome>, FlowError> {
        let mut run = Run::shared(self)?;
        run.go_on();
        Ok(run.outcomes())
    }

    /// How they shared the path; [`None`] where they were not there at once.
    #[must_use]
    pub fn together(&self, outcomes: &[Outcome]) -> Option<Together> {
        let spans = self.transfers.iter().zip(outcomes).map(|(transfer, outcome)| {
            let began = transfer.start + outcome.handshake?;
            Some((began, began + outcome.duration))
        });
        let spans: Vec<(Duration, Duration)> = spans.collect::<Option<_>>()?;
        let from = spans.iter().map(|(began, _)| *began).max()?;
        let to = spans.iter().map(|(_, ended)| *ended).min()?;
        let time = to.checked_sub(from).filter(|time| !time.is_zero())?;
        let rates = spans.iter().zip(outcomes).map(|((began, _), outcome)| {
            let at = |instant: Duration| acked_by(&outcome.samples, instant.saturating_sub(*began));
            DataRate::of(at(to).saturating_sub(at(from)), time)
        });
        Some(Together { from, to, rates: rates.collect::<Option<_>>()? })
    }

    pub(crate) fn check(&self) -> Result<Vec<Mss>, FlowError> {
        if self.transfers.is_empty() || self.transfers.len() > MOST_TRANSFERS {
            return Err(FlowError::Transfers(self.transfers.len()));
        }
        if self.sample_every.is_zero() {
            return Err(FlowError::Zero("the time between samples"));
        }
        if self.time_limit.as_nanos() / self.sample_every.as_nanos() > MOST_SAMPLES {
            return Err(FlowError::TooManySamples { every: self.sample_every, time_limit: self.time_limit });
        }
        self.transfers.iter().map(Transfer::check).collect()
    }
}

impl Transfer {
    fn check(&self) -> Result<Mss, FlowError> {
        let mss = self.sender.mss().ok_or(FlowError::Mtu(self.sender.mtu))?;
        for (zero, what) in [
            (self.sender.initial_window == 0, "the initial window"),
            (self.sender.adapter_rate.is_zero(), "the rate of the NIC"),
            (self.sender.buffer.get() == 0, "the send buffer"),
            (self.receiver.buffer.get() == 0, "the receive buffer"),
            (self.receiver.buffer_default.get() == 0, "the first receive buffer"),
            (self.sender.application_rate.is_some_and(DataRate::is_zero), "the rate of the application"),
            (self.sender.processor_rate.is_some_and(DataRate::is_zero), "the rate of the CPU"),
            (matches!(self.amount, Amount::Bytes(ByteCount::ZERO)), "what is to be sent"),
            (matches!(self.amount, Amount::Time(Duration::ZERO)), "the time for which is sent"),
        ] {
            if zero {
                return Err(FlowError::Zero(what));
            }
        }
        if let Amount::Bytes(bytes) = self.amount
            && bytes.get().div_ceil(u64::from(mss.get())) >= 1 << 30
        {
            return Err(FlowError::TooLong { bytes, mss });
        }
        Ok(mss)
    }
}

impl Together {
    /// Jain's index (Jain, Chiu, Hawe 1984): 1 where all have the same, one by their number where one has all.
    #[must_use]
    pub fn fairness(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "rates are shown")]
        let rates = || self.rates.iter().map(|rate| rate.bps() as f64);
        let (sum, squares): (f64, f64) = (rates().sum(), rates().map(|rate| rate * rate).sum());
        let count = rates().count();
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let index = sum * sum / (squares * count as f64);
        if squares > 0.0 { index } else { 1.0 }
    }
}

/// Payload acknowledged by an instant, by the samples before and after it.
fn acked_by(samples: &[Sample], at: Duration) -> ByteCount {
    let after = samples.partition_point(|sample| sample.at <= at);
    let (from, acked) = after
        .checked_sub(1)
        .map_or((Duration::ZERO, ByteCount::ZERO), |index| (samples[index].at, samples[index].acked));
    let Some(next) = samples.get(after) else { return acked };
    let more = next.acked.saturating_sub(acked);
    let rate = DataRate::of(more, next.at - from).unwrap_or(DataRate::ZERO);
    acked + rate * (at - from)
}
