//! What a chain of elements amounts to, in the three numbers by which people call a path: bottleneck, queue, delay.

use std::time::Duration;

use units::{ByteCount, DataRate};

use crate::chain::PathElement;
use crate::elements::{LossSpec, PolicerSpec};
use crate::spec::ElementSpec;

/// The slowest element that queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bottleneck {
    /// Its rate, with the headers of the link.
    pub rate: DataRate,
    /// How much may wait before it; [`None`] without a limit in bytes.
    pub queue: Option<ByteCount>,
}

/// The slowest of ports, shapers and classes; [`None`] where there is none.
#[must_use]
pub fn bottleneck(elements: &[PathElement]) -> Option<Bottleneck> {
    let queues = elements.iter().filter_map(|element| match &element.spec {
        ElementSpec::Port(port) => Some(Bottleneck { rate: port.rate, queue: port.queue.bytes }),
        ElementSpec::Shaper(shaper) => Some(Bottleneck { rate: shaper.rate, queue: shaper.queue.bytes }),
        ElementSpec::Classes(classes) => {
            Some(Bottleneck { rate: classes.rate, queue: classes.best_effort.queue.bytes })
        }
        _ => None,
    });
    queues.min_by_key(|queue| queue.rate)
}

/// The tightest policer.
#[must_use]
pub fn policer(elements: &[PathElement]) -> Option<&PolicerSpec> {
    let policers = elements.iter().filter_map(|element| match &element.spec {
        ElementSpec::Policer(policer) => Some(policer),
        _ => None,
    });
    policers.min_by_key(|policer| policer.rate)
}

/// Propagation delay of one direction, without jitter.
#[must_use]
pub fn delay(elements: &[PathElement]) -> Duration {
    let delays = elements.iter().map(|element| match &element.spec {
        ElementSpec::Delay(delay) => delay.time,
        _ => Duration::ZERO,
    });
    delays.sum()
}

/// The probability that a packet is lost at random in one direction; losses in bursts have none.
#[must_use]
pub fn random_loss(elements: &[PathElement]) -> f64 {
    let passes = elements.iter().map(|element| match element.spec {
        ElementSpec::Loss(LossSpec::Random(probability)) => 1.0 - probability,
        _ => 1.0,
    });
    1.0 - passes.product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_called_by_its_slowest_port_its_delays_and_its_losses() {
        let port = |rate: u64, queue: u64| {
            let queue = crate::buffer::BufferSpec { bytes: Some(ByteCount::new(queue)), ..Default::default() };
            let cross = crate::elements::CrossSpec::default();
            ElementSpec::Port(crate::elements::PortSpec { rate: DataRate::from_bps(rate), queue, cross })
        };
        let delay_of = |ms| {
            let (time, jitter) = (Duration::from_millis(ms), Duration::ZERO);
            ElementSpec::Delay(crate::elements::DelaySpec { time, jitter, order: crate::elements::Order::Kept })
        };
        let loss = || ElementSpec::Loss(LossSpec::Random(0.1));
        let specs = [port(1_000, 7), delay_of(5), loss(), port(500, 9), delay_of(6), loss()];
        let elements: Vec<PathElement> = specs.into_iter().map(PathElement::from).collect();
        let slowest = Bottleneck { rate: DataRate::from_bps(500), queue: Some(ByteCount::new(9)) };
        assert_eq!(bottleneck(&elements), Some(slowest));
        assert_eq!(delay(&elements), Duration::from_millis(11));
        assert!((random_loss(&elements) - 0.19).abs() < 1e-9);
        assert_eq!((bottleneck(&elements[1..3]), policer(&elements)), (None, None));
    }
}
