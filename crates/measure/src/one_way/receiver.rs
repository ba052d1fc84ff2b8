//! The receiving end of a session.

use std::collections::HashSet;
use std::time::Duration;

use linux::clock;
use owamp::packet::SenderPacket;
use owamp::record::PacketRecord;
use units::MonoTime;

use super::clock_error;
use super::socket::TestSocket;
use crate::stop::Stop;

/// What a session is to receive.
#[derive(Debug, Clone, Copy)]
pub struct ReceivePlan {
    /// Packets.
    pub packets: u32,
    /// After this no packet counts.
    pub deadline: MonoTime,
    /// A packet that takes so much longer than the fastest is lost.
    pub timeout: Duration,
}

/// Notes what arrives until all has, the deadline, or `stop`.
///
/// Of each packet as many copies are noted as there are packets in all: no sender makes this host keep more.
///
/// Model: how long a packet took is judged by the fastest one, so that clocks that differ by more than the timeout lose
/// nothing.
#[must_use]
pub fn receive_session(socket: &mut TestSocket, plan: &ReceivePlan, stop: &Stop) -> Vec<PacketRecord> {
    let most = 2 * plan.packets as usize;
    let error = clock_error();
    let mut records = Vec::new();
    let mut seen = HashSet::new();
    let mut deadline = plan.deadline;
    while clock::now() < deadline && !stop.is_stopped() {
        take(socket, deadline, stop, &mut |record| {
            let counts = record.sequence < plan.packets && records.len() < most;
            if counts && seen.insert(record.sequence) && seen.len() == plan.packets as usize {
                // A second copy of the last packet may be right behind it.
                deadline = deadline.min(clock::now() + AFTER_LAST);
            }
            if counts {
                records.push(PacketRecord { receiver_error: error, ..record });
            }
        });
    }
    // What lies in the socket has arrived in time.
    take(socket, clock::now(), stop, &mut |record| {
        if record.sequence < plan.packets && records.len() < most {
            records.push(PacketRecord { receiver_error: error, ..record });
        }
    });
    without_late(records, plan.timeout)
}

/// How long second copies are awaited once every packet is there.
const AFTER_LAST: Duration = Duration::from_millis(50);

fn take(socket: &mut TestSocket, deadline: MonoTime, stop: &Stop, note: &mut dyn FnMut(PacketRecord)) {
    socket.receive(deadline, stop, |arrival| {
        if let Ok(packet) = SenderPacket::parse(arrival.head) {
            note(PacketRecord {
                sequence: packet.sequence,
                sender_error: packet.error,
                receiver_error: packet.error,
                sent: packet.sent,
                received: arrival.received,
                ttl: arrival.ttl,
            });
        }
    });
}

fn without_late(mut records: Vec<PacketRecord>, timeout: Duration) -> Vec<PacketRecord> {
    let timeout = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
    if let Some(least) = records.iter().map(PacketRecord::delay_ns).min() {
        records.retain(|record| record.delay_ns().saturating_sub(least) <= timeout);
    }
    records
}
