//! Transfers over an emulated path, captured where they are sent: what `linerate trace` makes of them, beside the clocks of the sender's
//! kernel and the waterfall of the same run.

use std::path::PathBuf;

use anyhow::ensure;
use serde_json::Value;

use super::stage::{KeptNetwork, holds, keep, linerate};

/// 50 Mbit/s, with a queue of four BDPs of 40 ms; or four times as much, with a queue that no transfer here fills.
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
both = [{ port = { rate = "RATE", queue = { bytes = "QUEUE" } } }, { delay = { time = "ONE WAY" } }]

[truth]
healthy = true
"#;

/// A network of that path, and a place for what is captured there.
struct Narrow {
    network: KeptNetwork,
    place: tempfile::TempDir,
    distance: Distance,
}

/// How long the path is, and a test over it: some 100 RTTs.
#[derive(Debug, Clone, Copy)]
enum Distance {
    /// 40 ms.
    Near,
    /// 100 ms.
    Far,
    /// 40 ms, a path that small buffers do not fill, and no burst is too long for the queue.
    Wide,
}

impl Distance {
    fn one_way(self) -> &'static str {
        match self {
            Self::Near | Self::Wide => "20ms",
            Self::Far => "50ms",
        }
    }

    fn rate(self) -> &'static str {
        match self {
            Self::Near | Self::Far => "50Mbit/s",
            Self::Wide => "200Mbit/s",
        }
    }

    fn queue(self) -> &'static str {
        match self {
            Self::Near | Self::Far => "1MB",
            Self::Wide => "16MB",
        }
    }

    fn seconds(self) -> u32 {
        match self {
            Self::Near | Self::Wide => 6,
            Self::Far => 10,
        }
    }
}

impl Narrow {
    fn new(distance: Distance) -> Self {
        let path = PATH.replace("ONE WAY", distance.one_way()).replace("QUEUE", distance.queue());
        let path = path.replace("RATE", distance.rate());
        Self { network: keep("narrow", &path), place: tempfile::tempdir().unwrap(), distance }
    }

    /// Sets what the kernel of a host has.
    fn set(&self, host: &str, setting: &str) {
        let set = self.network.exec(host, &["sysctl", "-qw", setting]).status().unwrap();
        assert!(set.success(), "{host}: {setting}");
    }

    fn capture(&self) -> PathBuf {
        self.place.path().join("sent.pcap")
    }

    /// A test with these options: its largest transfer, captured at its sender, and what the test itself says of where the rate went.
    fn explained(&self, options: &[&str]) -> Explained {
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
        Explained { transfer, waterfall: run["waterfalls"][0].clone(), run_ns: f64::from(seconds) * 1e9 }
    }
}

/// A transfer, explained from its packets and from the state of its sender.
struct Explained {
    transfer: Value,
    waterfall: Value,
    /// How long the test was: the transfer begins with a handshake and ends with what is acknowledged late.
    run_ns: f64,
}

impl Explained {
    /// Share of the transfer's time.
    fn owned(&self, owners: &[&str]) -> f64 {
        let budget = self.transfer["budget"].as_array().unwrap();
        let time_ns = |share: &Value| share["time_ns"].as_f64().unwrap();
        let of = budget.iter().filter(|share| owners.contains(&share["owner"].as_str().unwrap()));
        of.map(time_ns).sum::<f64>() / budget.iter().map(time_ns).sum::<f64>()
    }

    /// The time of an owner, as a share of the run.
    fn owned_of_run(&self, owner: &str) -> f64 {
        let budget = self.transfer["budget"].as_array().unwrap();
        let of = budget.iter().filter(|share| share["owner"] == owner);
        of.map(|share| share["time_ns"].as_f64().unwrap()).sum::<f64>() / self.run_ns
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

    /// Who had the most of the time.
    fn main_owner(&self) -> &str {
        let budget = self.transfer["budget"].as_array().unwrap();
        budget.iter().max_by_key(|share| share["time_ns"].as_i64()).unwrap()["owner"].as_str().unwrap()
    }

    /// The cause that is most likely by the packets.
    fn verdict(&self) -> &Value {
        &self.transfer["verdicts"][0]
    }

    /// What a claim that fails shows.
    fn shown(&self) -> String {
        format!("{:#} {:#} {:#}", self.transfer["budget"], self.transfer["verdicts"], self.waterfall)
    }
}

/// Owners of the time in which an application wrote no more: packets that leave by an even clock may also be those of a full send buffer.
const APPLICATION: [&str; 2] = ["application", "application-or-send-buffer"];
/// So far may be apart what packets, the sender's state and the kernel's clocks say of one transfer.
const APART: f64 = 0.05;

fn alike(explained: &Explained, from_packets: f64, other: f64) -> anyhow::Result<()> {
    ensure!((from_packets - other).abs() <= APART, "{from_packets} and {other}: {}", explained.shown());
    Ok(())
}

/// A claim about a transfer over that path with these options. What else runs on this machine may hold up sender or emulation.
fn shows(prepare: impl Fn(&Narrow), options: &[&str], claim: impl Fn(&Explained) -> anyhow::Result<()>) {
    shows_over(Distance::Near, prepare, options, claim);
}

fn shows_over(
    distance: Distance,
    prepare: impl Fn(&Narrow),
    options: &[&str],
    claim: impl Fn(&Explained) -> anyhow::Result<()>,
) {
    let narrow = Narrow::new(distance);
    prepare(&narrow);
    holds(|| (claim(&narrow.explained(options)), Vec::new()));
}

/// Both pace, and have no queue most of the time: only one of them finds that no more arrives when it sends more.
#[test]
fn bbr_at_its_bottleneck_has_no_slow_application_and_bbr_with_one_has() {
    shows(
        |_| (),
        &["-C", "bbr"],
        |busy| {
            ensure!(busy.main_owner() == "congestion-window", "{}", busy.shown());
            ensure!(busy.verdict()["cause"] != "application", "{}", busy.shown());
            Ok(())
        },
    );
    shows(
        |_| (),
        &["-C", "bbr", "--rate", "20Mbit/s"],
        |slow| {
            ensure!(APPLICATION.contains(&slow.main_owner()), "{}", slow.shown());
            ensure!(slow.verdict()["cause"] == "application", "{}", slow.shown());
            Ok(())
        },
    );
}

#[test]
fn a_small_receive_buffer_has_the_time_that_the_kernel_and_the_waterfall_give_it() {
    shows(
        |narrow| narrow.set("east", "net.ipv4.tcp_rmem=4096 65536 65536"),
        &[],
        |explained| {
            let owned = explained.owned(&["receiver-window"]);
            alike(explained, owned, explained.clock("receive_window"))?;
            alike(explained, owned, explained.fell("receive_window"))?;
            ensure!(explained.verdict()["cause"] == "receiver-window", "{}", explained.shown());
            Ok(())
        },
    );
}

#[test]
fn a_slow_writer_has_the_time_that_the_waterfall_gives_it() {
    let claim = |slow: &Explained| alike(slow, slow.owned(&APPLICATION), slow.fell("configured_cap"));
    shows(|_| (), &["--rate", "10Mbit/s"], claim);
}

/// Packets that leave evenly may be written or paced so; that nobody waits for room in a buffer shows.
#[test]
fn a_pacing_rate_is_no_send_buffer_and_is_named() {
    shows(
        |_| (),
        &["--pace", "20Mbit/s"],
        |paced| {
            ensure!(paced.owned(&["congestion-window"]) + paced.owned(&APPLICATION) > 0.8, "{}", paced.shown());
            ensure!(paced.verdict()["rivals"].to_string().contains("pac"), "{}", paced.shown());
            Ok(())
        },
    );
}

#[test]
fn a_busy_bottleneck_has_the_time_that_the_waterfall_gives_to_the_path() {
    shows(
        |_| (),
        &[],
        |busy| {
            // What slow start took is the path's as well, from when on a queue stands.
            let owned = busy.owned(&["congestion-window", "recovery", "slow-start"]);
            let beyond = owned - busy.fell("path_capacity");
            ensure!((-APART..=2.0 * APART).contains(&beyond), "{owned}: {}", busy.shown());
            Ok(())
        },
    );
}

/// TCP holds back what its own host does not send, with room in all windows (TCP small queues): neither a program nor the unknown.
#[test]
fn a_shaper_of_the_sending_host_has_the_time_that_the_waterfall_gives_to_the_path() {
    let shape = |narrow: &Narrow| {
        let shaper = ["rate", "50mbit", "burst", "32kb", "limit", "1mb"];
        let shaper = [&["tc", "qdisc", "replace", "dev", "to-east", "root", "tbf"][..], &shaper].concat();
        let set = narrow.network.exec("west", &shaper).status().unwrap();
        assert!(set.success(), "{shaper:?}");
    };
    shows_over(Distance::Wide, shape, &[], |held| {
        let owned = held.owned(&["congestion-window"]);
        alike(held, owned, held.fell("path_capacity") + held.fell("congestion_window"))?;
        ensure!(held.fell("path_capacity") > 0.8, "{}", held.shown());
        ensure!(held.verdict()["cause"] == "bottleneck", "{}", held.shown());
        Ok(())
    });
}

/// A buffer that takes longer to drain than a send of ours waits: it tries again by a timer, and no acknowledgment wakes it.
#[test]
fn a_send_buffer_that_is_filled_by_a_timer_has_the_time_that_the_kernel_and_the_waterfall_give_it() {
    shows_over(
        Distance::Far,
        |narrow| narrow.set("west", "net.ipv4.tcp_wmem=4096 262144 262144"),
        &["-C", "bbr"],
        |explained| {
            ensure!(explained.verdict()["cause"] == "send-buffer", "{}", explained.shown());
            let owned = explained.owned_of_run("send-buffer");
            alike(explained, owned, explained.clock("send_buffer"))?;
            alike(explained, owned, explained.fell("send_buffer"))
        },
    );
}

/// While the pacing timer holds back what a woken writer has just written, no buffer limits, by the kernel's clock and by the packets.
/// That clock counts jiffies (`tcp_chrono_set`), 4 ms each where HZ is 250: of a wait of 17 ms it may count any time from 16 to 20, and over
/// 40 ms a writer that waits in each 24 ms keeps step with them. So the path is long, that a wait is many of them.
#[test]
fn a_small_send_buffer_has_the_time_that_the_kernel_gives_it() {
    for (buffer, options) in [(65_536, ["--pace", "1Gbit/s"]), (131_072, ["-C", "bbr"])] {
        shows_over(
            Distance::Far,
            |narrow| narrow.set("west", &format!("net.ipv4.tcp_wmem=4096 {buffer} {buffer}")),
            &options,
            |explained| {
                ensure!(explained.main_owner() == "send-buffer", "{}", explained.shown());
                alike(explained, explained.owned_of_run("send-buffer"), explained.clock("send_buffer"))
            },
        );
    }
}

/// The kernel's clock of the send buffer starts only when a packet leaves behind a writer that waits already: without pacing it stands still for
/// most of the time. What the waterfall sees is how full the buffer is; the packets show what woke its writer, however much it wrote then.
#[test]
fn a_send_buffer_that_the_kernel_overfills_has_the_time_that_the_waterfall_gives_it() {
    for buffer in [65_536, 262_144] {
        shows_over(
            Distance::Wide,
            |narrow| narrow.set("west", &format!("net.ipv4.tcp_wmem=4096 {buffer} {buffer}")),
            &["-C", "cubic"],
            |explained| {
                // Where packets do not show who wrote no more, either may have been it.
                let [owned, either] =
                    ["send-buffer", "application-or-send-buffer"].map(|own| explained.owned_of_run(own));
                let fell = explained.fell("send_buffer");
                alike(explained, fell.clamp(owned, owned + either), fell)?;
                ensure!(explained.verdict()["cause"] == "send-buffer", "{}", explained.shown());
                Ok(())
            },
        );
    }
}
