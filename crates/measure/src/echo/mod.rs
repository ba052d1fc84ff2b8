//! What ICMP echoes tell of a path (RFC 792, RFC 4443), without root where the kernel permits ping sockets.
//!
//! * [`series`]: round trips, losses, duplicates, reordering
//! * [`hops`]: the routers on the way
//! * [`path_mtu`]: the largest packet that arrives
//! * [`message`]: echo messages as bytes
//!
//! Each measurement ends within a time that its specification gives, or when it is told to stop, and comes back with what
//! was found until then. None of them fails: what went wrong is in the outcome.

pub mod hops;
pub mod message;
pub mod path_mtu;
mod pinger;
pub mod series;

use linux::clock;
use model::probe::Subject;
use model::run::{Failure, FailureKind, Outcome};

use crate::stop::Stop;

/// The measurement of `target` that starts now; the address is not known yet.
fn subject(target: &str) -> Subject {
    Subject { target: target.to_owned(), address: None, started: clock::wall_now() }
}

/// How a measurement ends that ran to its end or was told to stop.
fn ended(stop: &Stop) -> Outcome {
    if stop.is_stopped() {
        Outcome::Failed(Failure { kind: FailureKind::Interrupted, detail: "stopped by the user".to_owned() })
    } else {
        Outcome::Complete
    }
}
