//! Two incidents that were once explained by eye, from xplot graphs: simulated, captured, and told from the capture alone.
//! docs/traces-replayed.md has the same two.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The programs and the folder in which they work.
struct Replay {
    folder: tempfile::TempDir,
}

impl Replay {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn linerate(&self, expected: i32, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        let output = command.current_dir(self.folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Simulates a transfer over a path of testdata/paths, captures it at its sender, and explains the capture.
    fn explained(&self, path: &str, options: &[&str]) -> Value {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/paths").join(path);
        let simulate =
            ["simulate", "flow", "--seeds", "1", "--pcap", "slow.pcap", "--from-path", file.to_str().unwrap()];
        self.linerate(0, &[&simulate[..], options].concat());
        let report = self.linerate(0, &["trace", "slow.pcap", "--json", "--plot", "slow.svg"]);
        assert!(std::fs::metadata(self.folder.path().join("slow.svg")).unwrap().len() < 400_000);
        serde_json::from_str::<Value>(&report).unwrap()["connections"][0]["transfers"][0].clone()
    }

    /// The cause that `linerate why` names first for the capture, with its place.
    fn why(&self) -> (String, String) {
        let document: Value = serde_json::from_str(&self.linerate(10, &["why", "--json", "slow.pcap"])).unwrap();
        let best = &document["problems"][0]["ranking"][0];
        let place = &best["places"][0]["place"];
        (best["cause"].as_str().unwrap().to_owned(), place.to_string())
    }

    fn picture(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("slow.svg")).unwrap()
    }
}

fn causes(transfer: &Value) -> Vec<&str> {
    transfer["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["cause"].as_str().unwrap()).collect()
}

fn mbps(transfer: &Value) -> f64 {
    let of = |name: &str| transfer[name].as_f64().unwrap();
    of("delivered_bytes") * 8e3 / of("duration_ns")
}

fn count(transfer: &Value, name: &str) -> u64 {
    transfer["counts"][name].as_u64().unwrap()
}

/// 45 Mbit/s with 70 retransmits in 10 s at 8.3 ms, where nothing was dropped: timers fired, and originals and copies arrived.
#[test]
fn a_firewall_that_delays_packets_is_told_from_loss() {
    let replay = Replay::new();
    let memory = ["--time", "10s", "--wmem", "16MiB", "--rmem", "32MiB"];
    let transfer = replay.explained("campus-firewall.toml", &memory);
    assert!((30.0..60.0).contains(&mbps(&transfer)), "{} Mbit/s", mbps(&transfer));
    let (retransmits, spurious) = (count(&transfer, "retransmits"), count(&transfer, "spurious"));
    assert!((50..250).contains(&retransmits) && spurious * 100 >= retransmits * 95, "{spurious} of {retransmits}");
    assert!(count(&transfer, "timeouts") > 0, "{transfer:#}");
    let first = &transfer["verdicts"][0];
    assert_eq!(first["cause"], "delayed-packets", "{transfer:#}");
    let evidence = first["evidence"].as_str().unwrap();
    // What the path does: some packets are late by 60 ms, and all of them by a quarter of a second.
    assert!(evidence.contains("they were late, not lost"), "{evidence}");
    let (cause, place) = replay.why();
    assert!(cause == "firewall" && place.contains("10.0.0.1") && place.contains("10.0.1.1"), "{cause} {place}");
    let picture = replay.picture();
    assert!(
        ["packets delayed in one direction", "retransmission timeout", "RTO"].iter().all(|part| picture.contains(part))
    );
}

/// 17 Mbit/s of a reserved gigabit at 36.7 ms, and 826 Mbit/s when the sender was shaped.
#[test]
fn a_circuit_that_drops_bursts_is_told_and_pacing_is_its_remedy() {
    let replay = Replay::new();
    let memory = ["--time", "30s", "--wmem", "32MiB", "--rmem", "64MiB"];
    let bursty = replay.explained("reserved-circuit.toml", &memory);
    assert!((10.0..30.0).contains(&mbps(&bursty)), "{} Mbit/s", mbps(&bursty));
    assert!((15..60).contains(&count(&bursty, "retransmits")), "{bursty:#}");
    assert_eq!(causes(&bursty)[0], "shallow-buffer", "{bursty:#}");
    let next = bursty["verdicts"][0]["next_test"].as_str().unwrap();
    assert!(next.starts_with("pace the sender"), "{next}");
    assert_eq!(replay.why().0, "shallow-queue");
    let shaped = ["--time", "5s", "--wmem", "32MiB", "--rmem", "64MiB", "--no-offload", "--pace", "850Mbit/s"];
    let paced = replay.explained("reserved-circuit.toml", &shaped);
    assert!(mbps(&paced) > 600.0 && count(&paced, "retransmits") <= 3, "{} Mbit/s", mbps(&paced));
}

/// A queue that marks at 15 kB, on a path of 1.25 MB: nothing is lost, and the window stays at a part of it.
#[test]
fn marks_that_come_too_early_are_named_with_the_path() {
    let replay = Replay::new();
    let path = "chain = [{ port = { rate = \"500Mbit/s\", queue = { mark-above = \"15kB\" } } }, { delay = { time = \"10ms\" } }]\n\
                back = [{ delay = { time = \"10ms\" } }]\n";
    std::fs::write(replay.folder.path().join("marks.toml"), path).unwrap();
    let simulate = ["simulate", "flow", "--seeds", "1", "--pcap", "slow.pcap", "--from-path", "marks.toml", "--ecn"];
    replay.linerate(0, &[&simulate[..], &["--time", "5s", "--wmem", "32MiB", "--rmem", "64MiB"]].concat());
    let (cause, place) = replay.why();
    assert!(cause == "ecn-marking-below-capacity" && place.contains("10.0.1.1"), "{cause} {place}");
}
