//! The segments that the data of a test passes, in each direction.

use model::measurement::Heading;
use model::round::{Passage, Round, Segment, Tested};

/// From who sends to who receives; empty where it is not known.
pub(crate) fn way(round: &Round, tested: &Tested, heading: Heading) -> Vec<Passage> {
    match heading {
        Heading::Outbound => tested.way.clone(),
        Heading::Inbound => {
            let known = Some(tested.way_back.clone()).filter(|way| !way.is_empty());
            known.unwrap_or_else(|| reversed(&tested.way, &round.segments))
        }
    }
}

/// The heading of what comes back.
pub(crate) const fn opposite(heading: Heading) -> Heading {
    match heading {
        Heading::Outbound => Heading::Inbound,
        Heading::Inbound => Heading::Outbound,
    }
}

/// The way back, where it is the same.
pub(crate) fn reversed(way: &[Passage], segments: &[Segment]) -> Vec<Passage> {
    let back = way.iter().rev().filter_map(|passage| {
        let segment = segments.iter().find(|segment| segment.name == passage.segment)?;
        let [one, other] = &segment.between;
        let towards = if *one == passage.towards { other } else { one };
        Some(Passage { segment: passage.segment.clone(), towards: towards.clone() })
    });
    back.collect()
}
