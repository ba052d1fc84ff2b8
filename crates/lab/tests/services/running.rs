//! Services that run beside a test, on addresses of the loopback device, and end with it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

use lab::services::deal::Reroute;
use lab::services::files::FileServer;
use lab::services::proxy::Proxy;
use lab::services::{Exchange, Limits, ServiceListener};
use measure::download::download;
use measure::stop::Stop;
use model::probe::download::{Download, DownloadSpec};
use path::Seed;
use units::ByteCount;

/// A service on a thread.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) heard: Receiver<Exchange>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(
        limits: Limits,
        serve: impl FnOnce(&ServiceListener, &Stop, &(dyn Fn(Exchange) + Sync)) + Send + 'static,
    ) -> Self {
        let door = ServiceListener::open("127.0.0.1:0".parse().unwrap(), limits).unwrap();
        let (address, stop) = (door.address(), Stop::default());
        let (tell, heard) = channel();
        let told = stop.clone();
        // A test that has heard enough may have gone.
        let thread = thread::spawn(move || serve(&door, &told, &move |exchange| drop(tell.send(exchange))));
        Self { address, heard, stop, thread: Some(thread) }
    }

    /// A server of generated files and of one called `survey.fits`.
    pub(crate) fn files(name: &str, limits: Limits) -> Self {
        let files = BTreeMap::from([("survey.fits".to_owned(), ByteCount::new(12_345))]);
        let server = FileServer { name: name.to_owned(), files };
        Self::start(limits, move |door, stop, hear| server.serve(door, stop, hear))
    }

    /// A proxy in front of these.
    pub(crate) fn proxy(name: &str, over: Vec<SocketAddr>, reroute: Option<Reroute>) -> Self {
        Self::proxy_at(Limits::default(), name, over, reroute)
    }

    fn proxy_at(limits: Limits, name: &str, over: Vec<SocketAddr>, reroute: Option<Reroute>) -> Self {
        let proxy = Proxy::new(name, over, reroute, Seed(5));
        Self::start(limits, move |door, stop, hear| proxy.serve(door, stop, hear))
    }

    /// A proxy whose only server is itself.
    pub(crate) fn circle() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let door = ServiceListener::open(address, Limits::default()).unwrap();
        let stop = Stop::default();
        let (tell, heard) = channel();
        let told = stop.clone();
        let proxy = Proxy::new("circle", vec![address], None, Seed(5));
        let thread = thread::spawn(move || proxy.serve(&door, &told, &move |exchange| drop(tell.send(exchange))));
        Self { address, heard, stop, thread: Some(thread) }
    }

    /// Fetches a file from it.
    pub(crate) fn fetch(&self, file: &str) -> Download {
        download(&DownloadSpec::of(format!("http://{}/{file}", self.address)), &Stop::default())
    }

    /// Sends these bytes to it, and returns all that it answers until it closes.
    pub(crate) fn say(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "a service has panicked");
    }
}

/// A server of one connection that does what a test wants, once it has heard a question.
pub(crate) fn acting(act: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = Vec::new();
        let mut byte = [0];
        while !question.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|length| length == 1) {
            question.extend(byte);
        }
        act(stream);
    });
    address
}
