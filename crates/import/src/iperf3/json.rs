//! One object of `iperf3 -J` (src/iperf_api.c, `iperf_json_printf`; read at 3.0 to 3.21).

use std::time::Duration;

use model::measurement::CpuUse;
use model::run::Role;
use model::spec::{Direction, Dscp, Limit, Protocol};
use serde_json::Value;
use units::{ByteCount, DataRate, Mss, WallTime};

use super::json_rows;
use super::object::Object;
use super::text::address;
use crate::Format;
use crate::parsed::{Connection, ParsedTest, TestOptions};
use crate::quantity::{time, whole};

/// Reads an object; `None` where it is none of iperf3's.
pub(crate) fn read(object: &mut Object, format: Format, line: usize) -> Option<ParsedTest> {
    let start = object.get("start");
    if start.is_none() && object.get("error").is_none() {
        return None;
    }
    let mut parsed = ParsedTest::new(format, line);
    if let Some(start) = start {
        read_start(start, &mut parsed);
    }
    std::mem::take(&mut object.intervals).into_test(&mut parsed);
    if let Some(end) = object.get("end") {
        json_rows::end(end, &mut parsed);
        read_processors(end, &mut parsed);
        parsed.congestion_control = text(end, "sender_tcp_congestion");
    }
    if parsed.options.direction.is_none() && !parsed.rows.is_empty() {
        parsed.options.direction = Some(direction_of_rows(&parsed));
    }
    parsed.peer_output = object
        .get("server_output_text")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .or_else(|| object.get("server_output_json").map(Value::to_string));
    let errors: Vec<&str> = object.all("error").filter_map(Value::as_str).collect();
    parsed.error = errors.first().map(|first| (*first).to_owned());
    if errors.len() > 1 {
        parsed.notes.push(format!("iperf3 gives {} errors: {}", errors.len(), errors.join("; ")));
    }
    parsed.notes.extend(text_of(object, "title").map(|title| format!("title: {title}")));
    parsed.notes.extend(text_of(object, "extra_data").map(|data| format!("extra data: {data}")));
    Some(parsed)
}

fn read_start(start: &Value, parsed: &mut ParsedTest) {
    parsed.version = text(start, "version").map(|version| version.trim_start_matches("iperf ").to_owned());
    if let Some(system) = text(start, "system_info") {
        let mut words = system.split(' ').skip(1);
        parsed.host_name = words.next().map(str::to_owned);
        parsed.kernel = words.next().map(str::to_owned);
    }
    let stamp = start.get("timestamp");
    parsed.started = stamp.and_then(|stamp| {
        let millis = stamp.get("timemillisecs").and_then(whole);
        let nanos = match millis {
            Some(millis) => millis.checked_mul(1_000_000),
            None => whole(stamp.get("timesecs")?)?.checked_mul(1_000_000_000),
        };
        nanos.map(WallTime::from_unix_nanos)
    });
    for (key, role) in [("connecting_to", Role::Client), ("accepted_connection", Role::Server)] {
        if let Some(host) = start.get(key).and_then(|peer| text(peer, "host")) {
            parsed.target = Some(host);
            parsed.role = Some(role);
        }
    }
    // Set by -M; `tcp_mss_default` is the control connection's, which may differ.
    parsed.options.mss = start.get("tcp_mss").and_then(whole).and_then(|mss| Mss::new(u32::try_from(mss).ok()?).ok());
    parsed.mss = parsed.options.mss.map(Mss::get);
    parsed.options.window = start.get("sock_bufsize").and_then(whole).filter(|size| *size > 0).map(ByteCount::new);
    for stream in start.get("connected").and_then(Value::as_array).into_iter().flatten() {
        parsed.connections.extend(connection(stream));
    }
    if let Some(test) = start.get("test_start") {
        read_test(test, parsed);
    }
}

fn connection(stream: &Value) -> Option<Connection> {
    let end = |host: &str, port: &str| {
        let port = stream.get(port).and_then(whole)?;
        address(stream.get(host)?.as_str()?, &port.to_string())
    };
    Some(Connection {
        stream: u32::try_from(whole(stream.get("socket")?)?).ok()?,
        local: end("local_host", "local_port")?,
        peer: end("remote_host", "remote_port")?,
    })
}

fn read_test(test: &Value, parsed: &mut ParsedTest) {
    let options = &mut parsed.options;
    let number = |key: &str| test.get(key).and_then(whole);
    let above_zero = |key: &str| number(key).filter(|value| *value > 0);
    options.protocol = match test.get("protocol").and_then(Value::as_str) {
        Some("TCP") => Some(Protocol::Tcp),
        Some("UDP") => Some(Protocol::Udp),
        Some(other) => {
            parsed.anomalies.add(parsed.line, "the protocol TCP or UDP", other);
            None
        }
        None => None,
    };
    options.direction = match (above_zero("bidir").is_some(), number("reverse")) {
        (true, _) => Some(Direction::Bidirectional),
        (false, Some(0)) => None,
        (false, Some(_)) => Some(Direction::Reverse),
        (false, None) => None,
    };
    options.streams =
        number("num_streams").and_then(|streams| u16::try_from(streams).ok()).filter(|streams| *streams > 0);
    options.length = above_zero("blksize").map(ByteCount::new);
    options.omit = number("omit").map(Duration::from_secs);
    options.limit = above_zero("bytes")
        .map(|bytes| Limit::Bytes(ByteCount::new(bytes)))
        .or_else(|| above_zero("blocks").map(Limit::Blocks))
        .or_else(|| above_zero("duration").map(|seconds| Limit::Time(Duration::from_secs(seconds))));
    options.rate = above_zero("target_bitrate").map(DataRate::from_bps);
    options.pace = above_zero("fqrate").map(DataRate::from_bps);
    options.dscp = above_zero("tos").and_then(|tos| Dscp::new(u8::try_from(tos >> 2).ok()?).ok());
    options.interval =
        test.get("interval").and_then(|spacing| time(spacing, Duration::from_secs(1))).filter(|time| !time.is_zero());
}

/// Up to 3.12 `bidir` is not printed, and `reverse` is 0 in both cases.
fn direction_of_rows(parsed: &ParsedTest) -> Direction {
    let mut headings = parsed.rows.iter().filter_map(|row| row.heading);
    let first = headings.next();
    let sends = first != Some(model::measurement::Heading::Inbound);
    if headings.any(|heading| Some(heading) != first) {
        Direction::Bidirectional
    } else if sends == (parsed.role != Some(Role::Server)) {
        Direction::Forward
    } else {
        Direction::Reverse
    }
}

fn read_processors(end: &Value, parsed: &mut ParsedTest) {
    let Some(shares) = end.get("cpu_utilization_percent") else { return };
    let share = |key: &str| shares.get(key).and_then(Value::as_f64).map(|percent| percent / 100.0);
    let both = |user: &str, system: &str| Some(CpuUse { user: share(user)?, system: share(system)? });
    parsed.local_cpu = both("host_user", "host_system");
    // A server does not hear of the client's share and prints zeros.
    parsed.peer_cpu = both("remote_user", "remote_system").filter(|cpu| *cpu != CpuUse::default());
}

/// What the object says, and where it says nothing what the command says.
pub(crate) fn both(object: &TestOptions, command: TestOptions) -> TestOptions {
    TestOptions {
        protocol: object.protocol.or(command.protocol),
        direction: object.direction.or(command.direction),
        limit: object.limit.or(command.limit),
        omit: object.omit.or(command.omit),
        streams: object.streams.or(command.streams),
        rate: object.rate.or(command.rate),
        length: object.length.or(command.length),
        mss: object.mss.or(command.mss),
        window: object.window.or(command.window),
        dscp: object.dscp.or(command.dscp),
        pace: object.pace.or(command.pace),
        interval: object.interval.or(command.interval),
        ..command
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn text_of(object: &Object, key: &str) -> Option<String> {
    object.get(key)?.as_str().map(str::to_owned)
}
