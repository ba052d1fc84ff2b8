//! An agent while it runs: one thread asks for work, one delivers, one watches the host.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use measure::stop::Stop;
use round::carrier::Here;
use round::facts;
use round::task::{Partner, Site};
use rustls::ClientConfig;

use super::backoff::Backoff;
use super::connection::{Call, Connection};
use super::deliver::{self, shown};
use super::directory::{Directory, DirectoryError, Opened, Settings};
use super::shared::{Shared, random_bits};
use super::spool::Spool;
use super::watch::Watcher;
use crate::api::record::{Record, RecordKind};
use crate::api::work::{Facts, LONGEST_WAIT, WorkReply, WorkRequest};
use crate::trust::{pin, secret};

/// How an agent runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it lives.
    pub directory: PathBuf,
    /// The program of linerate on this host.
    pub program: OsString,
    /// Whether changes of this host are watched.
    pub watch: Watch,
}

/// Whether changes of this host are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// They are.
    On,
    /// They are not: somebody else does.
    Off,
}

/// Why an agent does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its directory cannot be read.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// Another agent runs from the same directory.
    #[error("another agent runs from {}", .0.display())]
    Taken(PathBuf),
    /// Its files cannot be written.
    #[error("the agent's files cannot be used")]
    File(#[from] io::Error),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
}

/// Runs until `stop`. Whatever the hub does, an agent stays.
///
/// # Errors
/// See [`RunError`].
pub fn run(options: &Options, stop: &Stop, say: &(dyn Fn(&str) + Sync)) -> Result<(), RunError> {
    let directory = Directory::at(&options.directory);
    let Opened { settings, identity, authority, .. } = directory.open()?;
    let _claim = claim(&directory)?;
    let boots = count_start(&directory)?;
    let spool = Spool::open(&directory.file("spool"), settings.limits.max_spool)?;
    let tls = pin::agent(identity, &authority)?;
    let shared = Shared::new(spool, stop, say);
    let watcher = Watcher::default();
    let connect = |tls: &Arc<ClientConfig>| Connection::new(settings.hub.clone(), Arc::clone(tls)).until(stop);
    thread::scope(|scope| {
        let delivering = connect(&tls);
        scope.spawn(|| deliver::deliver(&shared, delivering, &|_| {}));
        if options.watch == Watch::On {
            scope.spawn(|| watcher.watch(&shared, &options.program, &options.directory));
        }
        let asking = Asking { shared: &shared, settings: &settings, options, boots };
        asking.ask(connect(&tls));
        watcher.end();
    });
    Ok(())
}

/// The thread that asks for work.
struct Asking<'a> {
    shared: &'a Shared<'a>,
    settings: &'a Settings,
    options: &'a Options,
    boots: u64,
}

impl Asking<'_> {
    fn ask(&self, mut connection: Connection) {
        let mut backoff = Backoff::default();
        let mut number = 0;
        let mut is_away = true;
        while !self.shared.stop.is_stopped() {
            number += 1;
            let request = WorkRequest {
                boots: self.boots,
                number,
                room: 0,
                inventory: Some(Vec::new()),
                health: self.shared.health(0),
            };
            let call = Call { method: "POST", path: "/api/v1/agent/work", patience: LONGEST_WAIT + PATIENCE };
            match connection.call::<WorkReply>(&call, &request) {
                Ok(reply) => {
                    backoff.reset();
                    if std::mem::replace(&mut is_away, false) {
                        self.shared.say(&format!("{} is connected to {}", self.settings.name, self.settings.hub));
                    }
                    self.obey(&reply);
                    // A hub that has nothing and does not wait is not asked without end.
                    if reply.waited < SHORTEST_WAIT {
                        self.shared.pause(SHORTEST_WAIT);
                    }
                }
                Err(_) if self.shared.stop.is_stopped() => {}
                Err(error) => {
                    if !std::mem::replace(&mut is_away, true) || number == 1 {
                        self.shared.say(&shown(&error));
                    }
                    self.shared.pause(backoff.next(random_bits()));
                }
            }
        }
    }

    fn obey(&self, reply: &WorkReply) {
        if reply.facts == Facts::Wanted && self.shared.spool().has_room() {
            self.tell_facts();
        }
    }

    /// All facts of this host, for the hub.
    fn tell_facts(&self) {
        let here = Site {
            name: &self.settings.name,
            carrier: Some(&Here),
            program: &self.options.program,
            partner: Partner::Standing,
            port: measure::DEFAULT_PORT,
            http_port: 80,
        };
        let kept = facts::snapshot(&here, FACTS, self.shared.stop).and_then(|snapshot| {
            let name = format!("snapshot-{}-{}", self.boots, linux::clock::wall_now().unix_nanos());
            let content = snapshot.to_json().map_err(|error| error.to_string())?;
            let record = Record::pack(name, RecordKind::Snapshot, &content, None);
            record.and_then(|record| self.shared.keep(&record)).map_err(|error| error.to_string())
        });
        if let Err(why) = kept
            && !self.shared.stop.is_stopped()
        {
            self.shared.say(&format!("the facts of this host are not known: {why}"));
        }
    }
}

/// Two agents from one directory would deliver and count as one.
fn claim(directory: &Directory) -> Result<File, RunError> {
    let path = directory.file("agent.lock");
    let file = File::create(&path)?;
    file.try_lock().map_err(|_| RunError::Taken(directory.file("")))?;
    Ok(file)
}

/// Counts starts on disk, before the first request.
fn count_start(directory: &Directory) -> io::Result<u64> {
    let file = directory.file("starts");
    let before = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let now = before.unwrap_or_default().saturating_add(1);
    secret::write(&file, now.to_string().as_bytes())?;
    Ok(now)
}

/// How long the hub may take beyond its wait.
const PATIENCE: Duration = Duration::from_secs(20);
/// The least time from one request to the next.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// How long reading all facts of a host may take.
const FACTS: Duration = Duration::from_secs(60);
