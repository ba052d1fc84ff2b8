//! How long a train takes through a port and a delay, without anything around it.
//!
//! `cargo run --release -p path --example speed`
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use path::reason::Drop;
use path::{Chain, Ecn, Edits, ElementSpec, FlowHash, FrameId, Kind, Place, Seed, Stage, Train, Watcher};
use units::MonoTime;

#[derive(Default)]
struct Count {
    delivered: u64,
    dropped: u64,
}

impl Watcher for Count {
    fn delivered(&mut self, _: MonoTime, train: Train) {
        self.delivered += u64::from(train.count.get());
    }
    fn dropped(&mut self, _: MonoTime, _: Place, _: Drop, train: Train) {
        self.dropped += u64::from(train.count.get());
    }
    fn duplicated(&mut self, _: MonoTime, _: Place, _: Train) {}
}

fn main() {
    let chains = [
        ("nothing", "[]"),
        ("delay", r#"[{ delay = { time = "104ms" } }]"#),
        ("port", r#"[{ port = { rate = "100Gbit/s", queue = { bytes = "20MB" } } }]"#),
        (
            "port, delay",
            r#"[{ port = { rate = "100Gbit/s", queue = { bytes = "20MB" } } }, { delay = { time = "104ms" } }]"#,
        ),
        (
            "codel, delay",
            r#"[{ port = { rate = "100Gbit/s", queue = { codel = {} } } }, { delay = { time = "104ms" } }]"#,
        ),
        (
            "red, delay",
            r#"[{ port = { rate = "100Gbit/s", queue = { red = { min = "1MB", max = "20MB" } } } }, { delay = { time = "104ms" } }]"#,
        ),
        (
            "port with cross traffic at 60 Gbit/s, delay",
            r#"[{ port = { rate = "100Gbit/s", queue = { bytes = "20MB" }, cross = { packet-bytes = 9014, bursts = [{ rate = "60Gbit/s" }] } } }, { delay = { time = "104ms" } }]"#,
        ),
        (
            "policer, port, loss, delay, mtu",
            r#"[{ policer = { rate = "100Gbit/s", burst = "10MB" } }, { port = { rate = "100Gbit/s", queue = { bytes = "20MB" } } }, { loss = { random = 0.0001 } }, { delay = { time = "104ms" } }, { mtu = { bytes = 9200 } }]"#,
        ),
    ];
    let wanted = std::env::args().nth(1);
    for (name, text) in chains.into_iter().filter(|(name, _)| wanted.as_ref().is_none_or(|wanted| wanted == name)) {
        let best = (0..5).map(|_| run(text)).min().unwrap();
        println!("{name:45} {:6.0} ns a train", best.as_nanos() as f64 / f64::from(TRAINS));
    }
}

const TRAINS: u32 = 218_000;

/// 13 GiB in trains of 7 packets at 30 Gbit/s.
fn run(text: &str) -> Duration {
    #[derive(serde::Deserialize)]
    struct File {
        chain: Vec<ElementSpec>,
    }
    let file: File = toml::from_str(&format!("chain = {text}")).unwrap();
    let stages: Vec<Stage> = file.chain.into_iter().map(Stage::from).collect();
    let mut chain = Chain::new(&stages, Seed(1), MonoTime::from_nanos(0)).unwrap();
    let mut count = Count::default();
    let begin = Instant::now();
    for frame in 0..TRAINS {
        let now = MonoTime::from_nanos(u64::from(frame) * 17_000);
        chain.offer(now, train(frame), &mut count);
    }
    chain.advance(MonoTime::from_nanos(100_000_000_000), &mut count);
    let took = begin.elapsed();
    assert!(count.delivered + count.dropped == u64::from(TRAINS) * 7, "every packet ends once");
    took
}

fn train(frame: u32) -> Train {
    Train {
        frame: FrameId(frame),
        first: 0,
        count: NonZeroU32::new(7).unwrap(),
        size: 9_214,
        last_size: 9_214,
        flow: FlowHash(1),
        kind: Kind::TcpData,
        dscp: 0,
        ecn: Ecn::NotCapable,
        whole: true,
        edits: Edits::default(),
        came: MonoTime::from_nanos(0),
    }
}
