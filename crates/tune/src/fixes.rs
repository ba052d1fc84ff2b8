//! Settings as plans for `linerate host fix`.

use audit::fix::plan::{ByHand, FixPlan, PlannedStep};
use audit::fix::{Operation, Target};
use sweep::parameter::Settings;
use sweep::value::Value;

use crate::dial::{Side, side};
use crate::question::Question;

/// Where the settings of routes and devices go, which a path does not say.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The route to the other host, at both.
    pub route: String,
    /// The sender's device; what belongs to it is done by hand where it is not known.
    pub device: Option<String>,
}

/// What has to be done where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fixes {
    /// At the sending host.
    pub sender: FixPlan,
    /// At the receiving host.
    pub receiver: FixPlan,
    /// With the program that transfers, and in the network.
    pub elsewhere: Vec<String>,
}

/// What makes settings of others.
#[must_use]
pub fn fixes(question: &Question, from: &Settings, to: &Settings, places: &Places) -> Fixes {
    let mut fixes = Fixes::default();
    let changed = |name: &str| from.get(name) != to.get(name);
    let route = |metric: &str, value: &Value| Operation::Route {
        to: places.route.clone(),
        // `none` is what the kernel does by itself, which the metric 0 stands for (net/ipv4/fib_semantics.c).
        metrics: format!("{metric} {}", if value.is_none() { "0".to_owned() } else { value.to_string() }),
    };
    if changed("congestion") {
        congestion(&mut fixes.sender, &to.get("congestion").to_string());
    }
    if changed("wmem") {
        let operation = sysctl("net.ipv4.tcp_wmem", &format!("4096 16384 {}", bytes(to, "wmem")));
        let lowers = bytes(to, "wmem") < bytes(from, "wmem");
        fixes.sender.steps.push(PlannedStep { lowers, ..step("BUF-WMEM-BDP", operation) });
    }
    if changed("rmem") || changed("rmem-default") {
        let lowers = ["rmem", "rmem-default"].iter().any(|name| bytes(to, name) < bytes(from, name));
        let value = format!("4096 {} {}", bytes(to, "rmem-default"), bytes(to, "rmem"));
        let operation = sysctl("net.ipv4.tcp_rmem", &value);
        fixes.receiver.steps.push(PlannedStep { lowers, ..step("BUF-RMEM-BDP", operation) });
    }
    if changed("initial-window") {
        fixes.sender.steps.push(step("TCP-INITCWND", route("initcwnd", to.get("initial-window"))));
    }
    if changed("receiver-initial-window") {
        let operation = route("initrwnd", to.get("receiver-initial-window"));
        fixes.receiver.steps.push(step("TCP-INITRWND", operation));
    }
    if changed("ecn") {
        let value = if *to.get("ecn") == Value::Flag(true) { "1" } else { "2" };
        fixes.sender.steps.push(step("TCP-ECN-ACTIVE", sysctl("net.ipv4.tcp_ecn", value)));
    }
    if changed("fq") || changed("pace") {
        pacing(&mut fixes.sender, to, places);
    }
    let elsewhere =
        question.dials.iter().map(|dial| dial.parameter).filter(|parameter| {
            matches!(side(parameter), Some(Side::Program | Side::Network)) && changed(parameter.name)
        });
    fixes.elsewhere = elsewhere.map(|parameter| told(parameter.name, to)).collect();
    fixes
}

/// An algorithm needs its module; CUBIC and Reno are never modules of their own in a distribution's kernel.
fn congestion(plan: &mut FixPlan, name: &str) {
    if !matches!(name, "cubic" | "reno") {
        plan.steps.push(step("TCP-CC", Operation::Module { name: format!("tcp_{name}") }));
    }
    plan.steps.push(step("TCP-CC", sysctl("net.ipv4.tcp_congestion_control", name)));
}

fn pacing(plan: &mut FixPlan, to: &Settings, places: &Places) {
    let rate = if let Value::Rate(rate) = to.get("pace") { Some(format!("maxrate {}bit", rate.bps())) } else { None };
    let is_spread = rate.is_some() || *to.get("fq") == Value::Flag(true);
    let operation = if is_spread {
        Operation::Qdisc { parent: "root".to_owned(), kind: "fq".to_owned(), handle: None, options: rate }
    } else {
        Operation::NoQdisc {}
    };
    let Some(device) = &places.device else {
        let target = Target { namespace: "", link: "DEVICE" };
        let text = format!("{} (--device names the device)", operation.command(&target));
        plan.by_hand.push(ByHand { rules: vec!["QD-FQ".to_owned()], text });
        return;
    };
    let rules = vec!["QD-FQ".to_owned()];
    plan.steps.push(PlannedStep {
        rules,
        namespace: None,
        link: Some(device.clone()),
        operation,
        disruption: None,
        lowers: false,
    });
}

/// What is done neither at the sending nor at the receiving host.
fn told(name: &str, to: &Settings) -> String {
    let value = to.get(name);
    match name {
        "streams" => format!("transfer over {value} connections (`linerate test PEER --streams {value}`)"),
        "writer" => format!("let the application write as one that {value}"),
        "queue" => format!("give the bottleneck a queue of {value}"),
        "burst-queue" => format!("put the bursts into a queue that is {value}"),
        "burst-share" => format!("give the queue of the bursts {value} of the link"),
        other => format!("set {other} to {value}"),
    }
}

fn sysctl(key: &str, value: &str) -> Operation<String> {
    Operation::Sysctl { key: key.to_owned(), value: value.to_owned() }
}

/// A step that lowers nothing, of the host's own namespace.
fn step(rule: &str, operation: Operation<String>) -> PlannedStep {
    let rules = vec![rule.to_owned()];
    PlannedStep { rules, namespace: None, link: None, operation, disruption: None, lowers: false }
}

fn bytes(settings: &Settings, name: &str) -> u64 {
    if let Value::Bytes(bytes) = settings.get(name) { bytes.get() } else { 0 }
}
