//! `linerate probe`.

use std::time::Duration;

use clap::{Args, Subcommand};
use model::spec::Family;
use units::ByteCount;

use super::values;

/// Ask the path to a host small questions, which need no partner there.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    #[command(subcommand)]
    pub what: Probe,
}

/// What is asked.
#[derive(Debug, Subcommand)]
pub enum Probe {
    /// Round trips and losses of echoes
    #[command(after_help = "Examples:
  linerate probe ping dtn.example.org                               ten in a second
  linerate probe ping dtn.example.org --count 1000 --interval 5ms   a thousand in five seconds, for losses of 0.1 %")]
    Ping(PingArgs),
    /// The largest packet that arrives, and who limits it
    #[command(after_help = "Examples:
  linerate probe mtu dtn.example.org          found by search, without trust in what routers say
  linerate probe mtu dtn.example.org --json   docs/formats/probe-mtu.schema.json")]
    Mtu(PathArgs),
    /// The routers on the way
    #[command(after_help = "Examples:
  linerate probe hops dtn.example.org      the way there; that of the way back takes a probe from there
  linerate probe hops dtn.example.org -6   the way of IPv6, which may be another")]
    Hops(PathArgs),
    /// One file over HTTP, as a user of an archive gets it
    #[command(after_help = "Examples:
  linerate probe http http://archive.example.org/file           how long to connect, to the first byte, in all
  linerate probe http http://archive.example.org/file --count 5 five times, one after the other")]
    Http(HttpArgs),
}

/// Whom, and by which address.
#[derive(Debug, Args)]
pub struct PathArgs {
    /// Name or address of the host
    pub host: String,
    #[command(flatten)]
    pub way: WayArgs,
}

/// By which address, from where.
#[derive(Debug, Args)]
pub struct WayArgs {
    /// Only IPv4
    #[arg(short = '4', long)]
    pub ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long, conflicts_with = "ipv4")]
    pub ipv6: bool,
    /// Network namespace: a name, a path, or pid:N of a process
    #[arg(long, value_name = "NS")]
    pub netns: Option<String>,
}

impl WayArgs {
    /// The family that was asked for.
    pub const fn family(&self) -> Option<Family> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Family::Ipv4),
            (_, true) => Some(Family::Ipv6),
            (false, false) => None,
        }
    }
}

/// `linerate probe ping`.
#[derive(Debug, Args)]
pub struct PingArgs {
    /// Name or address of the host
    pub host: String,
    /// How many echoes
    #[arg(long, short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=65_536), value_name = "N")]
    pub count: u32,
    /// Time from one to the next
    #[arg(long, short, value_parser = values::span_above_zero, default_value = "100ms", value_name = "TIME")]
    pub interval: Duration,
    /// Payload of each
    #[arg(long, short, value_parser = values::echo_size, default_value = "56B", value_name = "SIZE")]
    pub size: ByteCount,
    #[command(flatten)]
    pub way: WayArgs,
}

/// `linerate probe http`.
#[derive(Debug, Args)]
pub struct HttpArgs {
    /// The address of the file: http only
    #[arg(value_name = "URL")]
    pub url: String,
    /// How many times, one after the other
    #[arg(long, short, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), value_name = "N")]
    pub count: u32,
    #[command(flatten)]
    pub way: WayArgs,
}
