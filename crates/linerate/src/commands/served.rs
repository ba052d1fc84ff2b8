//! What `linerate serve` counts for Prometheus.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use linux::clock;
use measure::metrics::{Exposition, Family, Labelled};
use measure::serve::{Event, ServedTest};
use model::run::Outcome;
use model::spec::Protocol;
use units::{ByteCount, WallTime};

/// Tests since the start.
#[derive(Debug)]
pub struct Served {
    since: WallTime,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// By protocol and outcome.
    tests: BTreeMap<(&'static str, &'static str), u64>,
    running: u64,
    refused: u64,
    odd_connections: u64,
    sent: u64,
    received: u64,
}

impl Default for Served {
    fn default() -> Self {
        Self { since: clock::wall_now(), counts: Mutex::default() }
    }
}

impl Served {
    /// Counts what happened.
    pub fn count(&self, event: &Event) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started { .. } => counts.running += 1,
            Event::Refused { .. } => counts.refused += 1,
            Event::Nuisance { .. } => counts.odd_connections += 1,
            Event::Finished(test) => counts.finished(test),
            _ => {}
        }
    }

    /// All of it.
    pub fn numbers(&self) -> Exposition {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = Exposition::default();
        let tests = counts.tests.iter().map(|((protocol, outcome), count)| Labelled {
            labels: vec![("protocol", (*protocol).to_owned()), ("outcome", (*outcome).to_owned())],
            value: *count,
        });
        let family = |name, help| Family { name, help };
        text.counters(
            family("linerate_serve_tests_total", "Tests that are over, by protocol and outcome"),
            &tests.collect::<Vec<_>>(),
        );
        text.gauge(family("linerate_serve_running_tests", "Tests under way"), counts.running);
        text.counter(family("linerate_serve_refused_tests_total", "Tests that were not let in"), counts.refused);
        let help = "Connections that were no test";
        text.counter(family("linerate_serve_odd_connections_total", help), counts.odd_connections);
        text.counter(family("linerate_serve_sent_bytes_total", "Payload that tests sent"), counts.sent);
        text.counter(family("linerate_serve_received_bytes_total", "Payload that tests received"), counts.received);
        text.moment(family("linerate_serve_start_time_seconds", "When it started"), self.since);
        text
    }
}

impl Counts {
    fn finished(&mut self, test: &ServedTest) {
        let protocol = match test.spec.protocol {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        };
        let outcome = if test.outcome == Outcome::Complete { "complete" } else { "failed" };
        *self.tests.entry((protocol, outcome)).or_default() += 1;
        // One that was refused has not been under way.
        self.running = self.running.saturating_sub(1);
        let totals = test.measurement.iter().flat_map(|found| &found.totals);
        for total in totals {
            let bytes = |count: Option<ByteCount>| count.map_or(0, ByteCount::get);
            match total.heading {
                model::measurement::Heading::Outbound => self.sent += bytes(total.sent),
                model::measurement::Heading::Inbound => self.received += bytes(total.received),
            }
        }
    }
}
