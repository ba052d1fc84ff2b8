//! How long it takes from the command to the first byte of payload.
//!
//! The bench stands between client and server and forwards what they say. The first connection carries control, the
//! second one data: 37 bytes that say which test they belong to, then payload.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::actors::{Actors, Place, Who, fresh_port, words};
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;
use crate::program::Seat;

/// Bytes that say which test a data connection belongs to.
const COOKIE: usize = 37;

/// When something happened, after the client was started, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Times {
    connected: f64,
    payload: f64,
}

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let rounds = effort.choose(5, 15);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(once(actors, Who::Linerate, &words("--cca cubic --bytes 1MB"))?);
        theirs.push(once(actors, Who::Iperf3, &words("-C cubic -n 1M"))?);
    }
    let of = |times: &[Times], value: fn(&Times) -> f64| times.iter().map(value).collect::<Vec<_>>();
    let row = |what: &str, value: fn(&Times) -> f64| {
        let (ours, theirs) = (of(&ours, value), of(&theirs, value));
        let ratio = Spread::of_ratios(&ours, &theirs);
        Row::new(what, Spread::of(ours).median, "ms").against(Spread::of(theirs).median, ratio)
    };
    Ok(vec![
        row("command to first connection", |times| times.connected),
        row("command to first byte of payload", |times| times.payload)
            .target(Target::AtMost(15.0))
            .note("3 ms of it watch the idle path, which iperf3 does not"),
    ])
}

fn once(actors: &Actors, who: Who, arguments: &[String]) -> anyhow::Result<Times> {
    let (port, behind) = (fresh_port(), fresh_port());
    let server = actors.server(who, behind, Seat::Anywhere, Place::Here)?;
    let listener = TcpListener::bind(("127.0.0.1", port)).context("no port to listen on")?;
    let (events, heard) = channel();
    let started = Instant::now();
    let client = actors.client(who, "127.0.0.1", port, arguments, Seat::Anywhere)?;
    let relay = thread::spawn(move || {
        let control = forward(&listener, behind, events.clone(), 0)?;
        let data = forward(&listener, behind, events, COOKIE)?;
        control.into_iter().chain(data).for_each(|thread| drop(thread.join()));
        anyhow::Ok(())
    });
    let patience = Duration::from_secs(10);
    let connected = heard.recv_timeout(patience).context("the client does not connect")?;
    let payload = heard.recv_timeout(patience).context("the client sends nothing")?;
    client.ended()?;
    server.ended()?;
    relay.join().map_err(|_| anyhow::anyhow!("the relay is gone"))??;
    let after = |at: Instant| at.saturating_duration_since(started).as_secs_f64() * 1e3;
    Ok(Times { connected: after(connected), payload: after(payload) })
}

/// Forwards the next connection, and tells when more than `before` bytes have come from the client.
fn forward(
    listener: &TcpListener,
    port: u16,
    events: Sender<Instant>,
    before: usize,
) -> anyhow::Result<[thread::JoinHandle<()>; 2]> {
    let (near, _) = listener.accept()?;
    let far = TcpStream::connect(("127.0.0.1", port))?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let (near_back, far_back) = (near.try_clone()?, far.try_clone()?);
    let forth = thread::spawn(move || copy(near, far, Some((events, before))));
    let back = thread::spawn(move || copy(far_back, near_back, None));
    Ok([forth, back])
}

fn copy(mut from: TcpStream, mut to: TcpStream, mut tell: Option<(Sender<Instant>, usize)>) {
    let mut buffer = vec![0; 256 << 10];
    let mut seen = 0;
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let now = Instant::now();
        seen += length;
        if let Some((events, _)) = tell.take_if(|(_, before)| seen > *before) {
            // Nobody may be listening any more.
            let _ = events.send(now);
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
