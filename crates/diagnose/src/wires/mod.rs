//! What the two ends of each segment counted: what one sent, and what the other received, between the snapshots of a round.
//!
//! Whatever vanished on a segment was sent by one of its ends and not received by the other, whoever dropped it and whether
//! he counts that or not. So counters that every interface has say between which two hosts packets were lost.
//!
//! * `ports`: which interfaces a segment joins, and what these counted
//! * `through`: what came into a router and did not leave it
//! * `lost`: what is missing, also where large packets were cut on the way

mod lost;
mod ports;
mod through;

use std::collections::BTreeMap;

use model::round::{Passage, Round};
use units::DataRate;

pub(crate) use lost::Missing;

/// The speed at which the interfaces of each segment run, where both say the same.
pub(crate) fn speeds(round: &Round) -> BTreeMap<String, DataRate> {
    let agreed = ports::joined(round).into_iter().filter_map(|(segment, [one, other])| {
        let speed = one.speed.filter(|speed| other.speed == Some(*speed))?;
        Some((segment.name.clone(), speed))
    });
    agreed.collect()
}

/// The MTUs of the interfaces at the ends of each segment, where both are known.
pub(crate) fn mtus(round: &Round) -> BTreeMap<String, [u32; 2]> {
    let known = ports::joined(round).into_iter().filter_map(|(segment, [one, other])| {
        let ends = [one.mtu?, other.mtu?];
        Some((segment.name.clone(), ends))
    });
    known.collect()
}

/// What is missing behind each passage whose ends both counted.
pub(crate) fn missing(round: &Round) -> BTreeMap<Passage, Missing> {
    let headers = lost::headers(round);
    let mut found = BTreeMap::new();
    let joined = ports::joined(round);
    for (segment, ends) in &joined {
        for (sender, receiver) in [(0, 1), (1, 0)] {
            let passage = Passage { segment: segment.name.clone(), towards: segment.between[receiver].clone() };
            let missing = Missing::between(ends[sender].sent, ends[receiver].received, &headers);
            found.insert(passage, missing);
        }
    }
    through::narrow(&mut found, &joined, round);
    found
}
