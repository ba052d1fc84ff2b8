//! Sending echo requests to one host, and hearing what comes back of them.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;

use linux::clock;
use linux::icmp::{Access, IcmpSocket, Origin};
use linux::sockets::{self, Family, PathMtuDiscovery};
use model::probe::echo::{Fragments, Stamp};
use model::probe::{IcmpAccess, Report};
use model::run::{Failure, FailureKind};
use model::spec::{self, Dscp, TestBinding, TestSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::{MonoTime, WallTime};

use super::message::{self, EchoId, Header};
use crate::connect;
use crate::stop::Stop;

/// Whom to ask, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) target: &'a str,
    pub(super) family: Option<spec::Family>,
    pub(super) bind: Option<IpAddr>,
    pub(super) dscp: Option<Dscp>,
    pub(super) fragments: Fragments,
}

/// Asks one host.
pub(super) struct Pinger {
    socket: IcmpSocket,
    address: SocketAddr,
    identifier: u16,
    pattern: [u8; 8],
    message: Vec<u8>,
    heard: VecDeque<Response>,
    interface_told: Option<u32>,
}

/// Something that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Response {
    /// Of which request.
    pub(super) sequence: u16,
    /// When it arrived.
    pub(super) at: MonoTime,
    /// Who says so.
    pub(super) stamped_by: Stamp,
    /// What it is.
    pub(super) what: What,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// An answer.
    Answer {
        /// From whom.
        source: Option<IpAddr>,
        /// The hop limit it had left.
        hop_limit: Option<u8>,
        /// Bytes that it carries.
        payload_bytes: usize,
    },
    /// Somebody says why there is none.
    Report(Report),
}

/// Why a request was not sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// The interface does not take packets of this size.
    #[error("larger than the interface takes")]
    TooBig {
        /// What it takes, where the kernel says so.
        interface: Option<u32>,
    },
    /// Anything else.
    #[error(transparent)]
    Other(#[from] io::Error),
}

impl Pinger {
    /// Finds the target and opens a socket towards it.
    pub(super) fn open(asking: Asking<'_>) -> Result<Self, Failure> {
        let place = TestBinding { bind: asking.bind, ..TestBinding::default() };
        let resolving = TestSpec { family: asking.family, place, ..TestSpec::default() };
        let addresses =
            connect::resolve(asking.target, 0, &resolving).map_err(|error| unreachable(error.to_string()))?;
        let [address, ..] = addresses[..] else {
            return Err(unreachable(format!("`{}` does not resolve to an address", asking.target)));
        };
        let family = Family::of(&address);
        let socket = IcmpSocket::open(family).map_err(|error| local("speaking ICMP", &error))?;
        set_up(&socket, asking, family)?;
        socket.connect(address).map_err(|error| unreachable(format!("no way to {}: {error}", address.ip())))?;
        let random: [u8; 10] = linux::random::bytes().map_err(|error| local("a random number", &error))?;
        let [high, low, pattern @ ..] = random;
        Ok(Self {
            socket,
            address,
            identifier: u16::from_be_bytes([high, low]),
            pattern,
            message: Vec::new(),
            heard: VecDeque::new(),
            interface_told: None,
        })
    }

    /// The address that is asked.
    pub(super) fn address(&self) -> IpAddr {
        self.address.ip()
    }

    /// How this process speaks ICMP.
    pub(super) fn access(&self) -> IcmpAccess {
        match self.socket.access() {
            Access::Ping => IcmpAccess::PingSocket,
            Access::Raw => IcmpAccess::RawSocket,
        }
    }

    /// Bytes of IP and ICMP header before the payload.
    pub(super) fn header_bytes(&self) -> u32 {
        match self.socket.family() {
            Family::V4 => 28,
            Family::V6 => 48,
        }
    }

    /// The MTU of the route as the kernel knows it.
    pub(super) fn route_mtu(&self) -> Option<u32> {
        sockets::path_mtu(&self.socket).ok().map(units::Mtu::get)
    }

    /// How many routers may forward requests from now on.
    pub(super) fn set_hop_limit(&self, limit: u8) -> io::Result<()> {
        self.socket.set_hop_limit(limit)
    }

    /// Sends a request, and says when: just before the kernel got it.
    pub(super) fn send(&mut self, sequence: u16, payload_bytes: usize) -> Result<MonoTime, SendError> {
        let id = EchoId { identifier: self.identifier, sequence };
        message::write_request(&mut self.message, self.socket.family(), id, self.pattern, payload_bytes);
        // The kernel hands an error of an earlier request to whoever calls next, so a first failure may not be ours.
        self.take_all();
        for trial in 0..2 {
            let sent = clock::now();
            let Err(error) = self.socket.send(&self.message) else { return Ok(sent) };
            self.interface_told = None;
            self.take_all();
            if error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error()) && self.interface_told.is_some()
            {
                return Err(SendError::TooBig { interface: self.interface_told });
            }
            if trial == 1 {
                return Err(error.into());
            }
        }
        Err(SendError::TooBig { interface: None })
    }

    /// The next that came back, waiting for it until `deadline` or until told to stop.
    pub(super) fn hear(&mut self, deadline: MonoTime, stop: &Stop) -> Option<Response> {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return Some(heard);
            }
            self.take_all();
            let left = deadline.since(clock::now());
            if self.heard.is_empty() && (left.is_zero() || stop.is_stopped()) {
                return None;
            }
            if self.heard.is_empty() {
                self.wait(left.min(GLANCE));
            }
        }
    }

    fn wait(&self, time: Duration) {
        let timeout = Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        // An error here is a signal, after which the caller looks again.
        let _ = poll(&mut [PollFd::new(&self.socket.as_fd(), PollFlags::IN)], Some(&timeout));
    }

    /// Takes what the kernel has for us now, both messages and errors.
    fn take_all(&mut self) {
        while self.heard.len() < MAX_HEARD && (self.take_message() || self.take_error()) {}
    }

    fn take_message(&mut self) -> bool {
        let (family, access) = (self.socket.family(), self.socket.access());
        let header = match (family, access) {
            (Family::V4, Access::Raw) => Header::Present,
            _ => Header::Absent,
        };
        let incoming = match self.socket.receive() {
            Ok(None) => return false,
            // An error that waits in the error queue too, where it is taken with all that is known of it.
            Err(_) => return true,
            Ok(Some(incoming)) => incoming,
        };
        let Some(reply) = message::read_reply(family, header, incoming.bytes) else { return true };
        let ours = access == Access::Ping || reply.id.identifier == self.identifier;
        if ours && message::is_repetition(reply.payload, self.pattern) {
            let (at, stamped_by) = arrival(incoming.received_at);
            let what = What::Answer {
                source: incoming.source,
                hop_limit: incoming.hop_limit,
                payload_bytes: reply.payload.len(),
            };
            self.heard.push_back(Response { sequence: reply.id.sequence, at, stamped_by, what });
        }
        true
    }

    fn take_error(&mut self) -> bool {
        let (family, access) = (self.socket.family(), self.socket.access());
        let Ok(Some(error)) = self.socket.receive_error() else { return false };
        match error.origin {
            Origin::Local => self.interface_told = Some(error.info),
            Origin::Icmp => {
                let Some(id) = message::read_quoted(family, error.original) else { return true };
                if access == Access::Raw && id.identifier != self.identifier {
                    return true;
                }
                let (at, stamped_by) = arrival(error.received_at);
                let kind = message::report_kind(family, error.icmp_type, error.code, error.info);
                let what = What::Report(Report { kind, reporter: error.reporter });
                self.heard.push_back(Response { sequence: id.sequence, at, stamped_by, what });
            }
            Origin::Other(_) => {}
        }
        true
    }
}

fn set_up(socket: &IcmpSocket, asking: Asking<'_>, family: Family) -> Result<(), Failure> {
    if let Some(bind) = asking.bind {
        let bind = SocketAddr::new(bind.to_canonical(), 0);
        socket.bind(bind).map_err(|error| local(&format!("binding to {}", bind.ip()), &error))?;
    }
    let discovery = match asking.fragments {
        Fragments::Allowed => PathMtuDiscovery::Fragment,
        Fragments::Forbidden => PathMtuDiscovery::Probe,
    };
    sockets::set_path_mtu_discovery(socket, discovery).map_err(|error| local("don't-fragment", &error))?;
    if let Some(dscp) = asking.dscp {
        let dscp = sockets::Dscp::new(dscp.get()).map_err(|error| local("the DSCP", &error))?;
        sockets::set_dscp(socket, dscp).map_err(|error| local("the DSCP", &error))?;
    }
    debug_assert_eq!(socket.family(), family, "a socket speaks the family it was opened for");
    Ok(())
}

/// When something arrived on our clock, from the kernel's stamp on the calendar's.
fn arrival(stamp: Option<WallTime>) -> (MonoTime, Stamp) {
    let (now, wall) = (clock::now(), clock::wall_now());
    let age = stamp.and_then(|stamp| wall.unix_nanos().checked_sub(stamp.unix_nanos())).map(Duration::from_nanos);
    match age {
        // Model: the calendar's clock is not set between an arrival and our taking note of it. Where it is set by more
        // than this, the stamp is left out; where it is set by less, the time of one packet is wrong by so much.
        Some(age) if age < MAX_AGE => (now - age, Stamp::Kernel),
        _ => (now, Stamp::Process),
    }
}

fn local(what: &str, error: &dyn std::error::Error) -> Failure {
    Failure { kind: FailureKind::Local, detail: format!("{what} is not possible: {error}") }
}

fn unreachable(detail: String) -> Failure {
    Failure { kind: FailureKind::Unreachable, detail }
}

/// How soon a wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(20);
/// Most that is kept of what was heard; what comes beyond waits in the socket, whose buffer bounds it.
const MAX_HEARD: usize = 4096;
/// The oldest arrival that is believed.
const MAX_AGE: Duration = Duration::from_secs(1);
