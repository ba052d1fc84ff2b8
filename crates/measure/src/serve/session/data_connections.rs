//! The data connections of a test.

use std::net::UdpSocket;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use linux::clock;
use model::measurement::End;
use model::spec::{Limit, Protocol};
use units::MonoTime;

use super::{Partner, ServerSession};
use crate::control::Wake;
use crate::engine::datagram::CounterWidth;
use crate::engine::streams::{Amount, Closing, Conduct, Endpoint, end_of};
use crate::options;
use crate::serve::listener::datagrams::HELLO_ANSWER;
use crate::serve::listener::expected::{Announced, Announcement, Arrival, DataTransport};
use crate::session::client::headings;
use crate::session::failure::SessionError;
use crate::session::part::{fixed_length, iperf3_amount, iperf3_length};
use wire::extension::{Message, Refusal, RefusalKind};
use wire::server::ClientMessage;
use wire::signal::Signal;

/// How soon a first datagram that came again gets its answer again.
const GLANCE: Duration = Duration::from_millis(50);

impl ServerSession {
    /// Asks for the data connections and waits for all of them. While the announcement is kept, more are turned away.
    pub(super) fn await_endpoints(&mut self, partner: &Partner) -> Result<(Vec<Endpoint>, Announced), SessionError> {
        let headings: Vec<_> = headings(&self.spec).iter().map(|heading| heading.mirrored()).collect();
        let announced = partner.desk.announce(Announcement {
            cookie: self.cookie,
            peer: self.peer.ip(),
            count: headings.len(),
            kind: if self.spec.protocol == Protocol::Udp { DataTransport::Datagrams } else { DataTransport::Streams },
            waker: self.control.waker(),
        });
        self.control.send_signal(Signal::CreateStreams)?;
        let deadline = clock::now() + partner.patience.opening;
        let mut endpoints: Vec<Endpoint> = Vec::with_capacity(headings.len());
        while endpoints.len() < headings.len() {
            while let Some(arrival) = announced.next() {
                let heading = headings[endpoints.len()];
                self.prepare(&arrival, end_of(heading))?;
                let Arrival { socket, local, remote } = arrival;
                endpoints.push(Endpoint { socket, heading, local, remote });
            }
            if endpoints.len() < headings.len() {
                self.hear_while_opening(deadline, (endpoints.len(), headings.len()))?;
                self.answer_again(&endpoints);
            }
        }
        Ok((endpoints, announced))
    }

    /// Sets a data socket up as the specification asks. Where this host cannot, the client is told.
    fn prepare(&mut self, arrival: &Arrival, end: End) -> Result<(), SessionError> {
        let fd = arrival.socket.as_fd();
        let set = options::before_connection(fd, &self.spec).and_then(|()| options::on_connection(fd, &self.spec, end));
        if let Err(error) = set {
            let error = SessionError::Option(error);
            if self.offer.is_some() {
                let refusal = Refusal { kind: RefusalKind::Unable, detail: error.failure().detail };
                self.control.send_extension(&Message::Refused(refusal))?;
            }
            return Err(error);
        }
        if self.spec.protocol == Protocol::Udp {
            answer(&arrival.socket);
        }
        Ok(())
    }

    fn hear_while_opening(&mut self, deadline: MonoTime, (came, wanted): (usize, usize)) -> Result<(), SessionError> {
        let now = clock::now();
        if now >= deadline {
            return Err(SessionError::MissingStreams { came, wanted, waited: self.control.patience().opening });
        }
        match self.control.hear(deadline.min(now + GLANCE))? {
            Wake::Nothing => Ok(()),
            Wake::Message(ClientMessage::ClockRequest { seq }) => self.tell_clock(seq),
            Wake::Message(_) => Err(SessionError::Terminated),
        }
    }

    /// A client whose answer was lost sends its first datagram again, to the socket that it now has.
    fn answer_again(&self, endpoints: &[Endpoint]) {
        if self.spec.protocol != Protocol::Udp {
            return;
        }
        for endpoint in endpoints {
            let mut hello = [0; HELLO_ANSWER.len()];
            let flags = rustix::net::RecvFlags::DONTWAIT;
            if rustix::net::recv(&endpoint.socket, &mut hello[..], flags).is_ok() {
                answer(&endpoint.socket);
            }
        }
    }

    pub(super) fn tell_clock(&mut self, seq: u32) -> Result<(), SessionError> {
        let received_ns = clock::now().as_nanos();
        self.control.send_extension(&Message::ClockReply { seq, received_ns, sent_ns: clock::now().as_nanos() })?;
        Ok(())
    }

    pub(super) fn conduct(&self) -> Conduct {
        let extended = self.offer.is_some();
        // It is the client that ends a test by time, and reads no further.
        let by_time = matches!(self.spec.limit, Limit::Time(_));
        Conduct {
            length: if extended { fixed_length(&self.spec) } else { self.iperf3_length() },
            amount: if extended || by_time { Amount::Exact } else { iperf3_amount(&self.spec) },
            counter_width: if self.wide_counters { CounterWidth::Bits64 } else { CounterWidth::Bits32 },
            closing: if extended { Closing::EndOfStream } else { Closing::LeaveOpen },
            waker: self.control.waker(),
        }
    }

    /// An iperf3 always sends a length; for a stream limited by time it changes nothing that it counts.
    fn iperf3_length(&self) -> Option<usize> {
        let by_time = matches!(self.spec.limit, Limit::Time(_));
        iperf3_length(&self.spec).filter(|_| self.spec.protocol == Protocol::Udp || !by_time)
    }
}

/// The answer to the first datagram. One that is lost is asked for again.
fn answer(socket: &OwnedFd) {
    if let Ok(socket) = socket.try_clone() {
        let _ = UdpSocket::from(socket).send(&HELLO_ANSWER);
    }
}
