//! Events of the kernel as they happen: tracepoints, as `perf_event_open` gives them.
//!
//! Events are of the whole host, whatever the network namespace. Reading them takes `CAP_PERFMON` and `CAP_SYS_ADMIN`
//! outside of any user namespace, or what `kernel.perf_event_paranoid` allows. Nothing stays behind: the kernel ends
//! the events with the files of this process.

mod event;
mod format;
mod records;
mod ring;

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::{Unavailable, affinity, mounts};
pub use event::TracepointEvent;
pub use format::{Field, Format, FormatError};
use ring::Ring;

/// A tracepoint whose events are taken on all processors.
#[derive(Debug)]
pub struct Tracepoint {
    format: Format,
    rings: Vec<Ring>,
    lost: u64,
}

impl Tracepoint {
    /// Takes the events of `name` from here on, such as `skb/kfree_skb`.
    ///
    /// # Errors
    /// [`Denied`](crate::Reason::Denied) without the privilege; [`Absent`](crate::Reason::Absent) where the kernel has
    /// no such tracepoint.
    pub fn open(name: &str) -> Result<Self, Unavailable> {
        let what = || format!("tracepoint {name}");
        let text = description(name).map_err(|error| Unavailable::because(what(), &error))?;
        let format = Format::parse(&text).map_err(|error| Unavailable::failed(what(), error.to_string()))?;
        let cpus = affinity::online_cpus().map_err(|error| Unavailable::because(what(), &error))?;
        let rings: io::Result<Vec<Ring>> = cpus.into_iter().map(|cpu| Ring::open(format.id, cpu)).collect();
        let rings = rings.map_err(|error| Unavailable::because(what(), &error))?;
        Ok(Self { format, rings, lost: 0 })
    }

    /// Where fields are, and what their numbers mean.
    #[must_use]
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// Calls `each` with every event since the last call. Events of one CPU come in their order.
    pub fn drain(&mut self, mut each: impl FnMut(TracepointEvent<'_>)) {
        for ring in &mut self.rings {
            self.lost += ring.drain(&mut each);
        }
    }

    /// How many events the kernel could not keep since this was last asked, because they were not taken in time.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Files that can be read when events should be taken soon: one a processor.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.rings.iter().map(AsFd::as_fd)
    }
}

/// The description of a tracepoint. The file system that has it need not be mounted anywhere.
fn description(name: &str) -> io::Result<String> {
    let part = |root: &str| format!("{root}/events/{name}/format");
    for root in ROOTS {
        match fs::read_to_string(part(root)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            outcome => return outcome,
        }
    }
    let mounted: OwnedFd = mounts::detached_tracefs()?;
    fs::read_to_string(part(&format!("/proc/self/fd/{}", mounted.as_raw_fd())))
}

/// Where it is mounted usually (Documentation/trace/ftrace.rst).
const ROOTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

#[cfg(test)]
mod tests;
