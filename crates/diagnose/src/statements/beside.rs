//! A round, and the counters and facts of hosts that stand beside it.

use std::time::Duration;

use import::StatedRate;
use import::evidence::HostFact;
use model::counters::CounterReadings;
use model::measurement::{DirectionTotal, Heading};
use model::played::Finding;
use model::round::{Round, Tested};
use model::run::Run;
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

/// One direction of a run.
pub(super) struct Transfer<'a> {
    pub(super) run: &'a Run,
    pub(super) total: &'a DirectionTotal,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
}

fn transfers_of(tested: &Tested) -> impl Iterator<Item = Transfer<'_>> {
    let run = if let Finding::Run(run) = &tested.finding { Some(run.as_ref()) } else { None };
    let totals = run.into_iter().flat_map(|run| run.measurement.iter().map(move |found| (run, found)));
    totals.flat_map(|(run, found)| found.totals.iter().map(move |total| (run, total))).map(|(run, total)| {
        let ends = [tested.from.host.as_str(), tested.to.host.as_str()];
        let [from, to] = if total.heading == Heading::Outbound { ends } else { [ends[1], ends[0]] };
        Transfer { run, total, from, to }
    })
}

/// Whether a rate is what a limit leaves: most of it, and no more than clocks and rounding add.
pub(super) fn is_held_by(limit: DataRate, rate: DataRate) -> bool {
    rate.bps() * 5 >= limit.bps() * 3 && rate.bps() * 10 <= limit.bps() * 11
}

impl<'a> Beside<'a> {
    /// All directions of runs.
    pub(super) fn transfers(&self) -> impl Iterator<Item = Transfer<'a>> {
        self.round.tests.iter().take(MOST_TESTS).flat_map(transfers_of)
    }

    /// The rates that the text around states.
    pub(super) fn stated(&self) -> impl Iterator<Item = &'a StatedRate> {
        self.facts.iter().take(MOST_FACTS).filter_map(|(_, fact)| match fact {
            HostFact::Stated(rate) => Some(rate),
            _ => None,
        })
    }

    /// How many hosts the tests are between.
    pub(super) fn hosts(&self) -> usize {
        self.round.members.len()
    }

    /// All that was sent in tests.
    pub(super) fn sent(&self) -> Vec<Sent<'a>> {
        let mut all = self.downloaded();
        let sent = |Transfer { total, from, to, .. }: Transfer<'a>| Sent { from, to, rate: total.goodput };
        all.extend(self.transfers().map(sent));
        all
    }

    /// All that was fetched.
    pub(super) fn downloaded(&self) -> Vec<Sent<'a>> {
        let mut all = Vec::new();
        for tested in self.round.tests.iter().take(MOST_TESTS) {
            if let Finding::Downloads(downloads) = &tested.finding {
                let (from, to) = (tested.to.host.as_str(), tested.from.host.as_str());
                all.extend(downloads.iter().filter_map(|one| one.goodput).map(|rate| Sent { from, to, rate }));
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
