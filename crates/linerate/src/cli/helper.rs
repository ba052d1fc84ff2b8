//! `linerate helper`.

use std::path::PathBuf;

use clap::Args;

/// Change settings of this host for others, and take them back: the one part of linerate that needs root. It listens on a
/// Unix socket, knows a fixed list of changes, keeps old values on disk before it writes new ones, and takes back what
/// nobody confirms. Commands that change settings start one by themselves where they may.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate helper                              as root: at /run/linerate/helper.sock, for root alone
  linerate helper --group linerate             for members of the group linerate as well
  linerate helper --socket /tmp/h --state ~/h  in a user namespace of one's own

docs/helper.md has a unit for systemd, and says what who may ask can do.")]
pub struct HelperArgs {
    /// Where it listens [default: /run/linerate/helper.sock]
    #[arg(long, value_name = "FILE")]
    pub socket: Option<PathBuf>,
    /// Let members of this group ask, by name or number
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// Where old values are kept [default: /var/lib/linerate/fixes; $XDG_STATE_HOME/linerate/fixes where root is not the machine's]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Started by a command of this program, which is at the other end of standard input
    #[arg(long, hide = true, conflicts_with_all = ["socket", "group"])]
    pub started: bool,
}
