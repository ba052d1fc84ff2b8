//! The sending end of a session.

use std::net::UdpSocket;

use linux::clock;
use owamp::packet::SenderPacket;
use owamp::schedule::Schedule;
use units::MonoTime;

use super::{clock_error, now};
use crate::stop::Stop;

/// What a session sends.
#[derive(Debug, Clone)]
pub struct SendPlan {
    /// When the first wait begins.
    pub start: MonoTime,
    /// Packets.
    pub packets: u32,
    /// The waits before them.
    pub schedule: Schedule,
    /// Bytes behind the head.
    pub padding: usize,
}

/// Sends the packets, each at its time, until all are sent or `stop`. Returns the number that the next would have.
///
/// A packet that this host cannot send counts as sent: whether it arrives is what is being measured. One whose time was
/// missed is sent at once, with the time at which it is sent.
#[must_use]
pub fn send_session(socket: &UdpSocket, plan: SendPlan, stop: &Stop) -> u32 {
    let mut due = plan.start;
    let mut packet = vec![0; SenderPacket::LEN + plan.padding];
    for (sequence, wait) in (0..plan.packets).zip(plan.schedule) {
        due = due + wait.to_duration();
        if !matches!(clock::sleep_unless(due, || stop.is_stopped()), Ok(true)) {
            return sequence;
        }
        let head = SenderPacket { sequence, sent: now(), error: clock_error() };
        packet[..SenderPacket::LEN].copy_from_slice(&head.emit::<{ SenderPacket::LEN }>());
        let _ = socket.send(&packet);
    }
    plan.packets
}
