//! No buffer, ring or queue becomes smaller than it is, or than the kernel has it by itself, unless a rule about too large
//! ones says so: profiles made for smaller hosts are a common cause of slow transfers.

use super::step::{LeftOut, PlannedStep};
use crate::fact::{Fact, Path, Segment};
use crate::fix::Operation;
use crate::scope::{HostFacts, Scope};

/// A sysctl of the whole host is set for the host, whichever namespace the rule looked at.
pub(super) fn place(step: &mut PlannedStep, host: &HostFacts) {
    let Operation::Sysctl { key, .. } = &step.operation else {
        if is_of_the_host(&step.operation) {
            (step.namespace, step.link) = (None, None);
        }
        return;
    };
    step.link = None;
    let known_in = |name: &str| current(host, Some(name), None, "sysctl", key).is_some();
    if step.namespace.as_deref().is_some_and(|name| !known_in(name)) && known_in("") {
        step.namespace = None;
    }
}

fn is_of_the_host(operation: &Operation<String>) -> bool {
    matches!(
        operation,
        Operation::Governor { .. } | Operation::Smt { .. } | Operation::IdleStates { .. } | Operation::Module { .. }
    )
}

/// The step with no amount lowered; left out where nothing of it is left.
pub(super) fn guarded(mut step: PlannedStep, host: &HostFacts) -> Result<PlannedStep, Box<LeftOut>> {
    let now = |root, keys| current(host, step.namespace.as_deref(), step.link.as_deref(), root, keys);
    let operation = match &step.operation {
        Operation::Sysctl { key, value } if is_amount(key) => {
            let now = now("sysctl", key);
            let least = if step.lowers { floor(key).map(str::to_owned) } else { now.clone() };
            let value = least.and_then(|least| larger(value, &least)).unwrap_or_else(|| value.clone());
            if now.as_deref() == Some(value.as_str()) {
                return Err(left_out(step, &value));
            }
            Operation::Sysctl { key: key.clone(), value }
        }
        Operation::TxQueueLength { packets } if !step.lowers => {
            let now = now("link", "txqlen");
            let value = now.as_ref().and_then(|now| larger(packets, now)).unwrap_or_else(|| packets.clone());
            if now.as_ref() == Some(&value) {
                return Err(left_out(step, &value));
            }
            Operation::TxQueueLength { packets: value }
        }
        _ => return Ok(step),
    };
    step.operation = operation;
    Ok(step)
}

fn left_out(step: PlannedStep, now: &str) -> Box<LeftOut> {
    let reason = format!("it is {now} already, and nothing is made smaller unless a rule is there for that");
    Box::new(LeftOut { step, reason })
}

/// A value as it is now, words with blanks between.
fn current(host: &HostFacts, namespace: Option<&str>, link: Option<&str>, root: &str, key: &str) -> Option<String> {
    let inputs = crate::fact::FactMap::new();
    let mut scope = Scope::of_host(host, None, &inputs);
    if let Some(name) = namespace {
        scope = scope.in_namespace(host.namespaces.iter().find(|namespace| namespace.name == name)?);
    }
    if let Some(name) = link {
        let namespace = host.namespaces.iter().find(|known| known.name == namespace.unwrap_or_default())?;
        scope = scope.on_link(namespace.links.iter().find(|link| link.name == name)?);
    }
    let path = Path { root: root.to_owned(), segments: vec![Segment::Key(key.to_owned())] };
    Some(match scope.fact(&path).ok()? {
        Fact::List(list) => list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        single => single.to_string(),
    })
}

/// Word by word the larger of two lists of numbers; none where they are not alike.
pub(super) fn larger(one: &str, other: &str) -> Option<String> {
    let numbers = |text: &str| text.split_whitespace().map(|word| word.parse::<u64>().ok()).collect::<Option<Vec<_>>>();
    let (one, other) = (numbers(one)?, numbers(other)?);
    let alike = one.len() == other.len();
    let larger = one.iter().zip(&other).map(|(one, other)| one.max(other).to_string());
    alike.then(|| larger.collect::<Vec<_>>().join(" "))
}

/// Whether a sysctl is a size of which more is never less of a host.
pub(super) fn is_amount(key: &str) -> bool {
    AMOUNTS.iter().any(|(amount, _)| *amount == key)
}

fn floor(key: &str) -> Option<&'static str> {
    AMOUNTS.iter().find(|(amount, _)| *amount == key)?.1
}

/// Sizes, with what the kernel has by itself where that does not depend on the host's memory
/// (Documentation/admin-guide/sysctl/net.rst and Documentation/networking/ip-sysctl.rst of 6.18; of defaults that grew
/// over the years the first).
const AMOUNTS: [(&str, Option<&str>); 18] = [
    ("net.core.netdev_budget", Some("300")),
    ("net.core.netdev_budget_usecs", Some("2000")),
    ("net.core.netdev_max_backlog", Some("1000")),
    ("net.core.optmem_max", Some("20480")),
    ("net.core.rmem_default", Some("212992")),
    ("net.core.rmem_max", Some("212992")),
    ("net.core.somaxconn", Some("128")),
    ("net.core.wmem_default", Some("212992")),
    ("net.core.wmem_max", Some("212992")),
    ("net.ipv4.tcp_max_syn_backlog", Some("128")),
    ("net.ipv4.tcp_mem", None),
    ("net.ipv4.tcp_notsent_lowat", None),
    ("net.ipv4.tcp_rmem", Some("4096 87380 4194304")),
    ("net.ipv4.tcp_wmem", Some("4096 16384 4194304")),
    ("net.ipv4.udp_mem", None),
    ("net.ipv4.udp_rmem_min", Some("4096")),
    ("net.ipv4.udp_wmem_min", Some("4096")),
    ("net.netfilter.nf_conntrack_max", None),
];
