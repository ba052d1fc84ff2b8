//! Readers of what is watched without testing.

use passive::int::collector::{Collector, FirstOfDatagram};
use passive::int::decode;

/// Telemetry reports of switches: an error lies within the datagram, and sums stay what was handed over.
pub fn int_report(bytes: &[u8]) {
    let mut collector = Collector::new();
    let mut reports = 0_u64;
    let decoded = decode::datagram(bytes, |report| {
        reports += 1;
        assert!(report.hops.len() <= 256, "{} hops", report.hops.len());
        collector.report(&report, if reports == 1 { FirstOfDatagram::Yes } else { FirstOfDatagram::No });
    });
    if let Err(error) = decoded {
        assert!(error.at <= bytes.len(), "{error} of {} bytes", bytes.len());
    }
    let interval = collector.take_interval(None);
    assert_eq!(interval.reports, reports);
    assert_eq!(interval.senders.iter().map(|sender| sender.datagrams).sum::<u64>(), u64::from(reports > 0));
}
