//! What the kernel of each gateway says of it: open connections, those accepted so far, bytes sent.
//!
//! XRootD's own reports say the same, but a datagram through the loaded link of a gateway is often lost.

use std::fs;
use std::io;

use ::gateways::cluster::sampled::{GatewaySample, Moment};
use linux::counters::{ProtocolCounters, parse_devices};
use linux::sock_diag::{self, Selection, StateSet, TcpState};
use linux::sockets::{Family, Transport};

use super::error::GatewaysError;
use super::plan::Plan;
use super::site::{self, PORT};
use crate::network::{Host, Network};

/// Counters of all gateways at the beginning, from which later ones count.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    gateways: Vec<&'a Host>,
    scale: f64,
    first: Vec<Counted>,
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    in_flight: u64,
    accepted: u64,
    sent: u64,
}

impl<'a> Observer<'a> {
    pub(super) fn new(plan: &Plan<'_>, network: &'a Network) -> Result<Self, GatewaysError> {
        let numbers = 0..site::classes(plan).count();
        let gateways: Vec<&Host> = numbers.filter_map(|number| network.host(&site::gateway(number))).collect();
        let first = gateways.iter().map(|host| counted(host)).collect::<Result<_, _>>()?;
        Ok(Self { gateways, scale: plan.scale, first })
    }

    /// All gateways now, in the units of the settings.
    pub(super) fn moment(&self, at_s: f64) -> Result<Moment, GatewaysError> {
        let sample = |(host, first): (&&Host, &Counted)| {
            let now = counted(host)?;
            #[expect(clippy::cast_precision_loss, reason = "bytes of a lab are far below 2^53")]
            let sent = now.sent.saturating_sub(first.sent) as f64;
            let begun = now.accepted.saturating_sub(first.accepted);
            Ok(GatewaySample { in_flight: now.in_flight, begun, moved_bytes: sent * self.scale / site::FRAMING })
        };
        let gateways = self.gateways.iter().zip(&self.first).map(sample).collect::<Result<_, GatewaysError>>()?;
        Ok(Moment { at_s, gateways })
    }
}

fn counted(host: &Host) -> Result<Counted, GatewaysError> {
    let inside = host.run(|| -> io::Result<Counted> {
        let mut in_flight = 0;
        for family in [Family::V4, Family::V6] {
            let states = StateSet::of(TcpState::Established);
            let listed = sock_diag::discover(Selection { family, transport: Transport::Tcp, states });
            let listed = listed.map_err(io::Error::other)?;
            in_flight += listed.iter().filter(|socket| socket.local.port() == PORT).count() as u64;
        }
        // Of the thread, which is in the network of the gateway; the process is not.
        let protocols = ProtocolCounters::parse_pairs(&fs::read_to_string("/proc/thread-self/net/snmp")?);
        let accepted = protocols.get("Tcp", "PassiveOpens").ok_or(io::ErrorKind::InvalidData)?;
        let (devices, _) = parse_devices(&fs::read_to_string("/proc/thread-self/net/dev")?);
        let of = |name: &str| {
            devices.iter().filter(|device| device.device != "lo").filter_map(|device| device.values.get(name)).sum()
        };
        Ok(Counted { in_flight, accepted, sent: of("tx_bytes") })
    });
    inside.and_then(|counted| counted).map_err(|source| GatewaysError::Start {
        program: "the counter of connections",
        host: host.name().to_owned(),
        source,
    })
}
