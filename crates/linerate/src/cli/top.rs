//! `linerate top`.

use std::time::Duration;

use clap::Args;

use super::hub::ConnectArgs;
use super::values;

/// Show a hub's mesh on this terminal: the grid of each test and metric, open incidents, runs under way. Keys: arrows move, Tab goes
/// from grid to incidents to runs, m and M change what the grid shows, Enter opens, r asks anew, q quits.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate top /var/lib/linerate/hub
  linerate top https://hub.example.net:8443 --token view.token
  ssh -t hub.example.net linerate top /var/lib/linerate/hub
  linerate top /var/lib/linerate/hub --once         one picture, as text")]
pub struct TopArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// How often the hub is asked
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::span_above_zero)]
    pub every: Duration,
    /// Print one picture as text and end
    #[arg(long)]
    pub once: bool,
}
