//! A round, and the counters and facts of hosts that stand beside it.

use std::time::Duration;

use import::evidence::HostFact;
use model::counters::CounterReadings;
use model::measurement::Heading;
use model::played::Finding;
use model::round::Round;
use units::DataRate;

/// Counters of a host that belong to no run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostCounters {
    /// The host, where it is known.
    pub host: Option<String>,
    /// What they counted.
    pub readings: CounterReadings,
}

/// A round, and what stands beside it.
pub(super) struct Beside<'a> {
    pub(super) round: &'a Round,
    pub(super) counters: &'a [HostCounters],
    pub(super) facts: &'a [(Option<String>, HostFact)],
}

/// A host as it is called where nobody names it.
pub(super) fn named(host: Option<&String>) -> &str {
    host.map_or("this host", String::as_str)
}

/// What was sent by one host to another in one direction of a test.
pub(super) struct Sent<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) rate: DataRate,
}

impl<'a> Beside<'a> {
    /// All that was sent in tests.
    pub(super) fn sent(&self) -> Vec<Sent<'a>> {
        let mut all = Vec::new();
        for tested in self.round.tests.iter().take(MOST_TESTS) {
            if let Finding::Downloads(downloads) = &tested.finding {
                let (from, to) = (tested.to.host.as_str(), tested.from.host.as_str());
                all.extend(downloads.iter().filter_map(|one| one.goodput).map(|rate| Sent { from, to, rate }));
            }
            let Finding::Run(run) = &tested.finding else { continue };
            for total in run.measurement.iter().flat_map(|found| &found.totals) {
                let ends = (tested.from.host.as_str(), tested.to.host.as_str());
                let (from, to) = if total.heading == Heading::Outbound { ends } else { (ends.1, ends.0) };
                all.push(Sent { from, to, rate: total.goodput });
            }
        }
        all
    }

    /// The time between two readings of a device's counters, where the command that read them has it.
    pub(super) fn interval_of(&self, device: &str) -> Option<Duration> {
        self.facts.iter().take(MOST_FACTS).find_map(|(_, fact)| match fact {
            HostFact::CounterInterval { device: of, time } if of.as_deref().is_none_or(|of| of == device) => {
                Some(*time)
            }
            _ => None,
        })
    }

    /// All readings of counters, of hosts and of tests.
    pub(super) fn readings(&self) -> Vec<&'a CounterReadings> {
        let of_tests = self.round.tests.iter().take(MOST_TESTS).filter_map(|tested| match &tested.finding {
            Finding::Run(run) => run.measurement.as_ref(),
            _ => None,
        });
        let of_tests = of_tests.flat_map(|found| found.local_counters.iter().chain(&found.peer_counters));
        self.counters.iter().map(|host| &host.readings).chain(of_tests).collect()
    }
}

/// A mesh of a hundred hosts has ten thousand tests.
const MOST_TESTS: usize = 1_000;

/// A kernel's log of a link that comes and goes has as many.
pub(super) const MOST_FACTS: usize = 10_000;
