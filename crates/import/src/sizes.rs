//! Echoes of several sizes that may not be fragmented, to one host: together a search for the path MTU.

use std::collections::{BTreeMap, BTreeSet};

use model::probe::echo::{EchoSeries, Fragments};
use model::probe::path_mtu::{MtuLimit, SizeVerdict, TriedSize};

use super::evidence::{Evidence, Shown, search};

/// What the sizes say together.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// A search for each host to which small packets pass and large ones do not.
    pub(crate) found: Vec<Evidence>,
    /// Indices of the echoes that were too large: the search stands in their place.
    pub(crate) replaced: BTreeSet<usize>,
}

/// A series of echoes and its place among what the file shows.
type Numbered<'a> = (usize, &'a EchoSeries);

/// All searches among what a file shows.
pub(crate) fn searches(evidence: &[Evidence]) -> Searches {
    let mut series: BTreeMap<(Option<&str>, &str), Vec<Numbered<'_>>> = BTreeMap::new();
    for (index, item) in evidence.iter().enumerate() {
        if let Shown::Echo(echoes) = &item.shows
            && echoes.spec.fragments == Fragments::Forbidden
            && echoes.summary.rtt.sent.get() > 0
        {
            let of_host = series.entry((item.host.as_deref(), &echoes.subject.target)).or_default();
            of_host.push((index, echoes));
        }
    }
    let mut all = Searches::default();
    for of_host in series.values() {
        all.add(evidence, of_host);
    }
    all
}

impl Searches {
    fn add(&mut self, evidence: &[Evidence], series: &[Numbered<'_>]) {
        let answered = |echoes: &EchoSeries| echoes.summary.rtt.lost < echoes.summary.rtt.sent;
        let passing = series.iter().filter(|(_, echoes)| answered(echoes)).map(|(_, echoes)| size(echoes)).max();
        let failing = series.iter().filter(|(_, echoes)| !answered(echoes));
        let Some(largest) = passing else { return };
        // A size that was lost once and passed another time is loss, and no limit.
        let too_large: Vec<_> = failing.filter(|(_, echoes)| size(echoes) > largest).collect();
        let sent: u64 = too_large.iter().map(|(_, echoes)| echoes.summary.rtt.sent.get()).sum();
        let (Some((first, one)), true) = (too_large.first(), sent >= FEWEST) else { return };
        let is_reported = too_large.iter().any(|(_, echoes)| echoes.summary.reported.get() > 0);
        let limit = if is_reported { MtuLimit::Told { reporter: None, told: None } } else { MtuLimit::Silent };
        let mut sizes: Vec<TriedSize> = series.iter().map(|(_, echoes)| tried(echoes)).collect();
        sizes.sort_by_key(|tried| tried.packet_bytes);
        let shows = Shown::PathMtu(search(one.subject.clone(), largest, limit, sizes));
        let Evidence { line, host, .. } = &evidence[*first];
        self.found.push(Evidence { line: *line, host: host.clone(), shows });
        self.replaced.extend(too_large.iter().map(|(index, _)| *index));
    }
}

/// Fewer echoes that are lost may be chance.
const FEWEST: u64 = 3;

/// Bytes of the whole packet, with the headers of IPv4 and ICMP.
fn size(echoes: &EchoSeries) -> u32 {
    u32::from(echoes.spec.payload_bytes) + 28
}

fn tried(echoes: &EchoSeries) -> TriedSize {
    let rtt = &echoes.summary.rtt;
    let few = |count: u64| u8::try_from(count).unwrap_or(u8::MAX);
    let verdict = match (rtt.lost < rtt.sent, echoes.summary.reported.get()) {
        (true, _) => SizeVerdict::Arrives,
        (false, 0) => SizeVerdict::Silent,
        (false, _) => SizeVerdict::Told { reporter: None, told: None },
    };
    TriedSize {
        packet_bytes: size(echoes),
        sent: few(rtt.sent.get()),
        answered: few(rtt.sent.get() - rtt.lost.get()),
        verdict,
    }
}
