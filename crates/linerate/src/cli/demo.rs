//! `linerate demo`.

use clap::Args;

/// Tell an incident on this machine: its network is built of namespaces, measured, diagnosed, mended and measured again.
/// What stands for what is said. Nothing outside is touched, and nothing is left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate demo                  NRAO's incident of 2022: thirty pairs, one adapter, five months
  linerate demo --list           the other incidents
  linerate demo lhn              one of them: its first chapter
  linerate demo lhn --all        all its chapters, a minute and a half for each
  linerate demo dc24-small-rings one chapter; any scenario of `linerate lab list`, or a file of your own, will do

Ends with 10 where what suffered is not shown to be mended.")]
pub struct DemoArgs {
    /// An incident, a scenario of the library, or the file of one
    #[arg(default_value = "nrao")]
    pub name: String,
    /// Say what there is, and play nothing
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Tell all chapters of the incident, not only the first
    #[arg(long, conflicts_with = "list")]
    pub all: bool,
    /// Where all chance comes from: the same number gives the same losses
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}
