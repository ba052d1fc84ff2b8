//! The hub itself.
//!
//! * [`directory`]: what `hub init` writes and `hub run` reads: settings, authority, keys
//! * [`state`]: all that requests share
//! * [`counters`]: what has happened since the start, for `/metrics`
//! * [`log`]: what it says while it runs
//! * [`request`]: a request and its answer, without a socket
//! * [`answer`], `caller`: who may ask what, and what the hub says
//! * `joining`, `work`, `records`, `metrics`: what it says to each
//! * `archived`: what it says to perfSONAR
//! * [`people`], [`attempts`], `deeds`: accounts, who tries passwords, who did what
//! * [`openid`]: signing in by a provider
//! * `testing`, `upgrade`: tests from browsers, and how a connection becomes one
//! * `dashboard`, `reports`: pages for browsers, and post-mortems
//! * [`plans`], `views`, `hosts`, `incidents`: what it shows people of the mesh
//! * `pulse`: what it does by itself
//! * [`bells`], [`newest_facts`], `waiting`: requests that wait for something to happen
//! * [`listener`]: connections, each within its limits of number, time and bytes

pub mod answer;
mod archived;
pub mod attempts;
pub mod bells;
mod caller;
pub mod counters;
mod dashboard;
mod deeds;
mod demonstrating;
pub mod directory;
mod hosts;
mod incidents;
mod joining;
pub mod listener;
pub mod log;
mod metrics;
pub mod newest_facts;
pub mod openid;
pub mod people;
pub mod plans;
mod pulse;
mod records;
mod reports;
pub mod request;
pub mod state;
mod testing;
mod upgrade;
mod views;
mod waiting;
mod work;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::watch;

use crate::segments::{self, Segments};
use crate::trust::pin::{self, Identity};
use directory::Settings;
use listener::Listener;
use state::Hub;

/// Serves until `stop` is true, on threads of its own; `listens` hears the address once connections are accepted.
///
/// # Errors
/// Where no thread can be had, the certificate does not fit its key, or the address is not free.
pub fn serve(
    hub: &Arc<Hub>,
    identity: Identity,
    settings: &Settings,
    stop: watch::Receiver<bool>,
    listens: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let tls = pin::hub(identity, hub.authority.certificate().clone()).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING)
        .enable_io()
        .enable_time()
        .thread_name("hub")
        .build()?;
    runtime.block_on(async {
        let listener = Listener::bind(Arc::clone(hub), settings.listen, tls, settings.limits).await?;
        listens(listener.address()?);
        let (own, stopped) = (Arc::clone(hub), stop.clone());
        let beating =
            std::thread::Builder::new().name("pulse".to_owned()).spawn(move || pulse::beat(&own, &stopped))?;
        let own = Arc::clone(hub);
        let write = move || own.segments.iter().for_each(|segments| segments::write(&own, segments));
        let writing =
            hub.segments.as_ref().map(|_| std::thread::Builder::new().name("segments".to_owned()).spawn(write));
        let writing = writing.transpose()?;
        listener.serve(stop).await;
        // They see the same wish.
        hub.watching.ring();
        hub.segments.iter().for_each(Segments::stop);
        let _ = beating.join();
        let _ = writing.map(std::thread::JoinHandle::join);
        Ok(())
    })
}

/// Threads that read and write connections.
const WORKERS: usize = 2;
/// Threads that wait for the database.
const BLOCKING: usize = 32;
