//! The grids of a mesh with more pairs than a page can read results of: of the latest value of each series alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use diagnose::grid::MOST_GRID_HOSTS;
use mesh::clock;
use mesh::incident::Metric;
use model::run::RunId;
use units::WallTime;
use web::view::matrix::{Frame, Matrix, Unit};
use web::view::round::{HostLine, RoundOutline};

use super::latest::{Known, Name, Recent, SeriesKey};
use crate::schedule::planned::Planned;
use crate::watching::oldest_latest;

/// The round of the latest results, without them.
pub(super) fn outline(known: &Known, planned: &Planned, counted: Counted, now: WallTime) -> RoundOutline {
    let Counted { id, started, tests } = counted;
    let oldest = oldest_latest(planned, now);
    let plan = planned.plan();
    let grids = Grids::new(known, planned);
    let matrices = METRICS.iter().flat_map(|metric| grids.of_metric(known, *metric, oldest)).collect();
    RoundOutline {
        id,
        title: plan.title.clone(),
        started,
        elapsed: known.newest.map_or(Duration::ZERO, |newest| clock::between(started, newest)),
        tests,
        hosts: (0..plan.hosts.len()).map(|host| HostLine::of(&plan.member(host))).collect(),
        segments: plan.round_segments(),
        matrices,
    }
}

/// What has been counted of the latest results: of a million that takes as long as a grid of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    /// The name of the round.
    pub(super) id: RunId,
    /// When the oldest result was measured.
    pub(super) started: WallTime,
    /// How many results there are.
    pub(super) tests: usize,
}

/// Names of series as the plan has them.
struct Grids<'a> {
    planned: &'a Planned,
    /// The host of the plan, by the number of its name.
    hosts: Vec<Option<usize>>,
    /// The test of the plan, by the number of its label.
    tests: Vec<Option<usize>>,
}

/// Hosts of the plan that stand in a grid.
struct GridHosts {
    shown: Vec<usize>,
    /// How many more have results.
    left_out: usize,
}

/// What is measured of a pair: the value, and the part of what it should be, NaN where that is not known.
#[derive(Debug, Clone, Copy)]
struct Cell {
    value: f64,
    part: f64,
}

/// A series in the numbers of the plan.
#[derive(Debug, Clone, Copy)]
struct Place {
    test: usize,
    from: usize,
    to: usize,
}

/// What is measured of a series, in the numbers of the plan: a mesh has a million.
#[derive(Debug, Clone, Copy)]
struct Found {
    test: u32,
    /// Who sends, and who receives.
    ends: [u32; 2],
    cell: Cell,
}

impl<'a> Grids<'a> {
    fn new(known: &Known, planned: &'a Planned) -> Self {
        let plan = planned.plan();
        let places: BTreeMap<&str, usize> =
            plan.hosts.iter().enumerate().map(|(place, host)| (host.name.as_str(), place)).collect();
        let test = |label: &String| plan.tests.iter().position(|test| test.label == *label);
        Self {
            planned,
            hosts: known.hosts.all().iter().map(|host| places.get(host.as_str()).copied()).collect(),
            tests: known.tests.all().iter().map(test).collect(),
        }
    }

    /// A grid of each network in which this was measured, the usual one first.
    fn of_metric(&self, known: &Known, metric: Metric, oldest: WallTime) -> Vec<Matrix> {
        let found: Vec<Found> =
            known.of_metric(metric, oldest).filter_map(|(key, recent)| self.found(*key, recent)).collect();
        let hosts = self.shown(&found);
        let size = hosts.shown.len();
        let mut rows = vec![None; self.planned.plan().hosts.len()];
        (0..).zip(&hosts.shown).for_each(|(row, host)| rows[*host] = Some(row));
        let mut networks: BTreeMap<Option<usize>, Vec<Option<Cell>>> = BTreeMap::new();
        for Found { test, ends, cell: found } in found {
            let [Some(from), Some(to)] = ends.map(|host| rows[host as usize]) else { continue };
            let network = self.planned.plan().groups[self.planned.plan().tests[test as usize].group].network;
            let cells = networks.entry(network).or_insert_with(|| vec![None; size * size]);
            let cell: &mut Option<Cell> = &mut cells[from * size + to];
            // Of several tests of a pair the worse.
            *cell = Some(cell.map_or(found, |other| if found.part < other.part { found } else { other }));
        }
        networks.into_iter().filter_map(|(network, cells)| self.matrix(metric, network, &hosts, &cells)).collect()
    }

    /// The hosts that stand in grids of a metric, in the order of the plan: where more have results than a grid can have, those of the
    /// worst pairs.
    fn shown(&self, found: &[Found]) -> GridHosts {
        let mut is_measured = vec![false; self.planned.plan().hosts.len()];
        found.iter().flat_map(|one| one.ends).for_each(|host| is_measured[host as usize] = true);
        let measured: Vec<usize> = (0..is_measured.len()).filter(|host| is_measured[*host]).collect();
        if measured.len() <= MOST_GRID_HOSTS {
            return GridHosts { shown: measured, left_out: 0 };
        }
        let mut worst: Vec<(f64, [u32; 2])> = found.iter().map(|one| (one.cell.part, one.ends)).collect();
        // What is not judged comes last.
        worst.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut shown = BTreeSet::new();
        for (_, ends) in worst {
            let ends = ends.map(|host| host as usize);
            let new = ends.iter().filter(|host| !shown.contains(*host)).count();
            if shown.len() + new <= MOST_GRID_HOSTS {
                shown.extend(ends);
            }
        }
        GridHosts { left_out: measured.len() - shown.len(), shown: shown.into_iter().collect() }
    }

    /// What is known of a series, where the plan has its hosts and its test.
    fn found(&self, key: SeriesKey, recent: &Recent) -> Option<Found> {
        let place = self.place(key)?;
        let number = |place: usize| u32::try_from(place).ok();
        let ends = [number(place.from)?, number(place.to)?];
        Some(Found { test: number(place.test)?, ends, cell: self.cell(place, key.metric, recent) })
    }

    fn place(&self, key: SeriesKey) -> Option<Place> {
        let host = |name: Name| self.hosts[name.place()];
        Some(Place { test: self.tests[key.test.place()]?, from: host(key.from)?, to: host(key.to)? })
    }

    fn cell(&self, place: Place, metric: Metric, recent: &Recent) -> Cell {
        let value = recent.value();
        if metric != Metric::Goodput {
            return Cell { value, part: f64::NAN };
        }
        let Place { test, from, to } = place;
        let planned = self.planned.plan().expected_rate(test, from, to);
        let should = planned.map_or_else(|| recent.usual(), |rate| rate.bps() as f64);
        Cell { value, part: if should > 0.0 { value / should } else { f64::NAN } }
    }

    /// Only hosts that have something stand in it, in the order of the plan.
    fn matrix(
        &self,
        metric: Metric,
        network: Option<usize>,
        hosts: &GridHosts,
        cells: &[Option<Cell>],
    ) -> Option<Matrix> {
        let plan = self.planned.plan();
        let size = hosts.shown.len();
        let mut has_cell = vec![false; size];
        for (from, row) in cells.chunks(size.max(1)).enumerate() {
            for (to, _) in row.iter().enumerate().filter(|(_, cell)| cell.is_some()) {
                (has_cell[from], has_cell[to]) = (true, true);
            }
        }
        let shown: Vec<usize> = (0..size).filter(|host| has_cell[*host]).collect();
        let network = network.map(|network| plan.networks[network].name.clone());
        let Words { key, title, unit } = Words::of(metric);
        let frame = Frame {
            key: network.as_ref().map_or_else(|| key.to_owned(), |network| format!("{key}@{network}")),
            title: network.as_ref().map_or_else(|| title.to_owned(), |network| format!("{title}, network {network}")),
            network,
            unit,
            hosts: shown.iter().map(|host| plan.hosts[hosts.shown[*host]].name.clone()).collect(),
            left_out: hosts.left_out,
        };
        let of = |take: fn(&Cell) -> f64| {
            let row = |from: &usize| {
                let row = &cells[from * size..(from + 1) * size];
                shown.iter().map(move |to| row[*to].as_ref().map_or(f32::NAN, |cell| single(take(cell))))
            };
            shown.iter().flat_map(row).collect::<Vec<f32>>()
        };
        let values = of(|cell| cell.value);
        if metric == Metric::Goodput {
            return Some(Matrix::of_parts(frame, values, &of(|cell| cell.part)));
        }
        Matrix::of_range(frame, values)
    }
}

/// What a grid is called.
struct Words {
    key: &'static str,
    title: &'static str,
    unit: Unit,
}

impl Words {
    const fn of(metric: Metric) -> Self {
        let (key, title, unit) = match metric {
            Metric::Goodput => ("goodput", "goodput", Unit::Bps),
            Metric::DownloadRate => ("download", "goodput of downloads", Unit::Bps),
            Metric::TransferRate => ("transfers", "rate of transfers", Unit::Bps),
            Metric::Loss => ("loss", "loss", Unit::Part),
            Metric::RttMin => ("idle-rtt", "least RTT without load", Unit::Us),
            Metric::RttLoaded => ("loaded-rtt", "median RTT under load", Unit::Us),
            Metric::RetransmitShare => ("retransmits", "retransmits of segments sent", Unit::Part),
            Metric::Mtu => ("mtu", "path MTU in bytes", Unit::Count),
        };
        Self { key, title, unit }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "seven digits are more than are shown")]
const fn single(value: f64) -> f32 {
    value as f32
}

/// The most telling first.
const METRICS: [Metric; 7] = [
    Metric::Goodput,
    Metric::Loss,
    Metric::RttMin,
    Metric::RttLoaded,
    Metric::RetransmitShare,
    Metric::Mtu,
    Metric::DownloadRate,
];
