//! The line rate, and what headers take of it.

use std::net::SocketAddr;
use std::time::Duration;

use model::measurement::{Flow, Heading};
use model::run::Run;
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use crate::exact::scale;

/// The rate that a direction could have had.
///
/// It counts bits of Ethernet's physical layer: with preamble and the gap between frames, as `10GBASE-R` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineRate {
    /// How fast.
    #[serde(rename = "rate_bps")]
    pub rate: DataRate,
    /// How it is known.
    pub source: LineRateSource,
}

/// How a line rate is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LineRateSource {
    /// The slower of the two hosts' network cards.
    Nic,
    /// The user said so.
    Declared,
    /// What earlier runs of this path reached.
    Expected,
    /// It is not known; the highest rate seen over a tenth of a second takes its place.
    Unknown,
}

impl LineRate {
    /// No line rate is known.
    pub const UNKNOWN: Self = Self { rate: DataRate::ZERO, source: LineRateSource::Unknown };

    /// What the user declared for `run`, or else what its network cards tell.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        match run.declared_line_rate.filter(|rate| !rate.is_zero()) {
            Some(rate) => Self { rate, source: LineRateSource::Declared },
            None => Self::of_cards(run),
        }
    }

    /// The speed of the slower network card that carried `run`, as far as their drivers do not make it up.
    #[must_use]
    pub fn of_cards(run: &Run) -> Self {
        let speed = |host: &model::host::HostIdentity| host.device.as_ref()?.reported_speed();
        let speeds = [speed(&run.local), speed(&run.peer.host)];
        match speeds.into_iter().flatten().min() {
            Some(rate) => Self { rate, source: LineRateSource::Nic },
            None => Self::UNKNOWN,
        }
    }

    /// What passes in `time`; damaged records may ask for more than 64 bits hold.
    pub(super) fn over(self, time: Duration) -> ByteCount {
        let micros = units::duration::micros(time);
        ByteCount::new(scale(self.rate.bps(), micros, 8_000_000))
    }
}

/// Bytes around each segment's payload.
///
/// Model: every segment is full, which holds for bulk transfer; acknowledgements of the other direction are left out,
/// at most 2 % of a direction that carries data both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Framing {
    /// Preamble 8, header 14, check sequence 4 and gap 12 (IEEE 802.3), then IP and TCP with its options.
    pub header_bytes: u32,
    /// Payload of a full segment.
    pub payload_bytes: u32,
}

impl Framing {
    /// The framing of flows in `heading`, from what the connections agreed on.
    pub(super) fn of(flows: &[Flow], heading: Heading, told: Told) -> Self {
        let flows = || flows.iter().filter(|flow| flow.heading == heading);
        let ip = match flows().find_map(|flow| flow.local_address.parse::<SocketAddr>().ok()) {
            Some(SocketAddr::V6(address)) if address.ip().to_ipv4_mapped().is_none() => IPV6,
            _ => IPV4,
        };
        let timestamps = match told.options {
            Some(options) if options & OPTION_TIMESTAMPS == 0 => 0,
            _ => TIMESTAMPS,
        };
        let agreed = told.segment.or_else(|| flows().find_map(|flow| flow.mss));
        let payload = agreed.filter(|mss| *mss > 0).unwrap_or(ETHERNET_PAYLOAD - ip - TCP - timestamps);
        Self { header_bytes: ETHERNET + ip + TCP + timestamps, payload_bytes: payload }
    }

    /// Headers around `payload`.
    pub(super) fn around(self, payload: u64) -> u64 {
        scale(payload, self.header_bytes.into(), self.payload_bytes.into())
    }

    /// `payload` with its headers.
    pub(super) fn wire(self, payload: u64) -> u64 {
        payload.saturating_add(self.around(payload))
    }
}

/// What the samples tell of the connections.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    /// Payload of the largest segment (`tcpi_snd_mss`, without options).
    pub(super) segment: Option<u32>,
    /// `tcpi_options`.
    pub(super) options: Option<u64>,
}

/// Preamble and start of frame 8, header 14, frame check sequence 4, gap 12 (IEEE 802.3 clauses 3 and 4).
const ETHERNET: u32 = 38;
/// RFC 791, without options.
const IPV4: u32 = 20;
/// RFC 8200, without extension headers.
const IPV6: u32 = 40;
/// RFC 9293, without options.
const TCP: u32 = 20;
/// RFC 7323 section 3.2, with the two bytes of padding that all systems send.
const TIMESTAMPS: u32 = 12;
/// `TCPI_OPT_TIMESTAMPS` (include/uapi/linux/tcp.h).
const OPTION_TIMESTAMPS: u64 = 1;
/// Payload of an Ethernet frame, for a path whose segment size nobody told.
const ETHERNET_PAYLOAD: u32 = 1500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ethernet_segment_carries_94_percent_payload() {
        let framing = Framing::of(&[], Heading::Outbound, Told::default());
        assert_eq!(framing, Framing { header_bytes: 90, payload_bytes: 1448 });
        // 1448 of 1538 bytes: the well-known 941 Mbit/s of gigabit Ethernet.
        assert_eq!(framing.wire(1448), 1538);
    }

    #[test]
    fn without_timestamps_twelve_bytes_are_payload() {
        let framing = Framing::of(&[], Heading::Outbound, Told { segment: None, options: Some(6) });
        assert_eq!(framing, Framing { header_bytes: 78, payload_bytes: 1460 });
    }
}
