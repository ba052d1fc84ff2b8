//! Reaching the peer: from a name to a connected socket, with an error that says which step failed.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use model::spec::{Family, TestBinding, TestSpec};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use units::duration::show;

use crate::options::OptionError;

/// Where connections of one test come from and go to.
#[derive(Debug, Clone)]
pub struct Route {
    /// Address and port at which the peer listens.
    pub remote: SocketAddr,
    /// Local address, where one was asked for.
    pub bind: Option<IpAddr>,
    /// Device, where one was asked for.
    pub device: Option<String>,
}

/// Why the peer cannot be reached. Each says what to look at next.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The name has no address.
    #[error("`{host}` does not resolve to an address")]
    Resolve {
        /// Name or address as the user gave it.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The name has addresses, but none of the wanted family.
    #[error("`{host}` has no {family} address")]
    NoAddress {
        /// Name or address as the user gave it.
        host: String,
        /// The family wanted.
        family: &'static str,
    },
    /// This host could not make or bind the socket.
    #[error("a socket {what} cannot be made")]
    Local {
        /// From where.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// This host could not set an option.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The peer's host says that nobody listens.
    #[error("{remote} refuses the connection: nothing listens on this port")]
    Refused {
        /// Address and port that answered with RST.
        remote: SocketAddr,
    },
    /// No answer.
    #[error("{remote} does not answer within {}", show(*waited))]
    TimedOut {
        /// Address and port that were tried.
        remote: SocketAddr,
        /// How long.
        waited: Duration,
    },
    /// There is no way to the peer.
    #[error("{remote} cannot be reached")]
    Unreachable {
        /// Address and port that were tried.
        remote: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// The name has several addresses, and none of them answers.
    #[error("no address of `{host}` answers: {}", each(failed))]
    NoneAnswers {
        /// Name as the user gave it.
        host: String,
        /// Why not, address by address.
        failed: Vec<ConnectError>,
    },
}

impl ConnectError {
    /// Whether this host, not the peer or the path, is what fails.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Local { .. } | Self::Option(_) => true,
            Self::NoneAnswers { failed, .. } => failed.iter().all(Self::is_local),
            _ => false,
        }
    }
}

/// The failures in one line, each with its cause.
fn each(failed: &[ConnectError]) -> String {
    let with_cause = |error: &ConnectError| match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    failed.iter().map(with_cause).collect::<Vec<_>>().join("; ")
}

/// Finds the addresses of `host`, in the order in which the resolver wants them tried (RFC 6724). The local address, where
/// one was asked for, decides on the family.
///
/// # Errors
/// If the name does not resolve, or not to the wanted family.
pub fn resolve(host: &str, port: u16, spec: &TestSpec) -> Result<Vec<SocketAddr>, ConnectError> {
    let family = spec.family.or_else(|| spec.place.bind.map(family_of));
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let found =
        (bare, port).to_socket_addrs().map_err(|source| ConnectError::Resolve { host: host.to_owned(), source })?;
    let wanted = |address: &SocketAddr| match family {
        None => true,
        Some(Family::Ipv4) => address.is_ipv4(),
        Some(Family::Ipv6) => address.is_ipv6(),
    };
    let family = match family {
        None => "IP",
        Some(Family::Ipv4) => "IPv4",
        Some(Family::Ipv6) => "IPv6",
    };
    let addresses: Vec<SocketAddr> = found.filter(wanted).collect();
    if addresses.is_empty() {
        return Err(ConnectError::NoAddress { host: host.to_owned(), family });
    }
    Ok(addresses)
}

/// The first of what `connect` makes of the addresses of `host`, each tried when the one before has failed.
///
/// # Errors
/// The failure of the only address, or all of them together.
pub fn first_that_answers<T>(
    host: &str,
    addresses: &[SocketAddr],
    mut connect: impl FnMut(SocketAddr) -> Result<T, ConnectError>,
) -> Result<T, ConnectError> {
    let mut failed = Vec::new();
    for address in addresses {
        match connect(*address) {
            Ok(connected) => return Ok(connected),
            Err(error) => failed.push(error),
        }
    }
    match failed.pop() {
        Some(only) if failed.is_empty() => Err(only),
        last => {
            failed.extend(last);
            Err(ConnectError::NoneAnswers { host: host.to_owned(), failed })
        }
    }
}

fn family_of(address: IpAddr) -> Family {
    match address.to_canonical() {
        IpAddr::V4(_) => Family::Ipv4,
        IpAddr::V6(_) => Family::Ipv6,
    }
}

impl Route {
    /// The way to `remote` from `place`.
    #[must_use]
    pub fn new(remote: SocketAddr, place: &TestBinding) -> Self {
        let canonical = |address: IpAddr| address.to_canonical();
        Self {
            remote: SocketAddr::new(canonical(remote.ip()), remote.port()),
            bind: place.bind.map(canonical),
            device: place.device.clone(),
        }
    }

    /// Connects by TCP, after `tune` has set the options that must stand before.
    ///
    /// # Errors
    /// If the socket cannot be made, or the peer not be reached.
    pub fn tcp(
        &self,
        timeout: Duration,
        tune: impl FnOnce(&Socket) -> Result<(), OptionError>,
    ) -> Result<TcpStream, ConnectError> {
        let socket = self.socket(Type::STREAM, Protocol::TCP)?;
        tune(&socket)?;
        socket
            .connect_timeout(&SockAddr::from(self.remote), timeout)
            .map_err(|source| self.remote_error(source, timeout))?;
        socket.set_nonblocking(false).map_err(|source| self.local(source))?;
        Ok(socket.into())
    }

    /// Makes a UDP socket that only talks with the peer.
    ///
    /// # Errors
    /// If the socket cannot be made, or there is no way to the peer.
    pub fn udp(&self, tune: impl FnOnce(&Socket) -> Result<(), OptionError>) -> Result<UdpSocket, ConnectError> {
        let socket = self.socket(Type::DGRAM, Protocol::UDP)?;
        tune(&socket)?;
        socket.connect(&SockAddr::from(self.remote)).map_err(|source| self.remote_error(source, Duration::ZERO))?;
        Ok(socket.into())
    }

    fn socket(&self, kind: Type, protocol: Protocol) -> Result<Socket, ConnectError> {
        let socket = Socket::new(Domain::for_address(self.remote), kind, Some(protocol));
        let socket = socket.map_err(|source| self.local(source))?;
        if let Some(device) = &self.device {
            socket.bind_device(Some(device.as_bytes())).map_err(|source| self.local(source))?;
        }
        if let Some(bind) = self.bind {
            socket.bind(&SockAddr::from(SocketAddr::new(bind, 0))).map_err(|source| self.local(source))?;
        }
        Ok(socket)
    }

    fn local(&self, source: io::Error) -> ConnectError {
        let what = match (&self.bind, &self.device) {
            (Some(bind), Some(device)) => format!("bound to {bind} on device {device}"),
            (Some(bind), None) => format!("bound to {bind}"),
            (None, Some(device)) => format!("on device {device}"),
            (None, None) => format!("towards {}", self.remote),
        };
        ConnectError::Local { what, source }
    }

    fn remote_error(&self, source: io::Error, waited: Duration) -> ConnectError {
        let remote = self.remote;
        match source.kind() {
            io::ErrorKind::ConnectionRefused => ConnectError::Refused { remote },
            io::ErrorKind::TimedOut => ConnectError::TimedOut { remote, waited },
            _ => ConnectError::Unreachable { remote, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    fn route(remote: SocketAddr) -> Result<(TcpStream, SocketAddr), ConnectError> {
        let stream = Route::new(remote, &TestBinding::default()).tcp(Duration::from_secs(5), |_| Ok(()))?;
        Ok((stream, remote))
    }

    /// An address at which nothing listens, and one at which something does.
    fn closed_and_open() -> (SocketAddr, TcpListener) {
        let closed = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).unwrap().local_addr().unwrap();
        (closed, TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
    }

    #[test]
    fn an_address_that_does_not_answer_is_followed_by_the_next() {
        let (closed, open) = closed_and_open();
        let open = open.local_addr().unwrap();
        let (_, reached) = first_that_answers("name", &[closed, open, closed], route).unwrap();
        assert_eq!(reached, open);
    }

    #[test]
    fn when_none_answers_each_is_named_with_its_reason() {
        let (closed, _) = closed_and_open();
        let alone = first_that_answers("name", &[closed], route).unwrap_err().to_string();
        assert_eq!(alone, format!("{closed} refuses the connection: nothing listens on this port"));
        let both = first_that_answers("name", &[closed, closed], route).unwrap_err();
        assert_eq!(both.to_string(), format!("no address of `name` answers: {alone}; {alone}"));
        assert!(!both.is_local());
    }

    #[test]
    fn the_local_address_decides_on_the_family() {
        let place = |bind: &str| TestBinding { bind: Some(bind.parse().unwrap()), ..TestBinding::default() };
        for (bind, host) in [("::ffff:127.0.0.1", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")] {
            let spec = TestSpec { place: place(bind), ..TestSpec::default() };
            assert_eq!(resolve(host, 7, &spec).unwrap(), [format!("{host}:7").parse().unwrap()]);
        }
        let spec = TestSpec { place: place("::1"), ..TestSpec::default() };
        assert!(matches!(resolve("127.0.0.1", 7, &spec), Err(ConnectError::NoAddress { family: "IPv6", .. })));
    }
}
