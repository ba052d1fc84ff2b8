//! A hub by its directory on this host.

use std::path::PathBuf;

use clap::Args;

/// A hub's directory.
#[derive(Debug, Args)]
pub struct DirArgs {
    /// Directory of the hub
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}
