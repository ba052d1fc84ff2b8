//! A transfer allocates nothing for a segment, once it has been through what it goes through.

use crate::support::flow;
use sim::Algorithm;
use sim::flow::Run;
use sim::sender::Amount;
use units::{ByteCount, PacketCount};

#[test]
fn no_segment_costs_an_allocation() {
    let there = r#"{ port = { rate = "1Gbit/s", queue = { bytes = "2MB" } } }, { loss = { every-nth = 1000 } }, { delay = { time = "10ms" } }"#;
    for algorithm in Algorithm::ALL {
        let flow = flow(algorithm, there, r#"{ delay = { time = "10ms" } }"#, Amount::Bytes(ByteCount::new(1 << 30)));
        let mut run = Run::new(&flow).unwrap();
        run.go_on_until(PacketCount::new(60_000));
        let allocated = allocation_counter::measure(|| run.go_on_until(PacketCount::new(120_000)));
        assert_eq!(allocated.count_total, 0, "{}: {allocated:?}", algorithm.name());
        assert!(run.outcome().retransmits.get() >= 100, "losses are among what it went through");
    }
}
