//! Settings that may be changed, and what they may become.

use std::time::Duration;

use sweep::axis;
use sweep::parameter::Parameter;
use sweep::value::{QuantityKind, Value};
use units::{ByteCount, DataRate};

/// A setting that may be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Dial {
    /// Its number among all parameters.
    pub place: usize,
    /// What it is.
    pub parameter: &'static Parameter,
    /// What it may be: quantities by size, names as they were written. That which it is now is among them.
    pub values: Vec<Value>,
    /// Which of them it is now.
    pub present: usize,
}

/// Who sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The host that sends.
    Sender,
    /// The host that receives.
    Receiver,
    /// The program that transfers.
    Program,
    /// Whoever runs the routers of the path.
    Network,
}

/// What is needed to say what a setting may usually become.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// The rate of the path.
    pub rate: DataRate,
    /// Its round trip, the longest that is drawn.
    pub rtt: Duration,
    /// What is sent.
    pub bytes: ByteCount,
    /// How long it may take.
    pub deadline: Duration,
}

/// All that may be changed, who does it, and whether it is tried where nothing is said.
const KNOWN: [(&str, Side, bool); 14] = [
    ("congestion", Side::Sender, true),
    ("initial-window", Side::Sender, true),
    ("receiver-initial-window", Side::Receiver, true),
    ("wmem", Side::Sender, true),
    ("rmem", Side::Receiver, true),
    ("rmem-default", Side::Receiver, true),
    ("streams", Side::Program, true),
    ("fq", Side::Sender, true),
    ("pace", Side::Sender, true),
    ("writer", Side::Program, false),
    ("ecn", Side::Sender, false),
    ("queue", Side::Network, false),
    ("burst-queue", Side::Network, false),
    ("burst-share", Side::Network, false),
];

/// The largest buffer: sysctls are an `int` (net/ipv4/sysctl_net_ipv4.c, `tcp_rmem` and `tcp_wmem`, Linux 6.18).
pub const LARGEST_BUFFER: u64 = 2_147_483_647;

/// Who sets a parameter; [`None`] of what is no setting.
#[must_use]
pub fn side(parameter: &Parameter) -> Option<Side> {
    KNOWN.iter().find(|(name, ..)| *name == parameter.name).map(|(_, side, _)| *side)
}

/// The names of what is tried where nothing is said.
pub fn usual() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().filter(|(.., is_usual)| *is_usual).map(|(name, ..)| *name)
}

/// The names of all settings.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, ..)| *name)
}

impl Dial {
    /// A setting with what it may become. The present value is put among them.
    #[must_use]
    pub fn new(place: usize, parameter: &'static Parameter, mut values: Vec<Value>, present: &Value) -> Self {
        if !values.contains(present) {
            values.insert(0, present.clone());
        }
        // A sort keeps the order of what it holds for equal; names have none but their own.
        if parameter.kind != QuantityKind::Word {
            values.sort_by(Value::order);
        }
        let present = values.iter().position(|value| value == present).unwrap_or(0);
        Self { place, parameter, values, present }
    }

    /// Whether its values have an order, so that neighbours are alike.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        !matches!(self.parameter.kind, QuantityKind::Word | QuantityKind::Flag)
    }

    /// Whether it is memory of a host.
    #[must_use]
    pub fn is_buffer(&self) -> bool {
        is_buffer(self.parameter)
    }
}

fn is_buffer(parameter: &Parameter) -> bool {
    matches!(parameter.name, "wmem" | "rmem" | "rmem-default")
}

/// Reads what a setting may become: `usual`, one value, a list, a range with steps, or `{ from, to }`, which doubles.
///
/// # Errors
/// What is wrong with it.
pub fn read(parameter: &Parameter, written: &toml::Value, extent: &Extent) -> Result<Vec<Value>, String> {
    let values = match written {
        toml::Value::String(word) if word == "usual" => {
            usual_values(parameter.name, extent).ok_or_else(|| "say what it may become".to_owned())?
        }
        toml::Value::Table(table) if !table.contains_key("step") => doubled(parameter, table)?,
        other => axis::values(parameter, other)?,
    };
    let is_beyond = |value: &&Value| matches!(value, Value::Bytes(bytes) if bytes.get() > LARGEST_BUFFER);
    let too_large = |value: &&Value| is_buffer(parameter) && is_beyond(value);
    match values.iter().find(too_large) {
        Some(value) => Err(format!("{value} is more than a kernel takes; 2147483647B is the most")),
        None => Ok(values),
    }
}

fn doubled(parameter: &Parameter, table: &toml::Table) -> Result<Vec<Value>, String> {
    if let Some(other) = table.keys().find(|key| !["from", "to"].contains(&key.as_str())) {
        return Err(format!("what a setting may become has `from` and `to`, and perhaps `step`, and not `{other}`"));
    }
    let end = |name: &str| {
        let value = parameter.read(table.get(name).ok_or_else(|| format!("it has no `{name}`"))?)?;
        value
            .number()
            .filter(|_| !matches!(parameter.kind, QuantityKind::Flag))
            .ok_or("only quantities have ranges".to_owned())
    };
    let (from, to) = (end("from")?, end("to")?);
    if from <= 0.0 || to <= from {
        return Err("a range begins above zero, and ends above its begin; it is tried in steps of two".to_owned());
    }
    let mut numbers: Vec<f64> = std::iter::successors(Some(from), |number| Some(number * 2.0))
        .take_while(|number| *number < to)
        .take(MOST_VALUES)
        .collect();
    numbers.push(to);
    Ok(numbers.into_iter().map(|number| parameter.kind.of_number(number)).collect())
}

/// Values of the longest range.
const MOST_VALUES: usize = 32;

/// What a setting may usually become.
fn usual_values(name: &str, extent: &Extent) -> Option<Vec<Value>> {
    let words = |words: &[&str]| words.iter().map(|word| Value::Word((*word).to_owned())).collect();
    let counts = |counts: &[u64]| counts.iter().map(|count| Value::Count(*count)).collect();
    Some(match name {
        "congestion" => words(&["cubic", "htcp", "bbr"]),
        // Above a thousand an audit finds it too large (TCP-INITCWND-HIGH).
        "initial-window" => counts(&[10, 30, 100, 300, 1_000]),
        "receiver-initial-window" => [vec![Value::None], counts(&[100, 300, 1_000])].concat(),
        "wmem" | "rmem" => buffers(extent),
        "rmem-default" => {
            let most = product(extent);
            let each = [131_072, 1 << 20, 8 << 20, 64 << 20].into_iter();
            each.filter(|bytes| *bytes == 131_072 || *bytes <= most)
                .map(|bytes| Value::Bytes(ByteCount::new(bytes)))
                .collect()
        }
        "streams" => counts(&[1, 2, 4, 8]),
        "fq" | "ecn" => vec![Value::Flag(false), Value::Flag(true)],
        "pace" => paces(extent),
        "writer" => words(&["polls", "blocks"]),
        "burst-queue" => words(&["shared", "own"]),
        "burst-share" => [0.05, 0.1, 0.2].map(Value::Share).to_vec(),
        _ => return None,
    })
}

fn product(extent: &Extent) -> u64 {
    (extent.rate * extent.rtt).get()
}

/// From what is in flight on a full path downwards: a receiver needs twice of it, a sender one and a half times.
fn buffers(extent: &Extent) -> Vec<Value> {
    const STEPS: u32 = 6;
    const LEAST: u64 = 1 << 20;
    let top = product(extent).saturating_mul(4).max(LEAST).checked_next_power_of_two().unwrap_or(u64::MAX);
    let top = top.min(LARGEST_BUFFER + 1);
    let steps = (0..STEPS).rev().map(|halved| (top >> halved).clamp(LEAST, LARGEST_BUFFER));
    let mut sizes: Vec<u64> = steps.collect();
    sizes.dedup();
    sizes.into_iter().map(|bytes| Value::Bytes(ByteCount::new(bytes))).collect()
}

/// Parts of the path's rate that keep the deadline if nothing disturbs them.
fn paces(extent: &Extent) -> Vec<Value> {
    let needed = DataRate::of(extent.bytes, extent.deadline).map_or(0, DataRate::bps);
    let part = |percent: u64| extent.rate.bps() / 100 * percent;
    let paces = [10, 20, 30, 40, 50, 60, 70, 80, 90].map(part).into_iter().filter(|pace| *pace > needed + needed / 10);
    std::iter::once(Value::None).chain(paces.map(|bps| Value::Rate(DataRate::from_bps(bps)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent() -> Extent {
        Extent {
            rate: DataRate::from_bps(1_000_000_000),
            rtt: Duration::from_millis(100),
            bytes: ByteCount::new(100_000_000),
            deadline: Duration::from_secs(2),
        }
    }

    fn read(name: &str, written: &str) -> Result<Vec<String>, String> {
        let table: toml::Table = toml::from_str(&format!("x = {written}")).unwrap();
        let read = super::read(Parameter::find(name).unwrap().1, &table["x"], &extent())?;
        Ok(read.iter().map(Value::exact).collect())
    }

    #[test]
    fn every_setting_is_a_parameter_and_the_usual_ones_say_what_they_may_become() {
        for name in names() {
            assert!(Parameter::find(name).is_some(), "{name}");
        }
        for name in usual() {
            let values = usual_values(name, &extent()).unwrap();
            assert!(values.len() > 1, "{name}: {values:?}");
        }
    }

    #[test]
    fn usual_values_follow_from_the_path() {
        // 12.5 MB are in flight on the full path, and 400 Mbit/s are needed.
        let wmem = read("wmem", "\"usual\"").unwrap();
        assert_eq!((wmem.first().unwrap().as_str(), wmem.last().unwrap().as_str()), ("2097152B", "67108864B"));
        assert_eq!(read("pace", "\"usual\"").unwrap()[..2], ["none", "500000000bit/s"]);
        assert_eq!(read("rmem-default", "\"usual\"").unwrap(), ["131072B", "1048576B", "8388608B"]);
    }

    #[test]
    fn a_range_doubles_and_has_both_ends() {
        assert_eq!(read("initial-window", "{ from = 10, to = 50 }").unwrap(), ["10", "20", "40", "50"]);
        for (name, written, part) in [
            ("wmem", r#"["1MiB", "2GiB"]"#, "2147483647B is the most"),
            ("wmem", r#"{ from = "2MiB", to = "1MiB" }"#, "ends above"),
            ("wmem", r#"{ from = "2MiB", to = "9MiB", by = 2 }"#, "not `by`"),
            ("congestion", r#"{ from = "a", to = "b" }"#, "only quantities"),
            ("queue", r#""usual""#, "say what it may become"),
        ] {
            let error = read(name, written).unwrap_err();
            assert!(error.contains(part), "{written}: {error}");
        }
    }

    #[test]
    fn what_is_now_has_its_place_among_what_may_be() {
        let (place, wmem) = Parameter::find("wmem").unwrap();
        let values = super::read(wmem, &toml::Value::String("usual".to_owned()), &extent()).unwrap();
        let dial = Dial::new(place, wmem, values.clone(), &Value::Bytes(ByteCount::new(3_000_000)));
        assert_eq!((dial.present, dial.values.len()), (1, values.len() + 1));
    }
}
