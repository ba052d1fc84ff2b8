//! What is still on the way when the senders have stopped counts too.

use std::time::Duration;

use linux::clock;
use linux::tcp_info::TcpInfo;
use model::measurement::Heading;
use model::series::field::Field;
use units::MonoTime;

use super::part::Running;
use crate::telemetry;

/// Until when a receiver goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The senders have closed their directions: read to the end of each.
    EndOfStream,
    /// Nobody says when it is over: read until nothing has come for this long.
    Quiet(Duration),
    /// An iperf3 says that an amount is sent once its own kernel has it: the rest comes at the pace of the path.
    Amount {
        /// Payload over all streams that was announced.
        bytes: u64,
        /// Silence that ends it before that much has come.
        short: Duration,
        /// Silence that ends it after.
        whole: Duration,
    },
    /// So much was sent; less may come, so silence ends it too.
    Received {
        /// Datagrams over all streams.
        datagrams: u64,
        /// Silence that ends it.
        quiet: Duration,
    },
}

/// How often the sockets are looked at.
const GLANCE: Duration = Duration::from_millis(1);

/// Waits for what is on the way, and stops the receivers. Returns a moment at which everything that came had come, so
/// that silence is not counted as time.
pub fn drain(running: &Running, until: Until, longest: Duration) -> MonoTime {
    let last = wait(running, until, longest);
    running.streams.stop_receiving();
    last
}

fn wait(running: &Running, until: Until, longest: Duration) -> MonoTime {
    let deadline = clock::now() + longest;
    let (mut bytes, mut since) = (running.streams.bytes(Heading::Inbound), clock::now());
    while !running.streams.is_done(Heading::Inbound) && clock::now() < deadline {
        let silence = clock::now().since(since);
        let over = match until {
            Until::EndOfStream => false,
            Until::Quiet(quiet) => silence >= quiet,
            Until::Amount { bytes: announced, short, whole } => {
                silence >= if bytes < announced { short } else { whole }
            }
            Until::Received { datagrams, quiet } => received(running) >= datagrams || silence >= quiet,
        };
        if over || clock::sleep_until(clock::now() + GLANCE).is_err() {
            return since;
        }
        let now = running.streams.bytes(Heading::Inbound);
        // Bytes that lie in our own sockets wait for us, not we for them.
        if now != bytes || has_unread(running) {
            (bytes, since) = (now, clock::now());
        }
    }
    since
}

/// Waits until the peer's kernel has everything that was sent: an iperf3 stops reading when it is told of the end.
pub fn deliver(running: &Running, longest: Duration) {
    let deadline = clock::now() + longest;
    while !is_delivered(running) && clock::now() < deadline && clock::sleep_until(clock::now() + GLANCE).is_ok() {}
}

fn is_delivered(running: &Running) -> bool {
    let mut outbound = running.streams.streams().iter().filter(|stream| stream.heading == Heading::Outbound);
    outbound.all(|stream| {
        // Of a connection that is gone, or on a kernel that does not tell, nothing can be waited for.
        let left = |info: &TcpInfo, field| telemetry::value(info, field).unwrap_or(0);
        TcpInfo::read(stream.fd()).map_or(true, |info| left(&info, Field::Unacked) + left(&info, Field::Notsent) == 0)
    })
}

fn has_unread(running: &Running) -> bool {
    let mut inbound = running.streams.streams().iter().filter(|stream| stream.heading == Heading::Inbound);
    inbound.any(|stream| rustix::io::ioctl_fionread(stream.fd()).is_ok_and(|bytes| bytes > 0))
}

fn received(running: &Running) -> u64 {
    let inbound = running.streams.streams().iter().filter(|stream| stream.heading == Heading::Inbound);
    inbound.map(|stream| stream.counters.read().packets).sum()
}
