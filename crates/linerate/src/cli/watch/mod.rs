//! `linerate watch`.

pub mod bursts;
pub mod drops;
pub mod flows;
pub mod int;
pub mod transfers;

use clap::{Args, Subcommand};

/// Watch real traffic of this host without sending anything: connections, and what limits each.
#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(subcommand)]
    pub what: WatchWhat,
}

/// What to watch.
#[derive(Debug, Subcommand)]
pub enum WatchWhat {
    /// Every TCP connection: rate, RTT, retransmits, what limits it now, who owns it
    Flows(flows::FlowsArgs),
    /// What this host drops and retransmits, for good: as lines, metrics for Prometheus, a picture
    Drops(drops::DropsArgs),
    /// What passes a device in buckets of a millisecond or less: bursts, and the queue they would fill
    Bursts(bursts::BurstsArgs),
    /// Collect in-band network telemetry of switches: queues and latencies by hop
    Int(int::IntArgs),
    /// List the transfers that were watched to their end
    Transfers(transfers::TransfersArgs),
}
