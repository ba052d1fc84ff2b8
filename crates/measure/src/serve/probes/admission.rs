//! Which sessions are accepted: the client's own, and no more packets, seconds and bits than are allowed.

use std::net::IpAddr;
use std::time::Duration;

use owamp::control::request::{ServerRole, SessionRequest};
use owamp::control::{Accept, Protocol};
use owamp::packet::SenderPacket;
use owamp::schedule::Slot;
use units::DataRate;
use units::duration::show;

use super::super::policy::Policy;

/// What a control connection may ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    sessions: usize,
    packets: u32,
    padding: u32,
    time: Duration,
    rate: DataRate,
}

/// Why a session is refused, for the client and for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) accept: Accept,
    pub(super) reason: String,
}

/// What a control connection has been given so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Given {
    pub(super) sessions: usize,
    pub(super) packets: u32,
}

/// Sessions of a connection. owping asks for two.
const SESSIONS: usize = 16;
/// Packets of all sessions of a connection: their records take 4 MB.
const PACKETS: u32 = 100_000;
/// Padding that a jumbo frame holds.
const PADDING: u32 = 8_900;
/// Headers of IPv4 and UDP.
const HEADERS: u64 = 28;

impl Limits {
    /// The limits of a test partner, for sessions: `rate` where it has none for UDP.
    pub(super) fn new(policy: &Policy, rate: DataRate) -> Self {
        let rate = policy.rate_limit(model::spec::Protocol::Udp).unwrap_or(rate);
        Self { sessions: SESSIONS, packets: PACKETS, padding: PADDING, time: policy.max_time, rate }
    }

    /// The longest that a session may take.
    pub(super) const fn time(&self) -> Duration {
        self.time
    }

    /// The most that a reflector sends in one session.
    pub(super) const fn packets(&self) -> u32 {
        self.packets
    }

    /// Whether a session may be had by `peer`.
    pub(super) fn check(
        &self,
        request: &SessionRequest,
        peer: IpAddr,
        protocol: Protocol,
        given: Given,
    ) -> Result<(), Refusal> {
        let refuse = |accept, reason| Err(Refusal { accept, reason });
        if (request.role == ServerRole::Reflector) != (protocol == Protocol::Twamp) {
            return refuse(Accept::NotSupported, "asks for a session of the other protocol".to_owned());
        }
        let client = match request.role {
            ServerRole::Sender => request.receiver.address,
            ServerRole::Receiver | ServerRole::Reflector => request.sender.address,
        };
        if !client.is_unspecified() && client.to_canonical() != peer {
            return refuse(
                Accept::Refused,
                format!("wants packets between this host and {client}, which is not its own"),
            );
        }
        if given.sessions >= self.sessions {
            return refuse(Accept::TemporaryLimit, format!("asks for more than {} sessions", self.sessions));
        }
        if request.padding > self.padding {
            return refuse(
                Accept::PermanentLimit,
                format!("wants {} B of padding, limit {} B", request.padding, self.padding),
            );
        }
        match request.role {
            ServerRole::Reflector => Ok(()),
            ServerRole::Sender | ServerRole::Receiver => self.check_schedule(request, given),
        }
    }

    fn check_schedule(&self, request: &SessionRequest, given: Given) -> Result<(), Refusal> {
        let refuse = |reason| Err(Refusal { accept: Accept::PermanentLimit, reason });
        if given.packets.saturating_add(request.packets) > self.packets {
            return refuse(format!("wants {} packets, limit {} of a connection", request.packets, self.packets));
        }
        let waits = request.slots.iter().map(|slot| match slot {
            Slot::Fixed(wait) | Slot::Exponential(wait) => wait.to_duration().as_nanos(),
        });
        let (waits, count) = (waits.sum::<u128>(), request.slots.len() as u128);
        // Over a whole number of rounds of the schedule, so that one of uneven slots counts right.
        let total = waits * u128::from(request.packets) / count.max(1);
        if count == 0 || total > self.time.as_nanos() {
            return refuse(format!("wants a session longer than {}", show(self.time)));
        }
        let bits = (HEADERS + SenderPacket::LEN as u64 + u64::from(request.padding)) * 8;
        let allowed = u128::from(self.rate.bps()) * waits;
        if u128::from(bits) * count * 1_000_000_000 > allowed {
            return refuse(format!("wants more than {}", self.rate));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use owamp::control::request::Endpoint;
    use owamp::session::SessionId;
    use owamp::time::{NtpInterval, NtpTime};

    use super::*;

    const PEER: &str = "192.0.2.7";

    fn request(packets: u32, wait: Duration) -> SessionRequest {
        let endpoint = |address: &str| Endpoint { address: address.parse().unwrap(), port: 7 };
        SessionRequest {
            role: ServerRole::Sender,
            sender: endpoint("192.0.2.1"),
            receiver: endpoint(PEER),
            session: SessionId::default(),
            packets,
            padding: 0,
            start: NtpTime::default(),
            timeout: NtpInterval::default(),
            type_p: 0,
            slots: vec![Slot::Fixed(NtpInterval::from_duration(wait))],
        }
    }

    fn refusal(request: &SessionRequest, given: Given) -> Option<Accept> {
        let limits = Limits::new(&Policy::default(), super::super::RATE);
        limits.check(request, PEER.parse().unwrap(), Protocol::Owamp, given).err().map(|refusal| refusal.accept)
    }

    #[test]
    fn a_session_within_all_limits_is_had() {
        assert_eq!(refusal(&request(100, Duration::from_millis(100)), Given::default()), None);
        let anywhere = Endpoint { address: "0.0.0.0".parse().unwrap(), port: 7 };
        let request = SessionRequest { receiver: anywhere, ..request(100, Duration::from_millis(100)) };
        assert_eq!(refusal(&request, Given::default()), None);
    }

    #[test]
    fn packets_go_to_nobody_who_has_not_asked() {
        let stranger = Endpoint { address: "198.51.100.1".parse().unwrap(), port: 7 };
        let request = SessionRequest { receiver: stranger, ..request(1, Duration::from_millis(100)) };
        assert_eq!(refusal(&request, Given::default()), Some(Accept::Refused));
    }

    #[test]
    fn packets_seconds_bits_and_sessions_are_limited() {
        let none = Given::default();
        for (request, given, accept) in [
            (request(100_001, Duration::from_millis(1)), none, Accept::PermanentLimit),
            (request(50_001, Duration::from_millis(1)), Given { packets: 50_000, ..none }, Accept::PermanentLimit),
            (request(100, Duration::from_secs(60)), none, Accept::PermanentLimit),
            (request(100, Duration::from_micros(16)), none, Accept::PermanentLimit),
            (request(100, Duration::ZERO), none, Accept::PermanentLimit),
            (SessionRequest { slots: Vec::new(), ..request(1, Duration::ZERO) }, none, Accept::PermanentLimit),
            (SessionRequest { padding: 9_000, ..request(1, Duration::from_secs(1)) }, none, Accept::PermanentLimit),
            (request(1, Duration::from_secs(1)), Given { sessions: 16, ..none }, Accept::TemporaryLimit),
            (SessionRequest { role: ServerRole::Reflector, ..request(0, Duration::ZERO) }, none, Accept::NotSupported),
        ] {
            assert_eq!(refusal(&request, given), Some(accept), "{request:?} {given:?}");
        }
    }
}
