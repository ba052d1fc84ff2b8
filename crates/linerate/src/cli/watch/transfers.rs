//! `linerate watch transfers`.

use std::net::IpAddr;

use clap::Args;
use units::{ByteCount, WallTime};

use crate::cli::values;

/// List the transfers that `linerate watch flows` has seen to their end, the newest first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate watch transfers
  linerate watch transfers --since 24h --peer 192.0.2.7 --least 1GB
  linerate why 01KX                            why one of them was not faster")]
pub struct TransfersArgs {
    /// Only what began since then: a time (`2026-11-21 04:00`) or how long ago (`3h`)
    #[arg(long, value_name = "TIME", value_parser = values::moment)]
    pub since: Option<WallTime>,
    /// Only with this peer
    #[arg(long, value_name = "ADDRESS")]
    pub peer: Option<IpAddr>,
    /// Only what moved so much or more
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub least: Option<ByteCount>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
}
