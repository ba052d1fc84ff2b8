//! A test partner in this process, with little patience.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use measure::serve::{Config, Event, ServedTest, serve};
use measure::session::client::{self, Request};
use measure::stop::Stop;
use model::measurement::Measurement;
use model::run::{Failure, Outcome};
use model::spec::{Limit, TestSpec};
use units::ByteCount;
use wire::limits::Patience;

/// After this a test that waits fails instead of waiting for ever. No claim rests on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What strangers get who are waited for in vain: the honest client behind them needs a hundredth of it on a machine that rests.
pub(crate) const LITTLE: Duration = Duration::from_secs(2);

pub(crate) struct Partner {
    pub(crate) address: SocketAddr,
    stop: Stop,
    events: Receiver<Event>,
    thread: Option<JoinHandle<()>>,
}

impl Partner {
    /// Starts a partner that waits as long as a test does.
    pub(crate) fn start() -> Self {
        Self::with(PATIENCE, Patience::default().amount_quiet)
    }

    /// Starts a partner for strangers that it is to lose its patience with.
    pub(crate) fn impatient() -> Self {
        Self::with(LITTLE, Patience::default().amount_quiet)
    }

    /// Starts a partner that waits as long as a test does, also for the rest of an amount.
    pub(crate) fn patient_with_amounts() -> Self {
        Self::with(PATIENCE, PATIENCE)
    }

    fn with(patience: Duration, amount_quiet: Duration) -> Self {
        let config = Config {
            bind: Some([127, 0, 0, 1].into()),
            patience: Patience { turn: patience, message: patience, opening: patience, drain: patience, amount_quiet },
            ..Config::default()
        };
        let (send, events): (Sender<Event>, _) = channel();
        let stop = Stop::default();
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            serve(&config, &stopped, &|event| send.send(event).unwrap()).unwrap();
        });
        let mut partner = Self { address: ([127, 0, 0, 1], 0).into(), stop, events, thread: Some(thread) };
        partner.address = partner.wait_for("its address", |event| match event {
            Event::Listening { address } => Some(address),
            _ => None,
        });
        partner
    }

    /// Waits for the first event of which `pick` makes something.
    pub(crate) fn wait_for<T>(&self, what: &str, pick: impl Fn(Event) -> Option<T>) -> T {
        loop {
            let event = self.events.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("no {what}: {error}"));
            if let Some(picked) = pick(event) {
                return picked;
            }
        }
    }

    /// Waits for the news that a client was not let in, or was none, and returns why.
    pub(crate) fn refusal(&self) -> String {
        self.wait_for("refusal", |event| match event {
            Event::Refused { reason, .. } => Some(reason),
            Event::Nuisance { what, .. } => Some(what.strip_prefix("is no client: ").unwrap_or(&what).to_owned()),
            Event::Finished(visited) => panic!("it was let in: {visited:?}"),
            _ => None,
        })
    }

    /// Waits for the end of a test.
    pub(crate) fn finished(&self) -> ServedTest {
        self.wait_for("end of a test", |event| match event {
            Event::Finished(visited) => Some(*visited),
            Event::Refused { reason, .. } => panic!("not let in: {reason}"),
            _ => None,
        })
    }

    /// Waits for the end of a test that failed, and returns why.
    pub(crate) fn failure(&self) -> Failure {
        match self.finished().outcome {
            Outcome::Failed(failure) => failure,
            Outcome::Complete => panic!("it did not fail"),
        }
    }

    /// Waits for the note about a connection that is no test.
    pub(crate) fn nuisance(&self) -> String {
        self.wait_for("nuisance", |event| match event {
            Event::Nuisance { what, .. } => Some(what),
            _ => None,
        })
    }

    /// Asserts that an honest test works now.
    pub(crate) fn works(&self) {
        const BYTES: ByteCount = ByteCount::new(100_000);
        let spec = TestSpec { limit: Limit::Bytes(BYTES), ..TestSpec::default() };
        let request = Request {
            host: self.address.ip().to_string(),
            port: self.address.port(),
            spec,
            queue_wait: Duration::from_secs(30),
            ticket: None,
        };
        let finished = client::run(&request, &Stop::default(), &mut |_| ());
        assert_eq!(finished.outcome, Outcome::Complete);
        assert_eq!(received(&finished.measurement), BYTES);
        let visited = self.finished();
        assert_eq!(visited.outcome, Outcome::Complete);
        assert_eq!(received(&visited.measurement), BYTES);
    }
}

fn received(measurement: &Option<Measurement>) -> ByteCount {
    measurement.as_ref().unwrap().totals[0].received.unwrap()
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.stop.stop();
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking(), "the partner panicked");
    }
}
