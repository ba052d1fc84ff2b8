//! A series of echoes.

use std::time::Duration;

use model::probe::echo::{EchoAnswer, EchoFate, EchoProbe, EchoSeries, EchoSpec, EchoSummary, Stamp};
use model::probe::{IcmpAccess, Report, ReportKind};
use model::run::Outcome;
use plan::task::Ping;
use units::PacketCount;

use super::Asked;
use super::packets::Packets;
use super::rtt::{Fate, Pair, ask};
use crate::flow::run::summary;
use crate::network::Network;

/// Sends echoes from a host whose device carries packets of `device_mtu`.
pub(crate) fn series(
    network: &mut Network<'_>,
    pair: &Pair<'_>,
    ping: &Ping,
    device_mtu: u32,
    asked: Asked,
) -> EchoSeries {
    let payload = u32::try_from(ping.size.get()).unwrap_or(u32::MAX).min(65_000);
    let header = if asked.target.is_ipv6() { 48 } else { 28 };
    let ip_bytes = payload + header;
    // What is larger than the device carries is cut by the host, and lost with any of its parts.
    let parts = ip_bytes.div_ceil(device_mtu.max(header + 1)).max(1);
    let sent: Vec<Packets> = (0..ping.count)
        .map(|number| Packets {
            at: ping.interval * number,
            count: parts,
            ip_bytes: if parts == 1 { ip_bytes } else { device_mtu },
            whole: false,
            over: Duration::ZERO,
        })
        .collect();
    let fates = ask(network, pair, asked.seed, &sent);
    let spec = EchoSpec {
        count: ping.count,
        interval: ping.interval,
        payload_bytes: u16::try_from(payload).unwrap_or(u16::MAX),
        ..EchoSpec::default()
    };
    let round_trips: Vec<Option<Duration>> = fates
        .iter()
        .map(|fate| match fate {
            Fate::Answered(times) if times.round_trip <= spec.timeout => Some(times.round_trip),
            _ => None,
        })
        .collect();
    let late =
        fates.iter().filter(|fate| matches!(fate, Fate::Answered(times) if times.round_trip > spec.timeout)).count();
    let reported = fates.iter().filter(|fate| matches!(fate, Fate::TooBig { .. })).count();
    let probes = (0_u32..).zip(&fates).map(|(sequence, fate)| EchoProbe {
        sequence,
        sent: ping.interval * sequence,
        fate: told(fate, spec.timeout),
    });
    EchoSeries {
        subject: asked.subject(),
        outcome: Outcome::Complete,
        access: Some(IcmpAccess::RawSocket),
        summary: EchoSummary {
            rtt: summary(&round_trips),
            late: PacketCount::new(late as u64),
            reported: PacketCount::new(reported as u64),
            ..EchoSummary::default()
        },
        probes: probes.collect(),
        spec,
    }
}

fn told(fate: &Fate, timeout: Duration) -> EchoFate {
    match fate {
        Fate::Answered(times) if times.round_trip <= timeout => EchoFate::Answered(EchoAnswer {
            rtt: times.round_trip,
            stamped_by: Stamp::Kernel,
            hop_limit: None,
            other_address: None,
            reordered: false,
            duplicates: 0,
        }),
        Fate::Answered(_) | Fate::Lost => EchoFate::Lost,
        Fate::TooBig { fits, reporter } => {
            let kind = ReportKind::TooBig { mtu_bytes: Some(fits.get()) };
            EchoFate::Reported(Report { kind, reporter: *reporter })
        }
    }
}
