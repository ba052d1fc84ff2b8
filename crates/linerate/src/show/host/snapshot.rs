//! A host on one screen: what a network engineer wants to see of it first.

use std::fmt::Write;

use model::host::namespace::Namespace;
use model::host::provenance::Setting;
use model::host::snapshot::{CollectionMethod, Snapshot};

use super::parts::{interfaces, or_unknown, state};
use crate::show::{when, wrap};

/// The summary of a snapshot.
pub fn text(snapshot: &Snapshot) -> String {
    let clean = foreign::terminal::lines_of(snapshot);
    let snapshot = clean.as_ref().unwrap_or(snapshot);
    let mut text = String::new();
    machine(&mut text, snapshot);
    for namespace in &snapshot.namespaces {
        self::namespace(&mut text, namespace, snapshot.namespaces.len() > 1);
    }
    origins(&mut text, snapshot);
    limits(&mut text, snapshot);
    text
}

/// Writing to a text does not fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{ let _ = writeln!($text, $($argument)*); }};
}

fn machine(text: &mut String, snapshot: &Snapshot) {
    let machine = &snapshot.machine;
    let group = machine.role_group.as_ref().map(|group| format!(" ({group})")).unwrap_or_default();
    let way = match snapshot.way {
        CollectionMethod::Privileged => "read as root",
        CollectionMethod::Unprivileged => "read without privilege",
        CollectionMethod::SavedOutputs => "from saved outputs",
        CollectionMethod::Sosreport => "from a sosreport",
    };
    line!(text, "{}{group}, {}, {way}", or_unknown(&machine.name), when::local(snapshot.taken));
    line!(text, "  kernel     {}", or_unknown(&machine.kernel_release));
    let count = |fact: &model::host::fact::Fact<u32>, word: &str| {
        fact.value().map(|count| format!(", {count} {word}{}", if *count == 1 { "" } else { "s" })).unwrap_or_default()
    };
    let guest = if machine.under_hypervisor.value() == Some(&true) { ", under a hypervisor" } else { "" };
    line!(
        text,
        "  CPU        {}{}{}{guest}",
        or_unknown(&machine.cpu_model),
        count(&machine.sockets, "socket"),
        count(&machine.cores, "core")
    );
    let processors = &snapshot.processors;
    let mut governors: Vec<&str> =
        processors.each.iter().filter_map(|cpu| cpu.governor.value().map(String::as_str)).collect();
    governors.sort_unstable();
    governors.dedup();
    if !processors.each.is_empty() {
        let governors = if governors.is_empty() { "no frequency governor".to_owned() } else { governors.join(", ") };
        let sum = |of: fn(&model::host::cpu::Softnet) -> u32| -> u64 {
            processors.each.iter().filter_map(|cpu| cpu.softnet.value()).map(|softnet| u64::from(of(softnet))).sum()
        };
        line!(
            text,
            "  receiving  {governors}; SMT {}; backlog dropped {}, budget ended {} times",
            or_unknown(&processors.smt_control),
            sum(|softnet| softnet.dropped),
            sum(|softnet| softnet.time_squeeze)
        );
    }
    let running = snapshot.services.each.iter().filter(|(_, fact)| fact.value().is_some_and(|service| service.running));
    let mut running: Vec<String> = running.map(|(name, _)| name.clone()).collect();
    running.extend(snapshot.services.tuned_profile.value().map(|profile| format!("TuneD profile {profile}")));
    if !running.is_empty() {
        line!(text, "  running    {}", running.join(", "));
    }
}

fn namespace(text: &mut String, namespace: &Namespace, several: bool) {
    text.push('\n');
    if several {
        let name = namespace.name.as_deref().unwrap_or("own");
        line!(text, "NAMESPACE {name}");
    }
    text.push_str(&interfaces(&namespace.interfaces));
    text.push('\n');
    for (title, keys) in SYSCTLS {
        let shown: Vec<String> = keys
            .iter()
            .filter_map(|key| {
                let value = namespace.sysctl(key)?;
                Some(format!("{} {value}", key.rsplit('.').next().unwrap_or(key)))
            })
            .collect();
        if !shown.is_empty() {
            line!(text, "  {title:<9}  {}", shown.join(" · "));
        }
    }
    for route in namespace.routes.value().into_iter().flatten().filter(|route| !route.metrics.is_empty()) {
        let metrics: Vec<String> = route.metrics.iter().map(|(name, value)| format!("{name} {value}")).collect();
        // Every route of IPv6 has some that the kernel gave it.
        if route.protocol != "kernel" {
            line!(text, "  route      {} {}", route.destination, metrics.join(" "));
        }
    }
    let counters = namespace.counters.value();
    let told = COUNTERS.iter().filter_map(|name| {
        let value = counters?.get(*name).filter(|value| **value > 0)?;
        Some(format!("{name} {value}"))
    });
    let told: Vec<String> = told.collect();
    if !told.is_empty() {
        line!(text, "  counted    {}", told.join(" · "));
    }
}

/// Settings that are not what the files say.
fn origins(text: &mut String, snapshot: &Snapshot) {
    let Some(provenance) = snapshot.provenance.value() else {
        line!(text, "\nWhere settings come from: {}", state(&snapshot.provenance));
        return;
    };
    let set = provenance.settings.iter().filter(|(_, setting)| setting.winner.is_some());
    let differing: Vec<(&String, &Setting)> =
        set.clone().filter(|(_, setting)| setting.running_differs == Some(true)).collect();
    line!(
        text,
        "\n{} settings are set by {} files at boot; {}",
        set.count(),
        provenance.files.len(),
        if differing.is_empty() {
            "none runs with another value".to_owned()
        } else {
            "these run with another value:".to_owned()
        }
    );
    for (name, setting) in differing.iter().take(MAX_LINES) {
        let Some(definition) = setting.winning() else { continue };
        let running = snapshot.own().and_then(|own| own.sysctl(name)).unwrap_or("another");
        line!(text, "  {name} is {running}, not {} ({}:{})", definition.value, definition.file, definition.line);
    }
    if differing.len() > MAX_LINES {
        line!(text, "  and {} more: --json has them all", differing.len() - MAX_LINES);
    }
}

/// What is not in the snapshot.
fn limits(text: &mut String, snapshot: &Snapshot) {
    if !snapshot.anomalies.is_empty() {
        line!(text, "\n{} lines were not understood:", snapshot.anomalies.len());
        for anomaly in snapshot.anomalies.iter().take(MAX_LINES) {
            let line = anomaly.line.map(|line| format!(":{line}")).unwrap_or_default();
            line!(text, "  {}{line}: {}", anomaly.file, anomaly.reason);
        }
    }
    if !snapshot.closed_namespaces.is_empty() {
        line!(text, "\nNot entered:");
        for closed in snapshot.closed_namespaces.iter().take(MAX_LINES) {
            line!(text, "  {}: {}", closed.name, closed.reason);
        }
    }
    if !snapshot.unseen.is_empty() {
        text.push_str("\nNot seen:\n");
        for unseen in snapshot.unseen.iter().take(MAX_LINES) {
            text.push_str(&wrap::text(unseen, 2));
        }
    }
}

/// Sysctls by what they are about.
const SYSCTLS: [(&str, &[&str]); 4] = [
    (
        "TCP",
        &[
            "net.ipv4.tcp_congestion_control",
            "net.core.default_qdisc",
            "net.ipv4.tcp_ecn",
            "net.ipv4.tcp_mtu_probing",
            "net.ipv4.tcp_slow_start_after_idle",
        ],
    ),
    ("sending", &["net.ipv4.tcp_wmem", "net.core.wmem_max"]),
    ("receiving", &["net.ipv4.tcp_rmem", "net.core.rmem_max", "net.core.netdev_max_backlog"]),
    ("moving on", &["net.ipv4.ip_forward", "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max"]),
];

/// Counters that tell of loss.
const COUNTERS: [&str; 8] = [
    "Tcp.RetransSegs",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPMemoryPressures",
    "TcpExt.TCPRcvQDrop",
    "TcpExt.TCPBacklogDrop",
    "Udp.RcvbufErrors",
    "Udp.SndbufErrors",
    "Ip.ReasmFails",
];

/// Most lines of one kind.
const MAX_LINES: usize = 8;
