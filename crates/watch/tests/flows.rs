//! Claims about a watch of real connections while what it looks at goes away.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use linux::netns::{NetnsRef, in_fresh_netns};
use model::transfer::{FlowInterval, Missed, Transfer, TransferEnd};
use units::ByteCount;
use watch::flows::{FlowWatchError, Request, watch};

/// After this a wait fails instead of going on for ever. No claim rests on it.
const PATIENCE: Duration = Duration::from_secs(60);

fn request(namespace: Option<NetnsRef>) -> Request {
    Request {
        namespace,
        interval: Duration::from_millis(200),
        spacing: Duration::from_millis(100),
        busiest: 5,
        shown: 10,
        least: ByteCount::new(1_000),
        intervals: None,
        line_rate: None,
    }
}

/// Watches while `work` runs, which is told of each interval.
fn watched(request: &Request, work: impl FnOnce(&Receiver<FlowInterval>) + Send) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (tell, told) = channel();
        let each = move |interval: FlowInterval, _: Vec<_>| {
            // Nobody listens any more once the work is done.
            let _ = tell.send(interval);
        };
        let watcher = scope.spawn(|| watch(request, || stop.load(Ordering::Relaxed), each));
        let stopping = Stopping(&stop);
        work(&told);
        drop(stopping);
        watcher.join().unwrap().unwrap();
    });
}

/// Stops a watch, also where a claim about it does not hold: nobody would see that otherwise.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A process that has one end of a connection, over which this program has sent so much; and the other end.
fn process_with_connection(bytes: usize) -> (Child, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&vec![7; bytes]).unwrap();
    server.read_exact(&mut vec![0; bytes]).unwrap();
    let child = Command::new("sleep").arg("1000").stdin(OwnedFd::from(client)).spawn().unwrap();
    (child, server)
}

#[test]
fn processes_that_die_while_they_are_looked_for_lose_no_transfer() {
    const EACH: usize = 20;
    in_fresh_netns(|| {
        watched(&request(None), |told| {
            told.recv_timeout(PATIENCE).unwrap();
            let (mut begun, mut ended): (usize, Vec<Transfer>) = (0, Vec::new());
            let (mut intervals, mut missed) = (0, false);
            // Owners are searched for every 2 s: some of these die in the middle of it.
            while intervals < 25 {
                let mut all: Vec<_> = (0..EACH).map(|_| process_with_connection(5_000)).collect();
                begun += EACH;
                let interval = told.recv_timeout(PATIENCE).unwrap();
                intervals += 1;
                missed |= interval.missed != Missed::default();
                ended.extend(interval.finished);
                for (child, _) in &mut all {
                    child.kill().unwrap();
                    child.wait().unwrap();
                }
            }
            // Both ends of each.
            while ended.len() < 2 * begun {
                let interval = told.recv_timeout(PATIENCE).unwrap();
                missed |= interval.missed != Missed::default();
                ended.extend(interval.finished);
            }
            // Beside a build the kernel has no room for some of its last words, and says so: the last sample stands for those.
            let all = ended.iter().all(|transfer| {
                (missed || transfer.end == TransferEnd::Closed)
                    && [transfer.sent.get(), transfer.received.get()].contains(&5_000)
            });
            let others = || ended.iter().filter(|transfer| transfer.end != TransferEnd::Closed).collect::<Vec<_>>();
            assert!(all && ended.len() == 2 * begun, "{} of {begun}, {:?}", ended.len(), others());
            let programs = ended.iter().filter_map(|transfer| transfer.owner.as_ref()?.program.as_deref());
            assert!(programs.into_iter().any(|program| program == "sleep"), "none was found in time");
        });
    })
    .unwrap();
}

#[test]
fn a_container_whose_processes_have_gone_is_watched_on_and_then_not_found() {
    in_fresh_netns(|| {
        let mut container = Command::new("unshare").args(["--net", "sleep", "1000"]).spawn().unwrap();
        let own = std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        let theirs = format!("/proc/{}/ns/net", container.id());
        while std::fs::read_link(&theirs).unwrap() == own {
            thread::yield_now();
        }
        let namespace = NetnsRef::parse(&format!("pid:{}", container.id())).unwrap();
        watched(&request(Some(namespace.clone())), |told| {
            told.recv_timeout(PATIENCE).unwrap();
            container.kill().unwrap();
            container.wait().unwrap();
            for _ in 0..3 {
                let interval = told.recv_timeout(PATIENCE).unwrap();
                assert_eq!((interval.connections, interval.missed), (0, Missed::default()));
            }
        });
        let again = watch(&request(Some(namespace)), || false, |_, _| {});
        assert!(matches!(again, Err(FlowWatchError::Namespace(_))), "{again:?}");
    })
    .unwrap();
}
