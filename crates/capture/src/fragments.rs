//! IP packets that were cut on their way: the length of a segment is that of all its parts.

use std::collections::VecDeque;

use crate::decode::{LaterFragment, Segment};

/// Segments whose later parts are expected.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    waiting: VecDeque<Waiting>,
}

/// A segment of which the first part has come.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    source: u128,
    destination: u128,
    id: u32,
    /// Where the next part begins.
    next: u32,
    /// Of the first part.
    frame: u64,
}

/// Packets whose parts come mixed, at most. A sender's parts follow one another.
const MAX_WAITING: usize = 64;

impl Fragments {
    /// Notes the first part of a segment.
    #[cold]
    pub(crate) fn first(&mut self, segment: &Segment) {
        let Some(first) = segment.first_fragment else { return };
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting {
            source: segment.endpoints.source,
            destination: segment.endpoints.destination,
            id: first.id,
            next: first.bytes,
            frame: segment.frame,
        });
    }

    /// The frame of the segment to which a later part belongs, where the part goes on where the last one ended. Of copies of a packet the
    /// first that lacks it.
    #[cold]
    pub(crate) fn later(&mut self, segment: &Segment, part: LaterFragment) -> Option<u64> {
        let ends = segment.endpoints;
        let at = self.waiting.iter().position(|waiting| {
            let is_same = waiting.source == ends.source && waiting.destination == ends.destination;
            is_same && waiting.id == part.id && waiting.next == part.at
        })?;
        let waiting = self.waiting.get_mut(at)?;
        waiting.next = waiting.next.saturating_add(part.bytes);
        let frame = waiting.frame;
        if !part.has_more {
            self.waiting.remove(at);
        }
        Some(frame)
    }
}

saved!(Fragments { waiting });
saved!(Waiting { source, destination, id, next, frame });
