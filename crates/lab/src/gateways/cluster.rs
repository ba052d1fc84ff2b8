//! The processes of a cluster, and their logins at the manager.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use measure::stop::Stop;

use super::error::GatewaysError;
use super::memory;
use super::plan::Plan;
use super::site::{self, CLIENTS, MANAGER, PORT, Site, gateway};
use crate::network::{Host, Network};

/// A cluster that runs. Its processes end with this value, or with the network at the latest.
#[derive(Debug)]
pub(super) struct Cluster {
    processes: Vec<Child>,
    /// The process that stands for each gateway's xrootd on this side.
    servers: Vec<u32>,
}

impl Cluster {
    /// Starts the manager, then one gateway after the other, so that the manager's table has their order.
    pub(super) fn start(plan: &Plan<'_>, site: &Site, network: &Network, stop: &Stop) -> Result<Self, GatewaysError> {
        let count = site::classes(plan).count();
        let mut cluster = Self { processes: Vec::new(), servers: Vec::new() };
        let configuration = site.write_manager(count)?;
        for program in ["cmsd", "xrootd"] {
            cluster.launch(site, host(network, MANAGER), Program { program, configuration: &configuration })?;
        }
        let log = site.manager_log();
        for number in 0..count {
            let configuration = site.write_gateway(plan, number)?;
            for program in ["cmsd", "xrootd"] {
                let host = host(network, &gateway(number));
                cluster.launch(site, host, Program { program, configuration: &configuration })?;
            }
            // The one that was launched last is its xrootd.
            cluster.servers.extend(cluster.processes.last().map(Child::id));
            let login = format!("@{}:{PORT} logged in", gateway(number));
            let awaited = Awaited { what: format!("the login of {} at the manager", gateway(number)), log: &log };
            await_that(&awaited, stop, || fs::read_to_string(&log).unwrap_or_default().contains(&login))?;
        }
        Ok(cluster)
    }

    fn launch(&mut self, site: &Site, host: Option<&Host>, program: Program<'_>) -> Result<(), GatewaysError> {
        let Some(host) = host else { return Ok(()) };
        let home = site.path(host.name());
        let mut command = host.command("runuser");
        command.args(["-u", "xrootd", "--", program.program, "-n", host.name(), "-c"]);
        command.arg(program.configuration).arg("-l").arg(home.join(format!("{}.log", program.program)));
        command.current_dir(&home);
        let child = quiet(&mut command).spawn().map_err(|source| GatewaysError::Start {
            program: program.program,
            host: host.name().to_owned(),
            source,
        })?;
        self.processes.push(child);
        Ok(())
    }

    /// Memory of each gateway's xrootd, bytes; absent where its process is gone.
    pub(super) fn memory(&self) -> Vec<Option<f64>> {
        self.servers.iter().map(|process| memory::resident(*process, "xrootd")).collect()
    }

    /// Has the manager ask its servers for every file, so that from then on it chooses among all of them by its policy: the
    /// first client of a file goes to the server that answers first.
    #[expect(clippy::unused_self, reason = "there is no manager to ask before the cluster was started")]
    pub(super) fn know_files(&self, site: &Site, network: &Network) -> Result<(), GatewaysError> {
        let (Some(clients), Some(manager)) = (network.host(CLIENTS), network.host(MANAGER)) else { return Ok(()) };
        let address = manager.addresses().first().map(ToString::to_string).unwrap_or_default();
        let failed = |source| GatewaysError::Start { program: "xrdfs", host: CLIENTS.to_owned(), source };
        // The manager has each client wait a second for a file that it does not know: so many ask at once.
        let mut children = Vec::new();
        for asker in 0..ASKERS {
            let mut command = clients.command("xrdfs");
            command.arg(format!("root://{address}:{PORT}")).stdin(Stdio::piped());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().map_err(failed)?;
            if let Some(mut input) = child.stdin.take() {
                let names = (0..site.sizes.len()).map(site::name).chain((0..site::DELETED).map(site::deleted_name));
                for name in names.skip(asker).step_by(ASKERS) {
                    writeln!(input, "locate {name}").map_err(failed)?;
                }
                writeln!(input, "exit").map_err(failed)?;
            }
            children.push(child);
        }
        children.iter_mut().try_for_each(|child| child.wait().map(|_| ()).map_err(failed))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in &mut self.processes {
            // It may have ended by itself.
            let _ = child.kill();
        }
        for child in &mut self.processes {
            let _ = child.wait();
        }
    }
}

/// A program with its configuration.
#[derive(Clone, Copy)]
struct Program<'a> {
    program: &'static str,
    configuration: &'a Path,
}

fn host<'a>(network: &'a Network, name: &str) -> Option<&'a Host> {
    network.host(name)
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

/// What is waited for, and whose log says why it does not come.
struct Awaited<'a> {
    what: String,
    log: &'a Path,
}

fn await_that(awaited: &Awaited<'_>, stop: &Stop, is_so: impl Fn() -> bool) -> Result<(), GatewaysError> {
    let began = Instant::now();
    while !is_so() {
        if stop.is_stopped() {
            return Err(GatewaysError::Stopped);
        }
        if began.elapsed() > LONGEST_LOGIN {
            return Err(GatewaysError::Awaited {
                what: awaited.what.clone(),
                seconds: LONGEST_LOGIN.as_secs(),
                log: site::last_lines(awaited.log),
            });
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// How long a process may take until it has logged in.
const LONGEST_LOGIN: Duration = Duration::from_secs(60);
/// Clients that ask for files at once.
const ASKERS: usize = 16;
/// How often a log is read: cmsd has no other sign of a login.
const LOOK_EVERY: Duration = Duration::from_millis(50);
