//! The client's parameters: what the server is asked to do.

use model::spec::{Direction, Limit, Protocol, TestSpec};
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use super::extension::Offer;
use super::lenient::{flag, whole};
use super::limits::{DEFAULT_TCP_LENGTH, MAX_STREAMS, MAX_TCP_LENGTH, MAX_UDP_LENGTH, MIN_UDP_LENGTH};

/// The parameters as they stand on the wire. Absent keys mean what iperf3 takes them to mean; unknown keys are
/// ignored, as the protocol demands of both sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the wire has one flag a key")]
pub struct Params {
    /// TCP; also where no protocol is named.
    #[serde(skip_serializing_if = "is_off", deserialize_with = "flag")]
    pub tcp: bool,
    /// UDP.
    #[serde(skip_serializing_if = "is_off", deserialize_with = "flag")]
    pub udp: bool,
    /// SCTP, which linerate refuses.
    #[serde(skip_serializing_if = "is_off", deserialize_with = "flag")]
    pub sctp: bool,
    /// Seconds at the start that count for nothing.
    #[serde(deserialize_with = "whole")]
    pub omit: Option<u64>,
    /// Seconds after which the test ends; 0 for no such limit.
    #[serde(deserialize_with = "whole")]
    pub time: Option<u64>,
    /// Bytes after which the test ends; 0 for no such limit.
    #[serde(deserialize_with = "whole")]
    pub num: Option<u64>,
    /// Writes or datagrams after which the test ends; 0 for no such limit.
    #[serde(deserialize_with = "whole")]
    pub blockcount: Option<u64>,
    /// TCP maximum segment size in bytes, set on both data sockets.
    #[serde(rename = "MSS", skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub mss: Option<u64>,
    /// `TCP_NODELAY` on the data connections.
    #[serde(skip_serializing_if = "is_off", deserialize_with = "flag")]
    pub nodelay: bool,
    /// Streams in one direction.
    #[serde(deserialize_with = "whole")]
    pub parallel: Option<u64>,
    /// The server sends.
    #[serde(skip_serializing_if = "is_off", deserialize_with = "flag")]
    pub reverse: bool,
    /// Both send, over streams of their own.
    #[serde(skip_serializing_if = "is_off", deserialize_with = "flag")]
    pub bidirectional: bool,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub window: Option<u64>,
    /// Bytes of one write or datagram.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub len: Option<u64>,
    /// Bits per second of each stream. Absent means unlimited, for UDP too.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub bandwidth: Option<u64>,
    /// Bits per second of each stream, by the kernel.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub fqrate: Option<u64>,
    /// Microseconds between two looks of an application that keeps to `bandwidth`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub pacing_timer: Option<u64>,
    /// Writes in one go of an application that keeps to `bandwidth`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub burst: Option<u64>,
    /// The whole byte: four times the DSCP, and ECN.
    #[serde(rename = "TOS", skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub tos: Option<u64>,
    /// Prefix of each line that the client prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Congestion control, by its kernel name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// The client wants what the server prints, within the server's results.
    #[serde(skip_serializing_if = "is_off", serialize_with = "as_one", deserialize_with = "flag")]
    pub get_server_output: bool,
    /// Datagram numbers have 64 bits, else 32.
    #[serde(skip_serializing_if = "is_off", serialize_with = "as_one", deserialize_with = "flag")]
    pub udp_counters_64bit: bool,
    /// What the client calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// linerate's extra key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linerate: Option<Offer>,
}

/// Parameters that no test can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamsError {
    /// Neither TCP nor UDP.
    #[error("the protocol is neither tcp nor udp")]
    Protocol,
    /// More or fewer streams than possible.
    #[error("{0} streams, where 1 to {MAX_STREAMS} are possible")]
    Streams(u64),
    /// A write or datagram of an impossible size.
    #[error("a length of {length} bytes, where {min} to {max} are possible")]
    Length {
        /// What was asked for.
        length: u64,
        /// The least possible.
        min: u64,
        /// The most possible.
        max: u64,
    },
    /// A segment size that no segment can have.
    #[error("{0}")]
    Mss(#[from] units::SizeError),
    /// A segment size beyond 32 bits, or the like.
    #[error("{key} is {value}, which is too large")]
    TooLarge {
        /// Key of the parameters' JSON object.
        key: &'static str,
        /// Number that does not fit the field.
        value: u64,
    },
}

impl Params {
    /// The parameters that ask a server for `spec`.
    #[must_use]
    pub fn from_spec(spec: &TestSpec, offer: Offer) -> Self {
        let (time, num, blockcount) = match spec.limit {
            Limit::Time(time) => (time.as_secs() + u64::from(time.subsec_nanos() > 0), 0, 0),
            Limit::Bytes(bytes) => (0, bytes.get(), 0),
            Limit::Blocks(blocks) => (0, 0, blocks),
        };
        let udp = spec.protocol == Protocol::Udp;
        Self {
            tcp: !udp,
            udp,
            omit: Some(spec.omit.as_secs()),
            time: Some(time),
            num: Some(num),
            blockcount: Some(blockcount),
            mss: spec.mss.map(|mss| u64::from(mss.get())),
            parallel: Some(u64::from(spec.streams)),
            reverse: spec.direction == Direction::Reverse,
            bidirectional: spec.direction == Direction::Bidirectional,
            window: spec.window.map(ByteCount::get),
            len: Some(announced_length(spec)),
            bandwidth: spec.rate.map(DataRate::bps),
            fqrate: spec.pace.map(DataRate::bps),
            tos: spec.dscp.map(|dscp| u64::from(dscp.get()) << 2),
            congestion: spec.congestion_control.clone(),
            // uiperf3 does not start without it, and iperf3 always sends it (its `DEFAULT_PACING_TIMER`).
            pacing_timer: Some(PACING_TIMER_US),
            get_server_output: true,
            udp_counters_64bit: udp,
            client_version: Some(CLIENT_VERSION.to_owned()),
            linerate: Some(offer),
            ..Self::default()
        }
    }

    /// The specification that these parameters ask for, with the extension's finer values where a linerate asked.
    ///
    /// # Errors
    /// If no test can have them.
    pub fn to_spec(&self) -> Result<TestSpec, ParamsError> {
        let protocol = match (self.tcp, self.udp, self.sctp) {
            (_, true, false) => Protocol::Udp,
            (_, false, true) => return Err(ParamsError::Protocol),
            // iperf3 takes TCP where no protocol is named.
            (_, false, false) => Protocol::Tcp,
            (_, true, true) => return Err(ParamsError::Protocol),
        };
        let streams = self.parallel.unwrap_or(1);
        let streams = u16::try_from(streams)
            .ok()
            .filter(|streams| (1..=MAX_STREAMS).contains(streams))
            .ok_or(ParamsError::Streams(streams))?;
        let mss = self.mss.filter(|mss| *mss > 0).map(|mss| narrow("MSS", mss)).transpose()?;
        let spec = TestSpec {
            protocol,
            direction: match (self.bidirectional, self.reverse) {
                (true, _) => Direction::Bidirectional,
                (false, true) => Direction::Reverse,
                (false, false) => Direction::Forward,
            },
            limit: self.limit(),
            omit: std::time::Duration::from_secs(self.omit.unwrap_or(0)),
            streams,
            rate: self.bandwidth.filter(|rate| *rate > 0).map(DataRate::from_bps),
            pace: self.fqrate.filter(|rate| *rate > 0).map(DataRate::from_bps),
            congestion_control: self.congestion.clone(),
            mss: mss.map(units::Mss::new).transpose()?,
            window: self.window.filter(|window| *window > 0).map(ByteCount::new),
            dscp: self.dscp()?,
            length: self.length(protocol)?.map(ByteCount::new),
            ..TestSpec::default()
        };
        Ok(match &self.linerate {
            Some(offer) => offer.refine(spec),
            None => spec,
        })
    }

    fn limit(&self) -> Limit {
        match (self.num.unwrap_or(0), self.blockcount.unwrap_or(0)) {
            (0, 0) => Limit::Time(std::time::Duration::from_secs(self.time.unwrap_or(0))),
            (0, blocks) => Limit::Blocks(blocks),
            (bytes, _) => Limit::Bytes(ByteCount::new(bytes)),
        }
    }

    fn dscp(&self) -> Result<Option<model::spec::Dscp>, ParamsError> {
        let Some(tos) = self.tos.filter(|tos| *tos > 0) else { return Ok(None) };
        let tos: u8 = narrow("TOS", tos)?;
        Ok(model::spec::Dscp::new(tos >> 2).ok())
    }

    fn length(&self, protocol: Protocol) -> Result<Option<u64>, ParamsError> {
        let Some(length) = self.len.filter(|length| *length > 0) else { return Ok(None) };
        let (min, max) = match protocol {
            Protocol::Tcp => (1, MAX_TCP_LENGTH),
            Protocol::Udp => (MIN_UDP_LENGTH, MAX_UDP_LENGTH),
        };
        if length < min || length > max {
            return Err(ParamsError::Length { length, min, max });
        }
        Ok(Some(length))
    }
}

/// What we call ourselves to iperf3 servers, which only print it.
pub const CLIENT_VERSION: &str = concat!("linerate ", env!("CARGO_PKG_VERSION"));

/// iperf3's own value (src/iperf.h, 3.21: `DEFAULT_PACING_TIMER`), in microseconds.
const PACING_TIMER_US: u64 = 1_000;

/// Bytes of one write or datagram as an iperf3 is told. Its receiver counts whole blocks only, so an amount that is
/// less than one usual block is sent as one block of its own size.
#[must_use]
pub fn announced_length(spec: &TestSpec) -> u64 {
    match (spec.length, spec.limit, spec.protocol) {
        (Some(length), ..) => length.get(),
        (None, Limit::Bytes(bytes), Protocol::Tcp) => bytes.get().clamp(1, DEFAULT_TCP_LENGTH),
        (None, ..) => DEFAULT_TCP_LENGTH,
    }
}

/// Writes a flag that is on as 1: iperf3 reads these keys as numbers, and since 3.18 drops them where they are not.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn as_one<S: serde::Serializer>(_on: &bool, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u8(1)
}

fn narrow<T: TryFrom<u64>>(key: &'static str, value: u64) -> Result<T, ParamsError> {
    T::try_from(value).map_err(|_| ParamsError::TooLarge { key, value })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_off(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_iperf3_3_12_sends_is_understood() {
        // Recorded from `iperf3 -c 127.0.0.1 -u -b 1G -P 2 -R -t 3`, iperf 3.12.
        let text = r#"{"udp":true,"omit":0,"time":3,"num":0,"blockcount":0,"parallel":2,"reverse":true,"len":32768,
            "bandwidth":1000000000,"pacing_timer":1000,"client_version":"3.12"}"#;
        let spec = serde_json::from_str::<Params>(text).unwrap().to_spec().unwrap();
        assert_eq!(spec.protocol, Protocol::Udp);
        assert_eq!(spec.direction, Direction::Reverse);
        assert_eq!(spec.limit, Limit::Time(Duration::from_secs(3)));
        assert_eq!((spec.streams, spec.rate), (2, Some(DataRate::from_bps(1_000_000_000))));
    }

    /// How iperf3 reads each key (src/iperf_api.c, 3.21: `get_parameters`). Since 3.18 it drops a key of another type
    /// with no more than a warning on its own side.
    const TYPES: &[(&str, &[&str])] = &[
        ("true", &["tcp", "udp", "sctp", "nodelay", "reverse", "bidirectional", "mptcp"]),
        (
            "number",
            &[
                "omit",
                "server_affinity",
                "time",
                "num",
                "blockcount",
                "MSS",
                "parallel",
                "window",
                "len",
                "gso",
                "gso_dg_size",
                "gso_bf_size",
                "gro",
                "gro_bf_size",
                "bandwidth",
                "fqrate",
                "pacing_timer",
                "burst",
                "TOS",
                "flowlabel",
                "get_server_output",
                "udp_counters_64bit",
                "repeating_payload",
                "zerocopy",
                "dont_fragment",
            ],
        ),
        ("string", &["title", "extra_data", "congestion", "congestion_used", "authtoken", "client_version"]),
    ];

    #[test]
    fn every_key_has_the_type_that_iperf3_reads() {
        let everything = TestSpec {
            protocol: Protocol::Udp,
            direction: Direction::Reverse,
            rate: Some(DataRate::from_bps(1)),
            pace: Some(DataRate::from_bps(1)),
            congestion_control: Some("cubic".to_owned()),
            mss: Some(units::Mss::new(1400).unwrap()),
            window: Some(ByteCount::new(1)),
            dscp: model::spec::Dscp::new(46).ok(),
            ..TestSpec::default()
        };
        let params =
            Params { nodelay: true, bidirectional: true, ..Params::from_spec(&everything, Offer::new(&everything)) };
        let json = serde_json::to_value(&params).unwrap();
        for (key, value) in json.as_object().unwrap().iter().filter(|(key, _)| *key != "linerate") {
            let found = match value {
                serde_json::Value::Bool(true) => "true",
                serde_json::Value::Number(_) => "number",
                serde_json::Value::String(_) => "string",
                _ => "another type",
            };
            let wanted = TYPES.iter().find(|(_, keys)| keys.contains(&key.as_str())).map(|(wanted, _)| *wanted);
            assert_eq!(Some(found), wanted, "{key}: {value}");
        }
        assert!(json["udp_counters_64bit"] == 1 && json["get_server_output"] == 1, "{json}");
    }

    #[test]
    fn an_amount_below_a_block_is_a_block_of_its_own() {
        let length = |bytes| {
            let spec = TestSpec { limit: Limit::Bytes(ByteCount::new(bytes)), ..TestSpec::default() };
            Params::from_spec(&spec, Offer::new(&spec)).len
        };
        assert_eq!([1, 100_000, 1_000_000].map(length), [Some(1), Some(100_000), Some(DEFAULT_TCP_LENGTH)]);
    }

    #[test]
    fn an_absent_rate_is_unlimited_even_for_udp() {
        let spec = serde_json::from_str::<Params>(r#"{"udp":true,"time":1,"len":1448}"#).unwrap().to_spec().unwrap();
        assert_eq!(spec.rate, None);
    }

    #[test]
    fn impossible_parameters_are_named() {
        let refuse = |text: &str| serde_json::from_str::<Params>(text).unwrap().to_spec().unwrap_err().to_string();
        assert_eq!(refuse(r#"{"tcp":true,"parallel":129}"#), "129 streams, where 1 to 128 are possible");
        assert_eq!(refuse(r#"{"tcp":true,"parallel":0}"#), "0 streams, where 1 to 128 are possible");
        assert_eq!(refuse(r#"{"udp":true,"len":8}"#), "a length of 8 bytes, where 16 to 65507 are possible");
        assert_eq!(refuse(r#"{"tcp":true,"MSS":99999999999}"#), "MSS is 99999999999, which is too large");
        assert_eq!(refuse(r#"{"sctp":true}"#), "the protocol is neither tcp nor udp");
    }

    #[test]
    fn a_specification_survives_the_wire() {
        let spec = TestSpec {
            direction: Direction::Bidirectional,
            limit: Limit::Time(Duration::from_millis(1_500)),
            streams: 4,
            rate: Some(DataRate::from_bps(2_500_000_000)),
            mss: Some(units::Mss::new(1400).unwrap()),
            length: Some(ByteCount::new(65_536)),
            sample_every: Duration::from_millis(1),
            ..TestSpec::default()
        };
        let json = serde_json::to_string(&Params::from_spec(&spec, Offer::new(&spec))).unwrap();
        assert!(json.len() < 1_000, "parameters must stay far below the limit: {json}");
        assert_eq!(serde_json::from_str::<Params>(&json).unwrap().to_spec().unwrap(), spec);
    }
}
