//! One limit after the other is planted on a narrow path: whom packets and samples give the time to must be the same to 5 points.

use anyhow::ensure;

use super::narrow::{APART, Distance, Explained, Narrow, Port};
use super::stage::holds;

/// Whom both give the time to, each by its own names.
struct Class {
    name: &'static str,
    owners: &'static [&'static str],
    causes: &'static [&'static str],
}

/// What the path, its losses and the congestion window limit is one: a window that grows again after a loss is the congestion window's by its
/// packets, and the loss's by its samples.
const CLASSES: [Class; 5] = [
    Class { name: "start-up", owners: &["handshake", "slow-start"], causes: &["start_up"] },
    Class {
        name: "receiver",
        owners: &["zero-window", "receiver-window"],
        causes: &["receive_window", "receiver_application"],
    },
    Class { name: PROGRAM, owners: &["application"], causes: &["sender_application", "configured_cap", "idle"] },
    Class { name: "send buffer", owners: &["send-buffer"], causes: &["send_buffer"] },
    Class {
        name: "path",
        owners: &["timeout", "recovery", "congestion-window"],
        causes: &["loss_recovery", "path_capacity", "congestion_window"],
    },
];
const PROGRAM: &str = "program";

#[test]
fn whatever_limits_packets_and_samples_give_the_time_to_the_same() {
    let deep = Port::DEEP;
    let policed = Port { before: r#"{ policer = { rate = "20Mbit/s", burst = "64kB" } },"#, ..deep };
    let lossy = Port { before: "{ loss = { random = 0.001 } },", ..deep };
    let shallow = Port { queue: "packets = 24", ..deep };
    agree(policed, &[], "policer");
    agree(lossy, &[], "random-loss");
    agree(shallow, &[], "shallow-buffer");
    agree(deep, &["--rate", "10Mbit/s", "--length", "1MB"], "application");
}

/// A test over this port with these options is alike by packets and by samples, and `limit` is what its packets show first.
fn agree(port: Port, options: &[&str], limit: &str) {
    let narrow = Narrow::new(Distance::Near, port);
    holds(|| (same(&narrow.explained(options), limit), Vec::new()));
}

fn same(explained: &Explained, limit: &str) -> anyhow::Result<()> {
    for class in &CLASSES {
        // Before the test begins its program waits.
        let waited = if class.name == PROGRAM { explained.beyond_run().max(0.0) } else { 0.0 };
        let owned = class.owners.iter().map(|owner| explained.owned_of_run(owner)).sum::<f64>() - waited;
        let fell: f64 = class.causes.iter().map(|cause| explained.fell(cause)).sum();
        ensure!((owned - fell).abs() <= APART, "{}: {owned} and {fell}: {}", class.name, explained.shown());
    }
    ensure!(explained.verdict()["cause"] == limit, "{limit} is planted: {}", explained.shown());
    Ok(())
}
