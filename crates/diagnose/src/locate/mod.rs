//! Which part of the network explains the bad cells of a round. `docs/localisation.md` tells how.
//!
//! * [`cell`]: what goes in: directed pairs, and how good each is
//! * [`round`]: cells from the tests of a round, a layer for each symptom
//! * [`element`]: what can be at fault
//! * [`explanation`]: what comes out
//! * [`hops`]: after which hop the rate drops, from tests towards each
//! * `group`, `shape`, `candidate`: from attributes and ways to elements, and the cells that each covers
//! * `evidence`, `prior`, `search`: how likely each set of elements is
//! * `explain`, `separate`: from scores to an answer, and to the test that would decide
//! * `text`: the answer in words

mod candidate;
pub mod cell;
pub mod element;
mod evidence;
mod explain;
pub mod explanation;
mod group;
pub mod hops;
mod prior;
pub mod round;
mod search;
mod separate;
mod shape;
mod text;

use model::round::{Member, Segment};

use cell::Layer;
use evidence::Evidence;
use explanation::Located;
use search::Search;

/// The hosts of a round and the links between them, as far as they are known.
#[derive(Debug, Clone, Copy)]
pub struct Topology<'a> {
    /// The hosts, with what distinguishes them. Hosts that only cells name have nothing in common with others.
    pub members: &'a [Member],
    /// Links of the plan; empty where only hosts are known.
    pub segments: &'a [Segment],
}

/// Finds what explains the bad cells of one symptom.
#[must_use]
pub fn locate(layer: &Layer, topology: Topology<'_>) -> Located {
    let evidence = Evidence::of(&layer.cells);
    let ground = candidate::ground(layer, topology.members);
    let candidates = candidate::candidates(layer, &evidence, &ground);
    let solutions = Search::new(&evidence, &candidates, &ground).run();
    explain::explain(
        &explain::Case { layer, topology, evidence: &evidence, ground: &ground, candidates: &candidates },
        &solutions,
    )
}
