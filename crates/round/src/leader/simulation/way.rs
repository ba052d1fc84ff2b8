//! How programs are started at simulated hosts.

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{fmt, io};

use super::host::{Hosts, name};
use super::program::{Played, Words};
use crate::carrier::{Call, Carrier};
use crate::clock::Clock;
use crate::process::Process;

/// The way to a simulated host.
pub(super) struct Way {
    pub(super) hosts: Arc<Hosts>,
    pub(super) host: usize,
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

impl Carrier for Way {
    fn start(&self, _: &Call<'_>) -> io::Result<Child> {
        Err(io::Error::other("a simulated host has no processes"))
    }

    fn place(&self) -> String {
        format!("simulated {}", name(self.host))
    }

    fn process(&self, call: &Call<'_>) -> io::Result<Box<dyn Process>> {
        let words = Words::new(call.arguments);
        self.hosts.alive.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Played::new(Arc::clone(&self.hosts), self.host, &words)))
    }

    fn clock(&self) -> &dyn Clock {
        &self.hosts.clock
    }
}
