//! Two hosts and a wire between them, in namespaces that end with the test.

use std::env;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lab::relay::log::Events;
use lab::relay::log::{Event, What};
use lab::relay::{Options, Relay, Report, Wire};
use linux::counters::HostCounters;
use linux::tap::Tap;
use path::{ElementSpec, PathElement, Seed, Tally};

/// Runs the test `name` with `body` in a process in fresh user and network namespaces, as their root: this works with
/// and without privilege.
pub(crate) fn in_sandbox(name: &str, body: impl FnOnce()) {
    const MARK: &str = "LINERATE_TEST_SANDBOX";
    if env::var_os(MARK).is_some() {
        return body();
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture"]).env(MARK, "1");
    let output = linux::netns::isolate(&mut command).output().unwrap_or_else(|error| {
        panic!("needs user namespaces (user.max_user_namespaces above 0, no security module against them): {error}")
    });
    let printed = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "in the sandbox:\n{printed}{complained}");
}

/// Two hosts, `10.0.0.1` and `fd00::1` at end 0, `10.0.0.2` and `fd00::2` at end 1.
pub(crate) struct World {
    pub(crate) hosts: [Host; 2],
    pub(crate) relay: Relay,
}

/// A thread in a network namespace of its own, which does what it is sent.
pub(crate) struct Host {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

type Job = Box<dyn FnOnce() + Send>;

/// No event that is waited for here takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

impl World {
    /// A wire with these elements from end 0 to end 1, and back, as they are written in files.
    pub(crate) fn new(there: &str, back: &str) -> Self {
        Self::with(there, back, &Options::default())
    }

    /// The same with a relay that works like this.
    pub(crate) fn with(there: &str, back: &str, options: &Options) -> Self {
        let hosts = [Host::new(), Host::new()];
        let taps = [1, 2].map(|number: usize| hosts[number - 1].run(move || device(number)));
        let reporters = [2, 1].map(|number| vec![v4(number), v6(number)]);
        let stages = [stages(there), stages(back)];
        let wire = Wire { name: "wire".to_owned(), taps, stages, reporters, seed: Seed(4) };
        let relay = Relay::start(vec![wire], linux::clock::now(), options).unwrap();
        Self { hosts, relay }
    }

    /// Sends `bytes` over a connection from end 0 to end 1, and returns both of its ends when all of them have come.
    pub(crate) fn transfer(&self, bytes: usize, to: IpAddr) -> (TcpStream, TcpStream) {
        let (listener, to) = self.hosts[1].run(move || {
            let listener = TcpListener::bind((to, 0)).unwrap();
            let bound = listener.local_addr().unwrap();
            (listener, bound)
        });
        let mut sender = self.hosts[0].run(move || connected(to));
        let (mut receiver, _) = listener.accept().unwrap();
        receiver.set_read_timeout(Some(PATIENCE)).unwrap();
        let sending = thread::spawn(move || {
            sender.write_all(&content(bytes)).unwrap();
            sender
        });
        let mut received = vec![0; bytes];
        receiver.read_exact(&mut received).unwrap();
        assert!(received == content(bytes), "other bytes have come than were sent");
        (sending.join().unwrap(), receiver)
    }

    /// Stops the relay. Of every packet its books say what became of it.
    pub(crate) fn stop(self) -> (Report, Events) {
        let (report, events) = self.relay.stop();
        for direction in report.wires.iter().flat_map(|wire| &wire.directions) {
            let elements = || direction.elements.iter();
            let duplicated: u64 = elements().map(|tally| tally.duplicated_amount().packets.get()).sum();
            let dropped: u64 = elements().flat_map(Tally::drops).map(|(_, amount)| amount.packets.get()).sum();
            let lost = direction.lost.no_room + direction.lost.down + direction.lost.refused;
            let went = (direction.given.packets + lost + direction.held).get() + dropped;
            assert_eq!(direction.taken.packets.get() + duplicated, went, "{direction:?}");
        }
        (report, events)
    }

    /// Waits until `done`, asking again and again.
    pub(crate) fn wait_until(&self, what: &str, mut done: impl FnMut(&Relay) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(&self.relay) {
            assert!(Instant::now() < deadline, "in vain: {what}: {:?}", self.relay.report());
            thread::yield_now();
        }
    }
}

impl Host {
    fn new() -> Self {
        let (jobs, waiting) = channel::<Job>();
        let live = move || linux::netns::in_fresh_netns(|| waiting.into_iter().for_each(|job| job())).unwrap();
        Self { jobs: Some(jobs), thread: Some(thread::spawn(live)) }
    }

    /// Does something in the host, and returns what that returns.
    pub(crate) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, result) = channel();
        let job = Box::new(move || drop(done.send(work())));
        self.jobs.as_ref().unwrap().send(job).unwrap();
        result.recv().expect("the work has panicked")
    }

    /// A counter of the host, such as `Tcp InCsumErrors`.
    pub(crate) fn counter(&self, group: &'static str, name: &'static str) -> u64 {
        self.run(move || {
            let counters = HostCounters::read();
            let found = [counters.snmp, counters.netstat, counters.snmp6];
            found.iter().flatten().find_map(|read| read.get(group, name)).unwrap()
        })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.jobs = None;
        // Its panic has failed the test already.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

pub(crate) fn v4(number: usize) -> IpAddr {
    format!("10.0.0.{number}").parse().unwrap()
}

pub(crate) fn v6(number: usize) -> IpAddr {
    format!("fd00::{number}").parse().unwrap()
}

pub(crate) fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

/// How many packets have an event that `chosen` names.
pub(crate) fn packets(events: &[Event], chosen: impl Fn(&Event) -> bool) -> u64 {
    events.iter().filter(|event| chosen(event)).map(|event| event.packets.get()).sum()
}

/// How many packets were dropped, of those that `chosen` names.
pub(crate) fn dropped(events: &[Event], chosen: impl Fn(&Event) -> bool) -> u64 {
    packets(events, |event| matches!(event.what, What::Dropped(_)) && chosen(event))
}

fn device(number: usize) -> Tap {
    let tap = Tap::open("wire0").unwrap();
    ip(&format!("addr add 10.0.0.{number}/24 dev wire0"));
    ip(&format!("addr add fd00::{number}/64 dev wire0 nodad"));
    ip("link set wire0 up");
    tap
}

fn connected(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    linux::sockets::set_congestion_control(&stream, "cubic").unwrap();
    stream
}

/// Bytes that do not repeat where frames or packets end.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| u8::try_from((at ^ (at >> 8) ^ (at >> 16)) % 251).unwrap()).collect()
}

fn stages(elements: &str) -> Vec<PathElement> {
    let mut file: toml::Table = toml::from_str(&format!("elements = [{elements}]")).unwrap();
    let specs: Vec<ElementSpec> = file.remove("elements").unwrap().try_into().unwrap();
    specs.into_iter().map(PathElement::from).collect()
}
