//! What a person needs who is to find the fault and to fix it: the hosts of the network are a lab, so commands run in them.

use std::env;
use std::path::Path;

use anyhow::Context;
use lab::network::Network;
use lab::network::kept::{Claim, Record};
use linux::clock;
use linux::namespaces::process::start_of;

use crate::cli::Common;
use crate::commands::lab::{complain, owner};

/// The name of the lab, while this process has no more than one thread.
pub fn claim() -> anyhow::Result<Claim> {
    Claim::take(NAME).map_err(complain)
}

/// Makes the hosts known to `linerate lab exec`.
pub fn publish(common: &Common, claim: &Claim, network: &Network) -> anyhow::Result<()> {
    let keeper = std::process::id();
    let record = Record {
        format: Record::FORMAT,
        name: NAME.to_owned(),
        scenario: NAME.to_owned(),
        seed: 1,
        owner: Some(owner(common)),
        up_unix_ns: clock::wall_now(),
        keeper,
        keeper_started_ticks: start_of(keeper).unwrap_or_default(),
        hosts: Record::hosts_of(network),
    };
    claim.publish(&record).map_err(complain)
}

/// The plan with how each host is reached, so that the hub's pages show commands that can be typed as they stand.
pub fn plan(text: &str, hosts: &[&str]) -> anyhow::Result<String> {
    let own = env::current_exe().context("this program does not know where it is")?;
    let program = if is_in_path(&own) { "linerate".to_owned() } else { own.to_string_lossy().into_owned() };
    // A string of JSON is one of TOML.
    let program = serde_json::to_string(&program)?;
    let reached = |text: String, host: &&str| {
        text.replace(&format!("[hosts.{host}]\n"), &format!("[hosts.{host}]\nlab = \"{host}\"\nprogram = {program}\n"))
    };
    Ok(hosts.iter().fold(text.to_owned(), reached))
}

/// Whether a shell finds this program by its name.
fn is_in_path(own: &Path) -> bool {
    let Some(path) = env::var_os("PATH") else { return false };
    let found = env::split_paths(&path).map(|folder| folder.join("linerate")).find(|file| file.exists());
    found.and_then(|file| file.canonicalize().ok()).is_some_and(|file| file == own)
}

const NAME: &str = "hub-demo";
