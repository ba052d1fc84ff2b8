//! What programs at simulated hosts print: the truth of each pair, or beyond what is real.

use std::sync::LazyLock;
use std::time::Duration;

use archive::export::{Export, write_export};
use model::host::HostIdentity;
use model::measurement::{DirectionTotal, Heading, Measurement, SteadyState};
use model::quality::CpuContention;
use model::run::{Declared, Failure, FailureKind, Outcome, Peer, Role, Run, RunId};
use model::series::RunSamples;
use model::spec::TestSpec;
use units::{ByteCount, DataRate, MonoTime, WallTime};

use super::clock::VirtualClock;
use super::host::{Contention, Nature, Offset, Presence, name};
use crate::clock::Clock;

/// What a flow from one host to another reaches.
pub(super) fn goodput([from, to]: [usize; 2]) -> DataRate {
    DataRate::from_bps(1_000_000_000 + 1_000_000 * from as u64 + 1_000 * to as u64)
}

/// The median of what is between two hosts and back, in microseconds.
pub(super) fn rtt_us([from, to]: [usize; 2]) -> u64 {
    10_000 + 100 * from as u64 + to as u64
}

pub(super) fn version() -> Vec<u8> {
    format!("linerate {}\n", env!("CARGO_PKG_VERSION")).into_bytes()
}

/// All facts of a host, without its namespaces.
pub(super) fn snapshot(nature: Nature, clock: &VirtualClock, at: MonoTime) -> Vec<u8> {
    let now = clock.wall_now().unix_nanos() + u64::try_from(at.since(clock.now()).as_nanos()).unwrap();
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap();
    let taken = match nature {
        Nature::Clock(Offset::Ahead(by)) => now + nanos(by),
        Nature::Clock(Offset::Behind(by)) => now - nanos(by),
        Nature::Lies => u64::MAX,
        _ => now,
    };
    static REAL: LazyLock<serde_json::Value> = LazyLock::new(|| {
        let text = include_str!("../../../../audit/tests/snapshot.json");
        let mut snapshot: serde_json::Value = serde_json::from_str(text).unwrap();
        snapshot["namespaces"].as_array_mut().unwrap().clear();
        snapshot
    });
    let mut snapshot = REAL.clone();
    snapshot["taken_unix_ns"] = taken.into();
    serde_json::to_vec(&snapshot).unwrap()
}

pub(super) fn flow(pair: [usize; 2], nature: Nature, presence: Presence, contention: Contention) -> Vec<u8> {
    let started = WallTime::from_unix_nanos(1_767_225_600_000_000_000);
    let goodput = if nature == Nature::Lies { DataRate::from_bps(u64::MAX) } else { goodput(pair) };
    let total = DirectionTotal {
        heading: Heading::Outbound,
        sent: Some(ByteCount::new(1)),
        received: None,
        elapsed: Duration::from_secs(10),
        goodput,
        retransmits: None,
        datagrams: None,
        steady: SteadyState::NotReached,
    };
    let failure = Failure { kind: FailureKind::Unreachable, detail: "no answer".to_owned() };
    let run = Run {
        format: Run::FORMAT,
        id: RunId::new(started, 100 * pair[0] as u128 + pair[1] as u128),
        started,
        role: Role::Client,
        command: Vec::new(),
        spec: TestSpec::default(),
        declared_line_rate: None,
        declared: Declared::default(),
        batch: None,
        local: HostIdentity::default(),
        peer: Peer { target: name(pair[1]), address: None, host: HostIdentity::default() },
        outcome: if presence == Presence::There { Outcome::Complete } else { Outcome::Failed(failure) },
        measurement: (presence == Presence::There).then(|| Measurement {
            totals: vec![total],
            local_contention: observed(contention),
            ..Measurement::default()
        }),
    };
    let mut printed = Vec::new();
    write_export(&Export { run, samples: RunSamples::default() }, &mut printed).unwrap();
    printed
}

fn observed(contention: Contention) -> Option<CpuContention> {
    let all = Duration::from_secs(10);
    let starved = CpuContention { elapsed: all, cpus: 1, throttled: Some(all), ..CpuContention::default() };
    (contention == Contention::Starved).then_some(starved)
}

/// One echo of ten.
pub(super) fn echo(pair: [usize; 2], nature: Nature, presence: Presence) -> Vec<u8> {
    let rtt = if nature == Nature::Lies { u64::MAX } else { rtt_us(pair) };
    let (is_there, lost) = if presence == Presence::There { (true, 0) } else { (false, 10) };
    let times = if is_there {
        serde_json::json!({ "sent": 10, "lost": lost, "min_us": rtt, "median_us": rtt, "p95_us": rtt, "p99_us": rtt, "max_us": rtt })
    } else {
        serde_json::json!({ "sent": 10, "lost": lost })
    };
    let document = serde_json::json!({
        "target": name(pair[1]), "address": "192.0.2.1", "started_unix_ns": 1_767_225_600_000_000_000_u64,
        "spec": { "count": 10, "interval_us": 100_000, "payload_bytes": 56, "fragments": "allowed", "timeout_us": 1_000_000 },
        "outcome": { "state": "complete" }, "access": "raw_socket",
        "summary": { "rtt": times, "reordered": 0, "duplicated": 0, "late": 0, "reported": 0, "unsent": 0 },
        "probes": [],
    });
    document.to_string().into_bytes()
}
