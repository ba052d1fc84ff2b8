//! What this machine's relay can carry, measured: so that a network it cannot is refused before anything is made.
//!
//! A TCP connection sends as fast as it can between two fresh namespaces, over a relay of one thread, for a tenth of
//! a second; once with frames that stay whole, once with every packet by itself. What the relay carried, by the time in
//! which it was busy, is what it can carry.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linux::netns::{NetnsError, in_fresh_netns};
use linux::rtnetlink::Rtnetlink;
use linux::tap::{Tap, TapError};
use path::elements::{DelaySpec, Order};
use path::{ElementSpec, Seed, Stage};
use units::DataRate;

use super::report::Carried;
use super::{Options, Relay, RelayError, Wire};

/// What one thread of the relay can carry here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// In frames that nothing cuts, counted on the link.
    pub whole: DataRate,
    /// In packets that come out one by one, each second.
    pub packets_per_second: u64,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// No namespace to measure in.
    #[error("no namespace to measure in")]
    Netns(#[from] NetnsError),
    /// No device to measure with.
    #[error("no device to measure with")]
    Tap(#[from] TapError),
    /// The device could not be set up.
    #[error("the device cannot be set up")]
    Setup(#[from] linux::netlink::NetlinkError),
    /// No relay to measure.
    #[error("no relay to measure")]
    Relay(#[from] RelayError),
    /// The connection that was to be carried failed.
    #[error("the connection over the relay failed")]
    Connection(#[from] io::Error),
    /// Nothing was carried.
    #[error("the relay carried nothing")]
    Nothing,
}

/// Measures, in less than 300 ms. Needs `CAP_SYS_ADMIN` and `CAP_NET_ADMIN` over the namespaces of the caller.
///
/// # Errors
/// See [`ProbeError`].
pub fn probe() -> Result<Capacity, ProbeError> {
    let (whole, busy) = carry(Vec::new())?;
    let whole = DataRate::of(whole.bytes, busy).ok_or(ProbeError::Nothing)?;
    // What is uneven gives each packet an instant of its own.
    let uneven = DelaySpec { time: Duration::ZERO, jitter: JITTER, order: Order::Kept };
    let (single, busy) = carry(vec![ElementSpec::Delay(uneven).into()])?;
    let packets = u128::from(single.packets.get()) * Duration::from_secs(1).as_nanos();
    let packets_per_second = packets.checked_div(busy.as_nanos()).ok_or(ProbeError::Nothing)?;
    Ok(Capacity { whole, packets_per_second: u64::try_from(packets_per_second).unwrap_or(u64::MAX) })
}

/// Sends over a wire with these elements in one direction. Returns what the relay carried there, and how long it was
/// busy.
fn carry(stages: Vec<Stage>) -> Result<(Carried, Duration), ProbeError> {
    let (near_made, near) = channel();
    let (far_made, far) = channel();
    let (go, gone) = channel();
    thread::scope(|scope| {
        let receiving = scope.spawn(move || in_fresh_netns(move || receive(&far_made)));
        let sending = scope.spawn(move || in_fresh_netns(move || send(&near_made, &gone)));
        let relay = match (near.recv(), far.recv()) {
            (Ok(near), Ok(far)) => start([near, far], stages).and_then(|relay| {
                go.send(()).map_err(|_| ProbeError::Nothing)?;
                Ok(relay)
            }),
            // The end that has made no device says why.
            _ => Err(ProbeError::Nothing),
        };
        // Who still waits for this waits in vain.
        drop(go);
        for end in [sending, receiving] {
            end.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))??;
        }
        let (report, _) = relay?.stop();
        let busy = report.threads.iter().map(|thread| thread.busy).sum();
        let given = report.wires.first().map(|wire| wire.directions[0].given).ok_or(ProbeError::Nothing)?;
        Ok((given, busy))
    })
}

fn start(taps: [Tap; 2], stages: Vec<Stage>) -> Result<Relay, ProbeError> {
    let stages = [stages, Vec::new()];
    let wire = Wire { name: "probe".to_owned(), taps, stages, reporters: Default::default(), seed: Seed(0) };
    let options = Options { threads: Some(NonZeroUsize::MIN), events: 0, together: None, ..Options::default() };
    Ok(Relay::start(vec![wire], linux::clock::now(), &options)?)
}

fn device(number: u8) -> Result<Tap, ProbeError> {
    let tap = Tap::open(DEVICE)?;
    let mut rtnetlink = Rtnetlink::open()?;
    let index = rtnetlink.index(DEVICE)?;
    rtnetlink.add_address(index, address(number), 30)?;
    rtnetlink.set_up(index)?;
    Ok(tap)
}

fn send(made: &Sender<Tap>, gone: &Receiver<()>) -> Result<(), ProbeError> {
    let made = made.send(device(1)?);
    if made.is_err() || gone.recv().is_err() {
        return Ok(());
    }
    let mut stream = TcpStream::connect_timeout(&SocketAddr::new(address(2), PORT), PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (begun, piece) = (Instant::now(), vec![0; PIECE]);
    while begun.elapsed() < MEASURED {
        stream.write_all(&piece)?;
    }
    Ok(())
}

fn receive(made: &Sender<Tap>) -> Result<(), ProbeError> {
    let tap = device(2)?;
    let listener = TcpListener::bind((address(2), PORT))?;
    linux::sockets::set_receive_timeout(&listener, Some(PATIENCE))?;
    if made.send(tap).is_err() {
        return Ok(());
    }
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut piece = vec![0; PIECE];
    while stream.read(&mut piece)? > 0 {}
    Ok(())
}

/// Addresses set aside for benchmarks (RFC 2544).
fn address(number: u8) -> IpAddr {
    Ipv4Addr::new(198, 18, 0, number).into()
}

const DEVICE: &str = "probe0";
const PORT: u16 = 5_001;
const PIECE: usize = 256 << 10;
const MEASURED: Duration = Duration::from_millis(70);
const JITTER: Duration = Duration::from_micros(200);
/// Nothing here takes so long unless something has failed.
const PATIENCE: Duration = Duration::from_secs(2);
