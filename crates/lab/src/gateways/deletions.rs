//! Deletions beside the load: small files, one `xrdfs rm` each through the manager, timed from its start to its end.
//!
//! The time of a process that starts is part of each, before the load as under it.

use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use ::gateways::trial::beside::Deletions;

use super::error::GatewaysError;
use super::site::{self, CLIENTS, PORT};
use crate::network::Host;

/// Deletes one file after the other.
pub(super) struct Deleter<'a> {
    host: &'a Host,
    manager: String,
    next: usize,
    ended: Sender<Option<Duration>>,
    ends: Receiver<Option<Duration>>,
}

impl<'a> Deleter<'a> {
    pub(super) fn new(host: &'a Host, manager: String) -> Self {
        let (ended, ends) = channel();
        Self { host, manager, next: 0, ended, ends }
    }

    /// Deletes some files one after the other, before anything else is asked for.
    pub(super) fn before_load(&mut self, deletions: &mut Deletions) -> Result<(), GatewaysError> {
        for _ in 0..IDLE {
            self.start()?;
            match self.ends.recv_timeout(LONGEST).ok().flatten() {
                Some(took) => deletions.idle_s.push(took.as_secs_f64()),
                None => {
                    deletions.failed += 1;
                    // The next ones would fail alike, after as long a time.
                    break;
                }
            }
        }
        Ok(())
    }

    /// Starts to delete the next file, as long as there are any.
    pub(super) fn start(&mut self) -> Result<(), GatewaysError> {
        if self.next >= site::DELETED {
            return Ok(());
        }
        let mut command = self.host.command("xrdfs");
        command.arg(format!("root://{}:{PORT}", self.manager)).args(["rm", &site::deleted_name(self.next)]);
        command.env("XRD_NETWORKSTACK", "IPv4");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let failed = |source| GatewaysError::Start { program: "xrdfs", host: CLIENTS.to_owned(), source };
        let began = Instant::now();
        let mut child = command.spawn().map_err(failed)?;
        self.next += 1;
        let ended = self.ended.clone();
        let waits = move || {
            let is_done = child.wait().is_ok_and(|status| status.success());
            // The run may be over.
            let _ = ended.send(is_done.then(|| began.elapsed()));
        };
        thread::Builder::new().stack_size(SMALL_STACK).spawn(waits).map_err(failed)?;
        Ok(())
    }

    /// Takes those that have ended under load.
    pub(super) fn collect(&self, deletions: &mut Deletions) {
        for took in self.ends.try_iter() {
            match took {
                Some(took) => deletions.loaded_s.push(took.as_secs_f64()),
                None => deletions.failed += 1,
            }
        }
    }
}

/// Deletions before the load.
const IDLE: usize = 16;
/// A deletion that takes longer has failed.
const LONGEST: Duration = Duration::from_secs(60);
/// A thread that waits for one process needs little.
const SMALL_STACK: usize = 128 * 1024;
