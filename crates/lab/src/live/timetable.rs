//! Changes in hosts, each at its time.

use std::sync::mpsc::{Receiver, RecvTimeoutError};

use linux::clock;
use units::MonoTime;

use super::error::PlayError;
use crate::blueprint::Alteration;
use crate::network::Network;

/// Makes the changes, which are in order of time, until the last is made or the other end of `ends` is dropped. The
/// clock of the network began at `start`.
///
/// # Errors
/// The first change that cannot be made ends it.
pub fn keep(
    alterations: &[Alteration],
    network: &Network,
    start: MonoTime,
    ends: &Receiver<()>,
) -> Result<(), PlayError> {
    for alteration in alterations {
        let left = (start + alteration.at).since(clock::now());
        if let Ok(()) | Err(RecvTimeoutError::Disconnected) = ends.recv_timeout(left) {
            return Ok(());
        }
        let altered = network.alter(alteration);
        altered.map_err(|source| PlayError::Alteration { at: alteration.at, source: Box::new(source) })?;
    }
    Ok(())
}
