//! `linerate why`.

use clap::Args;

/// Say what is wrong, where, and how sure that is: of a round with the facts of its hosts, or of stored runs. Nothing is
/// measured.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab run policer --evidence round.json; linerate why round.json
  linerate round mesh.toml; linerate why last   the round that has just ended
  linerate why 01KX 01KY                        two stored runs, seen together
  linerate why --explain shallow-queue          one cause in full; docs/causes.md has all

What is not known speaks neither for nor against a cause. Ends with 10 where something is wrong.")]
pub struct WhyArgs {
    /// A file with a round, a round of the archive, or runs of it, by their names or the beginnings of them
    #[arg(value_name = "FILE|ROUND|RUN", required_unless_present = "explain")]
    pub what: Vec<String>,
    /// Print one cause of the catalogue in full, and diagnose nothing
    #[arg(long, value_name = "CAUSE", conflicts_with = "what")]
    pub explain: Option<String>,
}
