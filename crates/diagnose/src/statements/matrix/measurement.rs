//! A measurement with all its labels, from runs and from what the text around them says.

use std::time::Duration;

use import::evidence::HostFact;
use import::figures::{Figure, FigureSource, FigureValue, LostKind, Thing, Towards};
use model::measurement::{DirectionTotal, Heading, SteadyState};
use model::played::Finding;
use model::run::Run;
use model::series::RunSamples;
use model::spec::{Limit, Protocol};
use predict::physics::facts::rtt;
use predict::physics::{LossVerdict, LossWitness, RttSource};
use units::DataRate;

use super::super::beside::{Beside, MOST_FACTS};
use super::super::statement::ratio;

/// One direction of one run, with its labels.
pub(super) struct Measurement<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) run: &'a Run,
    pub(super) total: &'a DirectionTotal,
    pub(super) samples: Option<&'a RunSamples>,
    /// The same in the text, with its line and what the words above it say.
    pub(super) figure: Option<&'a Figure>,
    /// The least RTT that is known, not reckoned from the window.
    pub(super) rtt: Option<Duration>,
    /// What losses allow, where they explain the rate.
    pub(super) by_loss: Option<String>,
}

/// When an RTT was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RttMoment {
    /// While nothing else was sent.
    Idle,
    /// Beside a flow.
    Loaded,
}

/// All measurements of a round, and the figures of the text around them.
pub(super) struct Matrix<'a> {
    pub(super) all: Vec<Measurement<'a>>,
    pub(super) figures: Vec<&'a Figure>,
    pub(super) beside: &'a Beside<'a>,
}

impl<'a> Matrix<'a> {
    pub(super) fn of(beside: &'a Beside<'a>) -> Self {
        let figures: Vec<&Figure> = beside
            .facts
            .iter()
            .take(MOST_FACTS)
            .filter_map(|(_, fact)| if let HostFact::Figures(list) = fact { Some(list) } else { None })
            .flatten()
            .collect();
        let mut all = Vec::new();
        let mut taken: Vec<usize> = Vec::new();
        for tested in beside.round.tests.iter().take(MOST_TESTS) {
            let Finding::Run(run) = &tested.finding else { continue };
            for total in run.measurement.iter().flat_map(|found| &found.totals) {
                let ends = [tested.from.host.as_str(), tested.to.host.as_str()];
                let [from, to] = if total.heading == Heading::Outbound { ends } else { [ends[1], ends[0]] };
                let at = figures
                    .iter()
                    .enumerate()
                    .position(|(at, figure)| !taken.contains(&at) && is_of(figure, run, total));
                taken.extend(at);
                // Rows without the lines above them go the way that the words above say.
                let is_turned = is_nameless(run) && at.is_some_and(|at| figures[at].of.towards != Some(towards(total)));
                let [from, to] = if is_turned { [to, from] } else { [from, to] };
                let rtt = rtt(run, total).filter(|rtt| rtt.source != RttSource::WindowOverRate).map(|rtt| rtt.low);
                all.push(Measurement {
                    from,
                    to,
                    run,
                    total,
                    samples: tested.samples.as_deref(),
                    figure: at.map(|at| figures[at]),
                    rtt,
                    by_loss: by_loss(run, total),
                });
            }
        }
        name_ends(&mut all);
        Self { all, figures, beside }
    }

    /// Each pair of hosts in each direction once, in the order in which they were tested.
    pub(super) fn pairs(&self) -> Vec<[&'a str; 2]> {
        let mut pairs: Vec<[&str; 2]> = Vec::new();
        for one in &self.all {
            let pair = [one.from, one.to];
            if one.from != one.to && !pairs.contains(&pair) && pairs.len() < MOST_PAIRS {
                pairs.push(pair);
            }
        }
        pairs
    }

    /// All of a pair.
    pub(super) fn of_pair(&self, [from, to]: [&str; 2]) -> Vec<&Measurement<'a>> {
        self.all.iter().filter(|one| one.from == from && one.to == to).collect()
    }

    /// The figures that have a value of one kind.
    pub(super) fn rtts(&self, moment: RttMoment) -> impl Iterator<Item = Duration> {
        self.figures.iter().filter(move |figure| figure.of.loaded == Some(moment == RttMoment::Loaded)).filter_map(
            |figure| match figure.value {
                FigureValue::Rtt(rtt) => Some(rtt),
                _ => None,
            },
        )
    }

    /// Rates at which people say that datagrams were sent, and the part that was lost.
    pub(super) fn stated_losses(&self) -> impl Iterator<Item = (DataRate, f64)> {
        self.figures.iter().filter_map(|figure| match figure.value {
            FigureValue::Lost(LostKind::Lost, parts) => Some((figure.of.offered?, f64::from(parts) / 1e6)),
            _ => None,
        })
    }

    /// Whether a host or its radio is known to be the limit: then a rate that nothing exceeds is none of the path's.
    pub(super) fn is_of_host(&self) -> bool {
        self.beside.facts.iter().take(MOST_FACTS).any(|(_, fact)| match fact {
            HostFact::Cpu(shares) => {
                let is_used = |idle: Option<u32>| idle.is_some_and(|idle| idle <= USED_UP);
                is_used(shares.idle) || is_used(shares.idle_of_one) || shares.steal.is_some_and(|steal| steal >= STOLEN)
            }
            HostFact::BusyProgram(_) | HostFact::Radio(_) => true,
            _ => false,
        })
    }

    /// Whether a rate is what a link of a usual speed carries.
    pub(super) fn is_of_link(&self, rate: DataRate) -> bool {
        let links = self.beside.facts.iter().take(MOST_FACTS).filter_map(|(_, fact)| match fact {
            HostFact::Link(link) => link.rate,
            _ => None,
        });
        let usual = [100_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000].map(DataRate::from_bps);
        links.chain(usual).any(|link| rate.share_of(link).is_some_and(|part| (0.93..=1.0).contains(&part)))
    }

    /// Commands that change something, in their order.
    pub(super) fn changes(&self) -> impl Iterator<Item = &'a Figure> {
        self.figures.iter().filter(|figure| figure.value == FigureValue::Changed).copied()
    }
}

/// Of a text about one pair of hosts, gives the tests whose ends nobody printed the names that others print.
fn name_ends(all: &mut [Measurement<'_>]) {
    let is_named = |host: &str| host != NOBODY && host != UNKNOWN;
    let mut pair: Option<[&str; 2]> = None;
    for one in all.iter().filter(|one| is_named(one.from) && is_named(one.to)) {
        let of_host = one.total.heading == Heading::Outbound;
        let ends = if of_host { [one.from, one.to] } else { [one.to, one.from] };
        if pair.is_some_and(|pair| pair != ends) {
            return;
        }
        pair = Some(ends);
    }
    let Some([own, peer]) = pair else { return };
    for one in all {
        let named = |host: &'_ str| match host {
            NOBODY => Some(own),
            UNKNOWN => Some(peer),
            _ => None,
        };
        let [from, to] = [named(one.from), named(one.to)];
        let [from, to] = [from.unwrap_or(one.from), to.unwrap_or(one.to)];
        if from != to {
            (one.from, one.to) = (from, to);
        }
    }
}

/// What hosts are called of which no output prints a name.
const NOBODY: &str = "this host";
const UNKNOWN: &str = "unknown";

/// Of a CPU's time, in hundredths of a percent.
const USED_UP: u32 = 400;
const STOLEN: u32 = 1_500;

/// A mesh of a hundred hosts has ten thousand pairs of tests; it is weighed as a whole.
const MOST_TESTS: usize = 60;
const MOST_PAIRS: usize = 12;

/// Whether a figure is of this direction of this run.
fn is_of(figure: &Figure, run: &Run, total: &DirectionTotal) -> bool {
    figure.source == FigureSource::Output
        && figure.of.streams.is_none_or(|streams| streams == run.spec.streams)
        && figure.of.protocol == Some(run.spec.protocol)
        && (is_nameless(run) || figure.of.towards == Some(towards(total)))
        && figure.reached().is_some_and(|rate| rate.bps().abs_diff(total.goodput.bps()) * 20 <= total.goodput.bps())
}

fn towards(total: &DirectionTotal) -> Towards {
    if total.heading == Heading::Outbound { Towards::Up } else { Towards::Down }
}

/// Whether nothing says whom it was with.
fn is_nameless(run: &Run) -> bool {
    run.command.is_empty() && run.peer.target == "unknown"
}

fn by_loss(run: &Run, total: &DirectionTotal) -> Option<String> {
    let witness = LossWitness::of(run, total)?;
    let is_known = witness.facts.rtt.source != RttSource::WindowOverRate;
    let explains = witness.verdict == LossVerdict::Explains && witness.facts.retransmits >= FEWEST_LOST;
    (explains && is_known).then(|| witness.to_string())
}

/// Fewer losses may be one event of a queue.
const FEWEST_LOST: u64 = 3;

impl Measurement<'_> {
    pub(super) fn is_tcp(&self) -> bool {
        self.run.spec.protocol == Protocol::Tcp
    }

    /// Whether both were sent from one address: a text may name a host in one place only.
    pub(super) fn shares_address(&self, other: &Self) -> bool {
        let address = |one: &Self| {
            let flow = one.run.measurement.as_ref()?.flows.first()?;
            flow.local_address.rsplit_once(':').map(|(address, _)| address.to_owned())
        };
        address(self).is_some_and(|own| Some(own) == address(other))
    }

    /// Whether both ends are in one LAN, by the RTT or by their addresses.
    pub(super) fn is_near(&self) -> bool {
        let network = |address: &str| {
            let address = address.rsplit_once(':').map_or(address, |(address, _)| address);
            address
                .parse::<std::net::Ipv4Addr>()
                .ok()
                .filter(std::net::Ipv4Addr::is_private)
                .map(|address| address.octets()[..3].to_vec())
        };
        let flow = self.run.measurement.iter().flat_map(|found| &found.flows).next();
        let is_one = flow.is_some_and(|flow| {
            let own = network(&flow.local_address);
            own.is_some() && own == network(&flow.peer_address)
        });
        self.rtt.map_or(is_one, |rtt| rtt <= LAN)
    }

    /// A test of memory to memory, and no copy of files.
    pub(super) fn is_test(&self) -> bool {
        !(matches!(self.run.spec.limit, Limit::Bytes(_)) && self.run.command.is_empty())
    }

    pub(super) fn streams(&self) -> u16 {
        self.run.spec.streams
    }

    pub(super) fn rate(&self) -> DataRate {
        self.total.goodput
    }

    /// The rate once it had started.
    pub(super) fn steady(&self) -> DataRate {
        match self.total.steady {
            SteadyState::Reached { goodput, .. } => goodput.max(self.total.goodput),
            _ => self.total.goodput,
        }
    }

    /// The rate at which it was sent, of datagrams.
    pub(super) fn offered(&self) -> DataRate {
        let sent = self.total.sent.and_then(|sent| DataRate::of(sent, self.total.elapsed));
        self.run.spec.rate.or(sent).unwrap_or(self.total.goodput)
    }

    /// The part of datagrams that was lost.
    pub(super) fn lost(&self) -> Option<f64> {
        let counts = self.total.datagrams.filter(|counts| counts.sent.get() >= FEWEST_DATAGRAMS)?;
        Some(ratio([counts.lost.get(), counts.sent.get()]))
    }

    pub(super) fn retransmits(&self) -> Option<u64> {
        self.total.retransmits.map(units::PacketCount::get)
    }

    /// The part of segments that was retransmitted.
    pub(super) fn again(&self) -> Option<f64> {
        let sent = self.total.sent.or(self.total.received)?.get() / SEGMENT;
        Some(ratio([self.retransmits()?, sent.max(1)]))
    }

    /// Whether it kept to a rate, by its own option or by a shaper that the words above it name.
    pub(super) fn is_paced(&self) -> bool {
        let named = |thing: Thing| {
            self.figure.is_some_and(|figure| figure.of.marks.iter().any(|mark| mark.thing == thing && mark.on))
        };
        self.run.spec.pace.is_some()
            || self.is_tcp() && self.run.spec.rate.is_some()
            || named(Thing::Pacing)
            || named(Thing::Shaper)
    }

    /// The line at which the text has it.
    pub(super) fn line(&self) -> Option<usize> {
        self.figure.map(|figure| figure.line)
    }

    /// The RTTs of its samples, the median.
    pub(super) fn sampled_rtt(&self) -> Option<Duration> {
        let found = self.run.measurement.as_ref()?;
        if let Some(loaded) = found.latency.as_ref().and_then(|latency| latency.loaded) {
            return loaded.median_us.or(loaded.min_us).map(Duration::from_micros);
        }
        let mut rtts: Vec<Duration> =
            found.intervals.iter().filter_map(|one| one.rtt).filter(|rtt| !rtt.is_zero()).collect();
        rtts.sort_unstable();
        rtts.get(rtts.len() / 2).copied()
    }

    /// Least and most of the congestion window of its intervals.
    pub(super) fn window(&self) -> Option<[u64; 2]> {
        let found = self.run.measurement.as_ref()?;
        let windows =
            || found.intervals.iter().filter_map(|one| one.cwnd).map(units::ByteCount::get).filter(|bytes| *bytes > 0);
        Some([windows().min()?, windows().max()?])
    }

    /// Whether its intervals have the same rate, the first and the last left out.
    pub(super) fn is_even(&self) -> bool {
        let found = self.run.measurement.iter().flat_map(|found| &found.intervals);
        let rates: Vec<u64> = found.filter(|one| one.heading == self.total.heading).map(|one| one.rate.bps()).collect();
        let Some(inner) = rates.get(1..rates.len().saturating_sub(1)).filter(|inner| inner.len() >= FEW_INTERVALS)
        else {
            return false;
        };
        let (least, most) = (inner.iter().min().copied().unwrap_or(0), inner.iter().max().copied().unwrap_or(0));
        least * 100 >= most * EVEN
    }
}

/// Farther hosts may have an access line between them.
const LAN: Duration = Duration::from_millis(3);
const FEWEST_DATAGRAMS: u64 = 200;
const FEW_INTERVALS: usize = 3;
/// Of a hundred, what the slowest interval has of the fastest.
const EVEN: u64 = 94;
/// Payload of an Ethernet frame.
const SEGMENT: u64 = 1448;
