//! Which requests become tests.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use linux::clock;
use model::spec::Direction;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response};
use tungstenite::http::{HeaderValue, StatusCode, header};

use super::super::queue::{Queue, QueueSlot, Standing};
use crate::control::Waker;
use crate::ndt7::{DOWNLOAD, SUBPROTOCOL, UPLOAD};

/// A request that is let in: it is its turn.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) direction: Direction,
    /// Kept until the test is over.
    pub(super) slot: QueueSlot,
}

/// Judges one request; what becomes of it is left in its cell.
pub(super) struct Judge<'a> {
    pub(super) queue: &'a Queue,
    pub(super) longest: Duration,
    pub(super) admitted: &'a Cell<Option<Admitted>>,
}

impl Callback for Judge<'_> {
    fn on_request(self, request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
        let direction = judge(request).map_err(|refused| *refused)?;
        let slot = self.turn().map_err(|refusal| answer(&refusal))?;
        self.admitted.set(Some(Admitted { direction, slot }));
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
        Ok(response)
    }
}

/// Which test a request asks for, or what it is answered instead.
pub(crate) fn judge(request: &Request) -> Result<Direction, Box<ErrorResponse>> {
    asked(request).map_err(|refusal| Box::new(answer(&refusal)))
}

impl Judge<'_> {
    /// The place in front. A test that has just ended may still be saying goodbye, so it is waited for a moment.
    fn turn(&self) -> Result<QueueSlot, Refusal> {
        let busy = || Refusal { status: StatusCode::SERVICE_UNAVAILABLE, reason: "another test runs" };
        let waker = Waker::new().map_err(|_| busy())?;
        let slot = self.queue.join(self.longest, waker).map_err(|_| busy())?;
        let deadline = clock::now() + COURTESY;
        while slot.standing() != Standing::Turn {
            if clock::now() >= deadline {
                return Err(busy());
            }
            thread::park_timeout(GLANCE);
        }
        Ok(slot)
    }
}

/// Why a request becomes no test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Refusal {
    status: StatusCode,
    reason: &'static str,
}

/// What is asked for (ndt7-protocol.md, "The WebSocket handshake").
fn asked(request: &Request) -> Result<Direction, Refusal> {
    let refuse = |status, reason| Err(Refusal { status, reason });
    let direction = match request.uri().path() {
        DOWNLOAD => Direction::Reverse,
        UPLOAD => Direction::Forward,
        _ => return refuse(StatusCode::NOT_FOUND, "there are only /ndt/v7/download and /ndt/v7/upload"),
    };
    if request.uri().query().is_some_and(|query| query.len() > LONGEST_QUERY) {
        return refuse(StatusCode::BAD_REQUEST, "the query is longer than 4096 bytes");
    }
    let named = request.headers().get_all(header::SEC_WEBSOCKET_PROTOCOL).into_iter();
    let mut named = named.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    if !named.any(|name| name.trim() == SUBPROTOCOL) {
        return refuse(StatusCode::BAD_REQUEST, "the sub-protocol net.measurementlab.ndt.v7 is not named");
    }
    Ok(direction)
}

fn answer(refusal: &Refusal) -> ErrorResponse {
    let mut answer = ErrorResponse::new(Some(format!("{}\n", refusal.reason)));
    *answer.status_mut() = refusal.status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

const LONGEST_QUERY: usize = 4_096;
/// How long a client is kept waiting before it is sent away, as an iperf3 is.
const COURTESY: Duration = Duration::from_millis(500);
const GLANCE: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str, protocols: &[&str]) -> Request {
        let named = protocols.iter().fold(Request::builder().uri(target), |request, protocol| {
            request.header(header::SEC_WEBSOCKET_PROTOCOL, *protocol)
        });
        named.body(()).unwrap()
    }

    #[test]
    fn a_test_is_asked_for_by_its_path_and_its_sub_protocol() {
        let long = format!("/ndt/v7/upload?a={}", "x".repeat(LONGEST_QUERY));
        let status = |target: &str, protocols: &[&str]| asked(&request(target, protocols)).map_err(|no| no.status);
        assert_eq!(
            status("/ndt/v7/download?client_name=a", &["chat, net.measurementlab.ndt.v7"]),
            Ok(Direction::Reverse)
        );
        assert_eq!(status("/ndt/v7/upload", &["chat", SUBPROTOCOL]), Ok(Direction::Forward));
        assert_eq!(status("/ndt/v7/upload", &["chat"]), Err(StatusCode::BAD_REQUEST));
        assert_eq!(status("/ndt/v7/upload", &[]), Err(StatusCode::BAD_REQUEST));
        assert_eq!(status(&long, &[SUBPROTOCOL]), Err(StatusCode::BAD_REQUEST));
        assert_eq!(status("/", &[SUBPROTOCOL]), Err(StatusCode::NOT_FOUND));
    }
}
