//! What came into a router and did not leave it.
//!
//! Where devices count a large packet as one, and others count its segments, what both ends of a segment counted leaves open
//! whether a few packets are missing. Queue disciplines count every segment with its headers (`qdisc_pkt_len_init`,
//! net/core/dev.c), so that what they let out can be compared from hop to hop: what the neighbours of a router sent to it, less
//! what it sent on, was lost on the way to it.

use std::collections::{BTreeMap, BTreeSet};

use model::round::{Passage, Round, Segment};

use super::lost::Missing;
use super::ports::Port;

/// Narrows what is known to be missing on the way to each router.
pub(super) fn narrow(found: &mut BTreeMap<Passage, Missing>, joined: &[(&Segment, [Port; 2])], round: &Round) {
    let ends: BTreeSet<&String> = round.tests.iter().flat_map(|test| [&test.from.host, &test.to.host]).collect();
    for member in round.members.iter().filter(|member| !ends.contains(&member.name)) {
        if attached(round, &member.name) != joined.iter().filter(|(of, _)| is_at(of, &member.name)).count() {
            continue;
        }
        let Some(lost) = not_sent_on(joined, &member.name) else { continue };
        let towards = |passage: &Passage| passage.towards == member.name;
        let open = found.iter().filter(|(passage, missing)| towards(passage) && !missing.is_none()).count();
        for (_, missing) in found.iter_mut().filter(|(passage, _)| towards(passage)) {
            *missing = missing.narrowed(lost, open);
        }
    }
}

fn attached(round: &Round, name: &str) -> usize {
    round.segments.iter().filter(|segment| is_at(segment, name)).count()
}

fn is_at(segment: &Segment, name: &str) -> bool {
    segment.between.iter().any(|end| end == name)
}

/// Bytes that neighbours let out towards a router and that it did not let out; `None` where a device does not tell.
#[expect(clippy::cast_precision_loss, reason = "bytes of minutes are below 2^53")]
fn not_sent_on(joined: &[(&Segment, [Port; 2])], name: &str) -> Option<f64> {
    let mut difference = 0.0;
    for (segment, ports) in joined.iter().filter(|(segment, _)| is_at(segment, name)) {
        let own = usize::from(segment.between[1] == name);
        difference += ports[1 - own].let_out? as f64 - ports[own].let_out? as f64;
    }
    Some(difference)
}
