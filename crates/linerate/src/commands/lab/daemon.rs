//! The process that keeps a lab: everything of the lab ends with it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use lab::live::{LabNetwork, Live, LiveError};
use lab::network::kept::{Claim, Record};
use lab::network::{Network, RaiseError};
use lab::relay::probe::ProbeError;
use lab::relay::telemetry::IntTarget;
use lab::relay::{Limited, Pace};
use lab::scenario::{Limits, Scenario};
use linux::clock;
use linux::namespaces::process::{leave_terminal, start_of};
use path::Seed;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use units::DataRate;

use super::{acquire_rights, complain, owner};
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
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let stage = LabNetwork::raise(scenario, Seed(args.seed), &program).map_err(does_not_live)?;
    let stage = stage.reporting_to(args.int.map(|collector| IntTarget { collector, every: args.int_every }));
    // The lab is worth more than one change of it: who reads the log learns what is missing.
    let hear = |error| show::error::print(&does_not_live(error));
    let keep = |live: Live<'_>| {
        let record = record(common, args, name, live.network);
        claim.publish(&record).map_err(complain)?;
        tell(common, args, &record, &scenario.title)?;
        signals.wait();
        anyhow::Ok(())
    };
    let (kept, report, _) = stage.live(Pace::REAL, &hear, keep).map_err(does_not_live)?;
    for limit in report.limited.iter().flat_map(Limited::worst) {
        eprintln!("warning: the relay was the limit of this lab for some time: {limit}");
    }
    drop(claim);
    kept?;
    Ok(if signals.interrupted.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Success })
}

fn record(common: &Common, args: &UpArgs, name: &str, network: &Network) -> Record {
    let keeper = std::process::id();
    Record {
        format: Record::FORMAT,
        name: name.to_owned(),
        scenario: args.scenario.clone(),
        seed: args.seed,
        owner: Some(owner(common)),
        up_unix_ns: clock::wall_now(),
        keeper,
        keeper_started_ticks: start_of(keeper).unwrap_or_default(),
        hosts: Record::hosts_of(network),
    }
}

fn tell(common: &Common, args: &UpArgs, record: &Record, title: &str) -> anyhow::Result<()> {
    if args.keeper {
        // Whoever started this process may have given up.
        let _ = std::io::stdout().write_all(READY.as_bytes()).and_then(|()| std::io::stdout().flush());
    } else if common.json {
        print(&show::json::document(record)?)?;
    } else {
        print(show::lab::up(record, title).as_bytes())?;
    }
    Ok(())
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

/// A scenario that does not come up, or not as it is written.
pub fn does_not_live(error: LiveError) -> anyhow::Error {
    let exit = match error.refused() {
        Some(RaiseError::Sysctl { .. } | RaiseError::Metric { .. } | RaiseError::Feature { .. }) => Exit::Usage,
        _ => Exit::Local,
    };
    anyhow::Error::from(error).context(
        Complaint::new(exit, "the network cannot be had as the scenario says")
            .hint("`linerate lab check` shows what this machine can"),
    )
}

fn cannot_probe(error: ProbeError) -> anyhow::Error {
    anyhow::Error::from(error).context(Complaint::new(Exit::Local, "what the relay carries here cannot be measured"))
}

/// Up to this rate the relay is not measured, which takes a quarter of a second.
const ANYWHERE: DataRate = DataRate::from_bps(500_000_000);

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

    /// Waits for a signal.
    fn wait(&self) {
        while let Err(error) = (&self.came).read(&mut [0]) {
            if error.kind() != std::io::ErrorKind::Interrupted {
                return;
            }
        }
    }
}
