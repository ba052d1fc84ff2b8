//! Tags and tunnels around the packets of a connection: each direction may have its own, as labels of MPLS, keys of GRE and
//! tunnel ends of GTP-U have, and the same connection in two places of a path is two connections.

use std::collections::HashMap;

use crate::decode::{self, Endpoints, Segment, flag};
use crate::file::Packet;

/// Which tags of the two directions belong together.
#[derive(Debug, Default)]
pub(crate) struct TagPairs {
    /// Whether any packet had tags: without, nothing is kept.
    has_tags: bool,
    young: HashMap<Endpoints, Taps>,
    /// What was young before; a connection that is seen again becomes young.
    old: HashMap<Endpoints, Taps>,
    /// The last packets, as they came and with the tag of their connection: most are followed by others of the same connection.
    last: [Option<(Endpoints, u32)>; 2],
}

/// The places at which one connection passes the capture.
#[derive(Debug, Clone, Copy, Default)]
struct Taps {
    count: usize,
    taps: [Tap; MAX_TAPS],
}

/// One place.
#[derive(Debug, Clone, Copy, Default)]
struct Tap {
    /// The tag that both directions go by: that of the packet that came first.
    name: u32,
    /// By direction; none where nothing of it has come.
    tags: [Option<u32>; 2],
}

/// Where a packet with a tag that is not known may have passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It opens a connection, and answers none.
    New,
    /// It may be an answer to packets that passed somewhere.
    Any,
}

/// What a tag belongs to.
struct Found {
    name: u32,
    /// Nothing was learnt.
    was_known: bool,
}

/// Connections in each of the two maps, and places of one connection: 2 MB where there are tags.
const MAX_CONNECTIONS: usize = 4_096;
const MAX_TAPS: usize = 4;

impl TagPairs {
    /// The tag by which the connection of a segment goes.
    #[inline]
    pub(crate) fn name(&mut self, segment: &Segment) -> u32 {
        let ends = segment.endpoints;
        if ends.outer == 0 && !self.has_tags {
            return 0;
        }
        self.has_tags = true;
        if let Some((_, name)) = self.last.iter().flatten().find(|(last, _)| *last == ends) {
            return *name;
        }
        let found = self.find(segment);
        // What has just been learnt may belie what was said of the packet before.
        self.last = [Some((ends, found.name)), self.last[0].filter(|_| found.was_known)];
        found.name
    }

    fn find(&mut self, segment: &Segment) -> Found {
        let bare = Endpoints { outer: 0, ..segment.endpoints };
        let reversed = bare.reversed();
        let is_low = (bare.source, bare.source_port) <= (reversed.source, reversed.source_port);
        let key = if is_low { bare } else { reversed };
        if !self.young.contains_key(&key) {
            let taps = self.old.remove(&key).unwrap_or_default();
            if self.young.len() >= MAX_CONNECTIONS {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(key, taps);
        }
        let place = if segment.has(flag::SYN) && !segment.has(flag::ACK) { Place::New } else { Place::Any };
        let taps = self.young.entry(key).or_default();
        let (tag, direction) = (segment.endpoints.outer, usize::from(is_low));
        if let Some(name) = taps.known(tag, direction) {
            return Found { name, was_known: true };
        }
        Found { name: taps.learn(tag, direction, place), was_known: false }
    }
}

impl Taps {
    fn known(&self, tag: u32, direction: usize) -> Option<u32> {
        let mut taps = self.taps.iter().take(self.count);
        taps.find(|tap| tap.tags[direction] == Some(tag)).map(|tap| tap.name)
    }

    fn learn(&mut self, tag: u32, direction: usize, place: Place) -> u32 {
        let other = 1 - direction;
        let known = || self.taps.iter().take(self.count);
        // Both directions of most tags are alike.
        if let Some(at) = known().position(|tap| tap.tags[other] == Some(tag)) {
            let tap = &mut self.taps[at];
            match tap.tags[direction] {
                // The answers that this place was given have another tag: they are those of another place.
                Some(_) if tap.name != tag => tap.tags[other] = None,
                _ => {
                    tap.tags[direction] = Some(tag);
                    return tap.name;
                }
            }
            return self.add(tag, [Some(tag); 2]);
        }
        // An answer comes first from the place nearest to who answers, which a packet to it passed last.
        if let Some(at) = known().rposition(|tap| tap.tags[direction].is_none()).filter(|_| place == Place::Any) {
            let tap = &mut self.taps[at];
            tap.tags[direction] = Some(tag);
            return tap.name;
        }
        let mut tags = [None; 2];
        tags[direction] = Some(tag);
        self.add(tag, tags)
    }

    fn add(&mut self, name: u32, tags: [Option<u32>; 2]) -> u32 {
        if self.count == MAX_TAPS {
            self.taps.rotate_left(1);
            self.count -= 1;
        }
        if let Some(free) = self.taps.get_mut(self.count) {
            *free = Tap { name, tags };
            self.count += 1;
        }
        name
    }
}

/// Tags in words, by their digest.
#[derive(Debug, Default)]
pub(crate) struct TagNames {
    names: HashMap<u32, String>,
    last: u32,
}

/// Names that are kept: those of the first.
const MAX_NAMES: usize = 1_024;

impl TagNames {
    /// Notes what is around a packet, where nothing like it has passed.
    #[inline]
    pub(crate) fn note(&mut self, outer: u32, packet: &Packet<'_>) {
        if outer != self.last {
            self.last = outer;
            self.add(outer, packet);
        }
    }

    fn add(&mut self, outer: u32, packet: &Packet<'_>) {
        if outer != 0 && self.names.len() < MAX_NAMES {
            let name = || decode::tags(packet.link, packet.bytes, packet.wire_bytes);
            self.names.entry(outer).or_insert_with(name);
        }
    }

    pub(crate) fn of(&self, outer: u32) -> Option<String> {
        self.names.get(&outer).cloned()
    }
}

saved!(TagPairs { has_tags, young, old, last });
saved!(Taps { count, taps });
saved!(Tap { name, tags });

#[cfg(test)]
mod tests {
    use super::*;

    /// Each packet: from the client or the server, its tag.
    fn names(packets: &[(char, u32)]) -> Vec<u32> {
        let client = Endpoints { source: 1, destination: 2, source_port: 40_000, destination_port: 5_201, outer: 0 };
        let mut pairs = TagPairs::default();
        packets
            .iter()
            .map(|(from, outer)| {
                let ends = if *from == 'c' { client } else { client.reversed() };
                pairs.name(&Segment { endpoints: Endpoints { outer: *outer, ..ends }, ..Segment::default() })
            })
            .collect()
    }

    #[test]
    fn directions_with_tags_of_their_own_are_one_connection() {
        assert_eq!(names(&[('c', 100), ('s', 200), ('c', 100), ('s', 200)]), [100; 4]);
    }

    #[test]
    fn two_places_are_two_connections_whether_their_tags_differ_by_direction_or_not() {
        let alike = [('c', 1), ('c', 2), ('s', 2), ('s', 1), ('c', 1)];
        assert_eq!(names(&alike), [1, 2, 2, 1, 1]);
        // Nearer to the client 100 and 200, nearer to the server 101 and 201.
        let own = [('c', 100), ('c', 101), ('s', 201), ('s', 200), ('c', 100), ('s', 201)];
        assert_eq!(names(&own), [100, 101, 101, 100, 100, 101]);
    }

    #[test]
    fn answers_that_were_taken_for_those_of_another_place_go_back_to_their_own() {
        // A capture that starts between a packet's two passages.
        assert_eq!(names(&[('c', 1), ('s', 2), ('s', 1), ('c', 2), ('s', 2)])[2..], [1, 2, 2]);
        assert_eq!(names(&[('c', 1), ('s', 2), ('c', 2), ('s', 1), ('s', 2)])[2..], [2, 1, 2]);
    }

    #[test]
    fn packets_without_tags_cost_nothing_until_one_has_some() {
        let mut pairs = TagPairs::default();
        assert_eq!(pairs.name(&Segment::default()), 0);
        assert!(pairs.young.is_empty() && !pairs.has_tags);
    }
}
