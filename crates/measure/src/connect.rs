//! Reaching the peer: from a name to a connected socket, with an error that says which step failed.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use model::spec::{Family, Place};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use units::duration::show;

use crate::options::OptionError;

/// Where connections of one test come from and go to.
#[derive(Debug, Clone)]
pub struct Route {
    /// The peer.
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
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The name has addresses, but none of the wanted family.
    #[error("`{host}` has no {family} address")]
    NoAddress {
        /// The name.
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
        /// The peer.
        remote: SocketAddr,
    },
    /// No answer.
    #[error("{remote} does not answer within {}", show(*waited))]
    TimedOut {
        /// The peer.
        remote: SocketAddr,
        /// How long.
        waited: Duration,
    },
    /// There is no way to the peer.
    #[error("{remote} cannot be reached")]
    Unreachable {
        /// The peer.
        remote: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Finds the address of `host`.
///
/// # Errors
/// If the name does not resolve, or not to the wanted family.
pub fn resolve(host: &str, port: u16, family: Option<Family>) -> Result<SocketAddr, ConnectError> {
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
    found.into_iter().find(wanted).ok_or_else(|| ConnectError::NoAddress { host: host.to_owned(), family })
}

impl Route {
    /// The way to `remote` from `place`.
    #[must_use]
    pub fn new(remote: SocketAddr, place: &Place) -> Self {
        Self { remote, bind: place.bind, device: place.device.clone() }
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
