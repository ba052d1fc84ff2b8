//! The measurements that both sides of a test send each other: text messages of JSON (ndt7-protocol.md v0.11.0, "Measurement
//! message").

use std::time::Duration;

use linux::tcp_info::TcpInfo;
use model::series::field::Field;
use serde_json::{Map, Value, json};

use crate::telemetry;

/// What one side reports. Every part is optional, and what is not understood is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ndt7Report {
    /// What its program counted.
    pub app: Option<AppCount>,
    /// What its kernel counted.
    pub tcp: Option<KernelCount>,
    /// What its server calls this test.
    pub uuid: Option<String>,
}

/// Payload that a program has sent or received since the test began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppCount {
    /// Since the beginning of the test, by the clock of whoever reports.
    pub elapsed: Duration,
    /// Payload of the messages, in bytes.
    pub bytes: u64,
}

/// `TCP_INFO` of a connection at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCount {
    /// Since the beginning of the test, by the clock of whoever reports.
    pub elapsed: Duration,
    /// Fields in the order of [`NAMES`].
    pub fields: Vec<(Field, u64)>,
}

impl KernelCount {
    /// The value of a field.
    #[must_use]
    pub fn get(&self, field: Field) -> Option<u64> {
        self.fields.iter().find(|(known, _)| *known == field).map(|(_, value)| *value)
    }

    /// What the kernel reports now.
    #[must_use]
    pub fn of(info: &TcpInfo, elapsed: Duration) -> Self {
        let known = |(_, field): &(&str, Field)| {
            let value = telemetry::value(info, *field).filter(|value| *value <= LARGEST_EXACT)?;
            Some((*field, value))
        };
        Self { elapsed, fields: NAMES.iter().filter_map(known).collect() }
    }
}

/// The two ends as a server names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionEnds {
    /// Address and port of the client.
    pub client: String,
    /// Address and port of the server.
    pub server: String,
    /// What the server calls this test, where it has a name for it.
    pub uuid: Option<String>,
}

impl Ndt7Report {
    /// Reads a text message; `None` where it is no JSON object, or longer than any report.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if text.len() > LONGEST_TEXT {
            return None;
        }
        let Value::Object(object) = serde_json::from_str(text).ok()? else { return None };
        let part = |name: &str| object.get(name).and_then(Value::as_object);
        let app = part("AppInfo")
            .and_then(|app| Some(AppCount { elapsed: elapsed(app)?, bytes: app.get("NumBytes").and_then(whole)? }));
        let tcp = part("TCPInfo").and_then(|tcp| {
            let known = |(name, field): &(&str, Field)| Some((*field, tcp.get(*name).and_then(whole)?));
            Some(KernelCount { elapsed: elapsed(tcp)?, fields: NAMES.iter().filter_map(known).collect() })
        });
        let uuid = part("ConnectionInfo").and_then(|ends| ends.get("UUID")?.as_str().map(str::to_owned));
        Some(Self { app, tcp, uuid })
    }

    /// The text message; a server names the ends, a client must not.
    #[must_use]
    pub fn write(&self, ends: Option<&ConnectionEnds>) -> String {
        let mut object = Map::new();
        if let Some(app) = self.app {
            let elapsed = units::duration::micros(app.elapsed);
            object.insert("AppInfo".to_owned(), json!({ "ElapsedTime": elapsed, "NumBytes": app.bytes }));
        }
        if let Some(ConnectionEnds { client, server, uuid }) = ends {
            let mut connection = json!({ "Client": client, "Server": server });
            if let Some(uuid) = uuid {
                connection["UUID"] = uuid.as_str().into();
            }
            object.insert("ConnectionInfo".to_owned(), connection);
        }
        let origin = if ends.is_some() { "server" } else { "client" };
        object.insert("Origin".to_owned(), origin.into());
        if let Some(tcp) = &self.tcp {
            let mut fields = Map::new();
            for (field, value) in &tcp.fields {
                let name = NAMES.iter().find(|(_, known)| known == field).map(|(name, _)| *name);
                fields.extend(name.map(|name| (name.to_owned(), Value::from(*value))));
            }
            fields.insert("ElapsedTime".to_owned(), units::duration::micros(tcp.elapsed).into());
            object.insert("TCPInfo".to_owned(), Value::Object(fields));
        }
        Value::Object(object).to_string()
    }
}

fn elapsed(object: &Map<String, Value>) -> Option<Duration> {
    object.get("ElapsedTime").and_then(whole).map(Duration::from_micros)
}

/// A count: JavaScript may write it with a point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number below 2^53, checked before"
)]
fn whole(value: &Value) -> Option<u64> {
    let exact = 0.0..=LARGEST_EXACT as f64;
    value.as_u64().or_else(|| value.as_f64().filter(|number| exact.contains(number)).map(|number| number as u64))
}

/// JavaScript counts exactly up to here (2^53 - 1); what the kernel has no value for is all ones, and so beyond it.
const LARGEST_EXACT: u64 = (1 << 53) - 1;
/// Those of M-Lab's servers have some 1,500 bytes.
const LONGEST_TEXT: usize = 64 << 10;

/// The names of NDT7 (ndt-server v0.25, tcp-info's `LinuxTCPInfo`), and ours.
pub const NAMES: &[(&str, Field)] = &[
    ("State", Field::State),
    ("CAState", Field::CaState),
    ("Retransmits", Field::Retransmits),
    ("Probes", Field::Probes),
    ("Backoff", Field::Backoff),
    ("Options", Field::Options),
    ("RTO", Field::Rto),
    ("ATO", Field::Ato),
    ("SndMSS", Field::SndMss),
    ("RcvMSS", Field::RcvMss),
    ("Unacked", Field::Unacked),
    ("Sacked", Field::Sacked),
    ("Lost", Field::Lost),
    ("Retrans", Field::Retrans),
    ("Fackets", Field::Fackets),
    ("LastDataSent", Field::LastDataSent),
    ("LastAckSent", Field::LastAckSent),
    ("LastDataRecv", Field::LastDataRecv),
    ("LastAckRecv", Field::LastAckRecv),
    ("PMTU", Field::Pmtu),
    ("RcvSsThresh", Field::RcvSsthresh),
    ("RTT", Field::Rtt),
    ("RTTVar", Field::Rttvar),
    ("SndSsThresh", Field::SndSsthresh),
    ("SndCwnd", Field::SndCwnd),
    ("AdvMSS", Field::Advmss),
    ("Reordering", Field::Reordering),
    ("RcvRTT", Field::RcvRtt),
    ("RcvSpace", Field::RcvSpace),
    ("TotalRetrans", Field::TotalRetrans),
    ("PacingRate", Field::PacingRate),
    ("MaxPacingRate", Field::MaxPacingRate),
    ("BytesAcked", Field::BytesAcked),
    ("BytesReceived", Field::BytesReceived),
    ("SegsOut", Field::SegsOut),
    ("SegsIn", Field::SegsIn),
    ("NotsentBytes", Field::Notsent),
    ("MinRTT", Field::MinRtt),
    ("DataSegsIn", Field::DataSegsIn),
    ("DataSegsOut", Field::DataSegsOut),
    ("DeliveryRate", Field::DeliveryRate),
    ("BusyTime", Field::BusyTime),
    ("RWndLimited", Field::RwndLimited),
    ("SndBufLimited", Field::SndbufLimited),
    ("Delivered", Field::Delivered),
    ("DeliveredCE", Field::DeliveredCe),
    ("BytesSent", Field::BytesSent),
    ("BytesRetrans", Field::BytesRetrans),
    ("DSackDups", Field::DsackDups),
    ("ReordSeen", Field::ReordSeen),
    ("RcvOooPack", Field::RcvOoopack),
    ("SndWnd", Field::SndWnd),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_understood() {
        let text = r#"{"AppInfo":{"ElapsedTime":1234,"NumBytes":5678},"ConnectionInfo":{"Client":"1.2.3.4:5678",
            "Server":"[::1]:2345","UUID":"x","StartTime":"2019-07-16T15:26:05.987748459-04:00"},"Origin":"server",
            "Test":"download","TCPInfo":{"BusyTime":1,"MinRTT":2,"RTT":3.0,"MaxPacingRate":-1,"ElapsedTime":9}}"#;
        let report = Ndt7Report::read(text).unwrap();
        assert_eq!(report.app, Some(AppCount { elapsed: Duration::from_micros(1234), bytes: 5678 }));
        assert_eq!(report.uuid.as_deref(), Some("x"));
        let tcp = report.tcp.unwrap();
        assert_eq!(tcp.elapsed, Duration::from_micros(9));
        assert_eq!((tcp.get(Field::BusyTime), tcp.get(Field::Rtt)), (Some(1), Some(3)));
        assert_eq!(tcp.get(Field::MaxPacingRate), None, "no limit is no value");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let report = Ndt7Report {
            app: Some(AppCount { elapsed: Duration::from_millis(250), bytes: 1 << 40 }),
            tcp: Some(KernelCount {
                elapsed: Duration::from_millis(251),
                fields: NAMES.iter().map(|(_, field)| (*field, 7)).collect(),
            }),
            uuid: Some("x".to_owned()),
        };
        let ends = ConnectionEnds {
            client: "1.2.3.4:5".to_owned(),
            server: "[::1]:80".to_owned(),
            uuid: Some("x".to_owned()),
        };
        assert_eq!(Ndt7Report::read(&report.write(Some(&ends))), Some(report.clone()));
        assert!(!report.write(None).contains("ConnectionInfo"), "a client must not send it");
    }

    #[test]
    fn what_is_no_report_is_none_and_odd_parts_are_left_out() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(LONGEST_TEXT));
        for text in ["", "[]", "7", "{", "nonsense", &long] {
            assert_eq!(Ndt7Report::read(text), None);
        }
        for text in ["{}", r#"{"AppInfo":null,"TCPInfo":[]}"#, r#"{"AppInfo":{"ElapsedTime":-1,"NumBytes":1e300}}"#] {
            assert_eq!(Ndt7Report::read(text), Some(Ndt7Report::default()), "{text}");
        }
    }
}
