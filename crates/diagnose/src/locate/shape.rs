//! Elements as numbers: the same as [`super::element::Element`], without names.

use model::round::Passage;

use super::element::{Doing, Element, FaultLocation, Network, Other, Selector};
use super::group::{Group, Groups};

/// What covers a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) part: Part,
    /// In one network alone.
    pub(super) network: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Side { group: u32, does: Doing, other: Other },
    Between { from: u32, to: u32 },
    Passage(u32),
    Segment(u32),
    Everything,
}

/// The ways in which a group can be at fault.
pub(super) const SIDES: [(Doing, Other); 7] = [
    (Doing::Receives, Other::Elsewhere),
    (Doing::Sends, Other::Elsewhere),
    (Doing::Either, Other::Elsewhere),
    (Doing::Receives, Other::Anybody),
    (Doing::Sends, Other::Anybody),
    (Doing::Either, Other::Anybody),
    (Doing::Either, Other::Alike),
];

/// Whether a group covers a pair, of whose ends it holds `from` and `to`.
pub(super) const fn side_covers(side: (Doing, Other), from: bool, to: bool) -> bool {
    let held = match side.0 {
        Doing::Sends => from,
        Doing::Receives => to,
        Doing::Either => from || to,
    };
    held && match side.1 {
        Other::Anybody => true,
        Other::Elsewhere => !(from && to),
        Other::Alike => from && to,
    }
}

/// All that shapes have in common: what their numbers stand for.
#[derive(Debug, Default)]
pub(super) struct Ground {
    pub(super) groups: Groups,
    pub(super) passages: Vec<Passage>,
    pub(super) segments: Vec<String>,
    /// The segment of each passage.
    pub(super) segment_of: Vec<u32>,
    pub(super) networks: Vec<Option<String>>,
}

impl Ground {
    /// The number of a passage.
    pub(super) fn passage(&self, passage: &Passage) -> Option<u32> {
        self.passages.binary_search(passage).ok().and_then(|index| u32::try_from(index).ok())
    }

    /// The element that a shape stands for.
    pub(super) fn name(&self, shape: Shape) -> Option<Element> {
        let network = shape.network.and_then(|network| self.networks.get(network)).map(|network| match network {
            None => Network::Usual,
            Some(name) => Network::Named(name.clone()),
        });
        Some(Element { place: self.place(shape.part)?, network })
    }

    fn place(&self, part: Part) -> Option<FaultLocation> {
        let selector = |group| self.group(group).and_then(|group| group.names.first().cloned());
        Some(match part {
            Part::Side { group, does, other } => FaultLocation::Hosts { who: selector(group)?, does, other },
            Part::Between { from, to } => FaultLocation::Between { from: selector(from)?, to: selector(to)? },
            Part::Passage(index) => FaultLocation::Passage(self.passages.get(index as usize)?.clone()),
            Part::Segment(index) => FaultLocation::Segment { name: self.segments.get(index as usize)?.clone() },
            Part::Everything => FaultLocation::Everything,
        })
    }

    /// What else the hosts of a shape have in common and no others.
    pub(super) fn aliases(&self, shape: Shape) -> Vec<Selector> {
        let groups = match shape.part {
            Part::Side { group, .. } => vec![group],
            Part::Between { from, to } => vec![from, to],
            Part::Passage(_) | Part::Segment(_) | Part::Everything => Vec::new(),
        };
        groups
            .iter()
            .filter_map(|group| self.group(*group))
            .flat_map(|group| group.names.iter().skip(1).cloned())
            .collect()
    }

    pub(super) fn group(&self, group: u32) -> Option<&Group> {
        self.groups.groups.get(group as usize)
    }

    /// Whether one of two shapes is the other in one direction.
    pub(super) fn is_direction_of_other(&self, a: Shape, b: Shape) -> bool {
        let directed = |one: Part, both: Part| match (one, both) {
            (Part::Passage(passage), Part::Segment(segment)) => self.segment_of.get(passage as usize) == Some(&segment),
            (Part::Side { group: a, does, .. }, Part::Side { group: b, does: Doing::Either, other }) => {
                a == b && does != Doing::Either && other != Other::Alike
            }
            _ => false,
        };
        a.network == b.network && (directed(a.part, b.part) || directed(b.part, a.part))
    }

    /// Whether a shape covers the pair of two hosts, one of which may be nobody known.
    pub(super) fn covers(&self, shape: Shape, pair: &Path<'_>) -> bool {
        let holds = |host: Option<u32>, group: u32| self.groups.groups_of(host).binary_search(&group).is_ok();
        if shape.network.is_some_and(|network| Some(network) != pair.network) {
            return false;
        }
        match shape.part {
            Part::Side { group, does, other } => {
                side_covers((does, other), holds(pair.from, group), holds(pair.to, group))
            }
            Part::Between { from, to } => holds(pair.from, from) && holds(pair.to, to),
            Part::Passage(passage) => pair.way.contains(&passage),
            Part::Segment(segment) => {
                pair.way.iter().any(|passage| self.segment_of.get(*passage as usize) == Some(&segment))
            }
            Part::Everything => true,
        }
    }
}

/// A directed pair as numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path<'a> {
    pub(super) from: Option<u32>,
    pub(super) to: Option<u32>,
    pub(super) network: Option<usize>,
    pub(super) way: &'a [u32],
}
