//! What a file says of its tests beside their output: rates that its text states, and RTTs of echoes to the same hosts.

use std::net::IpAddr;
use std::time::Duration;

use model::spec::Protocol;

use super::{Source, UserFacts};
use crate::Imported;
use crate::evidence::Shown;
use crate::parsed::host_of;
use crate::stated_rate::StatedTargets;

impl Source {
    /// What the text states that transfers should reach.
    pub(super) fn stated(&self) -> StatedTargets {
        if self.import.stated_rates.is_empty() {
            return StatedTargets::default();
        }
        let tests = self.import.tests.iter().filter_map(|test| test.measurement.as_ref());
        let tested = tests.flat_map(|found| &found.totals).map(|total| total.goodput);
        let moved = self.import.evidence.iter().filter_map(|item| match &item.shows {
            Shown::Transfer(one) => Some(one.rate),
            Shown::Download(one) => one.goodput,
            _ => None,
        });
        StatedTargets::of(&self.import.stated_rates, tested.chain(moved).max())
    }

    /// The least RTT of the only host that echoes were sent to.
    pub(super) fn only_echoed(&self) -> Option<Duration> {
        let mut all = self.import.evidence.iter().filter_map(|item| match &item.shows {
            Shown::Echo(series) => Some((&series.subject.target, series.summary.rtt.min_us?)),
            _ => None,
        });
        let (host, first) = all.next()?;
        let least = all.try_fold(first, |least, (other, rtt)| (other == host).then_some(least.min(rtt)))?;
        Some(Duration::from_micros(least))
    }

    /// With what the text states. It says how fast files and streams should be, and datagrams are sent as fast as a test asks for.
    pub(super) fn facts_of(&self, test: &Imported, facts: &UserFacts) -> UserFacts {
        let heading = test.measurement.as_ref().and_then(|found| found.totals.first()).map(|total| total.heading);
        match heading {
            Some(heading) if test.spec.protocol == Protocol::Tcp => facts.with_stated(self.stated(), heading),
            _ => facts.clone(),
        }
    }

    /// The least RTT of echoes to the peer of a test, and the line at which they stand: by the name that both have for it, or by its
    /// address.
    pub(super) fn pinged(&self, test: &Imported) -> Option<(usize, Duration)> {
        let flows = test.measurement.iter().flat_map(|found| &found.flows);
        let addresses: Vec<IpAddr> = flows.filter_map(|flow| host_of(&flow.peer_address).parse().ok()).collect();
        self.import.evidence.iter().find_map(|item| {
            let Shown::Echo(series) = &item.shows else { return None };
            let address = series.subject.address;
            let is_peer = test.peer.target == series.subject.target
                || address.is_some_and(|address| addresses.contains(&address));
            let least = series.summary.rtt.min_us.filter(|_| is_peer)?;
            Some((item.line, Duration::from_micros(least)))
        })
    }
}
