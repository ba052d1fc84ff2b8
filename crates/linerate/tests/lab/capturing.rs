//! Transfers over an emulated path, captured where they are sent, and what `linerate trace` makes of them.

use std::process::Command;

use serde_json::Value;

use crate::user::User;

/// 50 Mbit/s over 40 ms, with a queue of four BDPs.
const PATH: &str = r#"
title = "A narrow path"
about = "A port of 50 Mbit/s, 40 ms away."

[hosts.west]
[hosts.east]

[[links]]
name = "narrow"
between = ["west", "east"]
both = [{ port = { rate = "50Mbit/s", queue = { bytes = "1MB" } } }, { delay = { time = "20ms" } }]

[truth]
healthy = true
"#;

/// A network of that path. It ends with this.
struct Narrow {
    user: User,
}

impl Narrow {
    fn new() -> Self {
        let user = User::new();
        let file = user.writes("narrow.toml", PATH);
        user.prints(&["up", &file, "--as", "narrow"]);
        Self { user }
    }

    /// The largest transfer of a test with these options, captured at its sender.
    fn captured(&self, options: &[&str]) -> Value {
        let file = self.user.writes("sent.pcap", "");
        let test = [env!("CARGO_BIN_EXE_linerate"), "test", "east", "-t", "6s", "--no-archive", "--capture", &file];
        self.user.prints(&[&["exec", "west", "--"], &test[..], options].concat());
        let output = Command::new(env!("CARGO_BIN_EXE_linerate")).args(["trace", "--json", &file]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let connections = report["connections"].as_array().unwrap();
        let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
        transfers.max_by_key(|transfer| transfer["delivered_bytes"].as_u64()).unwrap().clone()
    }
}

impl Drop for Narrow {
    fn drop(&mut self) {
        // A lab that has ended by itself is gone as well.
        let _ = self.user.lab(&["down", "narrow"]).output();
    }
}

/// Who had the most of the time.
fn main_owner(transfer: &Value) -> &str {
    let budget = transfer["budget"].as_array().unwrap();
    budget.iter().max_by_key(|share| share["time_ns"].as_i64()).unwrap()["owner"].as_str().unwrap()
}

/// Both pace, and have no queue most of the time: only one of them finds that no more arrives when it sends more.
#[test]
fn bbr_at_its_bottleneck_has_no_slow_application_and_bbr_with_one_has() {
    let narrow = Narrow::new();
    let busy = narrow.captured(&["-C", "bbr"]);
    assert_eq!(main_owner(&busy), "congestion-window", "{busy:#}");
    assert_ne!(busy["verdicts"][0]["cause"], "application", "{busy:#}");
    let slow = narrow.captured(&["-C", "bbr", "--rate", "20Mbit/s"]);
    assert_eq!(main_owner(&slow), "application", "{slow:#}");
    assert_eq!(slow["verdicts"][0]["cause"], "application", "{slow:#}");
}
