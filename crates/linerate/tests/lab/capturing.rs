//! Transfers over an emulated path, captured where they are sent: what `linerate trace` makes of them, beside the clocks of the sender's
//! kernel and the waterfall of the same run.

use std::process::Command;

use serde_json::Value;

use crate::user::User;

/// 50 Mbit/s over 40 ms, with a queue of four BDPs.
const PATH: &str = r#"
title = "A narrow path"
about = "A port of 50 Mbit/s, 40 ms away."

[hosts.west]
# A socket that was BBR's once is paced for ever, and its kernel counts less of the time as limited by a window or buffer.
congestion-control = "cubic"
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

    /// Sets what the kernel of a host has.
    fn set(&self, host: &str, setting: &str) {
        self.user.prints(&["exec", host, "--", "sysctl", "-qw", setting]);
    }

    /// The largest transfer of a test with these options, captured at its sender.
    fn captured(&self, options: &[&str]) -> Value {
        self.explained(options).transfer
    }

    /// The same, and what the test itself says of where the rate went.
    fn explained(&self, options: &[&str]) -> Explained {
        let file = self.user.writes("sent.pcap", "");
        let test = [env!("CARGO_BIN_EXE_linerate"), "test", "east", "-t", "6s", "--no-archive", "--capture", &file];
        let line = ["--json", "--expect", "1Gbit/s"];
        let run = self.user.prints(&[&["exec", "west", "--"], &test[..], &line, options].concat());
        let run: Value = serde_json::from_str(run.lines().last().unwrap()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_linerate")).args(["trace", "--json", &file]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let connections = report["connections"].as_array().unwrap();
        let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
        let transfer = transfers.max_by_key(|transfer| transfer["delivered_bytes"].as_u64()).unwrap().clone();
        Explained { transfer, waterfall: run["waterfalls"][0].clone() }
    }
}

/// A transfer, explained from its packets and from the state of its sender.
struct Explained {
    transfer: Value,
    waterfall: Value,
}

impl Explained {
    /// Share of the transfer's time.
    fn owned(&self, owners: &[&str]) -> f64 {
        let budget = self.transfer["budget"].as_array().unwrap();
        let time_ns = |share: &Value| share["time_ns"].as_f64().unwrap();
        let of = budget.iter().filter(|share| owners.contains(&share["owner"].as_str().unwrap()));
        of.map(time_ns).sum::<f64>() / budget.iter().map(time_ns).sum::<f64>()
    }

    /// Share of what the line would have carried beside the headers and what was delivered.
    fn fell(&self, cause: &str) -> f64 {
        let shares = self.waterfall["shares"].as_array().unwrap();
        let part = |share: &Value| share["part_of_line_rate"].as_f64().unwrap();
        let gap = shares.iter().filter(|share| share["cause"] != "protocol_overhead").map(part).sum::<f64>();
        shares.iter().filter(|share| share["cause"] == cause).map(part).sum::<f64>() / gap
    }

    /// Share of the run by a clock of the kernel.
    fn clock(&self, name: &str) -> f64 {
        let clocks = self.waterfall["check"]["clocks"].as_array().unwrap();
        clocks.iter().find(|clock| clock["clock"] == name).unwrap()["kernel"].as_f64().unwrap()
    }
}

/// So far may be apart what packets, the sender's state and the kernel's clocks say of one transfer.
const APART: f64 = 0.05;

#[track_caller]
fn assert_alike(explained: &Explained, from_packets: f64, other: f64) {
    let (budget, waterfall) = (&explained.transfer["budget"], &explained.waterfall);
    assert!((from_packets - other).abs() <= APART, "{from_packets} and {other}: {budget:#} {waterfall:#}");
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

#[test]
fn a_small_receive_buffer_has_the_time_that_the_kernel_and_the_waterfall_give_it() {
    let narrow = Narrow::new();
    narrow.set("east", "net.ipv4.tcp_rmem=4096 65536 65536");
    let explained = narrow.explained(&[]);
    let owned = explained.owned(&["receiver-window"]);
    assert_alike(&explained, owned, explained.clock("receive_window"));
    assert_alike(&explained, owned, explained.fell("receive_window"));
    assert_eq!(explained.transfer["verdicts"][0]["cause"], "receiver-window");
}

#[test]
fn a_slow_writer_has_the_time_that_the_waterfall_gives_it() {
    let slow = Narrow::new().explained(&["--rate", "10Mbit/s"]);
    assert_alike(&slow, slow.owned(&["application"]), slow.fell("configured_cap"));
}

/// Packets that leave evenly may be written or paced so; that nobody waits for room in a buffer shows.
#[test]
fn a_pacing_rate_is_no_send_buffer_and_is_named() {
    let paced = Narrow::new().explained(&["--pace", "20Mbit/s"]);
    assert!(paced.owned(&["congestion-window", "application"]) > 0.8, "{:#}", paced.transfer["budget"]);
    let rivals = paced.transfer["verdicts"][0]["rivals"].to_string();
    assert!(rivals.contains("pac"), "{:#}", paced.transfer["verdicts"]);
}

#[test]
fn a_busy_bottleneck_has_the_time_that_the_waterfall_gives_to_the_path() {
    let narrow = Narrow::new();
    let busy = narrow.explained(&[]);
    // What slow start took is the path's as well, from when on a queue stands.
    let owned = busy.owned(&["congestion-window", "recovery", "slow-start"]);
    assert!((0.0..=2.0 * APART).contains(&(owned - busy.fell("path_capacity"))), "{owned}: {:#}", busy.waterfall);
}

/// While the pacing timer holds back what a woken writer has just written, no buffer limits, by the kernel's clock and by the packets.
#[test]
fn a_small_send_buffer_has_the_time_that_the_kernel_gives_it() {
    let narrow = Narrow::new();
    for (buffer, options) in [(65_536, ["--pace", "1Gbit/s"]), (131_072, ["-C", "bbr"])] {
        narrow.set("west", &format!("net.ipv4.tcp_wmem=4096 {buffer} {buffer}"));
        let explained = narrow.explained(&options);
        assert_eq!(main_owner(&explained.transfer), "send-buffer", "{:#}", explained.transfer);
        assert_alike(&explained, explained.owned(&["send-buffer"]), explained.clock("send_buffer"));
    }
}
