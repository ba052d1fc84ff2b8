//! One object of `iperf3 -J` (src/iperf_api.c, `iperf_json_printf`; read at 3.0 to 3.21).

use std::time::Duration;

use model::measurement::CpuUse;
use model::run::Role;
use model::spec::{Direction, Dscp, Limit, Protocol};
use serde_json::Value;
use units::{ByteCount, DataRate, Mss, WallTime};

use super::documents::Object;
use super::json_rows;
use super::text::address;
use crate::foreign::Format;
use crate::foreign::quantity::{time, whole};
use crate::foreign::told::{Asked, Connection, Told};

/// Reads an object; `None` where it is none of iperf3's.
pub(crate) fn read(object: &Object, format: Format, line: usize) -> Option<Told> {
    let start = object.get("start");
    if start.is_none() && object.get("error").is_none() {
        return None;
    }
    let mut told = Told::new(format, line);
    if let Some(start) = start {
        read_start(start, &mut told);
    }
    json_rows::intervals(object.get("intervals"), &mut told);
    if let Some(end) = object.get("end") {
        json_rows::end(end, &mut told);
        read_processors(end, &mut told);
        told.congestion_control = text(end, "sender_tcp_congestion");
    }
    if told.asked.direction.is_none() && !told.rows.is_empty() {
        told.asked.direction = Some(direction_of_rows(&told));
    }
    told.peer_output = object
        .get("server_output_text")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .or_else(|| object.get("server_output_json").map(Value::to_string));
    let errors: Vec<&str> = object.all("error").filter_map(Value::as_str).collect();
    told.error = errors.first().map(|first| (*first).to_owned());
    if errors.len() > 1 {
        told.notes.push(format!("iperf3 gives {} errors: {}", errors.len(), errors.join("; ")));
    }
    told.notes.extend(text_of(object, "title").map(|title| format!("title: {title}")));
    told.notes.extend(text_of(object, "extra_data").map(|data| format!("extra data: {data}")));
    Some(told)
}

fn read_start(start: &Value, told: &mut Told) {
    told.version = text(start, "version").map(|version| version.trim_start_matches("iperf ").to_owned());
    if let Some(system) = text(start, "system_info") {
        let mut words = system.split(' ').skip(1);
        told.host_name = words.next().map(str::to_owned);
        told.kernel = words.next().map(str::to_owned);
    }
    let stamp = start.get("timestamp");
    told.started = stamp.and_then(|stamp| {
        let millis = stamp.get("timemillisecs").and_then(whole);
        let nanos = match millis {
            Some(millis) => millis.checked_mul(1_000_000),
            None => whole(stamp.get("timesecs")?)?.checked_mul(1_000_000_000),
        };
        nanos.map(WallTime::from_unix_nanos)
    });
    for (key, role) in [("connecting_to", Role::Client), ("accepted_connection", Role::Server)] {
        if let Some(host) = start.get(key).and_then(|peer| text(peer, "host")) {
            told.target = Some(host);
            told.role = Some(role);
        }
    }
    // Asked for with -M; `tcp_mss_default` is the control connection's, which may differ.
    told.asked.mss = start.get("tcp_mss").and_then(whole).and_then(|mss| Mss::new(u32::try_from(mss).ok()?).ok());
    told.mss = told.asked.mss.map(Mss::get);
    told.asked.window = start.get("sock_bufsize").and_then(whole).filter(|size| *size > 0).map(ByteCount::new);
    for stream in start.get("connected").and_then(Value::as_array).into_iter().flatten() {
        told.connections.extend(connection(stream));
    }
    if let Some(test) = start.get("test_start") {
        read_test(test, told);
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

fn read_test(test: &Value, told: &mut Told) {
    let asked = &mut told.asked;
    let number = |key: &str| test.get(key).and_then(whole);
    let above_zero = |key: &str| number(key).filter(|value| *value > 0);
    asked.protocol = match test.get("protocol").and_then(Value::as_str) {
        Some("TCP") => Some(Protocol::Tcp),
        Some("UDP") => Some(Protocol::Udp),
        Some(other) => {
            told.anomalies.add(told.line, "the protocol TCP or UDP", other);
            None
        }
        None => None,
    };
    asked.direction = match (above_zero("bidir").is_some(), number("reverse")) {
        (true, _) => Some(Direction::Bidirectional),
        (false, Some(0)) => None,
        (false, Some(_)) => Some(Direction::Reverse),
        (false, None) => None,
    };
    asked.streams =
        number("num_streams").and_then(|streams| u16::try_from(streams).ok()).filter(|streams| *streams > 0);
    asked.length = above_zero("blksize").map(ByteCount::new);
    asked.omit = number("omit").map(Duration::from_secs);
    asked.limit = above_zero("bytes")
        .map(|bytes| Limit::Bytes(ByteCount::new(bytes)))
        .or_else(|| above_zero("blocks").map(Limit::Blocks))
        .or_else(|| above_zero("duration").map(|seconds| Limit::Time(Duration::from_secs(seconds))));
    asked.rate = above_zero("target_bitrate").map(DataRate::from_bps);
    asked.pace = above_zero("fqrate").map(DataRate::from_bps);
    asked.dscp = above_zero("tos").and_then(|tos| Dscp::new(u8::try_from(tos >> 2).ok()?).ok());
    asked.interval =
        test.get("interval").and_then(|spacing| time(spacing, Duration::from_secs(1))).filter(|time| !time.is_zero());
}

/// Up to 3.12 `bidir` is not told, and `reverse` is 0 in both cases.
fn direction_of_rows(told: &Told) -> Direction {
    let mut headings = told.rows.iter().filter_map(|row| row.heading);
    let first = headings.next();
    let sends = first != Some(model::measurement::Heading::Inbound);
    if headings.any(|heading| Some(heading) != first) {
        Direction::Bidirectional
    } else if sends == (told.role != Some(Role::Server)) {
        Direction::Forward
    } else {
        Direction::Reverse
    }
}

fn read_processors(end: &Value, told: &mut Told) {
    let Some(shares) = end.get("cpu_utilization_percent") else { return };
    let share = |key: &str| shares.get(key).and_then(Value::as_f64).map(|percent| percent / 100.0);
    let both = |user: &str, system: &str| Some(CpuUse { user: share(user)?, system: share(system)? });
    told.local_cpu = both("host_user", "host_system");
    // A server does not hear of the client's share and prints zeros.
    told.peer_cpu = both("remote_user", "remote_system").filter(|cpu| *cpu != CpuUse::default());
}

/// What the object says, and where it says nothing what the command says.
pub(crate) fn both(object: &Asked, command: Asked) -> Asked {
    Asked {
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
