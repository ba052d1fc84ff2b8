//! What a fault is, and the network in which it is drawn.

use super::super::draw::{Draw, on_log, whole};
use super::super::network::Network;
use super::super::plan::{Pair, Test};

/// A fault as a file has it, and the truth of it.
#[derive(Debug, Clone)]
pub(in crate::generate) struct Planted {
    pub(in crate::generate) cause: &'static str,
    /// `host = "…"`, or `link = "…"` with or without `towards`.
    pub(in crate::generate) place: Vec<String>,
    /// The tables `[[faults]]`, without their ids; none where it is in the network itself.
    pub(in crate::generate) faults: Vec<Vec<String>>,
    /// When it begins, in parts of the tests; from the start where it is [`None`].
    pub(in crate::generate) from: Option<f64>,
    /// When it ends, in the same parts; never where it is [`None`].
    pub(in crate::generate) until: Option<f64>,
    pub(in crate::generate) severity: f64,
    /// What no other fault of the incident may touch.
    pub(in crate::generate) claims: Vec<Claim>,
}

impl Planted {
    /// The same in both directions of its link.
    pub(in crate::generate) fn both_ways(mut self) -> Self {
        self.place.retain(|key| !key.starts_with("towards"));
        self.faults.iter_mut().for_each(|fault| fault.retain(|key| !key.starts_with("towards")));
        let others: Vec<Claim> = self.claims.iter().filter_map(|claim| claim.other_direction()).collect();
        self.claims.extend(others);
        self
    }
}

/// A thing that a fault has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::generate) enum Claim {
    Host(usize),
    /// One direction of a link.
    Link(usize, usize),
}

impl Claim {
    /// The same link the other way.
    pub(in crate::generate) const fn other_direction(self) -> Option<Self> {
        match self {
            Self::Host(_) => None,
            Self::Link(link, direction) => Some(Self::Link(link, 1 - direction)),
        }
    }
}

/// What a fault is drawn in.
pub(in crate::generate) struct Ground<'a> {
    pub(in crate::generate) network: &'a mut Network,
    pub(in crate::generate) pairs: &'a [Pair],
    pub(in crate::generate) tests: &'a mut Vec<Test>,
    pub(in crate::generate) draw: &'a mut Draw,
}

/// A host at an end of a tested pair, and its link there.
pub(super) struct HostEnd {
    pub(super) number: usize,
    pub(super) pair: Pair,
    pub(super) is_sender: bool,
    pub(super) host: usize,
    pub(super) link: usize,
    /// Of the data.
    pub(super) direction: usize,
}

impl Ground<'_> {
    pub(super) fn pair(&mut self) -> (usize, Pair) {
        let number = self.draw.below(self.pairs.len());
        (number, self.pairs[number].clone())
    }

    /// A link on the path of a tested pair, with the direction of the data.
    pub(super) fn on_path(&mut self) -> (usize, Pair, usize, usize) {
        let (number, pair) = self.pair();
        let (link, direction) = pair.path[self.draw.below(pair.path.len())];
        (number, pair, link, direction)
    }

    pub(super) fn towards(&self, [link, direction]: [usize; 2]) -> String {
        let link = &self.network.links[link];
        self.network.hosts[link.ends[1 - direction]].name.clone()
    }

    /// When a fault begins that can be there from the start.
    pub(super) fn begins(&mut self) -> Option<f64> {
        self.draw.is(0.2).then(|| self.draw.between([0.3, 0.6]))
    }

    /// A fault on one direction of a link.
    pub(super) fn on_link(
        &mut self,
        cause: &'static str,
        [link, direction]: [usize; 2],
        severity: f64,
        what: Vec<String>,
    ) -> Planted {
        let place = vec![
            format!("link = \"{}\"", self.network.links[link].name),
            format!("towards = \"{}\"", self.towards([link, direction])),
        ];
        let fault = place.iter().cloned().chain(what).collect();
        let from = self.begins();
        let claims = vec![Claim::Link(link, direction)];
        Planted { cause, place, faults: vec![fault], from, until: None, severity, claims }
    }

    pub(super) fn on_host(&mut self, cause: &'static str, host: usize, severity: f64, what: Vec<String>) -> Planted {
        let place = vec![format!("host = \"{}\"", self.network.hosts[host].name)];
        let fault = place.iter().cloned().chain(what).collect();
        let claims = vec![Claim::Host(host)];
        Planted { cause, place, faults: vec![fault], from: None, until: None, severity, claims }
    }

    /// The port of a link with other settings.
    pub(super) fn port(&self, link: usize, rate: f64, queue: &str) -> Vec<String> {
        let cross = self.network.links[link].cross_setting();
        vec![format!("set = {{ port = {{ rate = \"{}kbit/s\", queue = {{ {queue} }}{cross} }} }}", whole(rate / 1e3))]
    }

    /// The port of a link that marks packets from a queue of some kilobytes on.
    pub(super) fn marking(&self, link: usize, [rate, severity]: [f64; 2]) -> Vec<String> {
        let (bytes, above) = (whole(self.network.links[link].queue), whole(on_log(severity, [60.0, 2.0])));
        self.port(link, rate, &format!("bytes = \"{bytes}B\", mark-above = \"{above}kB\""))
    }

    /// An end of a tested pair.
    pub(super) fn host_end(&mut self) -> Option<HostEnd> {
        let (number, pair) = self.pair();
        let is_sender = self.draw.is(0.5);
        let (host, end) = if is_sender { (pair.from, pair.path.first()) } else { (pair.to, pair.path.last()) };
        let (link, direction) = *end?;
        Some(HostEnd { number, pair, is_sender, host, link, direction })
    }

    /// What is known of the devices of other hosts, in half of the incidents.
    pub(super) fn record_peers(&mut self, host: usize, facts: &[&str]) {
        if self.draw.is(0.5) {
            return;
        }
        for other in self.network.testing().into_iter().filter(|other| *other != host) {
            let _is_recorded = self.network.record_first(other, facts);
        }
    }
}
