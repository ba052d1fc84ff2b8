//! The clocks by which hosts are waited for.

use std::fmt;

use units::{MonoTime, WallTime};

/// The clocks by which hosts are waited for: those of this machine, or those of a simulation.
pub trait Clock: fmt::Debug + Sync {
    /// The time that only goes on.
    fn now(&self) -> MonoTime;

    /// The time of day.
    fn wall_now(&self) -> WallTime;
}

/// The clocks of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> MonoTime {
        linux::clock::now()
    }

    fn wall_now(&self) -> WallTime {
        linux::clock::wall_now()
    }
}
