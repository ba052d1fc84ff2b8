//! An agent while it runs: threads that ask for work, carry it out, repeat light tests,
//! deliver, and watch the host.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use linux::clock;
use measure::metrics::MetricsServer;
use measure::stop::Stop;
use mesh::run::LeaseName;
use rustls::ClientConfig;

use super::ask::{Asking, Work};
use super::carrying::{self, Carrying, RunRecord};
use super::connection::Connection;
use super::deliver;
use super::directory::{Directory, DirectoryError, Opened};
use super::journal::Journal;
use super::metrics;
use super::shared::Shared;
use super::spool::{Spool, Spooled};
use super::transfers;
use super::watch::Watcher;
use crate::api::record::RecordKind;
use crate::trust::{pin, secret};

pub use super::options::{Options, Watch};

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
    /// Numbers cannot be served there.
    #[error("cannot listen on {address} for metrics")]
    Metrics {
        /// Where numbers were to be served.
        address: SocketAddr,
        /// What opening the port gave.
        source: io::Error,
    },
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
    let Opened { settings, identity, authority, seal } = directory.open()?;
    let _claim = claim(&directory)?;
    let metrics = options.metrics.map(open_metrics).transpose()?;
    let boots = count_start(&directory)?;
    let mut spool = Spool::open(&directory.file("spool"), settings.limits.max_spool)?;
    let spooled = leases_of(&mut spool);
    let (journal, interrupted) = Journal::open(&directory.file("journal"), &settings.name, boots, &spooled)?;
    let tls = pin::agent(identity, &authority)?;
    let shared = Shared::new(spool, stop, say);
    for lease in interrupted {
        let nothing = RunRecord::nothing(clock::wall_now(), "interrupted: the agent was started anew".to_owned());
        carrying::spool(&shared, &(&lease).into(), nothing)?;
    }
    let work = Work::new(journal);
    let watcher = Watcher::default();
    let connect = |tls: &Arc<ClientConfig>| Connection::new(settings.hub.clone(), Arc::clone(tls)).until(stop);
    let carrying = Carrying { shared: &shared, settings: &settings, options };
    thread::scope(|scope| {
        if let Some(server) = &metrics {
            scope.spawn(|| server.serve(shared.stop, &|| metrics::numbers(&shared)));
        }
        let delivering = connect(&tls);
        scope.spawn(|| deliver::deliver(&shared, delivering, &|record| work.acknowledged(&shared, record)));
        scope.spawn(|| work.carry_out(&carrying, &seal));
        scope.spawn(|| work.repeat(&carrying));
        if options.watch == Watch::On {
            scope.spawn(|| watcher.watch(&shared, &options.program, &options.directory));
        }
        if options.transfers == Watch::On {
            scope.spawn(|| transfers::watch(&shared, &options.program, &options.directory));
        }
        let asking = Asking { carrying: &carrying, work: &work, seal: &seal, boots, scope };
        asking.ask(connect(&tls));
        work.ring();
        watcher.end();
    });
    Ok(())
}

fn open_metrics(address: SocketAddr) -> Result<MetricsServer, RunError> {
    MetricsServer::open(address).map_err(|source| RunError::Metrics { address, source })
}

/// The leases whose results lie in the spool.
fn leases_of(spool: &mut Spool) -> BTreeSet<LeaseName> {
    let records = spool.all().records.into_iter();
    let lease = |spooled: Spooled| match spooled.record.kind {
        RecordKind::Result { lease } => Some((&lease).into()),
        RecordKind::Change | RecordKind::Snapshot | RecordKind::Transfers => None,
    };
    records.filter_map(lease).collect()
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
