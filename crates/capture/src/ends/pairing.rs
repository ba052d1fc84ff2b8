//! Which packet of one end is which of the other.

use std::collections::HashMap;

use super::clock::ClockPoint;
use super::recording::{AckPassage, Passage, Sent};

/// One direction at both ends of what lies between.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a> {
    /// Nearer to the host that sends.
    pub(super) near: &'a Sent,
    pub(super) far: &'a Sent,
    /// What is added to acknowledgment numbers of the far end so that they are those of the near one.
    pub(super) ack_shift: i64,
}

/// What became of each packet of a direction.
pub(super) struct Pairing<'a> {
    pub(super) near: &'a [Passage],
    pub(super) far: &'a [Passage],
    /// What is added to numbers of the far end.
    pub(super) shift: i64,
    /// For each segment of the near end, the one of the far end; in the order of sending.
    pub(super) arrived: Vec<Option<Arrival>>,
    /// Segments of the far end that are a second copy of one that has arrived.
    pub(super) duplicated: u64,
    /// Segments of the far end that the near capture lacks.
    pub(super) never_sent: u64,
    pub(super) acks: Vec<AckPair>,
    pub(super) acks_near: u64,
    /// The highest number that was acknowledged, as the near end counts.
    pub(super) acked: u64,
}

/// Where a segment is in the far capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) at: u32,
    /// Whether no other transmission of the same bytes may be meant.
    pub(super) is_certain: bool,
}

/// An acknowledgment at both ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckPair {
    pub(super) near_ns: i64,
    pub(super) far_ns: i64,
}

impl Pairing<'_> {
    /// Every packet whose passage is certain, for what the clocks say of it.
    pub(super) fn clock_points(&self) -> impl Iterator<Item = ClockPoint> {
        let segments = self.near.iter().zip(&self.arrived).filter_map(|(near, arrival)| {
            let arrival = arrival.filter(|arrival| arrival.is_certain)?;
            Some(ClockPoint { sent_ns: near.time_ns, arrived_ns: self.far.get(arrival.at as usize)?.time_ns })
        });
        let acks = self.acks.iter().map(|ack| ClockPoint { sent_ns: ack.near_ns, arrived_ns: ack.far_ns });
        segments.chain(acks)
    }
}

/// Pairs all packets of a direction.
pub(super) fn pair(ends: Ends<'_>) -> Pairing<'_> {
    let Ends { near, far, ack_shift } = ends;
    let shift = near.numbers.shift_from(far.numbers);
    let mut search = Search::new(&near.segments);
    let (mut duplicated, mut never_sent) = (0, 0);
    for (at, passage) in (0_u32..).zip(&far.segments) {
        let passage = Passage { from: passage.from.wrapping_add_signed(shift), ..*passage };
        match search.take(&passage, at) {
            Found::New => {}
            Found::Again => duplicated += 1,
            Found::Nowhere => never_sent += 1,
        }
    }
    let acked = near.acked.max(far.acked.wrapping_add_signed(shift));
    Pairing {
        near: &near.segments,
        far: &far.segments,
        shift,
        arrived: search.arrived,
        duplicated,
        never_sent,
        acks: pair_acks(&near.acks, &far.acks, ack_shift),
        acks_near: near.acks.len() as u64,
        acked,
    }
}

/// Transmissions by the number of their first byte.
struct Search<'a> {
    near: &'a [Passage],
    /// Indices of `near`, by number and then by time.
    order: Vec<u32>,
    arrived: Vec<Option<Arrival>>,
    longest: u64,
}

enum Found {
    New,
    Again,
    Nowhere,
}

impl<'a> Search<'a> {
    fn new(near: &'a [Passage]) -> Self {
        let mut order: Vec<u32> = (0_u32..).take(near.len()).collect();
        order.sort_by_key(|at| near.get(*at as usize).map(|passage| passage.from));
        let longest = near.iter().map(|passage| u64::from(passage.bytes)).max().unwrap_or_default();
        Self { near, order, arrived: vec![None; near.len()], longest }
    }

    /// The transmission that a segment of the far end is.
    fn take(&mut self, passage: &Passage, at: u32) -> Found {
        let from = passage.from.saturating_sub(self.longest);
        let start = self.order.partition_point(|at| self.near.get(*at as usize).is_some_and(|near| near.from < from));
        let (mut best, mut rivals, mut found) = (None, 0, Found::Nowhere);
        for index in self.order.get(start..).unwrap_or(&[]) {
            let Some(near) = self.near.get(*index as usize) else { continue };
            if near.from >= passage.to() {
                break;
            }
            // Half of the bytes in common: retransmissions are cut otherwise than originals.
            let common = near.to().min(passage.to()).saturating_sub(near.from.max(passage.from));
            if 2 * common < u64::from(passage.bytes) || !is_alike(near, passage) {
                continue;
            }
            if self.arrived.get(*index as usize).is_some_and(Option::is_some) {
                found = Found::Again;
                continue;
            }
            rivals += 1;
            best = best.or(Some(*index));
        }
        let Some(slot) = best.and_then(|best| self.arrived.get_mut(best as usize)) else { return found };
        let is_certain = rivals == 1 && !matches!(found, Found::Again);
        *slot = Some(Arrival { at, is_certain });
        Found::New
    }
}

/// Whether two packets with the same bytes may be one: the same stamp, and the same IP ID where a path keeps it.
fn is_alike(near: &Passage, far: &Passage) -> bool {
    let have_ids = near.ip_id != 0 && far.ip_id != 0;
    if near.stamp != far.stamp && near.stamp != 0 && far.stamp != 0 {
        return false;
    }
    !have_ids || near.ip_id == far.ip_id || near.stamp != 0
}

/// Pairs acknowledgments that say the same: those that are there as often at both ends, in their order.
fn pair_acks(near: &[AckPassage], far: &[AckPassage], shift: i64) -> Vec<AckPair> {
    let mut sent: HashMap<(u64, u32), Vec<i64>> = HashMap::new();
    for ack in near {
        sent.entry((ack.number, ack.digest)).or_default().push(ack.time_ns);
    }
    let mut arrived: HashMap<(u64, u32), Vec<i64>> = HashMap::new();
    for ack in far {
        arrived.entry((ack.number.wrapping_add_signed(shift), ack.digest)).or_default().push(ack.time_ns);
    }
    let mut pairs = Vec::new();
    for (key, near) in sent {
        let far = arrived.remove(&key).unwrap_or_default();
        let as_many = if near.len() == far.len() { near.len() } else { 0 };
        pairs.extend(near.iter().zip(&far).take(as_many).map(|(near, far)| AckPair { near_ns: *near, far_ns: *far }));
    }
    pairs.sort_by_key(|pair| pair.near_ns);
    pairs
}
