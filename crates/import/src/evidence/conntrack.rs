//! What a firewall's kernel says when its table of connections is full.

use super::host_fact::{HostFact, TrackedConnections};
use super::shown::{Found, Shown};

/// Reads `nf_conntrack: table full, dropping packet` with its stamp, as often as it stands there, and how many such lines the kernel
/// left out.
pub(crate) fn table_full(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    is_full(lines.first()?).then_some(())?;
    let used = lines.iter().take(MAX_LINES).take_while(|line| is_full(line) || left_out(line).is_some()).count();
    let told = lines[..used].iter().filter(|line| is_full(line)).count() as u64;
    let left_out: u64 = lines[..used].iter().filter_map(|line| left_out(line)).fold(0, u64::saturating_add);
    let fact = TrackedConnections { dropped: told.saturating_add(left_out), ..TrackedConnections::default() };
    Some(found(fact, used))
}

/// Reads `net.netfilter.nf_conntrack_count = 262144` and the line with `nf_conntrack_max` beside it.
pub(crate) fn table_size(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let setting = |line: &&str| {
        let (name, value) = line.trim().split_once(" = ")?;
        let name = name.strip_prefix("net.netfilter.nf_conntrack_")?;
        Some((name.to_owned(), value.trim().parse::<u64>().ok()?))
    };
    let settings: Vec<(String, u64)> = lines.iter().take(2).map_while(setting).collect();
    let of = |wanted: &str| settings.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
    let fact = TrackedConnections { count: Some(of("count")?), most: Some(of("max")?), dropped: 0 };
    Some(found(fact, settings.len()))
}

fn is_full(line: &str) -> bool {
    line.len() <= LONGEST && line.trim_end().ends_with("nf_conntrack: table full, dropping packet")
}

/// `net_ratelimit: 3012 callbacks suppressed`
fn left_out(line: &str) -> Option<u64> {
    let (before, _) = line.split_once(" callbacks suppressed")?;
    before.contains("net_ratelimit").then_some(())?;
    before.rsplit(' ').next()?.parse().ok()
}

fn found(fact: TrackedConnections, lines: usize) -> Found {
    Found { shows: vec![Shown::Host(HostFact::TrackedConnections(fact))], lines }
}

const MAX_LINES: usize = 10_000;
const LONGEST: usize = 1_000;
