//! Changes in hosts, each at its time.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use linux::clock;

use super::error::LiveError;
use super::running::Live;
use crate::blueprint::Alteration;

/// Makes the changes, which are in order of time, until the last is made or the other end of `ends` is dropped, and
/// tells of those that cannot be made.
pub(super) fn keep(
    alterations: &[Alteration],
    Live { network, start, relay, .. }: Live<'_>,
    ends: &Receiver<()>,
    hear: &(dyn Fn(LiveError) + Sync),
) {
    for alteration in alterations {
        let at = start + alteration.at;
        // The clock of the paths may stand still meanwhile, so one wait may not be enough.
        while relay.clock().now() < at {
            let left = relay.clock().real(at).since(clock::now());
            if let Ok(()) | Err(RecvTimeoutError::Disconnected) = ends.recv_timeout(left.max(SHORTEST)) {
                return;
            }
        }
        if let Err(source) = network.alter(alteration) {
            hear(LiveError::Alteration { at: alteration.at, source: Box::new(source) });
        }
    }
}

const SHORTEST: Duration = Duration::from_micros(100);
