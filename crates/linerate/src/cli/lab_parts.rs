//! Parts of `linerate lab` that no person needs: what runs inside the hosts of a lab, as processes of their own.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::{Args, Subcommand};
use model::spec::{Dscp, Family};
use units::ByteCount;

use super::values;

/// What runs inside a host.
#[derive(Debug, Subcommand)]
pub enum LabPart {
    /// Serve generated files over HTTP; with --json a line for each request
    #[command(hide = true)]
    ServeFiles(ServeFilesArgs),
    /// Deal HTTP requests out to servers; with --json a line for each request
    #[command(hide = true)]
    ServeProxy(ServeProxyArgs),
    /// Measure one path without a partner, and print what was found as JSON
    #[command(hide = true, subcommand)]
    Probe(ProbeAction),
}

/// A file server.
#[derive(Debug, Args)]
pub struct ServeFilesArgs {
    /// What it calls itself
    #[arg(long)]
    pub name: String,
    /// Where it listens
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
    /// A file by name, with its size
    #[arg(long = "file", value_parser = file, value_name = "NAME=SIZE")]
    pub files: Vec<(String, ByteCount)>,
}

/// A proxy.
#[derive(Debug, Args)]
pub struct ServeProxyArgs {
    /// What it calls itself
    #[arg(long)]
    pub name: String,
    /// Where it listens
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
    /// A server it deals to
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub over: Vec<SocketAddr>,
    /// The share of requests that is passed on, 0 to 1
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub rerouted: f64,
    /// To whom they are passed on
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub to: Vec<SocketAddr>,
    /// Which requests they are
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What is measured.
#[derive(Debug, Subcommand)]
pub enum ProbeAction {
    /// Round trips and losses of ICMP echoes
    Echo {
        #[command(flatten)]
        path: ProbedPath,
        /// Probes
        #[arg(long, default_value_t = 10)]
        count: u32,
        /// Time from one to the next
        #[arg(long, value_parser = values::span, default_value = "100ms", value_name = "TIME")]
        interval: Duration,
        /// Bytes after the ICMP header
        #[arg(long, default_value_t = 56)]
        payload_bytes: u16,
        /// Forbid cutting packets
        #[arg(long)]
        whole: bool,
        /// Routers that may be crossed
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..))]
        hop_limit: Option<u8>,
    },
    /// The routers on the way
    Hops {
        #[command(flatten)]
        path: ProbedPath,
        /// Most hops
        #[arg(long, default_value_t = 30)]
        limit: u8,
        /// Probes for each hop
        #[arg(long, default_value_t = 3)]
        probes: u8,
    },
    /// The largest packet that arrives
    Mtu {
        #[command(flatten)]
        path: ProbedPath,
        /// Probes of each size
        #[arg(long, default_value_t = 5)]
        probes: u8,
    },
    /// One file over HTTP
    Download {
        /// Its address
        url: String,
        /// Local address
        #[arg(long, value_name = "ADDRESS")]
        bind: Option<IpAddr>,
        /// Congestion control of this end
        #[arg(long, value_name = "NAME")]
        cca: Option<String>,
        /// How long all of it may take
        #[arg(long, value_parser = values::span_above_zero, default_value = "1h", value_name = "TIME")]
        time_limit: Duration,
    },
}

/// A path, as packets see it.
#[derive(Debug, Args)]
pub struct ProbedPath {
    /// A name or an address
    pub target: String,
    /// Local address
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Class of service
    #[arg(long, value_parser = values::dscp, value_name = "DSCP")]
    pub dscp: Option<Dscp>,
    /// How long an answer may take
    #[arg(long, value_parser = values::span_above_zero, default_value = "1s", value_name = "TIME")]
    pub timeout: Duration,
    /// IPv4 only
    #[arg(long, short = '4', conflicts_with = "ipv6")]
    pub ipv4: bool,
    /// IPv6 only
    #[arg(long, short = '6')]
    pub ipv6: bool,
}

impl ProbedPath {
    /// The family asked for.
    pub fn family(&self) -> Option<Family> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Family::Ipv4),
            (_, true) => Some(Family::Ipv6),
            _ => None,
        }
    }
}

fn file(text: &str) -> Result<(String, ByteCount), String> {
    let (name, size) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` is not NAME=SIZE"))?;
    Ok((name.to_owned(), size.parse().map_err(|error: units::ParseError| error.to_string())?))
}
