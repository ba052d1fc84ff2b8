//! `linerate watch bursts`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use linux::netns::NetnsRef;
use units::{DataRate, Percent};

use crate::cli::values;

/// Watch what passes a device in buckets of a millisecond or less: bursts, how long and how large they are, the buffer that a
/// slower link would need.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sudo linerate watch bursts eth0                        until Ctrl-C
  sudo linerate watch bursts eth0 --for 60s --bucket 100us --plot bursts.svg
  sudo linerate watch bursts eth0 --drain 10Gbit/s       the queue that a link of 10 Gbit/s behind it would need
  sudo linerate watch bursts veth0 --expect 1Gbit/s      a device that reports no link speed

A program in the kernel counts each packet (CAP_BPF and CAP_NET_ADMIN of the machine, Linux 6.6); it changes and delays
none. Without the right the device's counters are read every 10 ms. docs/watching.md explains the numbers.")]
pub struct BurstsArgs {
    /// The device
    #[arg(value_name = "DEVICE")]
    pub device: String,
    /// How long to watch [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span_above_zero)]
    pub duration: Option<Duration>,
    /// How long a bucket is
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = bucket)]
    pub bucket: Duration,
    /// A network namespace by name, path or pid:N, instead of this one
    #[arg(long, value_name = "NETNS")]
    pub netns: Option<NetnsRef>,
    /// The line rate [default: what the NIC reports]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub expect: Option<DataRate>,
    /// A burst is a run of buckets above this part of the line rate, in percent
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = percent)]
    pub threshold: Percent,
    /// The rate of a slower link, whose queue is reckoned
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub drain: Option<DataRate>,
    /// Write a picture, .svg or .png
    #[arg(long, value_name = "FILE", value_parser = values::picture)]
    pub plot: Option<PathBuf>,
}

/// Below 100 us buckets show how the NIC and the kernel batch packets; above 10 ms counters do as well.
fn bucket(text: &str) -> Result<Duration, String> {
    const ALLOWED: std::ops::RangeInclusive<Duration> = Duration::from_micros(100)..=Duration::from_millis(10);
    let time = values::span_above_zero(text)?;
    if ALLOWED.contains(&time) { Ok(time) } else { Err("a bucket is 100 us to 10 ms long".to_owned()) }
}

fn percent(text: &str) -> Result<Percent, String> {
    let number: u32 = text.trim_end_matches('%').trim().parse().map_err(|_| "a whole number of percent".to_owned())?;
    if !(1..=100).contains(&number) {
        return Err("between 1 and 100 percent".to_owned());
    }
    Percent::new(number).map_err(|error| error.to_string())
}
