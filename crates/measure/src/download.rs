//! One file over HTTP, as a user of an archive gets it: how long it takes to connect, to the first byte, and in all.

use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::Duration;

use linux::tcp_info::TcpInfo;
use linux::{clock, sockets};
use model::probe::Subject;
use model::probe::download::{Answer, Download, DownloadSpec, DownloadTimes, FieldValue};
use model::run::{Failure, FailureKind, Outcome};
use model::series::field::Field;
use model::spec::{TestBinding, TestSpec};
use units::{ByteCount, DataRate, MonoTime};

use crate::connect::{self, ConnectError, Route};
use crate::http::body::{BodyCounter, Framing, framing};
use crate::http::head::{ResponseHead, read_response};
use crate::http::line::{HttpConnection, LineError};
use crate::http::url::Url;
use crate::options::OptionError;
use crate::stop::Stop;
use crate::telemetry;

/// Fetches a file and throws it away.
#[must_use]
pub fn download(spec: &DownloadSpec, stop: &Stop) -> Download {
    let subject = Subject { target: spec.url.clone(), address: None, started: clock::wall_now() };
    let mut log = Log {
        start: clock::now(),
        found: Download {
            subject,
            spec: spec.clone(),
            outcome: Outcome::Complete,
            local_address: None,
            peer_address: None,
            answer: None,
            times: DownloadTimes::default(),
            body: ByteCount::ZERO,
            goodput: None,
            overall: None,
            tcp: Vec::new(),
            congestion_control: None,
        },
    };
    if let Err(failure) = log.fetch(spec, stop) {
        log.found.outcome = Outcome::Failed(failure);
    }
    log.finish()
}

struct Log {
    start: MonoTime,
    found: Download,
}

impl Log {
    fn fetch(&mut self, spec: &DownloadSpec, stop: &Stop) -> Result<(), Failure> {
        let url: Url = spec.url.parse().map_err(|error| failure(FailureKind::Local, &error))?;
        let stream = self.connect(spec, &url)?;
        let deadline = self.start + spec.time_limit;
        let line = HttpConnection::new(stream, spec.patience, deadline, stop);
        let mut line = line.map_err(|error| failure(FailureKind::Local, &error))?;
        let outcome = self.converse(&mut line, spec, &url);
        self.found.times.total = clock::now().since(self.start);
        self.ask_kernel(line.stream());
        outcome
    }

    fn connect(&mut self, spec: &DownloadSpec, url: &Url) -> Result<TcpStream, Failure> {
        let place = TestBinding { bind: spec.bind, ..TestBinding::default() };
        let resolving = TestSpec { family: spec.family, place: place.clone(), ..TestSpec::default() };
        let addresses = connect::resolve(&url.host, url.port, &resolving).map_err(|error| unreached(&error))?;
        self.found.times.resolved = Some(self.so_far());
        let reached = connect::first_that_answers(&url.host, &addresses, |address| {
            Route::new(address, &place).tcp(spec.patience, |socket| match &spec.congestion_control {
                Some(name) => sockets::set_congestion_control(socket, name).map_err(OptionError::from),
                None => Ok(()),
            })
        });
        let stream = reached.map_err(|error| unreached(&error))?;
        self.found.times.connected = Some(self.so_far());
        self.found.local_address = stream.local_addr().ok();
        self.found.peer_address = stream.peer_addr().ok();
        self.found.subject.address = self.found.peer_address.map(|address| address.ip());
        Ok(stream)
    }

    fn converse(&mut self, line: &mut HttpConnection<'_>, spec: &DownloadSpec, url: &Url) -> Result<(), Failure> {
        let question = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: linerate\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n",
            url.target,
            url.authority()
        );
        line.write_all(question.as_bytes()).map_err(|error| broken(&error, "the question"))?;
        let mut buffer = Vec::new();
        let (head, framing) = loop {
            let read = line.read_head(&mut buffer, read_response).map_err(|error| broken(&error, "the answer"))?;
            let (head, first) = read;
            self.found.times.first_byte.get_or_insert(first.since(self.start));
            // Interim answers come before the one that counts (RFC 9110 §15.2).
            if head.status >= 200 {
                let framing = framing(&head).map_err(|error| failure(FailureKind::Protocol, &error))?;
                break (head, framing);
            }
        };
        self.found.answer = Some(answer(&head, framing));
        let took_all = self.take(line, &buffer, framing, spec.limit);
        took_all?;
        judge(&head)
    }

    /// Takes the body, of which some came with the head.
    fn take(
        &mut self,
        line: &mut HttpConnection<'_>,
        came: &[u8],
        framing: Framing,
        limit: ByteCount,
    ) -> Result<(), Failure> {
        let mut counter = BodyCounter::new(framing);
        let outcome = take_body(line, came, &mut counter, limit);
        self.found.body = ByteCount::new(counter.counted());
        outcome
    }

    fn ask_kernel(&mut self, stream: &TcpStream) {
        if let Ok(info) = TcpInfo::read(stream.as_fd()) {
            let known = |field: &Field| Some(FieldValue { field: *field, value: telemetry::value(&info, *field)? });
            self.found.tcp = Field::ALL.iter().filter_map(known).collect();
        }
        self.found.congestion_control = sockets::congestion_control(stream).ok();
    }

    fn so_far(&self) -> Duration {
        clock::now().since(self.start)
    }

    fn finish(mut self) -> Download {
        let times = &mut self.found.times;
        if times.total.is_zero() {
            times.total = clock::now().since(self.start);
        }
        let since_first = times.first_byte.map(|first| times.total.saturating_sub(first));
        self.found.goodput = since_first.and_then(|time| DataRate::of(self.found.body, time));
        self.found.overall = DataRate::of(self.found.body, times.total);
        self.found
    }
}

fn take_body(
    line: &mut HttpConnection<'_>,
    came: &[u8],
    counter: &mut BodyCounter,
    limit: ByteCount,
) -> Result<(), Failure> {
    let malformed = |error| failure(FailureKind::Protocol, &error);
    counter.feed(came).map_err(malformed)?;
    let mut buffer = vec![0; BUFFER];
    while !counter.is_done() {
        if counter.counted() > limit.get() {
            let detail = format!("the file has more than the {limit} that are taken at most");
            return Err(Failure { kind: FailureKind::Refused, detail });
        }
        match line.read(&mut buffer).map_err(|error| broken(&error, "the file"))? {
            0 if counter.may_end() => break,
            0 => {
                let detail = format!("the server closed the connection after {} bytes of the file", counter.counted());
                return Err(Failure { kind: FailureKind::Lost, detail });
            }
            length => counter.feed(&buffer[..length]).map_err(malformed)?,
        };
    }
    Ok(())
}

fn answer(head: &ResponseHead, framing: Framing) -> Answer {
    let content_length = match framing {
        Framing::Length(length) => Some(ByteCount::new(length)),
        Framing::Chunked | Framing::UntilClose => None,
    };
    Answer {
        status: head.status,
        content_length,
        served_by: head.fields.first("x-served-by").map(str::to_owned),
        via: head.fields.all("via").flat_map(|via| via.split(',')).map(|via| via.trim().to_owned()).collect(),
    }
}

/// Whether the answer was a file.
fn judge(head: &ResponseHead) -> Result<(), Failure> {
    let (status, reason) = (head.status, &head.reason);
    let detail = match status {
        200..=299 => return Ok(()),
        300..=399 => {
            let location = head.fields.first("location").unwrap_or("nowhere");
            format!("the server sends us on to {location} ({status}), where we do not go")
        }
        _ => format!("the server answers {status} {reason}"),
    };
    Err(Failure { kind: FailureKind::Refused, detail })
}

pub(crate) fn unreached(error: &ConnectError) -> Failure {
    failure(if error.is_local() { FailureKind::Local } else { FailureKind::Unreachable }, error)
}

fn broken(error: &LineError, what: &str) -> Failure {
    let kind = match error {
        LineError::Stopped => FailureKind::Interrupted,
        LineError::Head(_) => FailureKind::Protocol,
        _ => FailureKind::Lost,
    };
    let Failure { kind, detail } = failure(kind, error);
    Failure { kind, detail: format!("{what}: {detail}") }
}

/// The failure of this kind, with the error and its causes in one line.
pub(crate) fn failure(kind: FailureKind, error: &dyn std::error::Error) -> Failure {
    let mut detail = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        detail = format!("{detail}: {error}");
        cause = error.source();
    }
    Failure { kind, detail }
}

/// Bytes taken from the kernel at once.
const BUFFER: usize = 256 << 10;
