//! TWAMP's side of a session: each packet goes back with the time at which it came and the time at which it goes.

use std::time::Duration;

use linux::clock;
use owamp::packet::{ReflectedPacket, SenderPacket};

use super::admission::Limits;
use crate::one_way::socket::TestSocket;
use crate::one_way::{clock_error, now};
use crate::stop::Stop;

/// Reflects until the session is over and its timeout has passed (RFC 5357 §4.2), and says how many packets.
///
/// A reply has the length of its question, and at least that of its own fields.
pub(super) fn reflect(socket: &mut TestSocket, timeout: Duration, limits: Limits, over: &Stop) -> u32 {
    let Ok(replies) = socket.sending_handle() else { return 0 };
    // Nobody ends the timeout early: late packets are reflected until it has passed.
    let never = Stop::default();
    let mut sequence = 0;
    let mut deadline = clock::now() + limits.time();
    let mut ending = false;
    while clock::now() < deadline && sequence < limits.packets() {
        if over.is_stopped() && !ending {
            ending = true;
            deadline = deadline.min(clock::now() + timeout.min(LONGEST));
        }
        let error = clock_error();
        socket.receive(deadline.min(clock::now() + GLANCE), &never, |arrival| {
            let Ok(sender) = SenderPacket::parse(arrival.head) else { return };
            if sequence >= limits.packets() {
                return;
            }
            let mut reply = vec![0; arrival.length.max(ReflectedPacket::LEN)];
            let packet = ReflectedPacket {
                sequence,
                sent: now(),
                error,
                received: arrival.received,
                sender,
                sender_ttl: arrival.ttl,
            };
            reply[..ReflectedPacket::LEN].copy_from_slice(&packet.emit::<{ ReflectedPacket::LEN }>());
            // A reply that cannot be sent is a lost packet to the client.
            let _ = replies.send(&reply);
            sequence += 1;
        });
    }
    sequence
}

/// How soon the end of a session is seen.
const GLANCE: Duration = Duration::from_millis(50);
/// The longest that packets are reflected after the end.
const LONGEST: Duration = Duration::from_secs(10);
