//! Two incidents that were once explained by eye, from xplot graphs: simulated, captured, and told from the capture alone.
//! docs/traces-replayed.md has the same two.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Simulates a transfer over a path of testdata/paths, captures it at its sender, and explains the capture.
fn explained(folder: &Path, path: &str, options: &[&str]) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/paths").join(path);
    let linerate = |arguments: &mut Command| {
        let output = arguments.current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let mut simulate = Command::new(env!("CARGO_BIN_EXE_linerate"));
    simulate.args(["simulate", "flow", "--seeds", "1", "--time", "10s", "--pcap", "slow.pcap", "--from-path"]);
    linerate(simulate.arg(file).args(options));
    let mut trace = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let report = linerate(trace.args(["trace", "slow.pcap", "--json", "--plot", "slow.svg"]));
    assert!(std::fs::metadata(folder.join("slow.svg")).unwrap().len() < 400_000);
    serde_json::from_slice::<Value>(&report).unwrap()["connections"][0]["transfers"][0].clone()
}

fn causes(transfer: &Value) -> Vec<&str> {
    transfer["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["cause"].as_str().unwrap()).collect()
}

#[test]
fn a_firewall_that_holds_packets_is_told_from_loss() {
    let folder = tempfile::tempdir().unwrap();
    let transfer = explained(folder.path(), "campus-firewall.toml", &["--wmem", "16MiB", "--rmem", "32MiB"]);
    assert!(causes(&transfer).contains(&"delayed-packets"), "{transfer:#}");
    // Five holds in ten seconds; each costs what a third of a second would have carried.
    let events = transfer["events"].as_array().unwrap();
    let costliest = &events[..5];
    assert!(costliest.iter().all(|event| event["event"] == "delay-spike"), "{events:#?}");
    assert!(costliest.iter().all(|event| event["cost_bytes"].as_u64() > Some(10_000_000)), "{events:#?}");
}

#[test]
fn a_circuit_of_small_queues_is_told_and_pacing_is_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let memory = ["--wmem", "32MiB", "--rmem", "64MiB"];
    let bursty = explained(folder.path(), "reserved-circuit.toml", &memory);
    assert_eq!(causes(&bursty)[0], "shallow-buffer", "{bursty:#}");
    let next = bursty["verdicts"][0]["next_test"].as_str().unwrap();
    assert!(next.starts_with("pace the sender"), "{next}");
    let paced = explained(folder.path(), "reserved-circuit.toml", &[&memory[..], &["--pace", "880Mbit/s"]].concat());
    let delivered = |transfer: &Value| transfer["delivered_bytes"].as_u64().unwrap();
    assert!(delivered(&paced) > 5 * delivered(&bursty), "{} and {}", delivered(&bursty), delivered(&paced));
}
