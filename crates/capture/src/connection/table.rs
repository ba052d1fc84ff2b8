//! All connections of a trace, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use super::{Connection, From};
use crate::decode::{Endpoints, Segment};
use crate::index::Saved;

/// See the module.
#[derive(Debug)]
pub(crate) struct ConnectionTable {
    index: HashMap<Endpoints, usize, MixedHash>,
    /// Each by itself: a table of all of them would be moved whenever some end.
    live: Vec<Box<Connection>>,
    /// The last segment's connection: most segments are of the same one.
    last: Option<(Endpoints, usize, From)>,
    max_live: usize,
}

impl ConnectionTable {
    pub(crate) fn new(max_live: usize, seed: u64) -> Self {
        let index = HashMap::with_hasher(MixedHash { seed });
        Self { index, live: Vec::new(), last: None, max_live: max_live.max(2) }
    }

    /// Saves the connections that are followed.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        self.live.save(out);
    }

    /// Follows the connections that were saved.
    pub(crate) fn load(mut self, from: &mut &[u8]) -> Option<Self> {
        self.live = Vec::load(from)?;
        self.index_live();
        Some(self)
    }

    /// Gives a segment to its connection. Connections that are over go to `ended`.
    #[inline]
    pub(crate) fn take(
        &mut self,
        segment: &Segment,
        mut opened: impl FnMut(&mut Connection),
        ended: impl FnMut(Connection),
    ) {
        if let Some((endpoints, at, from)) = self.last {
            let from = match from {
                _ if endpoints == segment.endpoints => Some(from),
                From::Client if endpoints.reversed() == segment.endpoints => Some(From::Server),
                From::Server if endpoints.reversed() == segment.endpoints => Some(From::Client),
                _ => None,
            };
            if let (Some(from), Some(connection)) = (from, self.live.get_mut(at))
                && !connection.is_over(segment, from)
            {
                connection.take(segment, from);
                return;
            }
        }
        self.find(segment, &mut opened, ended);
    }

    fn find(&mut self, segment: &Segment, opened: &mut impl FnMut(&mut Connection), mut ended: impl FnMut(Connection)) {
        let key = normal(segment.endpoints);
        let known = self.index.get(&key).copied().and_then(|at| {
            let connection = self.live.get_mut(at)?;
            let from = if connection.endpoints == segment.endpoints { From::Client } else { From::Server };
            if connection.is_over(segment, from) {
                ended(std::mem::replace(&mut **connection, Connection::new(segment)));
                opened(connection);
                return Some((at, From::Client));
            }
            Some((at, from))
        });
        let (at, from) = match known {
            Some(known) => known,
            None => {
                if self.live.len() >= self.max_live {
                    self.make_room(&mut ended);
                }
                let mut connection = Box::new(Connection::new(segment));
                opened(&mut connection);
                self.live.push(connection);
                self.index.insert(key, self.live.len() - 1);
                (self.live.len() - 1, From::Client)
            }
        };
        self.last = Some((segment.endpoints, at, from));
        if let Some(connection) = self.live.get_mut(at) {
            connection.take(segment, from);
        }
    }

    /// Ends the half of the connections that has been silent for longest.
    fn make_room(&mut self, ended: &mut impl FnMut(Connection)) {
        let mut times: Vec<i64> = self.live.iter().map(|connection| connection.last_ns).collect();
        let middle = times.len() / 2;
        let (_, &mut median, _) = times.select_nth_unstable(middle);
        let mut room = self.live.len() - middle;
        let mut kept = Vec::with_capacity(self.max_live);
        for connection in self.live.drain(..) {
            if connection.last_ns <= median && room > 0 {
                room -= 1;
                ended(*connection);
            } else {
                kept.push(connection);
            }
        }
        self.live = kept;
        self.index_live();
    }

    fn index_live(&mut self) {
        self.index.clear();
        for (at, connection) in self.live.iter().enumerate() {
            self.index.insert(normal(connection.endpoints), at);
        }
        self.last = None;
    }

    /// Connections that are followed at the moment.
    pub(crate) fn live(&self) -> impl ExactSizeIterator<Item = &Connection> {
        self.live.iter().map(|connection| &**connection)
    }

    pub(crate) fn live_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.live.iter_mut().map(|connection| &mut **connection)
    }

    /// The trace is over.
    pub(crate) fn end(&mut self, ended: impl FnMut(Connection)) {
        self.index.clear();
        self.last = None;
        self.live.drain(..).map(|connection| *connection).for_each(ended);
    }
}

/// The same for both directions.
fn normal(endpoints: Endpoints) -> Endpoints {
    let reversed = endpoints.reversed();
    let key = |ends: &Endpoints| (ends.source, ends.source_port);
    if key(&endpoints) <= key(&reversed) { endpoints } else { reversed }
}

/// A hash whose seed the caller chooses, so that nobody can write a file whose connections all collide.
#[derive(Debug, Clone, Copy)]
struct MixedHash {
    seed: u64,
}

impl BuildHasher for MixedHash {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer { state: self.seed }
    }
}

#[derive(Debug)]
struct Mixer {
    state: u64,
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        let (low, high) = (self.state ^ value).carrying_mul(0x9e37_79b9_7f4a_7c15, 0);
        self.state = (low ^ high).wrapping_add(0x2545_f491_4f6c_dd1d);
    }

    fn write_u128(&mut self, value: u128) {
        let [high, low] = halves(value);
        self.write_u64(high);
        self.write_u64(low);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

fn halves(value: u128) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, low @ ..] = value.to_be_bytes();
    [u64::from_be_bytes([a, b, c, d, e, f, g, h]), u64::from_be_bytes(low)]
}
