//! Two captures of the same connections, one nearer each end: what happened between them, packet by packet.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | two recordings in, what lies between them out |
//! | `recording` | the packets of one capture, in bounded memory |
//! | `numbers` | sequence numbers that count alike at both ends |
//! | `pairing` | which packet of one end is which of the other |
//! | `clock` | how the clocks of the two differ |
//! | `between` | loss, reordering and delay of one direction |
//! | `overlay` | both ends over time, for a picture |
//! | `report` | what comes of it |
//!
//! A transmission is told from another of the same bytes by its time stamp (RFC 7323) and by its IP ID, so that losses and
//! reordering between the captures are counted and not inferred.

mod between;
mod clock;
mod numbers;
mod overlay;
mod pairing;
mod recording;
mod report;

pub use clock::{ClockDifference, Clocks};
pub use overlay::{Overlay, OverlayColumn, View, overlay};
pub use recording::{Recorder, Recording};
#[cfg(feature = "schema")]
pub use report::schema;
pub use report::{
    AckCounts, Crossing, DelayReport, Joined, JoinedConnection, JoinedDocument, LossBurst, SegmentCounts, TwoDirections,
};

use clock::{ClockPoint, difference};
use pairing::{Ends, Pairing, pair};
use recording::Recorded;

/// Joins two captures: `near` is the one that stands first in the report; which is nearer to whom is found out.
#[must_use]
pub fn join(near: &Recording, far: &Recording, clocks: Clocks) -> Joined {
    let mut connections = Vec::new();
    for one in &near.connections {
        let Some(other) = far.connections.iter().find(|other| other.is_same(one)) else { continue };
        connections.push(joined(one, other, clocks));
    }
    connections.sort_by_key(|connection| std::cmp::Reverse(connection.segments()));
    let count = |recording: &Recording| recording.connections.len() as u64 - connections.len() as u64;
    Joined {
        only_in_first: count(near),
        only_in_second: count(far),
        not_kept: near.not_kept + far.not_kept,
        connections,
    }
}

/// A connection at both places.
struct Paired<'a> {
    is_first_at_client: bool,
    to_server: Pairing<'a>,
    to_client: Pairing<'a>,
    clock: ClockDifference,
}

impl<'a> Paired<'a> {
    fn of(one: &'a Recorded, other: &'a Recorded, clocks: Clocks) -> Self {
        // The capture that waits longer for answers to what the client sends is nearer to the client.
        let is_first_at_client = one.answer_ns(0) >= other.answer_ns(0);
        let (client, server) = if is_first_at_client { (one, other) } else { (other, one) };
        let ([client_near, server_far], [client_far, server_near]) = (&client.directions, &server.directions);
        let to_server = pair(Ends {
            near: client_near,
            far: client_far,
            // Of what the server sent, which the client acknowledges.
            ack_shift: server_far.numbers.shift_from(server_near.numbers),
        });
        let to_client = pair(Ends {
            near: server_near,
            far: server_far,
            ack_shift: client_far.numbers.shift_from(client_near.numbers),
        });
        let points = |pairing: &Pairing<'_>| -> Vec<ClockPoint> { pairing.clock_points().collect() };
        let clock = difference(&points(&to_server), &points(&to_client), clocks);
        Self { is_first_at_client, to_server, to_client, clock }
    }
}

fn joined(one: &Recorded, other: &Recorded, clocks: Clocks) -> JoinedConnection {
    let Paired { is_first_at_client, to_server, to_client, clock } = Paired::of(one, other, clocks);
    let between = |pairing: &Pairing<'_>, towards| between::crossing(pairing, &clock, towards);
    JoinedConnection {
        client: one.client,
        server: one.server,
        is_first_at_client,
        rewritten: one.is_rewritten(other),
        directions: TwoDirections {
            to_server: between(&to_server, between::Towards::Server),
            to_client: between(&to_client, between::Towards::Client),
        },
        clock,
    }
}
