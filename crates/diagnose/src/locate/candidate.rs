//! Which elements could be at fault, and which cells each would explain.
//!
//! Elements that cover the same known cells are one candidate: no number can tell them apart.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::round::{Member, Passage};

use super::cell::Layer;
use super::element::{Doing, Other};
use super::evidence::Evidence;
use super::group::Groups;
use super::prior::Priors;
use super::shape::{Ground, Part, SIDES, Shape, side_covers};

/// Elements that cover the same known cells.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The likeliest first.
    pub(super) shapes: Vec<Shape>,
    /// ln of the probability that one of them is at fault.
    pub(super) prior: f64,
    /// The known cells that they cover, ascending.
    pub(super) cells: Vec<u32>,
}

/// What the numbers of shapes stand for.
pub(super) fn ground(layer: &Layer, members: &[Member]) -> Ground {
    // Ways have many segments in common, so they are told apart by hash before they are ordered.
    let ways: HashSet<&Passage> = layer.cells.iter().flat_map(|cell| &cell.way).collect();
    let passages: Vec<Passage> = ways.into_iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
    let mut segments: Vec<String> = passages.iter().map(|passage| passage.segment.clone()).collect();
    segments.dedup();
    let of = |passage: &Passage| segments.binary_search(&passage.segment).ok().and_then(|at| u32::try_from(at).ok());
    let networks: BTreeSet<&Option<String>> = layer.cells.iter().map(|cell| &cell.from.network).collect();
    Ground {
        groups: Groups::of(members, &layer.cells),
        segment_of: passages.iter().filter_map(of).collect(),
        networks: networks.into_iter().cloned().collect(),
        passages,
        segments,
    }
}

/// All candidates that cover at least one bad cell.
pub(super) fn candidates(layer: &Layer, evidence: &Evidence, ground: &Ground) -> Vec<Candidate> {
    if !evidence.bad.contains(&true) {
        return Vec::new();
    }
    let passages: HashMap<&Passage, u32> = ground.passages.iter().zip(0..).collect();
    let known = evidence.cell.iter().map(|cell| &layer.cells[*cell]);
    let paths: Vec<Numbered> = known.map(|cell| Numbered::of(cell, ground, &passages)).collect();
    let priors = Priors::of(ground);
    let mut found = Distinct::default();
    let mut slots = Slots::new(ground);
    for network in scopes(ground) {
        slots.clear();
        for (path, _) in paths.iter().zip(&evidence.bad).filter(|(path, bad)| **bad && path.is_in(network)) {
            path.each_part(ground, |part| slots.open(part));
        }
        for (index, path) in (0..).zip(&paths).filter(|(_, path)| path.is_in(network)) {
            path.each_part(ground, |part| slots.add(part, index));
        }
        for (part, cells) in slots.take() {
            found.add(Shape { part, network }, cells, &priors);
        }
    }
    found.into_candidates()
}

/// All networks together, and each one where there are several.
fn scopes(ground: &Ground) -> impl Iterator<Item = Option<usize>> {
    let several = if ground.networks.len() > 1 { ground.networks.len() } else { 0 };
    std::iter::once(None).chain((0..several).map(Some))
}

/// A known cell as numbers.
struct Numbered {
    from: u32,
    to: u32,
    network: Option<usize>,
    way: Vec<u32>,
}

impl Numbered {
    fn of(cell: &super::cell::Cell, ground: &Ground, passages: &HashMap<&Passage, u32>) -> Self {
        // All hosts of cells have numbers: the ground was made from the same cells.
        let host = |name: &str| ground.groups.number(name).unwrap_or(u32::MAX);
        Self {
            from: host(&cell.from.host),
            to: host(&cell.to.host),
            network: ground.networks.iter().position(|network| *network == cell.from.network),
            way: cell.way.iter().filter_map(|passage| passages.get(passage).copied()).collect(),
        }
    }

    fn is_in(&self, network: Option<usize>) -> bool {
        network.is_none() || network == self.network
    }

    /// Calls `found` with each part of the network that this cell crosses, some of them twice.
    fn each_part(&self, ground: &Ground, mut found: impl FnMut(Part)) {
        let (from, to) = (ground.groups.groups_of(Some(self.from)), ground.groups.groups_of(Some(self.to)));
        for group in from {
            sides(ground, *group, (true, to.binary_search(group).is_ok()), &mut found);
        }
        for group in to.iter().filter(|group| from.binary_search(group).is_err()) {
            sides(ground, *group, (false, true), &mut found);
        }
        for a in from {
            for b in to.iter().filter(|b| *b != a) {
                found(Part::Between { from: *a, to: *b });
            }
        }
        for passage in &self.way {
            found(Part::Passage(*passage));
            found(Part::Segment(ground.segment_of[*passage as usize]));
        }
        found(Part::Everything);
    }
}

fn sides(ground: &Ground, group: u32, holds: (bool, bool), found: &mut impl FnMut(Part)) {
    let one_host = ground.group(group).is_some_and(super::group::Group::is_one_host);
    for side in SIDES.into_iter().filter(|side| side_covers(*side, holds.0, holds.1)) {
        // A host alone has no paths within itself.
        if !one_host || side.1 == Other::Anybody {
            found(Part::Side { group, does: side.0, other: side.1 });
        }
    }
}

/// The cells of each part, found by number in a table: a hash for each of a million parts would cost more than all else.
struct Slots {
    slot: Vec<u32>,
    lists: Vec<(Part, Vec<u32>)>,
    groups: usize,
    passages: usize,
}

impl Slots {
    fn new(ground: &Ground) -> Self {
        let groups = ground.groups.groups.len();
        let passages = ground.passages.len();
        let size = groups * (SIDES.len() + groups) + passages + ground.segments.len() + 1;
        Self { slot: vec![u32::MAX; size], lists: Vec::new(), groups, passages }
    }

    fn index(&self, part: Part) -> usize {
        let after_groups = self.groups * (SIDES.len() + self.groups);
        match part {
            Part::Side { group, does, other } => {
                let side = SIDES.iter().position(|side| *side == (does, other)).unwrap_or_default();
                group as usize * SIDES.len() + side
            }
            Part::Between { from, to } => self.groups * (SIDES.len() + from as usize) + to as usize,
            Part::Passage(passage) => after_groups + passage as usize,
            Part::Segment(segment) => after_groups + self.passages + segment as usize,
            Part::Everything => self.slot.len() - 1,
        }
    }

    fn open(&mut self, part: Part) {
        let index = self.index(part);
        if self.slot[index] == u32::MAX {
            self.slot[index] = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
            self.lists.push((part, Vec::new()));
        }
    }

    fn add(&mut self, part: Part, cell: u32) {
        let list = self.slot[self.index(part)] as usize;
        let Some((_, cells)) = self.lists.get_mut(list) else { return };
        // A way that crosses a segment twice is one cell all the same.
        if cells.last() != Some(&cell) {
            cells.push(cell);
        }
    }

    fn take(&mut self) -> Vec<(Part, Vec<u32>)> {
        std::mem::take(&mut self.lists)
    }

    fn clear(&mut self) {
        self.slot.fill(u32::MAX);
    }
}

/// Candidates by the cells that they cover.
#[derive(Default)]
struct Distinct {
    by_cells: HashMap<Vec<u32>, usize>,
    shapes: Vec<Vec<(f64, Shape)>>,
}

impl Distinct {
    fn add(&mut self, shape: Shape, cells: Vec<u32>, priors: &Priors) {
        let next = self.shapes.len();
        let index = *self.by_cells.entry(cells).or_insert(next);
        if index == next {
            self.shapes.push(Vec::new());
        }
        self.shapes[index].push((priors.of_shape(shape), shape));
    }

    fn into_candidates(self) -> Vec<Candidate> {
        let mut cells: Vec<(usize, Vec<u32>)> =
            self.by_cells.into_iter().map(|(cells, index)| (index, cells)).collect();
        cells.sort_unstable_by_key(|(index, _)| *index);
        cells.into_iter().zip(self.shapes).map(|((_, cells), shapes)| Candidate::of(cells, shapes)).collect()
    }
}

impl Candidate {
    fn of(cells: Vec<u32>, mut shapes: Vec<(f64, Shape)>) -> Self {
        let prior = shapes.iter().map(|(prior, _)| prior).sum::<f64>().ln();
        shapes.sort_by(|a, b| b.0.total_cmp(&a.0).then(generality(b.1).cmp(&generality(a.1))));
        Self { shapes: shapes.into_iter().map(|(_, shape)| shape).collect(), prior, cells }
    }
}

/// Of two elements that are equally likely, the one that says less is named first.
fn generality(shape: Shape) -> u8 {
    match shape.part {
        Part::Side { does: Doing::Either, .. } | Part::Segment(_) => 1,
        Part::Side { .. } | Part::Passage(_) => 2,
        _ => 0,
    }
}
