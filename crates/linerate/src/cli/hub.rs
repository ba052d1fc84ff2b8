//! `linerate hub`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use hub::server::directory::DatabaseUrl;
use hub::store::postgres::address::{AddressError, is_postgres};
use hub::trust::role::{AccountRole, RoleError};
use hub::trust::token::Purpose;

use super::people::{ActionsArgs, UserArgs};
use super::replay::ReplayArgs;
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
    Run(RunArgs),
    /// Say who may sign in at the hub's pages
    User(UserArgs),
    /// List who did what
    Actions(ActionsArgs),
    /// List the agents, and when they were heard last
    Agents(ConnectArgs),
    /// Forget an agent: its certificate opens nothing any more
    Remove(RemoveArgs),
    /// Give the hub its plan: which hosts test what, when
    Plan(PlanArgs),
    /// List incidents, or show one and make a step
    Incidents(IncidentsArgs),
    /// List pairs: the last result of each series, and what is known of it
    Pairs(ConnectArgs),
    /// Run a heavy test of the plan now, before all others
    Test(AskArgs),
    /// Show all of it: a hub, 5 agents and an incident in a network of this machine
    Demo(DemoArgs),
    /// Write the history of a scenario in virtual time: a hub to look at
    Replay(ReplayArgs),
    /// Print the OpenAPI document of the hub's requests
    Openapi,
}

/// Make a hub in a directory that only its owner reads: certificate authority, server certificate, the key that signs
/// tickets, and hub.toml with its settings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub init /var/lib/linerate/hub --name hub.example.net
  linerate hub init hub --name 192.0.2.10 --listen 192.0.2.10:8443
  linerate hub init hub --name hub1.example.net --name mesh.example.net --database postgres://linerate@db.example.net/linerate
  linerate hub init hub --name hub.example.net --openid https://login.example.net --openid-client linerate \\
      --openid-secret-file openid.secret --openid-role admin=noc-admins --openid-role viewer=*
  linerate hub init hub --name hub.example.net --segments s3://measurements/linerate
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
    #[command(flatten)]
    pub database: DatabaseArgs,
    #[command(flatten)]
    pub segments: SegmentArgs,
    /// Directory of another hub of the same database, whose authority and key of tickets this one takes over
    #[arg(long, value_name = "DIR")]
    pub authority: Option<PathBuf>,
    #[command(flatten)]
    pub openid: OpenIdArgs,
}

/// The provider by which people sign in beside local accounts.
#[derive(Debug, Args)]
pub struct OpenIdArgs {
    /// OpenID Connect provider by which people sign in, as it names itself: `https://login.example.net/realms/observatory`
    #[arg(long, value_name = "ISSUER", requires = "openid_client")]
    pub openid: Option<String>,
    /// Name by which the provider knows the hub
    #[arg(long, value_name = "CLIENT_ID", requires = "openid")]
    pub openid_client: Option<String>,
    /// File with the secret of that client, which only its owner reads
    #[arg(long, value_name = "FILE", requires = "openid")]
    pub openid_secret_file: Option<PathBuf>,
    /// Value of the claim `groups` that gives a role, repeatable: `admin=noc-admins`; `viewer=*` is anybody
    #[arg(long, value_name = "ROLE=VALUE", requires = "openid", value_parser = openid_role)]
    pub openid_role: Vec<(AccountRole, String)>,
}

fn openid_role(text: &str) -> Result<(AccountRole, String), String> {
    let (role, value) = text.split_once('=').ok_or("write ROLE=VALUE, for instance admin=noc-admins")?;
    let role = role.parse().map_err(|error: RoleError| error.to_string())?;
    if value.is_empty() { Err("the value is empty".to_owned()) } else { Ok((role, value.to_owned())) }
}

/// The database of hubs that share one.
#[derive(Debug, Args)]
pub struct DatabaseArgs {
    /// PostgreSQL that several hubs share, in place of a file in DIR: `postgres://USER@HOST:PORT/DATABASE`
    #[arg(long, value_name = "URL", value_parser = database_url)]
    pub database: Option<DatabaseUrl>,
    /// File with that URL, which only its owner reads: process listings do not show a password in it
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub database_file: Option<PathBuf>,
}

/// Where raw samples go.
#[derive(Debug, Args)]
pub struct SegmentArgs {
    /// Raw samples of runs as Parquet files in this directory, which hubs may share, or in a bucket of S3, with credentials of the environment
    #[arg(long, value_name = "DIR|s3://BUCKET/PREFIX")]
    pub segments: Option<String>,
}

fn database_url(text: &str) -> Result<DatabaseUrl, AddressError> {
    is_postgres(text).then(|| DatabaseUrl(text.to_owned())).ok_or(AddressError::Scheme)
}

/// Make a token and print it, which is the only time that it is seen: the hub keeps its SHA-256. A token to join with counts
/// once; the others count until they expire.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub token hub | ssh dtn1 linerate agent join https://hub.example.net -
  linerate hub token hub --for view --valid 365d > monitor.token
  linerate hub token hub --for archive --valid 365d          for pScheduler's HTTP archiver: docs/monitoring.md")]
pub struct TokenArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// What it is for: join, view, operate, or archive (perfSONAR delivers with it)
    #[arg(long = "for", value_name = "PURPOSE", default_value = "join")]
    pub purpose: Purpose,
    /// How long it counts
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = values::span_above_zero)]
    pub valid: Duration,
}

/// Run the hub: agents ask it for work and deliver to it. With `--pages`, what it knows is shown to browsers of this machine as well.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub run /var/lib/linerate/hub
  linerate hub run /var/lib/linerate/hub --pages 127.0.0.1:8080
  ssh -L 8080:127.0.0.1:8080 hub.example.net       from elsewhere, then http://127.0.0.1:8080")]
pub struct RunArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Show incidents, grids, pairs, runs and hosts as pages on this loopback address; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub pages: Option<SocketAddr>,
    #[command(flatten)]
    pub database: DatabaseArgs,
    #[command(flatten)]
    pub segments: SegmentArgs,
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

/// A hub, by its directory on this host or by its address.
#[derive(Debug, Clone, Args)]
pub struct ConnectArgs {
    /// Directory of the hub on this host, or its address: `https://hub.example.net:8443`
    #[arg(value_name = "DIR|URL")]
    pub hub: String,
    /// File with a token from `linerate hub token --for view|operate`, where the hub is named by its address
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,
}

impl ConnectArgs {
    /// Whether the hub is named by its address, not by its directory.
    pub fn is_address(&self) -> bool {
        self.hub.starts_with("https://")
    }
}

/// Give the hub its plan, which it carries out until it gets another. A plan that cannot fit is refused with what would. Without a
/// file, the plan that the hub has is printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate plan init a.json b.json c.json > mesh.toml
  linerate plan check mesh.toml
  linerate hub plan /var/lib/linerate/hub mesh.toml
  linerate hub plan https://hub.example.net:8443 mesh.toml --token operate.token")]
pub struct PlanArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Plan (docs/formats/plan.md)
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// List the incidents of a mesh. With the name of one: its time line, its cause, what was changed before; and a step of a person.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub incidents hub
  linerate hub incidents hub I1798000000-1234
  linerate hub incidents hub I1798000000-1234 --acknowledge
  linerate hub incidents hub I1798000000-1234 --note 'the vendor is called'
  linerate hub incidents hub I1798000000-1234 --silence 12h
  linerate hub incidents hub I1798000000-1234 --close 'the circuit was downgraded'")]
pub struct IncidentsArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Incident by its name
    #[arg(value_name = "INCIDENT")]
    pub incident: Option<String>,
    /// Closed ones as well
    #[arg(long, conflicts_with = "incident")]
    pub all: bool,
    #[command(flatten)]
    pub step: StepArgs,
    /// Who makes the step [default: the user of this shell]
    #[arg(long, value_name = "NAME", requires = "incident")]
    pub by: Option<String>,
}

/// A step of a person.
#[derive(Debug, Args)]
#[group(multiple = false, requires = "incident")]
pub struct StepArgs {
    /// Somebody knows
    #[arg(long, visible_alias = "ack")]
    pub acknowledge: bool,
    /// The cause is known
    #[arg(long, value_name = "TEXT")]
    pub explain: Option<String>,
    /// Something was done; measurements will say whether it helped
    #[arg(long, value_name = "TEXT")]
    pub fix: Option<String>,
    /// A note
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Notify nobody for this time
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero)]
    pub silence: Option<Duration>,
    /// The present level was meant: close it, and learn anew
    #[arg(long, value_name = "TEXT")]
    pub accept: Option<String>,
    /// Close it, with the reason
    #[arg(long, value_name = "TEXT")]
    pub close: Option<String>,
}

/// Run a heavy test of the plan now. It goes before all others.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  linerate hub test hub tcp dtn-east dtn-west")]
pub struct AskArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Label of the test in the plan
    #[arg(value_name = "TEST")]
    pub test: String,
    /// Host that asks
    #[arg(value_name = "FROM")]
    pub from: String,
    /// Host that answers
    #[arg(value_name = "TO")]
    pub to: String,
}

/// Show what a hub does: it runs with 5 agents in a network of this machine, built of namespaces. They test each other until they
/// know what is usual; then a setting of one host goes wrong. The incident opens, is explained, and closes once it is fixed. Nothing outside
/// is touched, and nothing is left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub demo              3 minutes; needs root, or user namespaces
  linerate hub demo --keep       goes on after the end, with its pages for a browser, until Ctrl-C
  linerate hub demo --by-hand    the same, and the fault is yours to find and to fix, with the pages alone

Exit code 10: the incident was not found, explained or fixed.")]
pub struct DemoArgs {
    /// Go on after the end, and show the hub's pages to a browser of this machine
    #[arg(long)]
    pub keep: bool,
    /// Show the pages, and leave it to you to find the fault and to fix it; goes on until Ctrl-C
    #[arg(long, conflicts_with = "keep")]
    pub by_hand: bool,
    /// Make the hub in this directory, for another program that shows it, and end with that program
    #[arg(long, value_name = "DIR", requires = "by_hand", hide = true)]
    pub hub_directory: Option<PathBuf>,
}
