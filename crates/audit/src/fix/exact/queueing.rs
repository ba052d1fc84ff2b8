//! A tree of queueing disciplines as `tc` makes it (tc(8) of iproute2 6.1).

use std::collections::BTreeMap;

use foreign::shell::word;
use model::host::qdisc::{Class, INGRESS, Qdisc, ROOT};

/// The commands that make the tree of a device again; none where an option or a class is not in the snapshot.
pub(super) fn rebuilt(link: &str, tree: &[Qdisc]) -> Option<Vec<String>> {
    let link = word(link);
    let sending: Vec<&Qdisc> = tree.iter().filter(|qdisc| qdisc.parent != INGRESS).collect();
    let root = sending.iter().find(|qdisc| qdisc.is_root())?;
    if root.is_default() {
        return Some(vec![format!("tc qdisc del dev {link} root")]);
    }
    // What the kernel put below a discipline by itself comes back with it.
    let mut commands = Vec::new();
    for qdisc in sending.iter().filter(|qdisc| !qdisc.is_default()) {
        let parent = if qdisc.is_root() { "root".to_owned() } else { format!("parent {}", word(&qdisc.parent)) };
        // The number of a class is hexadecimal to tc.
        let options = match (qdisc.kind.as_str(), qdisc.options.get("default_class")) {
            ("htb", Some(class)) if !qdisc.classes.is_empty() => format!(" default {class:x}"),
            _ => options(&qdisc.kind, &qdisc.options)?,
        };
        commands.push(format!(
            "tc qdisc replace dev {link} {parent} handle {} {}{options}",
            word(&qdisc.handle),
            word(&qdisc.kind)
        ));
        for each in &qdisc.classes {
            commands.push(format!("tc class replace dev {link} {}", class(qdisc, each)?));
        }
    }
    Some(commands)
}

/// Where a class is and what it has. Parents come before children, as the snapshot has them.
fn class(of: &Qdisc, class: &Class) -> Option<String> {
    let parent = if class.parent == ROOT { of.handle.as_str() } else { class.parent.as_str() };
    let (rate, ceil) = (class.options.get("rate_bps")?, class.options.get("ceil_bps")?);
    let mut text = format!(
        "parent {} classid {} {} rate {rate}bit ceil {ceil}bit",
        word(parent),
        word(&class.handle),
        word(&of.kind)
    );
    for (name, written) in HTB_CLASS {
        let value = class.options.get(name)?;
        text.push_str(&format!(" {written} {value}"));
    }
    (of.kind == "htb").then_some(text)
}

/// Options as `tc` has them, with a blank before each.
fn options(kind: &str, options: &BTreeMap<String, u64>) -> Option<String> {
    let known: &[(&str, &str)] = match kind {
        "mq" | "pfifo_fast" | "noqueue" => &[],
        "pfifo" => &[("limit_packets", "limit {}")],
        "bfifo" => &[("limit_bytes", "limit {}b")],
        // Model: a peak rate has a mark of its own that the snapshot does not hold.
        "tbf" if options.contains_key("peak_rate_bps") => return None,
        "tbf" => &[("rate_bps", "rate {}bit"), ("burst_bytes", "burst {}b"), ("limit_bytes", "limit {}b")],
        "fq" => &FQ,
        "fq_codel" => &FQ_CODEL,
        "codel" => &FQ_CODEL[..3],
        _ => return None,
    };
    let mut text = String::new();
    for (name, written) in known {
        if let Some(value) = options.get(*name) {
            text.push(' ');
            text.push_str(&written.replace("{}", &value.to_string()));
        }
    }
    for (name, on, off) in SWITCHES {
        if let Some(value) = options.get(name) {
            text.push_str(if *value == 0 { off } else { on });
        }
    }
    Some(text)
}

const HTB_CLASS: [(&str, &str); 4] =
    [("burst_bytes", "burst"), ("ceil_burst_bytes", "cburst"), ("quantum_bytes", "quantum"), ("priority", "prio")];
const FQ: [(&str, &str); 6] = [
    ("limit_packets", "limit {}p"),
    ("flow_limit_packets", "flow_limit {}p"),
    ("quantum_bytes", "quantum {}"),
    ("initial_quantum_bytes", "initial_quantum {}"),
    ("maxrate_bps", "maxrate {}bit"),
    ("refill_delay_us", "refill_delay {}us"),
];
/// The first three are of `codel` as well.
const FQ_CODEL: [(&str, &str); 7] = [
    ("limit_packets", "limit {}"),
    ("target_us", "target {}us"),
    ("interval_us", "interval {}us"),
    ("flows", "flows {}"),
    ("quantum_bytes", "quantum {}"),
    ("memory_limit_bytes", "memory_limit {}"),
    ("drop_batch_packets", "drop_batch {}"),
];
const SWITCHES: [(&str, &str, &str); 2] = [("pacing", " pacing", " nopacing"), ("ecn", " ecn", " noecn")];
