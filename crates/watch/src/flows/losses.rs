//! Losses as TCP notices them: events of the kernel, of the whole host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use linux::Unavailable;
use linux::tracepoint::{Field, Tracepoint};
use model::transfer::LossEventKind;
use passive::flows::reading::Ends;

/// The events of congestion states (`tcp:tcp_cong_state_set`, Linux 5.15).
pub(super) struct LossWatch {
    events: Tracepoint,
    fields: Fields,
}

#[derive(Debug, Clone, Copy)]
struct Fields {
    family: Field,
    state: Field,
    local: EndFields,
    peer: EndFields,
}

#[derive(Debug, Clone, Copy)]
struct EndFields {
    port: Field,
    v4: Field,
    v6: Field,
}

impl LossWatch {
    /// Takes events from here on.
    ///
    /// # Errors
    /// Without `CAP_PERFMON` in the host's own user namespace, or where the kernel has no such event.
    pub(super) fn open() -> Result<Self, Unavailable> {
        let events = Tracepoint::open(NAME)?;
        let field = |name: &str| {
            let what = || Unavailable { what: format!("{name} of {NAME}"), reason: linux::Reason::Unsupported };
            events.format().field(name).ok_or_else(what)
        };
        let fields = Fields {
            family: field("family")?,
            state: field("cong_state")?,
            local: EndFields { port: field("sport")?, v4: field("saddr")?, v6: field("saddr_v6")? },
            peer: EndFields { port: field("dport")?, v4: field("daddr")?, v6: field("daddr_v6")? },
        };
        Ok(Self { events, fields })
    }

    /// Calls `each` with every loss since the last call; the count of events that the kernel could not keep is returned.
    pub(super) fn drain(&mut self, mut each: impl FnMut(&Ends, LossEventKind)) -> u64 {
        let fields = self.fields;
        self.events.drain(|event| {
            if let (Some(kind), Some(ends)) = (fields.kind(event), fields.ends(event)) {
                each(&ends, kind);
            }
        });
        self.events.take_lost()
    }
}

impl Fields {
    fn kind(&self, event: &[u8]) -> Option<LossEventKind> {
        match self.state.number(event)? {
            CA_RECOVERY => Some(LossEventKind::Recovery),
            CA_LOSS => Some(LossEventKind::Timeout),
            _ => None,
        }
    }

    fn ends(&self, event: &[u8]) -> Option<Ends> {
        let family = self.family.number(event)?;
        Some(Ends { local: self.local.address(event, family)?, peer: self.peer.address(event, family)? })
    }
}

impl EndFields {
    fn address(&self, event: &[u8], family: u64) -> Option<SocketAddr> {
        let address: IpAddr = match family {
            AF_INET => Ipv4Addr::from(<[u8; 4]>::try_from(self.v4.bytes(event)?).ok()?).into(),
            AF_INET6 => Ipv6Addr::from(<[u8; 16]>::try_from(self.v6.bytes(event)?).ok()?).into(),
            _ => return None,
        };
        // The event has ports as numbers, not in the order of the network (include/trace/events/tcp.h).
        Some(SocketAddr::new(address, u16::try_from(self.port.number(event)?).ok()?))
    }
}

const NAME: &str = "tcp/tcp_cong_state_set";
// include/linux/socket.h, include/uapi/linux/tcp.h (enum tcp_ca_state) of 6.18
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const CA_RECOVERY: u64 = 3;
const CA_LOSS: u64 = 4;
