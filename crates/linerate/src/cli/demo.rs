//! `linerate demo`.

use clap::Args;

/// Tell an incident on this machine: its network is built of namespaces, measured, diagnosed, mended and measured again.
/// What stands for what is said. Nothing outside is touched, and nothing is left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate demo                  NRAO's incident of 2022: thirty pairs, one adapter, five months
  linerate demo --list           the other incidents
  linerate demo lhn              one of them, with all its chapters
  linerate demo dc24-ecn         one chapter; any scenario of `linerate lab list` will do

Ends with 10 where what suffered is not shown to be mended.")]
pub struct DemoArgs {
    /// An incident, or a scenario of the library
    #[arg(default_value = "nrao")]
    pub name: String,
    /// Say what there is, and play nothing
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Where all chance comes from: the same number gives the same losses
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}
