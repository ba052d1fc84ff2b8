//! Sessions of test packets with servers of OWAMP and TWAMP, perfSONAR's among them.
//!
//! * [`owping`]: each direction by itself, as a client
//! * [`twping`]: rounds by a reflector, as a client
//! * [`socket`]: UDP with the kernel's times and the TTL
//! * [`control`]: the control connection, with deadlines
//! * [`sender`], [`receiver`]: the two ends of a session
//! * `greet`: the first messages of both protocols
//!
//! The server is [`crate::serve::probes`].

pub mod control;
mod greet;
pub mod owping;
pub mod receiver;
pub mod sender;
pub mod socket;
pub mod twping;

use std::time::Duration;

use linux::clock;
use model::probe::one_way::{SessionSpec, Spacing};
use owamp::estimate::{ClockState, ErrorEstimate};
use owamp::schedule::Slot;
use owamp::time::{NtpInterval, NtpTime};

/// The wall clock as a timestamp.
#[must_use]
pub fn now() -> NtpTime {
    NtpTime::from_wall(clock::wall_now())
}

/// How wrong the wall clock may be, by the word of whoever keeps it. Where the kernel does not say, nobody does.
#[must_use]
pub fn clock_error() -> ErrorEstimate {
    let Ok(discipline) = clock::discipline() else { return ErrorEstimate::UNSYNCHRONISED };
    let state = if discipline.synchronised { ClockState::Synchronised } else { ClockState::Unsynchronised };
    ErrorEstimate::new(state, discipline.max_error)
}

/// The waits of a session.
fn slots(spec: &SessionSpec) -> Vec<Slot> {
    let wait = NtpInterval::from_duration(spec.interval);
    vec![match spec.spacing {
        Spacing::Fixed => Slot::Fixed(wait),
        Spacing::Exponential => Slot::Exponential(wait),
    }]
}

/// How long a server may take for each message.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a server has for the setup before the first packet is due.
const START_AFTER: Duration = Duration::from_millis(100);
