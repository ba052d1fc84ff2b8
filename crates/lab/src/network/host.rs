//! A host of a network, and programs in it.

use std::ffi::OsStr;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Mutex;
use std::thread;

use linux::namespaces::{Entrance, Init};
use round::carrier::{Call, Carrier};

use super::files::Own;
use super::given::Given;

/// A host: a network namespace with processes, files and a name of its own.
#[derive(Debug)]
pub struct Host {
    pub(super) name: String,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) init: Init,
    pub(super) entrance: Entrance,
    pub(super) own: Own,
    pub(super) given: Mutex<Given>,
}

impl Host {
    /// Name in the scenario, which is the host name inside too.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The addresses by which others know it.
    #[must_use]
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// The number of its first process, by which other processes of this user enter it.
    #[must_use]
    pub fn first_process(&self) -> u32 {
        self.init.id()
    }

    /// The file of recorded facts, as programs in the host see it.
    #[must_use]
    pub fn recorded_facts(&self) -> Option<PathBuf> {
        self.own.facts()
    }

    /// The directory of the host's own files, as this process sees it.
    #[must_use]
    pub(crate) fn own_files(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.own.directory.as_raw_fd()))
    }

    /// A program that runs in the host: in its network, with its name, its /etc/hosts and its /sys. It ends with the
    /// host at the latest, and so does everything that it starts.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        prepared(&self.entrance, &self.own.place, self.own.facts().as_deref(), program)
    }

    /// Runs `work` on a thread of its own in the network of the host. Sockets stay there. Files and the host's name are
    /// those of the caller; a panic goes on in the caller.
    ///
    /// # Errors
    /// Where the host is gone; `work` has not run then.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let inside = scope.spawn(|| self.entrance.enter_network().map(|()| work()));
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl Carrier for Host {
    fn start(&self, call: &Call<'_>) -> io::Result<Child> {
        call.spawn(&mut self.command(std::ffi::OsStr::new(round::carrier::SHELL)))
    }

    fn place(&self) -> String {
        format!("host {} of the lab", self.name)
    }
}

/// A program in the host behind `entrance`.
pub(super) fn prepared(entrance: &Entrance, place: &Path, facts: Option<&Path>, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env(FIXES, place.join("fixes"));
    match facts {
        Some(facts) => command.env(RECORDED_FACTS, facts),
        None => command.env_remove(RECORDED_FACTS),
    };
    entrance.enter(&mut command);
    command
}

/// The environment variable that names the directory in which a host keeps what fixes have changed: each host its own,
/// which ends with it.
pub const FIXES: &str = "LINERATE_FIXES";

/// The environment variable that names the file of recorded facts to programs in a host.
pub const RECORDED_FACTS: &str = "LINERATE_RECORDED_FACTS";
