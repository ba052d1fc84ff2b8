//! `linerate demo`.

use clap::Args;

/// Play an incident on this machine: its network is built of namespaces, measured, diagnosed, fixed and measured again. On a busy
/// machine the play is made to fit. Nothing outside is touched, and nothing is left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate demo                  NRAO's incident of 2022: 30 pairs, 1 NIC, 5 months
  linerate demo --list           the other incidents
  linerate demo lhn              one of them: its first chapter
  linerate demo lhn --all        all its chapters, 90 s for each
  linerate demo --virtual        in virtual time: in seconds, without rights or a quiet machine
  linerate demo dc24-small-rings one chapter; any scenario of `linerate lab list`, or a file of your own, will do

Exit code 10: what was slow is not shown to be fixed.")]
pub struct DemoArgs {
    /// An incident, a scenario of the library, or the file of one
    #[arg(default_value = "nrao")]
    pub name: String,
    /// List the incidents, and play nothing
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Play all chapters of the incident, not only the first
    #[arg(long, conflicts_with = "list")]
    pub all: bool,
    /// Play in virtual time: the simulator instead of namespaces; needs no rights and no quiet machine
    #[arg(long = "virtual", conflicts_with = "list")]
    pub virtual_time: bool,
    /// Random seed; equal seeds give equal losses
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}
