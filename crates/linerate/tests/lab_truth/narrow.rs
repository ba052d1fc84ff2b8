//! A narrow path, transfers over it that are captured where they are sent, and what `linerate trace`, the clocks of the sender's kernel and
//! the waterfall of the same run make of them.

use std::path::PathBuf;

use anyhow::ensure;
use serde_json::Value;

use super::stage::{KeptNetwork, holds, keep, linerate};

/// 50 Mbit/s to either host.
const PATH: &str = r#"
title = "A narrow path"
about = "A port of 50 Mbit/s."

[hosts.west]
# A socket that was BBR's once is paced for ever, and its kernel counts less of the time as limited by a window or buffer.
congestion-control = "cubic"
[hosts.east]

[[links]]
name = "narrow"
between = ["west", "east"]
there = [BEFORE { port = { rate = "50Mbit/s", queue = { QUEUE } } }, { delay = { time = "ONE WAY" } }]
back = [{ port = { rate = "50Mbit/s", queue = { bytes = "1MB" } } }, { delay = { time = "ONE WAY" } }]

[truth]
healthy = true
"#;

/// A network of that path, and a place for what is captured there.
pub(crate) struct Narrow {
    network: KeptNetwork,
    place: tempfile::TempDir,
    distance: Distance,
}

/// How long the path is, and a test over it: some 100 RTTs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Distance {
    /// 40 ms.
    Near,
    /// 100 ms.
    Far,
}

impl Distance {
    fn one_way(self) -> &'static str {
        match self {
            Self::Near => "20ms",
            Self::Far => "50ms",
        }
    }

    fn seconds(self) -> u32 {
        match self {
            Self::Near => 6,
            Self::Far => 10,
        }
    }
}

/// What stands on the way to the far host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    /// Elements before it.
    pub(crate) before: &'static str,
    /// Limits of its queue.
    pub(crate) queue: &'static str,
}

impl Port {
    /// Four BDPs of 40 ms, and nothing before it.
    pub(crate) const DEEP: Self = Self { before: "", queue: r#"bytes = "1MB""# };
}

impl Narrow {
    pub(crate) fn new(distance: Distance, port: Port) -> Self {
        let path = PATH.replace("ONE WAY", distance.one_way());
        let path = path.replace("BEFORE", port.before).replace("QUEUE", port.queue);
        Self { network: keep("narrow", &path), place: tempfile::tempdir().unwrap(), distance }
    }

    /// Sets what the kernel of a host has.
    pub(crate) fn set(&self, host: &str, setting: &str) {
        let set = self.network.exec(host, &["sysctl", "-qw", setting]).status().unwrap();
        assert!(set.success(), "{host}: {setting}");
    }

    fn capture(&self) -> PathBuf {
        self.place.path().join("sent.pcap")
    }

    /// A test with these options: its largest transfer, captured at its sender, and what the test itself says of where the rate went.
    pub(crate) fn explained(&self, options: &[&str]) -> Explained {
        let capture = self.capture();
        let file = capture.to_str().unwrap();
        let seconds = self.distance.seconds();
        let time = format!("{seconds}s");
        let test = [env!("CARGO_BIN_EXE_linerate"), "test", "east", "-t", &time, "--no-archive", "--capture", file];
        let line = ["--json", "--expect", "1Gbit/s"];
        let tested = self.network.exec("west", &[&test[..], &line, options].concat()).output().unwrap();
        assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
        let run = String::from_utf8(tested.stdout).unwrap();
        let run: Value = serde_json::from_str(run.lines().last().unwrap()).unwrap();
        let traced = linerate(&["trace", "--json", file]).output().unwrap();
        let report: Value = serde_json::from_slice(&traced.stdout).unwrap();
        let connections = report["connections"].as_array().unwrap();
        let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
        let transfer = transfers.max_by_key(|transfer| transfer["delivered_bytes"].as_u64()).unwrap().clone();
        let waterfall = run["waterfalls"][0].clone();
        let run_ns = waterfall["time_us"].as_f64().unwrap() * 1e3;
        Explained { transfer, waterfall, run_ns }
    }
}

/// A transfer, explained from its packets and from the state of its sender.
pub(crate) struct Explained {
    transfer: Value,
    waterfall: Value,
    /// How long the test was: the transfer begins with a handshake and ends with what is acknowledged late.
    run_ns: f64,
}

impl Explained {
    /// Share of the transfer's time.
    pub(crate) fn owned(&self, owners: &[&str]) -> f64 {
        let budget = self.transfer["budget"].as_array().unwrap();
        let time_ns = |share: &Value| share["time_ns"].as_f64().unwrap();
        let of = budget.iter().filter(|share| owners.contains(&share["owner"].as_str().unwrap()));
        of.map(time_ns).sum::<f64>() / budget.iter().map(time_ns).sum::<f64>()
    }

    /// The time of an owner, as a share of the run.
    pub(crate) fn owned_of_run(&self, owner: &str) -> f64 {
        let budget = self.transfer["budget"].as_array().unwrap();
        let of = budget.iter().filter(|share| share["owner"] == owner);
        of.map(|share| share["time_ns"].as_f64().unwrap()).sum::<f64>() / self.run_ns
    }

    /// The time that the transfer has before and behind the run: its program waits for the test to begin, and its peer for the last of it.
    pub(crate) fn beyond_run(&self) -> f64 {
        let budget = self.transfer["budget"].as_array().unwrap();
        budget.iter().map(|share| share["time_ns"].as_f64().unwrap()).sum::<f64>() / self.run_ns - 1.0
    }

    /// Share of what the line would have carried beside the headers and what was delivered.
    pub(crate) fn fell(&self, cause: &str) -> f64 {
        let shares = self.waterfall["shares"].as_array().unwrap();
        let part = |share: &Value| share["part_of_line_rate"].as_f64().unwrap();
        let gap = shares.iter().filter(|share| share["cause"] != "protocol_overhead").map(part).sum::<f64>();
        shares.iter().filter(|share| share["cause"] == cause).map(part).sum::<f64>() / gap
    }

    /// Share of the run by a clock of the kernel.
    pub(crate) fn clock(&self, name: &str) -> f64 {
        let clocks = self.waterfall["check"]["clocks"].as_array().unwrap();
        clocks.iter().find(|clock| clock["clock"] == name).unwrap()["kernel"].as_f64().unwrap()
    }

    /// Who had the most of the time.
    pub(crate) fn main_owner(&self) -> &str {
        let budget = self.transfer["budget"].as_array().unwrap();
        budget.iter().max_by_key(|share| share["time_ns"].as_i64()).unwrap()["owner"].as_str().unwrap()
    }

    /// The cause that is most likely by the packets.
    pub(crate) fn verdict(&self) -> &Value {
        &self.transfer["verdicts"][0]
    }

    /// What a claim that fails shows.
    pub(crate) fn shown(&self) -> String {
        format!("{:#} {:#} {:#}", self.transfer["budget"], self.transfer["verdicts"], self.waterfall)
    }
}

/// So far may be apart what packets, the sender's state and the kernel's clocks say of one transfer.
pub(crate) const APART: f64 = 0.05;

pub(crate) fn alike(explained: &Explained, from_packets: f64, other: f64) -> anyhow::Result<()> {
    ensure!((from_packets - other).abs() <= APART, "{from_packets} and {other}: {}", explained.shown());
    Ok(())
}

/// A claim about a transfer over that path with these options. What else runs on this machine may hold up sender or emulation.
pub(crate) fn shows(prepare: impl Fn(&Narrow), options: &[&str], claim: impl Fn(&Explained) -> anyhow::Result<()>) {
    shows_over(Distance::Near, prepare, options, claim);
}

pub(crate) fn shows_over(
    distance: Distance,
    prepare: impl Fn(&Narrow),
    options: &[&str],
    claim: impl Fn(&Explained) -> anyhow::Result<()>,
) {
    let narrow = Narrow::new(distance, Port::DEEP);
    prepare(&narrow);
    holds(|| (claim(&narrow.explained(options)), Vec::new()));
}
