//! What the two ends of each segment counted: what one sent, and what the other received, between the snapshots of a round.
//!
//! Whatever vanished on a segment was sent by one of its ends and not received by the other, whoever dropped it and whether
//! he counts that or not. So counters that every interface has say between which two hosts packets were lost.
//!
//! * `ports`: which interfaces a segment joins, and what these counted
//! * `through`: what came into a router and did not leave it
//! * `lost`: what is missing, also where large packets were cut on the way
//! * `way`: the segments that the data of a test passes
//! * `unqueued`: what is missing where no queue can have dropped it

mod lost;
mod ports;
mod through;
mod unqueued;
pub(crate) mod way;

use std::collections::BTreeMap;

use model::round::{Passage, Round, Segment};
use units::DataRate;

pub(crate) use lost::Missing;
use ports::Port;

/// All that the two ends of segments tell.
#[derive(Debug)]
pub(crate) struct Wires {
    /// What is missing behind each passage whose ends both counted.
    pub(crate) missing: BTreeMap<Passage, Missing>,
    /// The speed at which the interfaces of each segment run, where both say the same.
    pub(crate) speeds: BTreeMap<String, DataRate>,
    /// The MTUs of the interfaces at the ends of each segment, where both are known.
    pub(crate) mtus: BTreeMap<String, [u32; 2]>,
    /// The part of what was sent that vanished where no queue of a test can have dropped it.
    pub(crate) unqueued: BTreeMap<Passage, f64>,
}

impl Wires {
    /// What those of a round tell.
    pub(crate) fn of(round: &Round) -> Self {
        let joined = ports::joined(round);
        let speed = |[one, other]: &[Port; 2]| one.speed.filter(|speed| other.speed == Some(*speed));
        let mtus = |[one, other]: &[Port; 2]| Some([one.mtu?, other.mtu?]);
        let missing = missing(round, &joined);
        let (speeds, mtus) = (of_each(&joined, speed), of_each(&joined, mtus));
        let ends = unqueued::Ends { missing: &missing, speeds: &speeds, mtus: &mtus };
        let unqueued = unqueued::unqueued(round, ends);
        Self { missing, speeds, mtus, unqueued }
    }
}

/// What is read off the ports of each segment, where it can be.
fn of_each<T>(joined: &[(&Segment, [Port; 2])], read: impl Fn(&[Port; 2]) -> Option<T>) -> BTreeMap<String, T> {
    joined.iter().filter_map(|(segment, ends)| Some((segment.name.clone(), read(ends)?))).collect()
}

fn missing(round: &Round, joined: &[(&Segment, [Port; 2])]) -> BTreeMap<Passage, Missing> {
    let headers = lost::headers(round);
    let mut found = BTreeMap::new();
    for (segment, ends) in joined {
        for (sender, receiver) in [(0, 1), (1, 0)] {
            let passage = Passage { segment: segment.name.clone(), towards: segment.between[receiver].clone() };
            let missing = Missing::between(ends[sender].sent, ends[receiver].received, &headers);
            found.insert(passage, missing);
        }
    }
    through::narrow(&mut found, joined, round);
    found
}
