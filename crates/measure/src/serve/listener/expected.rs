//! Which data connections are expected, and for whom.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::control::Waker;
use wire::cookie::Cookie;

/// Where a test that runs announces its data connections, and the door delivers them.
#[derive(Debug, Clone, Default)]
pub struct ExpectedConnections(Arc<Mutex<Vec<Expected>>>);

#[derive(Debug)]
struct Expected {
    cookie: Cookie,
    peer: IpAddr,
    /// Data connections that are still to come.
    left: usize,
    kind: DataTransport,
    /// Where datagrams came from that have been delivered already.
    session: Vec<SocketAddr>,
    deliver: Sender<Arrival>,
    waker: Waker,
}

/// What carries the data that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataTransport {
    /// TCP connections that name the test.
    Streams,
    /// Datagrams from the client's address.
    Datagrams,
}

/// A data connection.
#[derive(Debug)]
pub struct Arrival {
    /// The socket, blocking.
    pub socket: OwnedFd,
    /// The address that was reached.
    pub local: SocketAddr,
    /// The client's address.
    pub remote: SocketAddr,
}

/// An announcement. Dropping it takes it back.
#[derive(Debug)]
pub struct Announced {
    desk: ExpectedConnections,
    cookie: Cookie,
    arrivals: Receiver<Arrival>,
}

/// What became of a connection that named a test.
#[derive(Debug)]
pub enum Claimed {
    /// It was delivered.
    Taken,
    /// Its test expects no more.
    TooMany(TcpStream),
    /// Nobody expects it.
    NotExpected(TcpStream),
}

/// A test whose data connections are awaited.
#[derive(Debug)]
pub struct Announcement {
    /// Name of the test, which each of its TCP data connections sends first.
    pub cookie: Cookie,
    /// Address of the client: datagrams are taken for this test by it.
    pub peer: IpAddr,
    /// How many data connections are to come.
    pub count: usize,
    /// Of which kind.
    pub kind: DataTransport,
    /// Is used at each arrival.
    pub waker: Waker,
}

impl ExpectedConnections {
    /// Announces the data connections of a test.
    #[must_use]
    pub fn announce(&self, announcement: Announcement) -> Announced {
        let (deliver, arrivals) = channel();
        let Announcement { cookie, peer, count, kind, waker } = announcement;
        self.all().push(Expected { cookie, peer, left: count, kind, session: Vec::new(), deliver, waker });
        Announced { desk: self.clone(), cookie, arrivals }
    }

    /// Delivers a connection to the test that it names.
    pub(super) fn claim_stream(
        &self,
        cookie: Cookie,
        stream: TcpStream,
        (local, remote): (SocketAddr, SocketAddr),
    ) -> Claimed {
        let mut all = self.all();
        let Some(expected) = all.iter_mut().find(|expected| expected.cookie == cookie) else {
            return Claimed::NotExpected(stream);
        };
        if expected.left == 0 || expected.kind != DataTransport::Streams {
            return Claimed::TooMany(stream);
        }
        expected.take(Arrival { socket: stream.into(), local, remote });
        Claimed::Taken
    }

    /// Delivers a datagram socket, made by `open`, to the test that expects one from `remote`; false where none does. A
    /// greeting that came twice before it was answered is one greeting.
    pub(super) fn claim_datagrams(&self, remote: SocketAddr, open: impl FnOnce() -> Option<Arrival>) -> bool {
        let mut all = self.all();
        if all.iter().any(|expected| expected.session.contains(&remote)) {
            return false;
        }
        let waiting = |expected: &&mut Expected| {
            expected.kind == DataTransport::Datagrams && expected.left > 0 && expected.peer == remote.ip()
        };
        let Some(expected) = all.iter_mut().find(waiting) else { return false };
        let Some(arrival) = open() else { return false };
        expected.session.push(remote);
        expected.take(arrival);
        true
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Expected>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Expected {
    fn take(&mut self, arrival: Arrival) {
        self.left -= 1;
        // A test that has gone meanwhile lets the connection drop.
        let _ = self.deliver.send(arrival);
        self.waker.wake();
    }
}

impl Announced {
    /// The next data connection that has come, if one has.
    #[must_use]
    pub fn next(&self) -> Option<Arrival> {
        self.arrivals.try_recv().ok()
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        self.desk.all().retain(|expected| expected.cookie != self.cookie);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;
    use wire::cookie::COOKIE_LEN;

    fn arrival() -> Option<Arrival> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        let local = socket.local_addr().ok()?;
        Some(Arrival { socket: socket.into(), local, remote: local })
    }

    fn announced(desk: &ExpectedConnections, count: usize, kind: DataTransport) -> Announced {
        desk.announce(Announcement {
            cookie: Cookie::from_random([7; COOKIE_LEN - 1]),
            peer: Ipv4Addr::LOCALHOST.into(),
            count,
            kind,
            waker: Waker::new().unwrap(),
        })
    }

    #[test]
    fn a_greeting_that_comes_twice_is_one_stream() {
        let desk = ExpectedConnections::default();
        let announced = announced(&desk, 2, DataTransport::Datagrams);
        let from = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        assert!(desk.claim_datagrams(from(1), arrival));
        assert!(!desk.claim_datagrams(from(1), || panic!("a second socket for one stream")));
        assert!(desk.claim_datagrams(from(2), arrival));
        assert!(announced.next().is_some() && announced.next().is_some() && announced.next().is_none());
    }

    #[test]
    fn nobody_gets_more_than_was_announced_or_anything_from_another_host() {
        let desk = ExpectedConnections::default();
        let first = announced(&desk, 1, DataTransport::Datagrams);
        assert!(!desk.claim_datagrams(SocketAddr::from(([192, 0, 2, 1], 1)), arrival));
        assert!(desk.claim_datagrams(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)), arrival));
        assert!(!desk.claim_datagrams(SocketAddr::from((Ipv4Addr::LOCALHOST, 2)), arrival));
        drop(first);
        assert!(!desk.claim_datagrams(SocketAddr::from((Ipv4Addr::LOCALHOST, 3)), arrival));
    }
}
