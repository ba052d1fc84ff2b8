//! A proxy that deals requests out to several servers in turn, and passes a share of them on to others.
//!
//! A cluster whose files have one replica each, behind a front end that knows nothing of where they are, is made of two
//! layers: the front end deals over the nodes, and each node passes on the share of requests whose file lives elsewhere.
//! With five nodes that is four in five.

use std::time::Duration;

use linux::clock;
use measure::connect::Route;
use measure::http::body::{BodyCounter, Framing, framing};
use measure::http::head::{RequestHead, ResponseHead, read_response};
use measure::http::line::{HttpConnection, LineError};
use measure::stop::Stop;
use model::spec::TestBinding;
use path::Seed;

use super::connection::{Visit, receive, with_cause};
use super::deal::{Dealer, Dealt, Reroute};
use super::listener::{Exchange, Passage, ServiceListener};

/// An HTTP proxy of the lab, which fetches for its clients.
#[derive(Debug)]
pub struct Proxy {
    name: String,
    dealer: Dealer,
}

impl Proxy {
    /// A proxy that calls itself `name` in `Via`, and deals over these servers.
    #[must_use]
    pub fn new(name: impl Into<String>, over: Vec<std::net::SocketAddr>, reroute: Option<Reroute>, seed: Seed) -> Self {
        Self { name: name.into(), dealer: Dealer::new(over, reroute, seed) }
    }

    /// Serves until it is told to stop, and tells of each exchange.
    pub fn serve(&self, door: &ServiceListener, stop: &Stop, hear: &(dyn Fn(Exchange) + Sync)) {
        receive(door, stop, &|request, visit| self.answer(request, visit), hear);
    }

    fn answer(&self, request: &RequestHead, visit: &mut Visit<'_>) -> Result<(), LineError> {
        if request.fields.all("via").flat_map(|via| via.split(',')).count() >= MOST_PROXIES {
            return visit.refuse(508, "the request has gone through too many proxies");
        }
        let is_returned = request.fields.first(PASSED_ON).is_some();
        let dealt = if is_returned { self.dealer.deal_returned() } else { self.dealer.deal() };
        let Some(dealt) = dealt else { return visit.refuse(502, "there is no server behind this proxy") };
        visit.through = Some(Passage { to: dealt.to, rerouted: dealt.rerouted });
        match self.fetch(request, dealt, visit) {
            // A server that fails before it answers is told of; one that fails later breaks the connection, since the
            // client knows how much should come.
            Err(Failed::Server(error)) if !visit.has_answered() => {
                visit.refuse(502, &format!("{} does not answer: {}", dealt.to, with_cause(&error)))
            }
            Err(Failed::Server(error) | Failed::Client(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    fn fetch(&self, request: &RequestHead, dealt: Dealt, visit: &mut Visit<'_>) -> Result<(), Failed> {
        let wait = visit.limits.patience.min(CONNECT_TIME);
        let reached = Route::new(dealt.to, &TestBinding::default()).tcp(wait, |_| Ok(()));
        let stream = reached.map_err(|error| Failed::Server(LineError::Broken(std::io::Error::other(error))))?;
        let deadline = clock::now() + visit.limits.connection_time;
        let line = HttpConnection::new(stream, visit.limits.patience, deadline, visit.stop);
        let mut line = line.map_err(|error| Failed::Server(error.into()))?;
        line.write_all(self.question(request, dealt).as_bytes()).map_err(Failed::Server)?;
        let mut buffer = Vec::new();
        let head = loop {
            let (head, _) = line.read_head(&mut buffer, read_response).map_err(Failed::Server)?;
            if head.status >= 200 {
                break head;
            }
        };
        let framing = framing(&head).map_err(|error| Failed::Server(error.into()))?;
        self.pass_head(&head, visit).map_err(Failed::Client)?;
        let framing = if request.method == "HEAD" { Framing::Length(0) } else { framing };
        pass_body(&mut line, &buffer, framing, visit)
    }

    fn question(&self, request: &RequestHead, dealt: Dealt) -> String {
        let host = request.fields.first("host").unwrap_or("localhost");
        let mut question = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", request.method, request.target);
        for via in request.fields.all("via") {
            question.push_str(&format!("Via: {via}\r\n"));
        }
        question.push_str(&format!("Via: 1.1 {}\r\n", self.name));
        if dealt.rerouted {
            question.push_str(&format!("{PASSED_ON}: {}\r\n", self.name));
        }
        question + "Connection: close\r\n\r\n"
    }

    fn pass_head(&self, head: &ResponseHead, visit: &mut Visit<'_>) -> Result<(), LineError> {
        let kept = head.fields.0.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
        let via = format!("1.1 {}", self.name);
        let own_via = std::iter::once(("via", via.as_str()));
        visit.head(head.status, kept.map(|(name, value)| (name.as_str(), value.as_str())).chain(own_via))
    }
}

/// Passes a body through, of which some came with the head, piece by piece as it comes.
fn pass_body(
    line: &mut HttpConnection<'_>,
    came: &[u8],
    framing: Framing,
    visit: &mut Visit<'_>,
) -> Result<(), Failed> {
    let mut counter = BodyCounter::new(framing);
    let mut pass = |counter: &mut BodyCounter, piece: &[u8]| {
        let taken = counter.feed(piece).map_err(|error| Failed::Server(error.into()))?;
        visit.body(&piece[..taken]).map_err(Failed::Client)
    };
    pass(&mut counter, came)?;
    let mut buffer = vec![0; PIECE];
    while !counter.is_done() {
        match line.read(&mut buffer).map_err(Failed::Server)? {
            0 if counter.may_end() => break,
            0 => return Err(Failed::Server(LineError::Closed)),
            length => pass(&mut counter, &buffer[..length])?,
        }
    }
    Ok(())
}

/// Whose side failed.
enum Failed {
    /// The connection to the server failed.
    Server(LineError),
    /// The connection to the client failed.
    Client(LineError),
}

/// Says that a proxy has passed a request on, so that the next does not.
const PASSED_ON: &str = "x-passed-on-by";
/// Fields that hold for one connection only (RFC 9110 §7.6.1).
const OWN: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "te", "upgrade"];
/// A request that has gone through so many proxies goes round in circles.
const MOST_PROXIES: usize = 8;
/// How long connecting to a server may take.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Bytes passed on at once: all that a connection holds in memory.
const PIECE: usize = 256 << 10;
