//! `linerate helper`.

use std::path::PathBuf;

use clap::Args;

/// Apply and revert fixes for other processes: the only part of linerate that needs root. It listens on a Unix socket,
/// accepts a fixed list of changes, stores old values before it writes new ones, and reverts what is not confirmed.
/// Commands that change settings start it on demand where they may.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate helper                              as root: /run/linerate/helper.sock, root only
  linerate helper --group linerate             also for members of group linerate
  linerate helper --socket /tmp/h --state ~/h  in a user namespace

docs/helper.md has a unit for systemd, and says what who may ask can do.")]
pub struct HelperArgs {
    /// Listening socket [default: /run/linerate/helper.sock]
    #[arg(long, value_name = "FILE")]
    pub socket: Option<PathBuf>,
    /// Group whose members may use it, by name or number
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// A network namespace, by name, in which members of the group may change settings as well; may be given several times
    #[arg(long, value_name = "NAME", requires = "group")]
    pub netns: Vec<String>,
    /// Directory of old values [default: /var/lib/linerate/fixes, or $XDG_STATE_HOME/linerate/fixes without root]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Started by a command of this program, which is at the other end of standard input
    #[arg(long, hide = true, conflicts_with_all = ["socket", "group"])]
    pub started: bool,
}
