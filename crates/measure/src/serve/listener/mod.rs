//! The door of a test partner: one thread accepts connections, sorts them, and answers latency probes.
//!
//! Control and data connections come to one port and start alike, with 37 bytes that name the test. A name that is
//! expected is a data connection, any other a new client. Until the 37 bytes are there a connection costs a few hundred
//! bytes of memory and no thread, so a thousand idle ones cost nothing to those who test.
//!
//! * `answers`: answers to probes on their way out
//! * `handshake`: a connection that has not said yet what it is
//! * [`expected`]: which data connections are expected
//! * [`datagrams`]: the UDP side of the port
//! * `hold`: how long the answers to probes wait for each other

mod answers;
pub mod datagrams;
pub mod expected;
mod handshake;
mod hold;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use linux::clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use self::datagrams::Datagrams;
use self::expected::ExpectedConnections;
use self::handshake::{PendingConnection, Said};
use super::Config;
use super::policy::Policy;
use crate::control::Waker;
use crate::stop::Stop;
use wire::cookie::Cookie;
use wire::limits::Patience;
use wire::signal::Signal;

/// The listening sockets of a test partner and those who stand before them.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    datagrams: Datagrams,
    /// Used when a test is over, whose client waits for the answers to its last probes.
    release: Waker,
    pending: Vec<PendingConnection>,
    desk: ExpectedConnections,
    policy: Policy,
    patience: Patience,
}

/// A client that has named a new test.
#[derive(Debug)]
pub struct Client {
    /// Its control connection.
    pub stream: TcpStream,
    /// Address and port from which its control connection comes.
    pub peer: SocketAddr,
    /// The address that it reached.
    pub local: SocketAddr,
    /// The name of its test.
    pub cookie: Cookie,
}

/// What the door reports to whoever runs it.
pub trait Host {
    /// A new client.
    fn welcome(&self, client: Client);
    /// Something odd that is no test.
    fn nuisance(&self, peer: SocketAddr, what: String);
}

/// Connections that may stand at the door without having said what they are. The oldest goes when another comes, since
/// those who test say it at once.
const MAX_PENDING: usize = 128;
/// Connections that the kernel may hold for us meanwhile.
const BACKLOG: i32 = 256;
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(100);

impl Listener {
    /// Opens the port, on all addresses of both families where none is given.
    ///
    /// # Errors
    /// If the port is taken or not allowed.
    pub fn open(config: &Config) -> io::Result<Self> {
        let port = config.port;
        let (listener, datagrams) = match config.bind {
            Some(address) => open_both(SocketAddr::new(address.to_canonical(), port))?,
            // A host without IPv6 refuses the address that stands for both.
            None => open_both(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port))
                .or_else(|_| open_both(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port)))?,
        };
        Ok(Self {
            listener,
            datagrams,
            release: Waker::new()?,
            pending: Vec::new(),
            desk: ExpectedConnections::default(),
            policy: config.policy.clone(),
            patience: config.patience,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Where data connections are announced.
    #[must_use]
    pub fn expected_connections(&self) -> ExpectedConnections {
        self.desk.clone()
    }

    /// Has the probes answered that are held, at the end of a test.
    #[must_use]
    pub fn release(&self) -> Waker {
        self.release.clone()
    }

    /// What turns stamps of the probe reflector into the monotonic clock.
    #[must_use]
    pub fn stamp_minus_mono_ns(&self) -> i64 {
        self.datagrams.stamp_minus_mono_ns()
    }

    /// Keeps the door until told to stop. Every pass of the loop handles what has come and waits for more.
    ///
    /// # Errors
    /// If the listening socket itself fails.
    pub fn keep(&mut self, stop: &Stop, host: &dyn Host) -> io::Result<()> {
        while !stop.is_stopped() {
            let ready = self.wait()?;
            if ready.listener {
                self.accept(host)?;
            }
            self.datagrams.handle(&ready.datagrams, &self.desk, &self.policy);
            self.hear(&ready.pending, host);
        }
        // The client of the last test still waits for these.
        let all = vec![true; self.datagrams.sockets().len()];
        self.datagrams.handle(&all, &self.desk, &self.policy);
        Ok(())
    }

    fn wait(&mut self) -> io::Result<Ready> {
        let held = self.datagrams.held_until().since(clock::now());
        let datagrams = if held.is_zero() { self.datagrams.sockets() } else { &[] };
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN), PollFd::new(self.release.fd(), PollFlags::IN)];
        fds.extend(datagrams.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        fds.extend(self.pending.iter().map(|connection| PollFd::new(connection.stream(), PollFlags::IN)));
        let wait = if held.is_zero() { GLANCE } else { GLANCE.min(held) };
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut flags = fds.iter().map(|fd| !fd.revents().is_empty());
        let (listener, released) = (flags.next().unwrap_or(false), flags.next().unwrap_or(false));
        let mut ready =
            Ready { listener, datagrams: flags.by_ref().take(datagrams.len()).collect(), pending: flags.collect() };
        // What was held is due now, and is read without being asked for once more.
        if !held.is_zero() && self.datagrams.held_until() <= clock::now() {
            ready.datagrams = vec![true; self.datagrams.sockets().len()];
        }
        if released && self.release.take() {
            self.datagrams.release();
        }
        Ok(ready)
    }

    fn accept(&mut self, host: &dyn Host) -> io::Result<()> {
        match self.listener.accept() {
            Ok((stream, peer)) => self.admit(stream, canonical(peer), host),
            // The connection was gone before we took it, or we have too many: the next pass tries again.
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn admit(&mut self, stream: TcpStream, peer: SocketAddr, host: &dyn Host) {
        if !self.policy.allows(peer.ip()) {
            refuse(&stream);
            host.nuisance(peer, "is not in an allowed network".to_owned());
            return;
        }
        if self.pending.len() >= MAX_PENDING {
            let oldest = self.pending.remove(0);
            host.nuisance(oldest.peer(), format!("said nothing while {MAX_PENDING} others came"));
        }
        // A connection that cannot be set up is gone already.
        if let Ok(connection) = PendingConnection::new(stream, peer, self.patience.turn) {
            self.pending.push(connection);
        }
    }

    /// Hears those who have said something, and sends those away who have been silent for too long.
    fn hear(&mut self, ready: &[bool], host: &dyn Host) {
        let now = clock::now();
        let pending = std::mem::take(&mut self.pending);
        for (index, mut connection) in pending.into_iter().enumerate() {
            // One that came in this very pass has no flag yet, and is worth a look: it has often spoken already.
            let spoke = ready.get(index).copied().unwrap_or(true);
            match if spoke { connection.hear() } else { Said::NothingYet } {
                Said::NothingYet if now < connection.deadline() => self.pending.push(connection),
                Said::NothingYet => host.nuisance(connection.peer(), "did not say what it wants".to_owned()),
                Said::Gone => {}
                Said::Name(cookie) => self.sort(connection, cookie, host),
            }
        }
    }

    fn sort(&mut self, connection: PendingConnection, cookie: Cookie, host: &dyn Host) {
        let peer = connection.peer();
        let Ok((stream, local)) = connection.into_stream() else { return };
        match self.desk.claim_stream(cookie, stream, (local, peer)) {
            expected::Claimed::Taken => {}
            expected::Claimed::TooMany(stream) => {
                turn_away(&stream);
                host.nuisance(peer, "opened more data connections than it announced".to_owned());
            }
            expected::Claimed::NotExpected(stream) => {
                self.datagrams.answer_at(local);
                host.welcome(Client { stream, peer, local, cookie });
            }
        }
    }
}

struct Ready {
    listener: bool,
    datagrams: Vec<bool>,
    pending: Vec<bool>,
}

/// Opens a port for connections and datagrams. Where the kernel picks it, it knows only which are free for connections.
fn open_both(address: SocketAddr) -> io::Result<(TcpListener, Datagrams)> {
    const PICKS: usize = 16;
    let picks = if address.port() == 0 { PICKS } else { 1 };
    let open = || -> io::Result<_> {
        let listener = listen(address)?;
        let datagrams = Datagrams::open(listener.local_addr()?)?;
        Ok((listener, datagrams))
    };
    let mut opened = open();
    for _ in 1..picks {
        match opened {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => opened = open(),
            _ => break,
        }
    }
    opened
}

/// Listens at a port: of one address, or of all of both families.
pub(super) fn listen_at(address: Option<IpAddr>, port: u16) -> io::Result<TcpListener> {
    let at = |address: IpAddr| listen(SocketAddr::new(address, port));
    match address {
        Some(address) => at(address.to_canonical()),
        // A host without IPv6 refuses the address that stands for both.
        None => at(Ipv6Addr::UNSPECIFIED.into()).or_else(|_| at(Ipv4Addr::UNSPECIFIED.into())),
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Says in iperf3's way that there is no room now.
pub(super) fn turn_away(stream: &TcpStream) {
    say(stream, &[Signal::AccessDenied.byte()]);
}

/// Says in iperf3's way that there will be none for this client.
fn refuse(stream: &TcpStream) {
    /// "test authorization failed" (src/iperf_api.h: `IEAUTHTEST`).
    const NOT_ALLOWED: i32 = 142;
    let [a, b, c, d] = NOT_ALLOWED.to_be_bytes();
    say(stream, &[Signal::ServerError.byte(), a, b, c, d, 0, 0, 0, 0]);
}

/// Says a word to somebody who is sent away. Whether it is heard does not matter.
fn say(mut stream: &TcpStream, word: &[u8]) {
    use std::io::Write;
    let _ = stream.set_nonblocking(true);
    let _ = stream.write(word);
}

/// An IPv4 address as such, also where it came through a socket of both families.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

pub(super) fn is_passing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let passing = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::PROTO, Errno::PERM];
    let kinds = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted, io::ErrorKind::ConnectionAborted];
    kinds.contains(&error.kind()) || passing.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
