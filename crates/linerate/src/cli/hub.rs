//! `linerate hub`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use hub::trust::token::Purpose;

use super::values;

/// Run a hub: agents connect to it, get runs to carry out, and deliver results, changes of their hosts and facts.
#[derive(Debug, Args)]
pub struct HubArgs {
    #[command(subcommand)]
    pub action: HubAction,
}

/// What to do with a hub.
#[derive(Debug, Subcommand)]
pub enum HubAction {
    /// Make a hub: its certificate authority, its keys, its settings
    Init(InitArgs),
    /// Make a token: for an agent to join with, once, or for a script to read or operate with
    Token(TokenArgs),
    /// Run the hub until it is stopped
    Run(DirArgs),
    /// List the agents, and when they were heard last
    Agents(DirArgs),
    /// Forget an agent: its certificate opens nothing any more
    Remove(RemoveArgs),
    /// Print the OpenAPI document of the hub's requests
    Openapi,
}

/// Make a hub in a directory that only its owner reads: certificate authority, server certificate, the key that signs
/// tickets, and hub.toml with its settings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub init /var/lib/linerate/hub --name hub.example.net
  linerate hub init hub --name 192.0.2.10 --listen 192.0.2.10:8443
  linerate hub token hub                       for the first agent
  linerate hub run hub")]
pub struct InitArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Name or address by which agents reach the hub, repeatable
    #[arg(long, required = true, value_name = "HOST")]
    pub name: Vec<String>,
    /// Local address and port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:8443")]
    pub listen: SocketAddr,
}

/// Make a token and print it, which is the only time that it is seen: the hub keeps its SHA-256. A token to join with counts
/// once; the others count until they expire.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub token hub | ssh dtn1 linerate agent join https://hub.example.net -
  linerate hub token hub --for view --valid 365d > monitor.token")]
pub struct TokenArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// What it is for: join, view or operate
    #[arg(long = "for", value_name = "PURPOSE", default_value = "join")]
    pub purpose: Purpose,
    /// How long it counts
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = values::span_above_zero)]
    pub valid: Duration,
}

/// A hub's directory.
#[derive(Debug, Args)]
pub struct DirArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Forget an agent. Its results stay; it may join again with a new token.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Name of the agent
    #[arg(value_name = "AGENT")]
    pub agent: String,
}
