//! What this machine's relay can carry, measured: so that a network it cannot is refused before anything is made. And how
//! well it keeps its times at this moment, with whatever else the machine does: so that a play fits it.
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

use linux::contention::{Scheduled, thread_scheduled};
use linux::netns::{NetnsError, in_fresh_netns};
use linux::rtnetlink::Rtnetlink;
use linux::tap::{Tap, TapError};
use model::quality::{CpuContention, EmulatorConditions};
use path::buffer::BufferSpec;
use path::elements::{CrossSpec, DelaySpec, Order, PortSpec};
use path::{ElementSpec, PathElement, Seed};
use units::DataRate;

use super::conditions::ConditionsBefore;
use super::report::Carried;
use super::{Options, Relay, RelayError, Report, Wire};

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
    let (whole, busy) = carry(Vec::new(), MEASURED)?.carried()?;
    let whole = DataRate::of(whole.bytes, busy).ok_or(ProbeError::Nothing)?;
    // What is uneven gives each packet an instant of its own.
    let uneven = DelaySpec { time: Duration::ZERO, jitter: JITTER, order: Order::Kept };
    let (single, busy) = carry(vec![ElementSpec::Delay(uneven).into()], MEASURED)?.carried()?;
    let packets = u128::from(single.packets.get()) * Duration::from_secs(1).as_nanos();
    let packets_per_second = packets.checked_div(busy.as_nanos()).ok_or(ProbeError::Nothing)?;
    Ok(Capacity { whole, packets_per_second: u64::try_from(packets_per_second).unwrap_or(u64::MAX) })
}

/// How well the relay keeps its times here at this moment, found out by carrying a flow for `time` over an emulated link
/// of 200 Mbit/s, as the links of scenarios are.
///
/// # Errors
/// See [`ProbeError`].
pub fn timekeeping(time: Duration) -> Result<Timekeeping, ProbeError> {
    let cpu = linux::contention::cpu_totals();
    let port = PortSpec { rate: LINK, queue: BufferSpec::default(), cross: CrossSpec::default() };
    let outcome = carry(vec![ElementSpec::Port(port).into()], time)?;
    let after = linux::contention::cpu_totals();
    let (carried, _) = outcome.carried()?;
    let streams = outcome.streams;
    let contention = CpuContention {
        elapsed: outcome.conditions.elapsed,
        cpus: after.map_or(0, |after| after.cpus),
        steal: cpu.zip(after).and_then(|(before, after)| after.steal.checked_sub(before.steal)),
        busy: cpu.zip(after).and_then(|(before, after)| after.busy.checked_sub(before.busy)),
        on_cpu: streams.map(|streams| streams.on_cpu),
        run_delay: streams.map(|streams| streams.run_delay),
        ..CpuContention::default()
    };
    let allowed = LINK.bps() as f64 * outcome.conditions.emulated.as_secs_f64();
    let delivered = (carried.bytes.get() as f64 * 8.0 / allowed.max(1.0)).min(1.0);
    Ok(Timekeeping { emulator: outcome.conditions, hosts: contention, delivered })
}

/// How well the relay keeps its times beside whatever else the machine does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timekeeping {
    /// The emulator's own times.
    pub emulator: EmulatorConditions,
    /// What the programs in the hosts get of the CPUs.
    pub hosts: CpuContention,
    /// What a flow delivered, of what the emulated link allowed, 0 to 1.
    pub delivered: f64,
}

/// What came of sending over a wire.
struct Outcome {
    report: Report,
    conditions: EmulatorConditions,
    /// Of the threads that sent and received.
    streams: Option<Scheduled>,
}

impl Outcome {
    /// What the relay carried in the direction of the flow, and how long it was busy.
    fn carried(&self) -> Result<(Carried, Duration), ProbeError> {
        let busy = self.report.threads.iter().map(|thread| thread.busy).sum();
        let given = self.report.wires.first().map(|wire| wire.directions[0].given).ok_or(ProbeError::Nothing)?;
        Ok((given, busy))
    }
}

/// Sends over a wire with these elements in one direction, for this time.
fn carry(stages: Vec<PathElement>, time: Duration) -> Result<Outcome, ProbeError> {
    let (near_made, near) = channel();
    let (far_made, far) = channel();
    let (go, gone) = channel();
    thread::scope(|scope| {
        let receiving = scope.spawn(move || in_fresh_netns(move || receive(&far_made)));
        let sending = scope.spawn(move || in_fresh_netns(move || send(&near_made, &gone, time)));
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
        let before = relay.as_ref().ok().map(ConditionsBefore::read);
        let mut streams = Some(Scheduled::default());
        for end in [sending, receiving] {
            let of_thread = end.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))??;
            streams = streams.zip(of_thread).map(|(sum, one)| Scheduled {
                on_cpu: sum.on_cpu + one.on_cpu,
                run_delay: sum.run_delay + one.run_delay,
            });
        }
        let relay = relay?;
        let conditions = before.map(|before| before.until_now(&relay)).unwrap_or_default();
        let (report, _) = relay.stop();
        Ok(Outcome { report, conditions, streams })
    })
}

fn start(taps: [Tap; 2], stages: Vec<PathElement>) -> Result<Relay, ProbeError> {
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

fn send(made: &Sender<Tap>, gone: &Receiver<()>, time: Duration) -> Result<Option<Scheduled>, ProbeError> {
    let made = made.send(device(1)?);
    if made.is_err() || gone.recv().is_err() {
        return Ok(None);
    }
    let mut stream = TcpStream::connect_timeout(&SocketAddr::new(address(2), PORT), PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (begun, piece) = (Instant::now(), vec![0; PIECE]);
    while begun.elapsed() < time {
        stream.write_all(&piece)?;
    }
    Ok(thread_scheduled())
}

fn receive(made: &Sender<Tap>) -> Result<Option<Scheduled>, ProbeError> {
    let tap = device(2)?;
    let listener = TcpListener::bind((address(2), PORT))?;
    linux::sockets::set_receive_timeout(&listener, Some(PATIENCE))?;
    if made.send(tap).is_err() {
        return Ok(None);
    }
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut piece = vec![0; PIECE];
    while stream.read(&mut piece)? > 0 {}
    Ok(thread_scheduled())
}

/// Addresses set aside for benchmarks (RFC 2544).
fn address(number: u8) -> IpAddr {
    Ipv4Addr::new(198, 18, 0, number).into()
}

/// What links of the library mostly have.
const LINK: DataRate = DataRate::from_bps(200_000_000);
const DEVICE: &str = "probe0";
const PORT: u16 = 5_001;
const PIECE: usize = 256 << 10;
const MEASURED: Duration = Duration::from_millis(70);
const JITTER: Duration = Duration::from_micros(200);
/// Nothing here takes so long unless something has failed, on a machine that is not hopelessly busy.
const PATIENCE: Duration = Duration::from_secs(10);
