//! `linerate host fix` and `linerate host undo`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::audit::CaseArgs;
use crate::cli::values;

/// Fix what the audit found, with an undo that comes by itself: the old values are on disk before the first change, and
/// come back unless the fix is confirmed in time over a new connection.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host fix BUF-RMEM-BDP --rtt 190ms --dry-run          the commands and their undo; nothing is changed
  linerate host fix BUF-RMEM-BDP --rtt 190ms                    apply, then ask; without an answer it is undone
  linerate host fix TCP-ECN-ACTIVE --yes --persist              and write the file that keeps it over the next start
  linerate host fix BUF-RMEM-BDP --rtt 190ms --verify 'linerate test dtn2 -R'
                                                                keep it only where tests show the gain
  linerate host audit --json > found.json; linerate host fix found.json --dry-run
  linerate host fix BUF-RMEM-BDP --rtt 190ms --verify 'linerate test dtn9 -R' --hosts dtn1 then dtn2,dtn3
  linerate host fix BUF-RMEM-BDP --rtt 190ms --verify './fts-rest-transfer-time' --less-is-better
                                                                what users have, not what iperf3 has, decides
  linerate host fix BUF-RMEM-BDP --rtt 190ms --ansible > tune.yml
  linerate host fix --list                                      the fixes of this host

Ends with 11 where the fix was undone.")]
pub struct FixArgs {
    /// Rules whose findings are to be fixed; or a file: a plan, or what `linerate host audit --json` printed; - reads it
    /// from standard input
    #[arg(value_name = "RULE|PLAN", required_unless_present_any = ["all_findings", "list", "inline"])]
    pub what: Vec<String>,
    /// Fix every finding whose fix disrupts nothing
    #[arg(long, conflicts_with = "what")]
    pub all_findings: bool,
    /// Only what is wrong on this device
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Change this network namespace as well, by the name that the audit has for it; may be given several times. Without
    /// it only the host's own is changed
    #[arg(long, value_name = "NETNS")]
    pub netns: Vec<String>,
    /// Change all network namespaces, those of containers too
    #[arg(long, conflicts_with = "netns")]
    pub all_netns: bool,
    /// Apply a plan that was made for another host or network namespace
    #[arg(long)]
    pub any_host: bool,
    /// A plan as text, as a roll-out sends it
    #[arg(long, hide = true)]
    pub inline: Option<String>,

    /// Show the commands and their undo, and change nothing
    #[arg(long, help_heading = "How")]
    pub dry_run: bool,
    /// Print the plan as a playbook of Ansible, and change nothing
    #[arg(long, conflicts_with_all = ["hosts", "verify", "persist"], help_heading = "How")]
    pub ansible: bool,
    /// Confirm without asking, over a new connection
    #[arg(long, short, help_heading = "How")]
    pub yes: bool,
    /// Ask on standard input though it is no terminal
    #[arg(long, hide = true, conflicts_with = "yes")]
    pub ask: bool,
    /// After how long the fix is undone unless it is confirmed
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero, default_value = "60s", help_heading = "How")]
    pub confirm_within: Duration,
    /// Why, for the journal and the change log [default: the rules]
    #[arg(long, value_name = "TEXT", help_heading = "How")]
    pub reason: Option<String>,
    /// Write the files that keep the fix over the next start of the host
    #[arg(long, help_heading = "How")]
    pub persist: bool,
    /// The directory that stands for / when files are written
    #[arg(long, value_name = "DIR", default_value = "/", help_heading = "How")]
    pub root: PathBuf,

    /// A test, as one word: it is run before and after in alternation, and the fix is kept only where the gain exceeds the
    /// noise. `linerate test …`, or any program: the last number that it prints counts in its unit, of `iperf3 -J` what
    /// arrived, or else whether it succeeds
    #[arg(long, value_name = "COMMAND", help_heading = "Proof")]
    pub verify: Option<String>,
    /// The number that the test prints is a time or a cost: less of it is a gain
    #[arg(long, requires = "verify", help_heading = "Proof")]
    pub less_is_better: bool,
    /// How long one run of the test may take, where it is no `linerate test`
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero, default_value = "10min", requires = "verify", help_heading = "Proof")]
    pub test_limit: Duration,
    /// How many runs before, and as many after
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100), requires = "verify", help_heading = "Proof")]
    pub pairs: u32,
    /// Confidence level of the gain: at 0.95 noise passes as a gain in 1 of 20 cases
    #[arg(long, value_name = "PART", default_value_t = 0.95, value_parser = values::confidence, requires = "verify", help_heading = "Proof")]
    pub confidence: f64,

    /// Hosts that get the fix, in stages: `a,b then c,d`; a stage begins only after a proven gain on all hosts of the one
    /// before. lab:NAME/HOST is a host of a lab
    #[arg(long, value_name = "HOSTS", num_args = 1.., conflicts_with_all = ["list", "ask"], help_heading = "Several hosts")]
    pub hosts: Vec<String>,
    /// The command that runs a program on another host: it is given the host and one line for a shell
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "hosts", help_heading = "Several hosts")]
    pub ssh: String,
    /// How long a host may take to answer before it is left alone
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero, default_value = "10s", requires = "hosts", help_heading = "Several hosts")]
    pub patience: Duration,
    /// What this program is called on the other hosts
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "linerate",
        requires = "hosts",
        help_heading = "Several hosts"
    )]
    pub remote_program: String,

    /// Print the fixes of this host's journal, and change nothing
    #[arg(long, conflicts_with_all = ["what", "all_findings", "dry_run", "verify", "persist"])]
    pub list: bool,
    #[command(flatten)]
    pub helper: HelperArgs,
    #[command(flatten, next_help_heading = "The audit")]
    pub case: CaseArgs,
}

/// Take a fix back: every setting is again what it was before it, and what it wrote into files is out of them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host undo               the last fix that holds
  linerate host undo 3             fix 3 of `linerate host fix --list`")]
pub struct UndoArgs {
    /// The number of the fix [default: the last that holds]
    #[arg(value_name = "N")]
    pub fix: Option<u64>,
    /// Write the old values also where somebody else has changed the same settings since
    #[arg(long)]
    pub overwrite: bool,
    /// The directory that stands for / when files are written
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
    #[command(flatten)]
    pub helper: HelperArgs,
}

/// Which helper does it.
#[derive(Debug, Args)]
pub struct HelperArgs {
    /// The socket of the helper that changes settings [default: that of the system; root starts its own]
    #[arg(long, value_name = "SOCKET", env = "LINERATE_HELPER")]
    pub helper: Option<PathBuf>,
}
