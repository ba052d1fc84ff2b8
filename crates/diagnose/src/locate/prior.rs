//! How likely each element is to be at fault before anything was measured.
//!
//! A kind of element has a weight, which all elements of that kind share: in a mesh of a hundred hosts a fault of one
//! pair among ten thousand needs more evidence than a fault of one host among a hundred.

use super::element::{Doing, Other};
use super::group::Group;
use super::shape::{Ground, Part, Shape};

/// The probability of one element of each kind.
pub(super) struct Priors<'a> {
    ground: &'a Ground,
    host: f64,
    group: f64,
    host_pair: f64,
    group_pair: f64,
    passage: f64,
    segment: f64,
    network: f64,
}

impl<'a> Priors<'a> {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub(super) fn of(ground: &'a Ground) -> Self {
        let groups = ground.groups.groups.iter();
        let (hosts, sharing): (Vec<&Group>, Vec<&Group>) = groups.partition(|group| group.is_one_host());
        let share = |weight: f64, count: usize| FAULT * weight / count.max(1) as f64;
        let (one, many) = (hosts.len(), sharing.len());
        Self {
            ground,
            host: share(HOST, one),
            group: share(GROUP, many),
            host_pair: share(HOST_PAIR, one * one.saturating_sub(1)),
            group_pair: share(GROUP_PAIR, (one + many) * (one + many) - one * one),
            passage: share(PASSAGE, ground.passages.len()),
            segment: share(SEGMENT, ground.segments.len()),
            network: if ground.networks.len() > 1 { share(NETWORK, ground.networks.len()) } else { 0.0 },
        }
    }

    pub(super) fn of_shape(&self, shape: Shape) -> f64 {
        let prior = match shape.part {
            Part::Side { group, does, other } => self.side(group, does, other),
            Part::Between { from, to } => {
                let one_host = |group| self.ground.group(group).is_some_and(Group::is_one_host);
                if one_host(from) && one_host(to) { self.host_pair } else { self.group_pair }
            }
            Part::Passage(_) => self.passage,
            Part::Segment(_) => self.segment,
            Part::Everything if shape.network.is_some() => return self.network,
            Part::Everything => FAULT * EVERYTHING,
        };
        // A fault that shows in one network alone is the rarer kind.
        if shape.network.is_some() { prior * ONE_NETWORK } else { prior }
    }

    fn side(&self, group: u32, does: Doing, other: Other) -> f64 {
        let group = self.ground.group(group);
        let (whole, inside) = match group {
            Some(group) if group.is_one_host() => (self.host, 0.0),
            // What guests send each other does not leave their machine.
            Some(group) if group.is_machine() => (self.group * MACHINE, 0.25),
            _ => (self.group, 1.0),
        };
        let does = if does == Doing::Either { 0.5 } else { 1.0 };
        let other = match other {
            Other::Elsewhere => 1.0,
            Other::Anybody if group.is_some_and(Group::is_one_host) => 1.0,
            Other::Anybody => inside,
            Other::Alike => 0.25,
        };
        whole * does * other
    }
}

/// The probability that something is wrong with a mesh that somebody asks about, for each fault.
const FAULT: f64 = 0.3;

/// Weights of the kinds, for each direction. Model: our own estimate, a host most often and then a segment; they decide
/// only where the measurements do not.
const HOST: f64 = 0.2;
const GROUP: f64 = 0.08;
const PASSAGE: f64 = 0.15;
const SEGMENT: f64 = 0.08;
const EVERYTHING: f64 = 0.05;
const NETWORK: f64 = 0.05;
const HOST_PAIR: f64 = 0.05;
const GROUP_PAIR: f64 = 0.02;

/// A machine is a thing that breaks; most other attributes are only a name for what hosts have in common.
const MACHINE: f64 = 2.0;

const ONE_NETWORK: f64 = 0.5;
