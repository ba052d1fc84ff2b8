//! `linerate agent`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use hub::agent::url::HubUrl;
use ipnet::IpNet;
use units::{ByteCount, DataRate};

use super::values;

/// Run tests for a hub, within this host's own limits. The agent connects out, so it works behind NAT.
#[derive(Debug, Args)]
pub struct AgentArgs {
    #[command(subcommand)]
    pub action: AgentAction,
}

/// What to do with an agent.
#[derive(Debug, Subcommand)]
pub enum AgentAction {
    /// Join a hub with a token: make a key, get a certificate for it
    Join(Box<JoinArgs>),
    /// Run the agent until it is stopped
    Run(RunArgs),
}

/// Run the agent: ask the hub for work, watch this host, deliver results, changes and facts. What cannot be delivered stays on
/// this host's disk until the hub is back.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate agent run
  linerate agent run --directory /srv/agent --no-watch")]
pub struct RunArgs {
    /// Directory of the agent [default: /var/lib/linerate/agent as root, else $XDG_STATE_HOME/linerate/agent]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Do not watch this host for changes of its settings
    #[arg(long)]
    pub no_watch: bool,
    /// Do not tell the hub what transfers of this host reach
    #[arg(long)]
    pub no_transfers: bool,
    /// Serve numbers for Prometheus at http://ADDRESS:PORT/metrics, to whoever asks
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
}

/// Join a hub. The key never leaves this host; the token names the authority that the hub has to show. Limits are this
/// host's own: what a ticket asks beyond them is refused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate agent join https://hub.example.net lr1_join_...
  linerate agent join https://192.0.2.10:8443 - --name dtn1 < token
  linerate agent join https://hub.example.net - --max-rate 10Gbit/s --max-bytes-a-day 500GB --allow 192.0.2.0/24")]
pub struct JoinArgs {
    /// Address of the hub: `https://HOST` or `https://HOST:PORT`
    #[arg(value_name = "URL")]
    pub hub: HubUrl,
    /// Token from `linerate hub token`; - reads it from standard input
    #[arg(value_name = "TOKEN", env = "LINERATE_TOKEN", hide_env_values = true)]
    pub token: String,
    /// Directory of the agent [default: /var/lib/linerate/agent as root, else $XDG_STATE_HOME/linerate/agent]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Name of the agent, which is its host's name in plans [default: the host's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Name or address by which other hosts reach this one
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<String>,
    /// Maximum rate that a flow may ask for; flows without a rate of their own are refused then
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "Limits")]
    pub max_rate: Option<DataRate>,
    /// Maximum duration of a test
    #[arg(long, value_parser = values::span_above_zero, default_value = "10min", value_name = "TIME", help_heading = "Limits")]
    pub max_time: Duration,
    /// Maximum bytes that tests move in a day (UTC)
    #[arg(long, value_parser = values::bytes, value_name = "SIZE", help_heading = "Limits")]
    pub max_bytes_a_day: Option<ByteCount>,
    /// Networks of hosts to test with, repeatable [default: all]
    #[arg(long, value_name = "CIDR", value_delimiter = ',', help_heading = "Limits")]
    pub allow: Vec<IpNet>,
}
