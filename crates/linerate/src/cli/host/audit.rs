//! `linerate host audit`.

use std::path::PathBuf;
use std::time::Duration;

use audit::Profile;
use audit::profile::{Learnt, Role};
use audit::rule::Severity;
use clap::{Args, ValueEnum};
use units::{ByteCount, DataRate};

use crate::cli::values;

/// Ask every rule about a host: what costs rate, why, and the command that fixes it. Nothing is changed. Without a snapshot
/// it is this host. What is not known stays unknown: it is never a pass.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host audit --rtt 190ms --target-rate 10Gbit/s       this host, for transfers over 190 ms
  linerate host audit --target-rate 10Gbit/s                   while transfers run: as far as their peers are
  linerate host audit sosreport-dtn1.tar.xz --rtt 190ms        what a site that runs no program of ours sent
  linerate host audit dtn1.json --before dtn1-old.json         counters as rates between two snapshots
  linerate host audit dtn1.json --peer dtn2.json --peer dtn3.json
  linerate host audit --explain NIC-GROHW-OVERLAY              one rule in full

Ends with 10 where a finding is as severe as --fail-on says, so that cron can tell.")]
pub struct AuditArgs {
    /// A snapshot as `linerate host snapshot --json` writes it, a directory of saved outputs, or a sosreport, instead of
    /// this host
    #[arg(value_name = "SNAPSHOT|DIR|SOSREPORT")]
    pub snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub case: CaseArgs,
    /// Print one rule in full, and audit nothing
    #[arg(long, value_name = "RULE")]
    pub explain: Option<String>,
    /// Keep the answers of rules that passed or did not apply as well (with --json)
    #[arg(long)]
    pub all: bool,
    /// From which severity on a finding makes the command end with 10
    #[arg(long, value_name = "SEVERITY", default_value = "high")]
    pub fail_on: FailOn,
}

/// What is wanted of a host, and what is known of it beside a snapshot.
#[derive(Debug, Args)]
pub struct CaseArgs {
    /// What the host does; several with commas [default: dtn, and what the snapshot shows]
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = role)]
    pub role: Vec<Role>,
    /// The rate that it should reach to one peer [default: that of its fastest link]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub target_rate: Option<DataRate>,
    /// Round-trip time to its farthest peer; without it buffers are not judged [default: of this host, what its
    /// connections show]
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero)]
    pub rtt: Option<Duration>,
    /// Streams of one transfer [default: of this host, what its connections show; else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub streams: Option<u32>,
    /// TCP connections at one time [default: the streams of one transfer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub flows: Option<u32>,
    /// By when one transfer must be done
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero)]
    pub deadline: Option<Duration>,
    /// Size of one transfer
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub transfer: Option<ByteCount>,
    /// Rate of the reserved or policed circuit
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub circuit: Option<DataRate>,
    /// Connections are kept open between transfers
    #[arg(long)]
    pub persistent: bool,
    /// The congestion control that is wanted
    #[arg(long, alias = "cca", value_name = "NAME")]
    pub congestion_control: Option<String>,
    /// An earlier snapshot of the host: counters are judged as rates since then
    #[arg(long, value_name = "SNAPSHOT")]
    pub before: Option<PathBuf>,
    /// Read the counters of this host twice, so far apart, to judge them as rates; 0s reads them once
    #[arg(long, value_name = "TIME", value_parser = values::span, default_value = "1s")]
    pub counters_over: Duration,
    /// A snapshot of the host in better days [default: the one that `linerate host bless` names in the archive]
    #[arg(long, value_name = "SNAPSHOT")]
    pub baseline: Option<PathBuf>,
    /// A snapshot of another host with the same role; may be given several times
    #[arg(long, value_name = "SNAPSHOT")]
    pub peer: Vec<PathBuf>,
    /// Other facts as JSON or TOML, in the names of docs/rules.md: probe, path, proxy, log; may be given several times
    #[arg(long, value_name = "FILE")]
    pub input: Vec<PathBuf>,
    /// A directory of rules of your own (*.toml), beside those that are compiled in
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
}

/// From which severity on findings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Only the worst.
    Critical,
    /// What can cost half of the rate, and worse.
    High,
    /// What is worth a maintenance window, and worse.
    Medium,
    /// Advice, and worse.
    Low,
    /// None: the command ends with 0 whatever is found.
    Never,
}

impl FailOn {
    /// Whether a finding of this severity counts.
    pub fn counts(self, severity: Severity) -> bool {
        match self {
            Self::Critical => severity <= Severity::Critical,
            Self::High => severity <= Severity::High,
            Self::Medium => severity <= Severity::Medium,
            Self::Low => severity <= Severity::Low,
            Self::Never => false,
        }
    }
}

impl CaseArgs {
    /// The options as arguments for another host.
    ///
    /// # Errors
    /// The name of an option that names a file of this one.
    pub fn forwarded(&self) -> Result<Vec<String>, &'static str> {
        let files = [
            ("--before", self.before.is_some()),
            ("--baseline", self.baseline.is_some()),
            ("--peer", !self.peer.is_empty()),
            ("--input", !self.input.is_empty()),
            ("--rules", self.rules.is_some()),
        ];
        if let Some((name, _)) = files.iter().find(|(_, given)| *given) {
            return Err(name);
        }
        let roles: Vec<&str> =
            Role::ALL.iter().filter(|(role, _)| self.role.contains(role)).map(|(_, word)| *word).collect();
        let span = |span: Option<Duration>| span.map(units::duration::show);
        let options = [
            ("--role", (!roles.is_empty()).then(|| roles.join(","))),
            ("--target-rate", self.target_rate.map(|rate| rate.to_string())),
            ("--rtt", span(self.rtt)),
            ("--counters-over", span(Some(self.counters_over))),
            ("--streams", self.streams.map(|count| count.to_string())),
            ("--flows", self.flows.map(|count| count.to_string())),
            ("--deadline", span(self.deadline)),
            ("--transfer", self.transfer.map(|size| size.to_string())),
            ("--circuit", self.circuit.map(|rate| rate.to_string())),
            ("--congestion-control", self.congestion_control.clone()),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
        let persistent = self.persistent.then(|| "--persistent".to_owned());
        Ok(given.flatten().chain(persistent).collect())
    }

    /// What is wanted of the host, of whose own connections this was learnt.
    pub fn profile(&self, learnt: Learnt) -> Profile {
        Profile {
            roles: self.role.clone(),
            target_rate: self.target_rate,
            rtt: self.rtt,
            streams: self.streams,
            flows: self.flows,
            deadline: self.deadline,
            transfer: self.transfer,
            circuit: self.circuit,
            mss_bytes: None,
            persistent: self.persistent,
            congestion_control: self.congestion_control.clone(),
            learnt,
        }
    }
}

fn role(text: &str) -> Result<Role, String> {
    let found = Role::ALL.iter().find(|(_, word)| *word == text);
    let known = || Role::ALL.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(", ");
    found.map(|(role, _)| *role).ok_or_else(|| format!("there are the roles {}", known()))
}
