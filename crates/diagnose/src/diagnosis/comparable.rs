//! How far flows that do well are like those that suffer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::candidate::Candidate;
use crate::signs::Flow;

/// A flow that does well.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparable {
    /// Its place among the flows of the round.
    pub(super) number: usize,
    /// How much it says about those that suffer, 0 to 1.
    pub(super) part: f64,
}

/// How far flows that do well are like those that suffer at the same places: the same for every cause that hits the same flows, and
/// reckoned once for all of them.
#[derive(Debug, Default)]
pub(crate) struct ComparableFlows {
    /// By the list of flows that a cause would hit: candidates share it, and keep it for as long as they are weighed.
    of_covers: RefCell<BTreeMap<*const usize, Rc<[Comparable]>>>,
}

impl ComparableFlows {
    /// Those that pass the place of a candidate and do well.
    pub(super) fn of(&self, candidate: &Candidate<'_>, flows: &[Flow], suffering: &[&Flow]) -> Rc<[Comparable]> {
        let list = candidate.covers.as_ptr();
        if let Some(known) = self.of_covers.borrow().get(&list) {
            return Rc::clone(known);
        }
        let well = candidate.covers.iter().copied().filter(|number| flows[*number].is_good());
        let all: Rc<[Comparable]> =
            well.map(|number| Comparable { number, part: comparable(&flows[number], suffering) }).collect();
        self.of_covers.borrow_mut().insert(list, Rc::clone(&all));
        all
    }
}

/// How much a flow that does well says about those that suffer: little where it asked for less, or has a shorter path.
fn comparable(spared: &Flow, suffering: &[&Flow]) -> f64 {
    let asks_for_less = |flow: &&&Flow| {
        let short = spared.rtt.zip(flow.rtt).is_some_and(|(own, other)| own * 3 < other);
        let paced = spared.shape.paced.is_some() && flow.shape.paced != spared.shape.paced;
        let shared = spared.shape.streams > flow.shape.streams;
        let small = spared.shape.payload.zip(flow.shape.payload).is_some_and(|(own, other)| own * 2 < other);
        let other_kind = spared.kind != flow.kind;
        let other_control = spared.shape.control != flow.shape.control;
        short || paced || shared || small || other_kind || other_control
    };
    // What limits one flow to a rate spares another one that is content with it.
    let no_faster = |flow: &&Flow| u128::from(spared.goodput.bps()) * 4 < u128::from(flow.goodput.bps()) * 5;
    if !suffering.is_empty() && suffering.iter().all(no_faster) {
        return 0.05;
    }
    if suffering.iter().all(|flow| asks_for_less(&flow)) { 0.25 } else { 1.0 }
}
