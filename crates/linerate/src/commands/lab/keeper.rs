//! The process that keeps a lab: everything of the lab ends with it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lab::blueprint::Blueprint;
use lab::network::kept::{Claim, Record};
use lab::network::{Network, RaiseError};
use lab::relay::probe::ProbeError;
use lab::relay::{Limited, Options, Relay, RelayError};
use lab::scenario::{Limits, Scenario};
use linux::clock;
use linux::namespaces::process::{leave_terminal, start_of};
use path::Seed;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use units::{DataRate, MonoTime};

use super::{acquire_rights, complain};
use crate::cli::Common;
use crate::cli::lab::UpArgs;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

/// What the keeper says once the lab is up.
pub const READY: &str = "ready\n";

/// Makes the network, keeps it, and takes it down when it is told to.
pub fn run(common: &Common, args: &UpArgs, scenario: &Scenario, name: &str) -> anyhow::Result<Exit> {
    if args.keeper {
        leave_terminal();
    }
    let signals = Signals::listen()?;
    let claim = Claim::take(name).map_err(complain)?;
    acquire_rights()?;
    check(scenario)?;
    let blueprint = scenario.blueprint(Seed(args.seed));
    let mut network = Network::raise(&blueprint).map_err(cannot_raise)?;
    let start = clock::now();
    let relay = Relay::start(network.wires(), start, &Options::default()).map_err(cannot_carry)?;
    let keeper = std::process::id();
    let record = Record {
        format: Record::FORMAT,
        name: name.to_owned(),
        scenario: args.scenario.clone(),
        seed: args.seed,
        up_unix_ns: clock::wall_now(),
        keeper,
        keeper_started_ticks: start_of(keeper).unwrap_or_default(),
        hosts: Record::hosts_of(&network),
    };
    claim.publish(&record).map_err(complain)?;
    if args.keeper {
        // Whoever started this process may have given up.
        let _ = std::io::stdout().write_all(READY.as_bytes()).and_then(|()| std::io::stdout().flush());
    } else if common.json {
        print(&show::json::document(&record)?)?;
    } else {
        print(show::lab::up(&record, &scenario.title).as_bytes())?;
    }
    follow(&blueprint, &network, start, &signals);
    let (report, _) = relay.stop();
    for limit in report.limited.iter().flat_map(Limited::worst) {
        eprintln!("warning: the relay was the limit of this lab for some time: {limit}");
    }
    drop(network);
    drop(claim);
    Ok(if signals.interrupted.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Success })
}

/// Makes each alteration at its time, until a signal comes.
fn follow(blueprint: &Blueprint, network: &Network, start: MonoTime, signals: &Signals) {
    for alteration in &blueprint.alterations {
        if signals.wait(Some((start + alteration.at).since(clock::now()))) {
            return;
        }
        // The lab is worth more than one change of it: who reads the log learns what is missing.
        if let Err(error) = network.alter(alteration) {
            show::error::print(&cannot_raise(error));
        }
    }
    signals.wait(None);
}

/// What the kernel lacks, and what the relay cannot carry, is told with the line of the scenario that needs it.
pub fn check(scenario: &Scenario) -> anyhow::Result<()> {
    let needs = scenario.needs();
    let limits = if scenario.fastest().is_some_and(|rate| rate > ANYWHERE) {
        lab::check::limits(&needs).map_err(cannot_probe)?
    } else {
        let lacking = lab::check::lacking(&needs);
        Limits { rate: DataRate::from_bps(u64::MAX), packets_per_second: u64::MAX, lacking }
    };
    scenario.check(&limits).map_err(|error| {
        let complaint = Complaint::new(Exit::Local, "this machine cannot carry the scenario");
        let complaint = error.hints().into_iter().fold(complaint, Complaint::hint);
        anyhow::Error::from(error).context(complaint)
    })
}

fn cannot_raise(error: RaiseError) -> anyhow::Error {
    let exit = match &error {
        RaiseError::Sysctl { .. } | RaiseError::Metric { .. } | RaiseError::Feature { .. } => Exit::Usage,
        _ => Exit::Local,
    };
    anyhow::Error::from(error).context(
        Complaint::new(exit, "the network cannot be made as the scenario says")
            .hint("`linerate lab check` shows what this machine can"),
    )
}

fn cannot_probe(error: ProbeError) -> anyhow::Error {
    anyhow::Error::from(error).context(Complaint::new(Exit::Local, "what the relay carries here cannot be measured"))
}

/// Up to this rate the relay is not measured, which takes a quarter of a second.
const ANYWHERE: DataRate = DataRate::from_bps(500_000_000);

fn cannot_carry(error: RelayError) -> anyhow::Error {
    anyhow::Error::from(error).context(Complaint::new(Exit::Local, "the cables cannot be driven"))
}

/// The signals that end a lab.
struct Signals {
    came: UnixStream,
    interrupted: Arc<AtomicBool>,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let (came, comes) = UnixStream::pair()?;
        let interrupted = Arc::<AtomicBool>::default();
        signal_hook::flag::register(SIGINT, Arc::clone(&interrupted))?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, comes.try_clone()?)?;
        }
        Ok(Self { came, interrupted })
    }

    /// Waits so long for a signal, or without end. Returns whether one came.
    fn wait(&self, time: Option<Duration>) -> bool {
        if time.is_some_and(|time| time.is_zero()) {
            return false;
        }
        loop {
            if self.came.set_read_timeout(time).is_err() {
                return true;
            }
            match (&self.came).read(&mut [0]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return false,
                _ => return true,
            }
        }
    }
}
