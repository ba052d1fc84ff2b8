//! Losses as TCP notices them, and what it retransmits: events of the kernel, of the whole host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use linux::Unavailable;
use linux::tracepoint::{Field, Tracepoint};
use model::transfer::LossEventKind;
use passive::flows::reading::Ends;
use units::MonoTime;

/// The events of congestion states (`tcp:tcp_cong_state_set`, Linux 5.15).
pub(crate) struct LossWatch {
    events: Tracepoint,
    state: Field,
    ends: EndsFields,
}

/// The events of retransmissions (`tcp:tcp_retransmit_skb`, Linux 4.16).
pub(crate) struct RetransmitWatch {
    events: Tracepoint,
    ends: EndsFields,
}

#[derive(Debug, Clone, Copy)]
struct EndsFields {
    family: Field,
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
    pub(crate) fn open() -> Result<Self, Unavailable> {
        let events = Tracepoint::open(STATES)?;
        let fields = EventFields { events: &events, event: STATES };
        let (state, ends) = (fields.field("cong_state")?, EndsFields::of(&fields)?);
        Ok(Self { events, state, ends })
    }

    /// Calls `each` with every loss since the last call; the count of events that the kernel could not keep is returned.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&Ends, LossEventKind)) -> u64 {
        let Self { events, state, ends } = self;
        events.drain(|event| {
            if let (Some(kind), Some(ends)) = (kind(*state, event.bytes), ends.ends(event.bytes)) {
                each(&ends, kind);
            }
        });
        events.take_lost()
    }
}

impl RetransmitWatch {
    /// Takes events from here on.
    ///
    /// # Errors
    /// As those of [`LossWatch::open`].
    pub(crate) fn open() -> Result<Self, Unavailable> {
        let events = Tracepoint::open(RETRANSMITS)?;
        let ends = EndsFields::of(&EventFields { events: &events, event: RETRANSMITS })?;
        Ok(Self { events, ends })
    }

    /// Calls `each` with every retransmission since the last call and its time; the count of events that the kernel could not keep is
    /// returned. Those of one CPU come in their order.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&Ends, MonoTime)) -> u64 {
        let Self { events, ends } = self;
        events.drain(|event| {
            if let Some(ends) = ends.ends(event.bytes) {
                each(&ends, event.at);
            }
        });
        events.take_lost()
    }
}

fn kind(state: Field, event: &[u8]) -> Option<LossEventKind> {
    match state.number(event)? {
        CA_RECOVERY => Some(LossEventKind::Recovery),
        CA_LOSS => Some(LossEventKind::Timeout),
        _ => None,
    }
}

/// The fields of an event by its name.
struct EventFields<'a> {
    events: &'a Tracepoint,
    event: &'static str,
}

impl EventFields<'_> {
    /// An older kernel may lack it.
    fn field(&self, name: &str) -> Result<Field, Unavailable> {
        let what = || Unavailable { what: format!("{name} of {}", self.event), reason: linux::Reason::Unsupported };
        self.events.format().field(name).ok_or_else(what)
    }
}

impl EndsFields {
    fn of(fields: &EventFields<'_>) -> Result<Self, Unavailable> {
        let field = |name| fields.field(name);
        Ok(Self {
            family: field("family")?,
            local: EndFields { port: field("sport")?, v4: field("saddr")?, v6: field("saddr_v6")? },
            peer: EndFields { port: field("dport")?, v4: field("daddr")?, v6: field("daddr_v6")? },
        })
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

const STATES: &str = "tcp/tcp_cong_state_set";
const RETRANSMITS: &str = "tcp/tcp_retransmit_skb";
// include/linux/socket.h, include/uapi/linux/tcp.h (enum tcp_ca_state) of 6.18
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const CA_RECOVERY: u64 = 3;
const CA_LOSS: u64 = 4;
