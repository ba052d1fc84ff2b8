//! Watching a host: what changes is in the change log at once, with who did it where the kernel tells.
//!
//! The kernel says that something changed; what may have changed is read again and compared with what was known; the
//! difference is entered. From time to time everything is read and compared, so that what came without an event is
//! entered too, as a change between two times. What is known is kept with the entries, in one transaction: whatever
//! happens to the watcher, the next one goes on from there.
//!
//! * `listener`: a thread that listens all the time; `events`: what it hears
//! * `place`: one network namespace that is watched
//! * `known`: what is known, and what a new reading changes
//! * `besides`: what is watched and is no setting: addresses, policy rules, nftables, carrier
//! * `actors`: who made a change; `restless`: settings that change all the time; `packages`: what is installed
//! * `entries`: changes as entries of the log; `clock`: steps of the wall clock
//! * `journal`: entries on their way to the archive
//! * `rounds`: when to read what
//! * `options`: how to watch; `report`: what a watcher says, and why nobody watches

mod actors;
mod besides;
mod clock;
mod entries;
mod events;
mod journal;
mod known;
mod listener;
mod options;
mod packages;
mod place;
mod report;
mod restless;
mod rounds;

use std::sync::atomic::AtomicBool;

use archive::Archive;

pub use actors::user_name;
pub use options::{Namespaces, Options};
pub use report::{WatchError, WatchEvent};

/// Watches this host until `stop` is set. What is entered is on disk when it is told.
///
/// # Errors
/// See [`WatchError`]: nothing was watched then. What fails later is told and tried again.
pub fn watch(
    archive: &mut Archive,
    options: &Options,
    stop: &AtomicBool,
    told: &mut dyn FnMut(WatchEvent<'_>),
) -> Result<(), WatchError> {
    let _lock = archive.lock_watch(&linux::host::hostname())?;
    linux::monitor::allow_many_files();
    let mut rounds = rounds::Rounds::begin(archive, options, told)?;
    rounds.run(stop)
}
