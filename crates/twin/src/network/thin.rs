//! A path as a flow meets it: ports that can hold nothing of the flow become the time that they take.
//!
//! A port behind one that is not faster never has a queue, and one on the path of acknowledgements hardly any. Each would cost
//! as much as the bottleneck to simulate.

use std::time::Duration;

use path::elements::{Burst, DelaySpec, Order};
use path::{ElementSpec, PathElement};
use units::{ByteCount, DataRate};

/// What is sent over a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Load {
    /// Packets of this size on the link.
    Data(ByteCount),
    /// Acknowledgements of data that comes at this rate at most.
    Acknowledgements(DataRate),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Thinned {
    pub(crate) stages: Vec<PathElement>,
    /// Where each of them is in the whole path.
    places: Vec<usize>,
    /// Rates of the ports that are gone.
    gone: Vec<DataRate>,
}

impl Thinned {
    /// Model: what holds packets comes after what loses or queues them, which changes nothing but when that happens, by less than
    /// the path's delay; elements that come and go keep their time. Jitter of several links that keeps the order is one.
    pub(crate) fn new(stages: &[PathElement], load: Load) -> Self {
        let mut thinned = Self { stages: Vec::new(), places: Vec::new(), gone: Vec::new() };
        let mut held = NO_DELAY;
        let mut upstream = load.upstream();
        for (place, stage) in stages.iter().enumerate() {
            if let Some((rate, free)) = plain_port(stage)
                && upstream.is_some_and(|most| free >= most)
            {
                held.time += rate.time_for(load.packet()).unwrap_or_default();
                thinned.gone.push(rate);
                continue;
            }
            if let Some(delay) = steady_delay(stage) {
                held.time += delay.time;
                held.jitter += delay.jitter;
                continue;
            }
            if stage.during.is_some() || !stage.changes.is_empty() {
                thinned.hold(&mut held, place);
            }
            upstream = load.behind(upstream, stage);
            thinned.stages.push(stage.clone());
            thinned.places.push(place);
        }
        thinned.hold(&mut held, stages.len());
        thinned
    }

    /// The place in the whole path of a stage that is left.
    pub(crate) fn place(&self, left: usize) -> usize {
        self.places.get(left).copied().unwrap_or(usize::MAX)
    }

    /// How long the ports that are gone take to send so many bytes.
    pub(crate) fn sending(&self, bytes: ByteCount) -> Duration {
        self.gone.iter().filter_map(|rate| rate.time_for(bytes)).sum()
    }

    fn hold(&mut self, held: &mut DelaySpec, place: usize) {
        let delay = std::mem::replace(held, NO_DELAY);
        if delay != NO_DELAY {
            self.stages.push(ElementSpec::Delay(delay).into());
            self.places.push(place);
        }
    }
}

impl Load {
    fn packet(self) -> ByteCount {
        match self {
            Self::Data(bytes) => bytes,
            Self::Acknowledgements(_) => ACKNOWLEDGEMENT,
        }
    }

    /// The rate that no port has to fear, where there is one from the start.
    fn upstream(self) -> Option<DataRate> {
        match self {
            Self::Data(_) => None,
            Self::Acknowledgements(data) => Some(DataRate::from_bps(data.bps() / DATA_TO_ACKNOWLEDGEMENTS)),
        }
    }

    /// The rate at which packets leave an element at most.
    fn behind(self, upstream: Option<DataRate>, stage: &PathElement) -> Option<DataRate> {
        if matches!(self, Self::Acknowledgements(_)) {
            return upstream;
        }
        match &stage.spec {
            ElementSpec::Port(_) if stage.during.is_none() => {
                let most = most_of_port(stage);
                upstream.into_iter().chain(most).min()
            }
            ElementSpec::Shaper(_)
            | ElementSpec::Classes(_)
            | ElementSpec::Merger(_)
            | ElementSpec::Reorder(_)
            | ElementSpec::Duplicate(_) => None,
            ElementSpec::Delay(delay) if delay.order == Order::Free => None,
            _ => upstream,
        }
    }
}

/// The lowest rate that some port of a path never exceeds.
pub(crate) fn bottleneck(stages: &[PathElement]) -> Option<DataRate> {
    stages.iter().filter(|stage| stage.during.is_none()).filter_map(most_of_port).min()
}

fn most_of_port(stage: &PathElement) -> Option<DataRate> {
    let specs = std::iter::once(&stage.spec).chain(stage.changes.iter().map(|change| &change.spec));
    let rates = specs.filter_map(|spec| match spec {
        ElementSpec::Port(port) => Some(port.rate),
        _ => None,
    });
    rates.max()
}

/// The rate of a port that does nothing but hold and send, and what others leave of it.
fn plain_port(stage: &PathElement) -> Option<(DataRate, DataRate)> {
    let ElementSpec::Port(port) = &stage.spec else { return None };
    let has_discipline = port.queue.mark_above.is_some() || port.queue.red.is_some() || port.queue.codel.is_some();
    let is_constant = stage.during.is_none() && stage.changes.is_empty();
    let is_steady = |burst: &Burst| burst.length.is_none() && burst.period.is_none() && burst.start.is_zero();
    if has_discipline || !is_constant || !port.cross.bursts.iter().all(is_steady) {
        return None;
    }
    let others: u64 = port.cross.bursts.iter().map(|burst| burst.rate.bps()).sum();
    Some((port.rate, DataRate::from_bps(port.rate.bps().checked_sub(others)?)))
}

/// A delay that keeps the order, always.
fn steady_delay(stage: &PathElement) -> Option<&DelaySpec> {
    match &stage.spec {
        ElementSpec::Delay(delay)
            if stage.during.is_none() && stage.changes.is_empty() && delay.order == Order::Kept =>
        {
            Some(delay)
        }
        _ => None,
    }
}

const NO_DELAY: DelaySpec = DelaySpec { time: Duration::ZERO, jitter: Duration::ZERO, order: Order::Kept };

/// An acknowledgement of 102 bytes for each segment of 1,514, and as much again.
const DATA_TO_ACKNOWLEDGEMENTS: u64 = 7;
/// With timestamps and blocks (RFC 2018), on the link.
const ACKNOWLEDGEMENT: ByteCount = ByteCount::new(102);

#[cfg(test)]
mod tests {
    use path::elements::{CrossSpec, LossSpec, PortSpec};

    use super::*;

    fn port(mbit: u64) -> PathElement {
        let rate = DataRate::from_bps(mbit * 1_000_000);
        ElementSpec::Port(PortSpec { rate, queue: path::buffer::BufferSpec::default(), cross: CrossSpec::default() })
            .into()
    }

    fn delay(millis: u64) -> PathElement {
        let time = Duration::from_millis(millis);
        ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept }).into()
    }

    fn loss() -> PathElement {
        ElementSpec::Loss(LossSpec::Random(0.01)).into()
    }

    const PACKET: Load = Load::Data(ByteCount::new(1_250));

    #[test]
    fn ports_that_are_not_slower_than_one_before_become_time() {
        let thinned = Thinned::new(&[port(100), delay(1), port(200), loss(), delay(2), port(100)], PACKET);
        let kinds: Vec<_> = thinned.stages.iter().map(|stage| stage.spec.kind()).collect();
        assert_eq!(kinds, ["port", "loss", "delay"]);
        assert_eq!((thinned.place(0), thinned.place(1)), (0, 3), "drops keep the places of the whole path");
        // 3 ms, and 50 and 100 us for 1,250 bytes.
        assert_eq!(steady_delay(&thinned.stages[2]).map(|delay| delay.time), Some(Duration::from_micros(3_150)));
        assert_eq!(thinned.sending(ByteCount::new(1_250)), Duration::from_micros(150));
    }

    fn shared_port(mbit: u64, others: u64) -> PathElement {
        let burst = Burst {
            rate: DataRate::from_bps(others * 1_000_000),
            start: Duration::ZERO,
            length: None,
            period: None,
            jitter: Duration::ZERO,
        };
        let cross = CrossSpec { bursts: vec![burst], ..CrossSpec::default() };
        let rate = DataRate::from_bps(mbit * 1_000_000);
        ElementSpec::Port(PortSpec { rate, queue: path::buffer::BufferSpec::default(), cross }).into()
    }

    #[test]
    fn slower_ports_and_those_of_which_others_leave_too_little_stay() {
        let stages = [port(100), shared_port(105, 10), port(50), shared_port(105, 10)];
        let thinned = Thinned::new(&stages, PACKET);
        assert_eq!((0..thinned.stages.len()).map(|left| thinned.place(left)).collect::<Vec<_>>(), [0, 1, 2, 4]);
    }

    #[test]
    fn acknowledgements_wait_at_no_port_but_a_much_slower_one() {
        let load = Load::Acknowledgements(DataRate::from_bps(100_000_000));
        let thinned = Thinned::new(&[port(50), delay(5), port(10)], load);
        let kinds: Vec<_> = thinned.stages.iter().map(|stage| stage.spec.kind()).collect();
        assert_eq!(kinds, ["port", "delay"], "only the port of 10 Mbit/s is left");
        assert_eq!(thinned.place(0), 2);
    }
}
