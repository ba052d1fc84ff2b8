//! From a test of a template to a task.

use std::collections::BTreeSet;
use std::time::Duration;

use model::spec::{Direction, Dscp, Family, Limit, Protocol, SendMethod, TestSpec};
use serde_json::{Map, Value};
use units::{ByteCount, DataRate, Mss};

use super::remark::Remarks;
use super::values::{duration, number, seconds};
use crate::task::{Flow, Ping, Task};

/// A test of a template.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) task: Task,
    pub(super) family: Option<Family>,
    /// Where the test goes, if not to the second address of each pair.
    pub(super) to: Option<String>,
}

/// Reads a test; [`None`] with a remark where we run no such test.
pub(super) fn read(name: &str, test: &Value, remarks: &mut Remarks) -> Option<Read> {
    let place = format!("tests.{name}");
    let kind = test.get("type").and_then(Value::as_str).unwrap_or_default();
    let empty = Map::new();
    let spec = test.get("spec").and_then(Value::as_object).unwrap_or(&empty);
    let mut spec = Spec { place: format!("{place}.spec"), spec, known: BTreeSet::from(["schema"]), remarks };
    let task = match kind {
        "throughput" => Task::Tcp(Flow { spec: spec.flow(), expect: None }),
        "rtt" => spec.rtt(),
        "latency" => spec.packets(100),
        "latencybg" => spec.packets(600),
        "trace" => Task::Hops,
        "mtu" => Task::Mtu,
        other => {
            spec.remarks.add(place, format!("tests of the type `{other}` are not run here"));
            return None;
        }
    };
    let task = match task {
        Task::Tcp(flow) if flow.spec.protocol == Protocol::Udp => Task::Udp(flow),
        task => task,
    };
    let family = spec.family();
    let (from, to) = (spec.text("source"), spec.text("dest"));
    let to = match (from.as_deref().and_then(address), to.as_deref().and_then(address)) {
        (None | Some(0), None) => to.filter(|to| !to.contains("{%")),
        (None | Some(0), Some(1)) => None,
        _ => {
            spec.remarks.add(spec.place, "only tests from the first address of a pair to the second are run here");
            return None;
        }
    };
    spec.finish();
    Some(Read { task, family, to })
}

/// The number in `{% address[1] %}`, and in the like of it.
fn address(text: &str) -> Option<usize> {
    let inner = text.trim().strip_prefix("{%")?.strip_suffix("%}")?.trim();
    let number = inner.strip_prefix("address[")?.strip_suffix(']')?;
    number.trim().parse().ok()
}

struct Spec<'a> {
    place: String,
    spec: &'a Map<String, Value>,
    known: BTreeSet<&'static str>,
    remarks: &'a mut Remarks,
}

impl Spec<'_> {
    /// A value of the key, read by `read`; what cannot be read is said.
    fn get<T>(&mut self, key: &'static str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        self.known.insert(key);
        let value = self.spec.get(key).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            self.remarks.add(format!("{}.{key}", self.place), format!("`{value}` is not understood"));
        }
        found
    }

    fn text(&mut self, key: &'static str) -> Option<String> {
        self.get(key, |value| value.as_str().map(str::to_owned))
    }

    fn time(&mut self, key: &'static str) -> Option<Duration> {
        self.get(key, |value| duration(value.as_str()?))
    }

    fn flag(&mut self, key: &'static str) -> bool {
        self.get(key, Value::as_bool).unwrap_or(false)
    }

    fn family(&mut self) -> Option<Family> {
        self.get("ip-version", |value| match value.as_u64()? {
            4 => Some(Family::Ipv4),
            6 => Some(Family::Ipv6),
            _ => None,
        })
    }

    fn flow(&mut self) -> TestSpec {
        let usual = TestSpec::default();
        let protocol = if self.flag("udp") { Protocol::Udp } else { Protocol::Tcp };
        let asked = self.get("bandwidth", |value| number(value).filter(|rate| *rate > 0).map(DataRate::from_bps));
        let usual_rate = (protocol == Protocol::Udp).then_some(crate::task::text::USUAL_UDP_RATE);
        TestSpec {
            protocol,
            direction: if self.flag("reverse") { Direction::Reverse } else { Direction::Forward },
            limit: Limit::Time(self.time("duration").filter(|time| !time.is_zero()).unwrap_or(Duration::from_secs(10))),
            omit: self.time("omit").unwrap_or_default(),
            streams: self
                .get("parallel", |value| {
                    value.as_u64().and_then(|count| u16::try_from(count).ok()).filter(is_some_streams)
                })
                .unwrap_or(1),
            rate: asked.or(usual_rate),
            congestion_control: self.text("congestion"),
            mss: self.get("mss", |value| Mss::new(u32::try_from(value.as_u64()?).ok()?).ok()),
            window: self.get("window-size", |value| number(value).map(ByteCount::new)),
            dscp: self.get("ip-tos", |value| Dscp::new(u8::try_from(value.as_u64()?).ok()? >> 2).ok()),
            length: self.get("buffer-length", |value| number(value).map(ByteCount::new)),
            send: if self.flag("zero-copy") { SendMethod::Sendfile } else { SendMethod::Auto },
            family: self.family(),
            interval: self.time("interval").filter(|time| !time.is_zero()).unwrap_or(usual.interval),
            ..usual
        }
    }

    fn rtt(&mut self) -> Task {
        let usual = Ping::default();
        Task::Ping(Ping {
            // Five a second apart are what pScheduler's tools do where nothing is said.
            count: self.count("count", 5),
            interval: self.time("interval").unwrap_or(Duration::from_secs(1)),
            size: self.get("length", |value| number(value).map(ByteCount::new)).unwrap_or(usual.size),
        })
    }

    /// One-way packets, which are echoes here.
    fn packets(&mut self, usual_count: u32) -> Task {
        self.remarks.add(self.place.clone(), "one-way delays are measured as RTTs here");
        let usual = Ping::default();
        Task::Ping(Ping {
            count: self.count("packet-count", usual_count),
            interval: self.get("packet-interval", seconds).unwrap_or(usual.interval),
            size: self.get("packet-padding", |value| number(value).map(ByteCount::new)).unwrap_or(usual.size),
        })
    }

    fn count(&mut self, key: &'static str, usual: u32) -> u32 {
        let read =
            |value: &Value| value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        self.get(key, read).unwrap_or(usual)
    }

    fn finish(self) {
        for key in self.spec.keys().filter(|key| !self.known.contains(key.as_str())) {
            self.remarks.add(format!("{}.{key}", self.place), "has no counterpart here");
        }
    }
}

fn is_some_streams(count: &u16) -> bool {
    (1..=128).contains(count)
}
