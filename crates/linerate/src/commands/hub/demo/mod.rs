//! `linerate hub demo`: a hub and five agents in a network of this machine. A setting goes wrong; that it is found, explained and
//! verified once it is fixed is theirs to do.
//!
//! * `fleet`: the hub and the agents
//! * `operator`: what a person needs who is to find and fix the fault
//! * `story`: what happens, in its order

mod fleet;
mod operator;
mod story;

use std::time::Duration;

use anyhow::Context;
use lab::live::{LabNetwork, Live};
use lab::relay::Pace;
use lab::scenario::Scenario;
use path::Seed;

use self::fleet::Fleet;
use self::story::{Afterwards, Ending, FixedBy, Story};
use crate::cli::Common;
use crate::cli::hub::DemoArgs;
use crate::commands::lab::{acquire_rights, daemon, up};
use crate::commands::print;
use crate::commands::scratch::ScratchDirectory;
use crate::exit::Exit;
use crate::show;

pub(super) fn run(common: &Common, args: &DemoArgs) -> anyhow::Result<Exit> {
    let claim = if args.by_hand { Some(operator::claim()?) } else { None };
    acquire_rights()?;
    let mut scenario = Scenario::parse("hub demo", NETWORK).map_err(up::refuse)?;
    // Agents answer tests themselves.
    scenario.services.clear();
    daemon::check(&scenario)?;
    let scratch = ScratchDirectory::new("hub-demo")?;
    if args.hub_directory.is_some() {
        // It takes root, and nobody else would end it.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
            .context("this process cannot be ended with the one that started it")?;
    }
    let stop = scratch.stop_on_signals()?;
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let network = LabNetwork::raise(&scenario, Seed(1), &program).map_err(daemon::does_not_live)?;
    let hear = |error| show::error::print(&daemon::does_not_live(error));
    let play = |live: Live<'_>| {
        let fleet = Fleet::new(live.network, &program, &scratch);
        if let Some(claim) = &claim {
            operator::publish(common, claim, live.network)?;
        }
        let (pages, fixes) = match (args.by_hand, args.keep) {
            (true, _) => (Afterwards::Pages, FixedBy::Person),
            (false, true) => (Afterwards::Pages, FixedBy::Demonstration),
            (false, false) => (Afterwards::End, FixedBy::Demonstration),
        };
        let hub = args.hub_directory.clone().unwrap_or_else(|| scratch.file("hub"));
        Story { common, fleet, scratch: &scratch, hub, stop: &stop, began: linux::clock::now(), pages, fixes }.play()
    };
    let lived = network.live(Pace::REAL, &hear, play).map_err(daemon::does_not_live);
    let ending = match lived.and_then(|(ending, ..)| ending) {
        // Whoever interrupts twice ends hub and agents as well, and what cannot be reached any more is no failure.
        Err(_) if stop.is_stopped() => Ending::Stopped,
        ending => ending?,
    };
    match ending {
        Ending::Closed(detail) if common.json => print(&show::json::document(&detail)?),
        Ending::Closed(detail) => print(show::hub_demo::end(&detail).as_bytes()),
        Ending::Stopped => Ok(Exit::Interrupted),
    }
}

/// Hosts and links.
const NETWORK: &str = include_str!("network.toml");
/// What the hub is told to test.
const PLAN: &str = include_str!("mesh.toml");
/// A verified incident is closed after this.
const WATCHED_FOR: Duration = Duration::from_secs(5);
