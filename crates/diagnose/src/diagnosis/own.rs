//! What is asked of a host besides the rules of the audit: facts that are no fault by themselves, and counters beside those of
//! hosts that should be alike.

use model::host::fact::Missing;
use model::host::snapshot::Snapshot;
use model::round::Member;

/// The questions, by the names that the catalogue of causes has for them, and what a host is said to do that answers yes.
pub const ASKED: &[(&str, &str)] = &[
    ("kernel-defaults", "has the kernel's own buffers for TCP"),
    ("ring-below-largest", "has rings far below what its NIC can hold"),
    ("missed-beside-peers", "has missed many packets that its peers did not miss"),
    ("dropped-beside-peers", "has dropped many packets that its peers did not drop"),
];

/// In words what a question asks; nothing for a rule of the audit.
#[must_use]
pub fn asks(name: &str) -> Option<&'static str> {
    ASKED.iter().find(|(known, _)| *known == name).map(|(_, asks)| *asks)
}

/// The answers for one host, where there are any. `group` are hosts that should be like it.
pub(super) fn facts(member: &Member, group: &[&Member]) -> Vec<(&'static str, bool)> {
    let Some(snapshot) = latest(member) else { return Vec::new() };
    let answers = [
        has_defaults(snapshot),
        has_short_rings(snapshot),
        stands_out(member, group, "rx_missed_errors"),
        stands_out(member, group, "rx_dropped"),
    ];
    ASKED.iter().zip(answers).filter_map(|((name, _), answer)| Some((*name, answer?))).collect()
}

fn latest(member: &Member) -> Option<&Snapshot> {
    member.after.as_deref().or(member.before.as_deref())
}

fn has_defaults(snapshot: &Snapshot) -> Option<bool> {
    let own = snapshot.own()?;
    let largest = |key: &str| own.sysctl(key)?.split_whitespace().last()?.parse::<u64>().ok();
    let (receive, send) = (largest("net.ipv4.tcp_rmem")?, largest("net.ipv4.tcp_wmem")?);
    Some(DEFAULT_RECEIVE.contains(&receive) && send == DEFAULT_SEND)
}

fn has_short_rings(snapshot: &Snapshot) -> Option<bool> {
    let interfaces = &snapshot.own()?.interfaces;
    // A device without rings has none that is too small.
    let none =
        || interfaces.iter().any(|interface| interface.rings.reading == Err(Missing::Unsupported)).then_some(false);
    let rings = interfaces.iter().filter_map(|interface| interface.rings.value());
    let short = rings.filter_map(|rings| Some(rings.rx? < rings.rx_max? / SHORT_RING));
    short.fold(None, |any: Option<bool>, short| Some(any.unwrap_or(false) || short)).or_else(none)
}

/// Whether a counter, since the host started, is far above that of the quietest of its peers.
fn stands_out(member: &Member, group: &[&Member], counter: &str) -> Option<bool> {
    let own = counted(latest(member)?, counter)?;
    let others = group.iter().filter(|other| other.name != member.name);
    let least = others.filter_map(|other| counted(latest(other)?, counter)).min()?;
    Some(own > least.saturating_mul(FAR) && own > FEW)
}

fn counted(snapshot: &Snapshot, counter: &str) -> Option<u64> {
    let counters = snapshot.own()?.interfaces.iter().filter_map(|interface| interface.counters.value());
    let values = counters.filter_map(|counters| counters.get(counter).copied());
    values.fold(None, |sum: Option<u64>, value| Some(sum.unwrap_or(0).saturating_add(value)))
}

/// `tcp_init` (net/ipv4/tcp.c): 6 MiB for reading, 32 MiB since Linux 6.18; 4 MiB for writing. Hosts with little memory have
/// less and are not recognised.
const DEFAULT_RECEIVE: [u64; 2] = [6 << 20, 32 << 20];
const DEFAULT_SEND: u64 = 4 << 20;
/// Rings of less than this part of the largest are short.
const SHORT_RING: u32 = 4;
/// So many times what a peer has counted is far more.
const FAR: u64 = 10;
/// So many packets in the life of a host are few.
const FEW: u64 = 1_000;
