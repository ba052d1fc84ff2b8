//! A server in this process.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use measure::control::Waker;
use measure::ndt7::tls::Ndt7Identity;
use measure::serve::ndt7::{Ndt7Config, Ndt7Server};
use measure::serve::policy::Policy;
use measure::serve::queue::{Queue, QueueSlot};
use measure::serve::{Event, ServedTest};
use measure::stop::Stop;

/// After this a test that waits fails instead of waiting for ever. No claim rests on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    queue: Queue,
    stop: Stop,
    events: Receiver<Event>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::showing(None)
    }

    /// One that speaks `wss`, if it has something to show.
    pub(crate) fn showing(identity: Option<Ndt7Identity>) -> Self {
        let queue = Queue::new(4);
        let bind = Some([127, 0, 0, 1].into());
        let config = Ndt7Config { bind, port: 0, identity, policy: Policy::default(), queue: queue.clone() };
        let server = Ndt7Server::open(config).unwrap();
        let address = server.address().unwrap();
        let (send, events) = channel();
        let stop = Stop::default();
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            // Who hears of it may have gone.
            server.serve(&stopped, &|event| drop(send.send(event))).unwrap();
        });
        Self { address, queue, stop, events, thread: Some(thread) }
    }

    /// A test of another protocol that runs at this host.
    pub(crate) fn take_turn(&self) -> QueueSlot {
        self.queue.join(Duration::from_secs(10), Waker::new().unwrap()).unwrap()
    }

    pub(crate) fn stop(&self) {
        self.stop.stop();
    }

    pub(crate) fn started(&self) {
        self.wait_for("start", |event| matches!(event, Event::Started { .. }).then_some(()));
    }

    /// Waits for the end of a test.
    pub(crate) fn finished(&self) -> ServedTest {
        self.wait_for("end of a test", |event| match event {
            Event::Finished(served) => Some(*served),
            _ => None,
        })
    }

    /// Waits for the note about a connection that is no test.
    pub(crate) fn nuisance(&self) -> String {
        self.wait_for("nuisance", |event| match event {
            Event::Nuisance { what, .. } => Some(what),
            Event::Finished(served) => panic!("it was let in: {served:?}"),
            _ => None,
        })
    }

    fn wait_for<T>(&self, what: &str, pick: impl Fn(Event) -> Option<T>) -> T {
        loop {
            let event = self.events.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no {what}: {error}"));
            if let Some(picked) = pick(event) {
                return picked;
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || ended.is_none_or(|ended| ended.is_ok()), "the server panicked");
    }
}
