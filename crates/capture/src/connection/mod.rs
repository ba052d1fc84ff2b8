//! A TCP connection: two directions, the handshake, copies of packets.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a segment does to both directions |
//! | `handshake` | options, and where the capture was taken |
//! | `duplicate` | copies of one packet, from a span port or several interfaces |
//! | `table` | all connections of a trace |

pub(crate) mod duplicate;
mod handshake;
pub(crate) mod table;

use crate::decode::{Endpoints, Segment, flag};
use crate::direction::changes::PointTaken;
use crate::direction::series::{Series, Zoom};
use crate::direction::{Acknowledgment, Direction};
use duplicate::Copies;
pub(crate) use handshake::Handshake;

/// See the module.
#[derive(Debug)]
pub(crate) struct Connection {
    /// From the host whose segment came first, which is the client where the handshake was seen.
    pub(crate) endpoints: Endpoints,
    pub(crate) directions: [Direction; 2],
    pub(crate) handshake: Handshake,
    copies: Copies,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    pub(crate) first_frame: u64,
    pub(crate) packets: u64,
    pub(crate) duplicates: u64,
    /// Segments of which the snap length has cut TCP options.
    pub(crate) cut_options: u64,
    pub(crate) was_reset: bool,
}

/// Which of the two hosts sent a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// The one that spoke first.
    Client,
    Server,
}

impl Connection {
    pub(crate) fn new(segment: &Segment) -> Self {
        Self {
            endpoints: segment.endpoints,
            directions: [Direction::new(), Direction::new()],
            handshake: Handshake::default(),
            copies: Copies::default(),
            first_ns: segment.time_ns,
            last_ns: segment.time_ns,
            first_frame: segment.frame,
            packets: 0,
            duplicates: 0,
            cut_options: 0,
            was_reset: false,
        }
    }

    /// Columns for pictures are kept from here on.
    pub(crate) fn keep_series(&mut self, max_columns: usize, zoom: Option<Zoom>) {
        for direction in &mut self.directions {
            direction.series = Some(Box::new(Series::new(self.first_ns, max_columns, zoom)));
        }
    }

    /// What is given to another owner behind a point of an index is noted.
    pub(crate) fn keep_changes(&mut self) {
        for series in self.directions.iter_mut().filter_map(|direction| direction.series.as_mut()) {
            series.changes = Some(Box::default());
        }
    }

    /// A point of an index is taken.
    pub(crate) fn note_point(&mut self, point: PointTaken) {
        let series = self.directions.iter_mut().filter_map(|direction| direction.series.as_mut());
        for changes in series.filter_map(|series| series.changes.as_mut()) {
            changes.note_point(point);
        }
    }

    /// Whether a segment opens another connection with the same addresses and ports.
    pub(crate) fn is_over(&self, segment: &Segment, from: From) -> bool {
        if !segment.has(flag::SYN) || segment.has(flag::ACK) {
            return false;
        }
        let is_same = from == From::Client && self.handshake.client_isn == Some(segment.seq);
        self.packets > 0 && !is_same
    }

    /// A segment of this connection.
    #[inline]
    pub(crate) fn take(&mut self, segment: &Segment, from: From) {
        if self.copies.is_copy(segment) {
            self.duplicates += 1;
            return;
        }
        self.packets += 1;
        self.last_ns = segment.time_ns;
        self.cut_options += u64::from(segment.options.is_cut);
        let [client, server] = &mut self.directions;
        let (own, other) = match from {
            From::Client => (client, server),
            From::Server => (server, client),
        };
        count(own, segment);
        self.was_reset |= segment.has(flag::RST);
        if segment.has(flag::SYN) || !self.handshake.is_settled {
            if segment.has(flag::SYN) {
                own.syn(segment.seq);
            }
            self.handshake.take(segment, from, own, other);
        }
        if let Some((value, echo)) = segment.options.timestamps {
            if other.counts.data_packets > 0 {
                other.stamps.sent(value, segment.time_ns);
            }
            if segment.payload > 0
                && let Some(lag_ns) = own.stamps.echoed(echo, segment.time_ns)
            {
                own.take_lag(lag_ns);
            }
        }
        if segment.has(flag::ACK) && !segment.has(flag::RST) && other.expects(segment) {
            let spikes = other.counts.delay_spikes;
            other.acknowledged(Acknowledgment { segment, is_pure: segment.payload == 0 });
            other.note_spike(segment, spikes);
            // What the other host's data took to this one and back is what an acknowledgment takes.
            if own.sender_lag_ns > 0 && other.rtt.samples > 0 {
                own.bound_lag(other.rtt.min_ns);
            }
        }
        if segment.payload > 0 && !segment.has(flag::SYN) && !segment.has(flag::RST) {
            own.sent(segment);
        }
        if segment.has(flag::FIN) {
            own.fin(segment);
        }
    }
}

/// What is counted of each packet of a direction.
#[inline]
fn count(own: &mut Direction, segment: &Segment) {
    let counts = &mut own.counts;
    counts.packets += 1;
    if segment.ecn != 0 {
        counts.ect_packets += 1;
        if segment.ecn == 3 {
            counts.ce_marks += 1;
            if let Some(series) = &mut own.series {
                series.marked(segment.time_ns);
            }
        }
    }
    counts.cwr += u64::from(segment.has(flag::CWR) && !segment.has(flag::SYN));
    own.hops.take(segment.ttl, segment.time_ns);
}

saved!(Connection {
    endpoints,
    directions,
    handshake,
    copies,
    first_ns,
    last_ns,
    first_frame,
    packets,
    duplicates,
    cut_options,
    was_reset
});

#[cfg(test)]
mod tests {
    use super::*;

    /// A million connections of one packet may take 64 MB: 8,192 are followed at once, and what else is resident is 20 MB.
    const MOST_BYTES: usize = 4_608;

    #[test]
    fn a_connection_of_one_packet_takes_little_memory() {
        assert!(size_of::<Connection>() <= MOST_BYTES, "{} bytes", size_of::<Connection>());
        for (flags, payload) in [(flag::SYN, 0), (flag::ACK, 1_448)] {
            let segment = Segment { flags, payload, time_ns: 1_700_000_000_000_000_000, ..Segment::default() };
            let mut connection = Connection::new(&segment);
            connection.take(&segment, From::Client);
            assert!(!connection.copies.has_table(), "there is no second packet that could be a copy");
            assert!(connection.directions.iter().all(Direction::has_no_bursts), "{connection:?}");
        }
    }
}
