//! `linerate host log`.

use clap::{Args, Subcommand};
use units::WallTime;

use crate::cli::values;

/// Show what was changed on hosts: when, from what to what, by whom, and why. `linerate host watch` enters what it sees,
/// `linerate host fix` what it does, and people what no program can see.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host log --since 3h                          what happened in the last three hours
  linerate host log --since 2026-11-20T14:30 --fact gro
  linerate host log --host dtn1 --fact 'net.ipv4.tcp_*mem' --json
  linerate host log note 17 'the vendor asked for it' --ticket NET-12
  linerate host log add 'replaced the optics of eth0' --ticket NET-13")]
pub struct LogArgs {
    /// What to do instead of showing
    #[command(subcommand)]
    pub action: Option<LogAction>,
    /// Only what was seen then or later: 2026-11-20, 2026-11-20T14:30, or 3h for three hours ago
    #[arg(long, value_name = "TIME", value_parser = values::moment)]
    pub since: Option<WallTime>,
    /// Only what was seen then or earlier
    #[arg(long, value_name = "TIME", value_parser = values::moment)]
    pub until: Option<WallTime>,
    /// Only of this host [default: all in the archive]
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Only what or whose name has this in it, in letters of either case; with * and ? the whole name
    #[arg(long, value_name = "PATTERN")]
    pub fact: Option<String>,
    /// Most to show, the last
    #[arg(long, short = 'n', default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// What to do with the log.
#[derive(Debug, Subcommand)]
pub enum LogAction {
    /// Say why something was changed
    Note {
        /// The number of the entry
        number: u64,
        /// What there is to say
        text: String,
        /// The ticket that it belongs to
        #[arg(long, value_name = "TICKET")]
        ticket: Option<String>,
    },
    /// Enter what no program can see, such as a new cable
    Add {
        /// What was done
        text: String,
        /// The ticket that it belongs to
        #[arg(long, value_name = "TICKET")]
        ticket: Option<String>,
        /// On which host [default: this one]
        #[arg(long, value_name = "HOST")]
        host: Option<String>,
        /// To what, such as eth0
        #[arg(long, value_name = "SUBJECT")]
        subject: Option<String>,
    },
}
