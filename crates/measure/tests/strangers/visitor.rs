//! A client that says what a script says.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use wire::cookie::{COOKIE_LEN, Cookie};
use wire::inbox::write_blob;
use wire::signal::Signal;

use crate::partner::{PATIENCE, Partner};

pub(crate) struct Visitor {
    pub(crate) stream: TcpStream,
    pub(crate) cookie: Cookie,
    address: SocketAddr,
}

impl Visitor {
    /// Connects, and says nothing yet.
    pub(crate) fn silent(partner: &Partner) -> Self {
        let stream = connect(partner.address);
        let cookie = Cookie::from_random(linux::random::bytes::<{ COOKIE_LEN - 1 }>().unwrap());
        Self { stream, cookie, address: partner.address }
    }

    /// Connects, names a test, and hears that its parameters are wanted.
    pub(crate) fn named(partner: &Partner) -> Self {
        let mut visitor = Self::silent(partner);
        let name = visitor.cookie;
        visitor.say(name.as_bytes());
        visitor.hear(Signal::ParamExchange);
        visitor
    }

    /// Gets as far as the request for data connections.
    pub(crate) fn admitted(partner: &Partner, params: &Value) -> Self {
        let mut visitor = Self::named(partner);
        visitor.say_blob(params);
        if params.get("linerate").is_some() {
            visitor.hear(Signal::Extension);
            visitor.hear_blob();
        }
        visitor.hear(Signal::CreateStreams);
        visitor
    }

    /// Gets as far as the running test, and returns its data connections.
    pub(crate) fn running(partner: &Partner, params: &Value) -> (Self, Vec<TcpStream>) {
        let mut visitor = Self::admitted(partner, params);
        let ways = if params.get("bidirectional").is_some() { 2 } else { 1 };
        let count = params.get("parallel").and_then(Value::as_u64).unwrap_or(1) * ways;
        let data = (0..count).map(|_| visitor.data()).collect();
        visitor.hear(Signal::TestStart);
        visitor.hear(Signal::TestRunning);
        (visitor, data)
    }

    /// Opens a data connection.
    pub(crate) fn data(&self) -> TcpStream {
        let mut stream = connect(self.address);
        stream.write_all(self.cookie.as_bytes()).unwrap();
        stream
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        self.say(&[signal.byte()]);
    }

    pub(crate) fn say_blob(&mut self, value: &Value) {
        let mut bytes = Vec::new();
        write_blob(value, &mut bytes).unwrap();
        self.say(&bytes);
    }

    /// Reads a control byte, which must be this.
    #[track_caller]
    pub(crate) fn hear(&mut self, signal: Signal) {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).unwrap();
        assert_eq!(Signal::from_byte(byte[0]), Some(signal));
    }

    /// Asserts that the partner has nothing to say for so long.
    #[track_caller]
    pub(crate) fn hears_nothing_for(&mut self, time: Duration) {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let heard = self.stream.read(&mut [0]);
        assert!(matches!(&heard, Err(error) if error.kind() == ErrorKind::WouldBlock), "it was heard: {heard:?}");
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    }

    pub(crate) fn hear_blob(&mut self) -> Value {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).unwrap();
        let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap()];
        self.stream.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// Reads to the end of the connection, which must come.
    pub(crate) fn hear_the_end(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset is an end too.
        let _ = self.stream.read_to_end(&mut rest);
        rest
    }

    /// Ends the connection with a reset, as a process that was killed does.
    pub(crate) fn reset(self) {
        socket2::SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    }

    /// Ends its own direction only.
    pub(crate) fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Parameters of an iperf3 for a test of many bytes.
pub(crate) fn iperf3() -> Value {
    json!({"tcp": true, "omit": 0, "time": 0, "num": 1_000_000_000, "parallel": 1, "len": 131_072})
}

/// The same of a linerate.
pub(crate) fn linerate() -> Value {
    with(&iperf3(), "linerate", json!({"oldest": 1, "newest": 1, "interval_ms": 1_000, "sample_every_us": 10_000}))
}

/// Parameters with one more key.
pub(crate) fn with(params: &Value, key: &str, value: Value) -> Value {
    let mut params = params.clone();
    params[key] = value;
    params
}

/// Results of an iperf3 with one stream that sent nothing.
pub(crate) fn results() -> Value {
    json!({
        "cpu_util_total": 1.0, "cpu_util_user": 0.5, "cpu_util_system": 0.5, "sender_has_retransmits": 1,
        "streams": [stream_of(0)],
    })
}

/// What an iperf3 says of a stream that sent so much.
pub(crate) fn stream_of(bytes: u64) -> Value {
    json!({"id": 1, "bytes": bytes, "retransmits": 0, "jitter": 0, "errors": 0, "packets": 0})
}
