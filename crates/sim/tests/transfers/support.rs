//! Paths and hosts for the tests.

use std::time::Duration;

use path::{ElementSpec, PathElement, Seed};
use sim::flow::{Flow, Outcome};
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, SenderSpec};
use sim::{Algorithm, Sample};
use units::{ByteCount, DataRate, Mtu};

/// Elements as they are written in files: `{ delay = { time = "50ms" } }, ...`.
pub(crate) fn stages(elements: &str) -> Vec<PathElement> {
    #[derive(serde::Deserialize)]
    struct Elements {
        chain: Vec<ElementSpec>,
    }
    let read: Elements = toml::from_str(&format!("chain = [{elements}]")).unwrap();
    read.chain.into_iter().map(PathElement::from).collect()
}

/// A tuned pair of hosts on a path of these elements; the way back has `back`.
pub(crate) fn flow(algorithm: Algorithm, there: &str, back: &str, amount: Amount) -> Flow {
    Flow {
        forward: stages(there),
        reverse: stages(back),
        sender: SenderSpec {
            buffer: ByteCount::new(1 << 30),
            ..SenderSpec::linux(algorithm, Mtu::new(1_500).unwrap())
        },
        receiver: ReceiverSpec { buffer: ByteCount::new(2 << 30), ..ReceiverSpec::linux() },
        amount,
        seed: Seed(1),
        time_limit: Duration::from_secs(3_600),
        sample_every: Duration::from_millis(100),
    }
}

/// The transfer of the account of microbursts: 13 GiB in jumbo frames, the first window of 1,000, a send buffer of 1 GiB.
pub(crate) fn long_haul(rtt_ms: u64) -> Flow {
    let half = format!("{{ delay = {{ time = \"{}us\" }} }}", rtt_ms * 500);
    let there = format!("{{ port = {{ rate = \"100Gbit/s\", queue = {{ bytes = \"20MB\" }} }} }}, {half}");
    let mut flow = flow(Algorithm::Htcp, &there, &half, Amount::Bytes(ByteCount::new(13 << 30)));
    flow.sender.mtu = Mtu::new(9_200).unwrap();
    flow.sender.initial_window = 1_000;
    flow.sender.processor_rate = Some(DataRate::from_bps(60_000_000_000));
    flow
}

/// A sample at or after an instant.
pub(crate) fn sample(outcome: &Outcome, at: Duration) -> Sample {
    *outcome.samples.iter().find(|sample| sample.at >= at).unwrap()
}

/// Payload a second between two instants.
pub(crate) fn rate_between(outcome: &Outcome, from: Duration, to: Duration) -> f64 {
    let (first, last) = (sample(outcome, from), sample(outcome, to));
    let bytes = last.acked.get() - first.acked.get();
    f64::from(u32::try_from(bytes / 1_000).unwrap()) * 8_000.0 / (last.at - first.at).as_secs_f64()
}

/// Whether two values differ by no more than a share of the second.
pub(crate) fn is_within(share: f64, value: f64, expected: f64) -> bool {
    (value - expected).abs() <= share * expected
}
