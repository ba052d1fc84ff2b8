//! Two incidents that were once explained by eye, from xplot graphs: played between namespaces, captured by the test at the sending host, and
//! explained from the capture alone, with a picture. `program/replaying.rs` has the same of simulated transfers, docs/traces-replayed.md both.

use std::fs;
use std::path::Path;

use anyhow::ensure;
use serde_json::Value;

use super::stage::{KeptNetwork, holds, keep, linerate};

/// Two hosts and the path between them.
const HOSTS: &str = r#"
title = "An incident replayed"
about = "Two hosts and a path of testdata/paths."

[groups.dtn]
congestion-control = "cubic"
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 33554432", "net.ipv4.tcp_wmem" = "4096 65536 16777216" }
[hosts.outside]
group = "dtn"
[hosts.inside]
group = "dtn"

[[links]]
name = "path"
between = ["outside", "inside"]
"#;

/// A network with a path of testdata/paths.
fn replay(path: &str) -> KeptNetwork {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/paths").join(path);
    let chains = fs::read_to_string(file).unwrap().replace("\nchain = ", "\nthere = ");
    keep("replay", &format!("{HOSTS}{chains}\n[truth]\nhealthy = true\n"))
}

/// Runs a test of so long, captures it where it is sent, and explains the capture.
fn explained(network: &KeptNetwork, time: &str) -> Told {
    let place = tempfile::tempdir().unwrap();
    let [capture, picture] = ["slow.pcap", "slow.svg"].map(|name| place.path().join(name));
    let [file, drawn] = [&capture, &picture].map(|path| path.to_str().unwrap());
    let test = [env!("CARGO_BIN_EXE_linerate"), "test", "inside", "-t", time, "--no-archive", "--capture", file];
    let tested = network.exec("outside", &test).output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
    let read = |arguments: &[&str]| {
        let output = linerate(arguments).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    };
    let report = read(&["trace", "--json", file, "--plot", drawn]);
    let connections = report["connections"].as_array().unwrap();
    let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
    let transfer = transfers.max_by_key(|transfer| transfer["delivered_bytes"].as_u64()).unwrap().clone();
    let why = read(&["why", "--json", file]);
    let cause = why["problems"][0]["ranking"][0].clone();
    Told { transfer, cause, picture: fs::read_to_string(picture).unwrap() }
}

/// A claim about a transfer over such a path. What else runs on this machine may hold up the emulation, or have it drop packets.
fn shows(path: &str, time: &str, claim: impl Fn(&Told) -> anyhow::Result<()>) {
    let network = replay(path);
    holds(|| (claim(&explained(&network, time)), Vec::new()));
}

/// What is said of a capture.
struct Told {
    transfer: Value,
    cause: Value,
    picture: String,
}

impl Told {
    fn mbps(&self) -> f64 {
        let of = |name: &str| self.transfer[name].as_f64().unwrap();
        of("delivered_bytes") * 8e3 / of("duration_ns")
    }

    fn count(&self, name: &str) -> u64 {
        self.transfer["counts"][name].as_u64().unwrap()
    }

    /// The first verdict and the cause are one of these pairs, and the picture says so.
    fn is(&self, pairs: &[[&str; 2]]) -> anyhow::Result<()> {
        let named = [&self.transfer["verdicts"][0]["cause"], &self.cause["cause"]].map(|name| name.as_str().unwrap());
        ensure!(pairs.contains(&named), "{named:?}: {:#} {:#}", self.transfer, self.cause);
        let first = self.transfer["verdicts"][0]["evidence"].as_str().unwrap();
        let drawn = first.split(' ').take(6).collect::<Vec<_>>().join(" ");
        ensure!(self.picture.contains(&drawn), "the picture does not say: {drawn}");
        Ok(())
    }
}

/// 45 Mbit/s with 70 retransmits in 10 s at 8.3 ms; nothing is dropped, some packets are late.
#[test]
fn a_firewall_that_delays_packets_is_known_from_a_capture_at_the_sender() {
    shows("campus-firewall.toml", "10s", |told| {
        ensure!((20.0..120.0).contains(&told.mbps()), "{} Mbit/s", told.mbps());
        told.is(&[["delayed-packets", "firewall"]])?;
        let (retransmits, spurious) = (told.count("retransmits"), told.count("spurious"));
        ensure!(retransmits > 30 && spurious * 100 >= retransmits * 90, "{spurious} of {retransmits}");
        Ok(())
    });
}

/// 17 Mbit/s of a reserved gigabit at 36.7 ms: what comes in bursts is remarked, and dropped behind others.
#[test]
fn a_circuit_that_drops_bursts_is_known_from_a_capture_at_the_sender() {
    shows("reserved-circuit.toml", "15s", |told| {
        ensure!((4.0..120.0).contains(&told.mbps()), "{} Mbit/s", told.mbps());
        // It is both: a bucket of 14 kB, and a class that is full. The capture shows that bursts are too long, and so does what helps.
        told.is(&[["shallow-buffer", "shallow-queue"], ["policer", "policer"]])?;
        let budget = told.transfer["budget"].as_array().unwrap();
        let send_buffer = budget.iter().find(|share| share["owner"] == "send-buffer").unwrap();
        ensure!(send_buffer["time_ns"] == 0, "16 MB are never full of 100 kB: {send_buffer}");
        // A queue that empties in less than 2 ms delays as little as hosts do: neither is excluded.
        let rivals = told.transfer["verdicts"][0]["rivals"].to_string();
        ensure!(
            ["a queue of the size of the burst", "a policer"].iter().any(|other| rivals.contains(other)),
            "{rivals}"
        );
        let next = told.transfer["verdicts"][0]["next_test"].as_str().unwrap();
        ensure!(next.starts_with("pace the sender"), "{next}");
        Ok(())
    });
}
